#pragma once

// What looks at directories, as the services need it. Implemented by server/duties, handed in by
// server/daemon.

#include <optional>
#include <string>
#include <vector>

#include <absl/functional/any_invocable.h>
#include <absl/status/statusor.h>

#include "server/state/commands.h"

namespace skep::rpc {

// What a table is, as the caller says.
struct TableDefinition {
  TableSchema schema;
  FileFormat format = FileFormat::kOrc;
  Properties properties;
};

// A directory to be taken over.
struct RegisterScan {
  TableName name;
  std::string location;                       // absolute, normalised
  std::optional<TableDefinition> definition;  // none: from the files, which must all be ORC
  std::string valid_write_ids;                // Hive's text; empty: everything on disk is committed
  std::string valid_txns;                     // Hive's text, "all", or empty
};
struct RegisterFindings {
  state::RegisterTable command;    // without its request key
  std::vector<std::string> notes;  // what was assumed, one sentence each
};

// One directory, or original file, of a table.
struct DirectoryEntry {
  enum class Role { kLive, kObsolete, kAborted, kOpen, kForeign };
  std::string partition;
  std::string name;
  Role role = Role::kForeign;
  std::string reason;  // one clause
  int64_t bytes = 0;
  int64_t files = 0;
};

// Why what a compaction replaced is still there.
struct CleanerEntry {
  CompactionRow compaction;
  std::vector<std::string> directories;  // relative to the table
  std::vector<state::Pin> pins;
  std::string summary;
};

// What the initiator would decide for one table or partition.
struct CompactionDecision {
  std::string partition;
  std::optional<CompactionType> decision;  // none: nothing to do
  std::string reason;
  int64_t base_bytes = 0;
  int64_t delta_bytes = 0;
  int64_t delta_count = 0;
  int64_t delta_count_threshold = 0;
  double delta_size_threshold = 0;
  std::string blocked_by;               // empty: nothing
  std::optional<CompactionRow> latest;  // newest whose work is over
};

// Thread-safe. `done` is called once, on any thread; it must return soon.
class DirectoryPort {
 public:
  template <class T>
  using Done = absl::AnyInvocable<void(absl::StatusOr<T>)>;

  virtual ~DirectoryPort() = default;
  virtual void Scan(RegisterScan scan, Done<RegisterFindings> done) = 0;
  // An empty partition: the table, or every partition of a partitioned one. By partition and name.
  virtual void ListDirectories(TableName table,
                               std::string partition,
                               Done<std::vector<DirectoryEntry>> done) = 0;
  // No table: every one with something to clean.
  virtual void ExplainCleaner(std::optional<TableName> table,
                              Done<std::vector<CleanerEntry>> done) = 0;
  virtual void ExplainCompaction(TableName table,
                                 std::string partition,
                                 Done<std::vector<CompactionDecision>> done) = 0;
};

}  // namespace skep::rpc
