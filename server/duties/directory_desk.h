#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <absl/functional/any_invocable.h>
#include <absl/status/statusor.h>

#include "server/duties/command_port.h"
#include "server/duties/directory_roles.h"
#include "server/duties/explain.h"
#include "server/duties/initiator_rules.h"
#include "server/duties/register_scan.h"
#include "storage/base/clock.h"
#include "storage/base/executor.h"
#include "storage/fs/file_system.h"

namespace skep::duties {

// Calls that look at table directories. Each asks the loop for facts where it needs any, then works
// on the executor (a pool of two threads): nothing here runs on the loop's thread.
//
// Thread-safe. `done` is called once, on a thread of the executor; calls that are under way when
// the executor stops are never answered.
class DirectoryDesk {
 public:
  template <class T>
  using Done = absl::AnyInvocable<void(absl::StatusOr<T>)>;

  // All must outlive the desk, and the desk the executor's tasks.
  DirectoryDesk(InitiatorRules rules,
                DutiesAtWork at_work,
                CommandPort& port,
                Executor& executor,
                Clock& clock,
                fs::FileSystem& fs);

  // The caller holds name and location reserved. Errors: those of ScanForRegister.
  void ScanForRegister(RegisterScanRequest request, Done<RegisterScanResult> done);
  // `partition` empty: all of a partitioned table. Errors: kNoSuchTable, those of
  // ListTableDirectories.
  void ListDirectories(TableName table,
                       std::string partition,
                       Done<std::vector<DirectoryInfo>> done);
  // nullopt: every table with something to clean. Oldest compaction first, at most 1 000. Errors:
  // kNoSuchTable.
  void ExplainCleaner(std::optional<TableName> table, Done<std::vector<CleanerEntry>> done);
  // `partition` empty: each of a partitioned table. Errors: kNoSuchTable, those of
  // ExplainCompaction.
  void ExplainCompactions(TableName table,
                          std::string partition,
                          Done<std::vector<CompactionEntry>> done);

 private:
  const InitiatorRules rules_;
  const DutiesAtWork at_work_;
  CommandPort& port_;
  Executor& executor_;
  Clock& clock_;
  fs::FileSystem& fs_;
};

}  // namespace skep::duties
