#pragma once

// Answers to "why not": numbers and sentences, for people and tools.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "server/duties/initiator_rules.h"
#include "server/duties/table_facts.h"
#include "storage/fs/file_system.h"

namespace skep::duties {

// Which duties the daemon has; without one, what it would do next waits for ever.
struct DutiesAtWork {
  bool cleaner = true;
  bool workers = true;
};

// ---- why are directories that a compaction replaced still there ----

struct CleanerEntry {
  state::CleanTask task;                 // the compaction and who pins its inputs
  std::vector<std::string> directories;  // that wait for removal, relative to the table, by name
  std::string summary;                   // one sentence
};

// One entry. A directory that cannot be read is said in the summary, not an error.
CleanerEntry ExplainClean(fs::FileSystem& fs,
                          state::CleanTask task,
                          const DutiesAtWork& at_work,
                          Timestamp now);

// ---- what would the initiator do ----

struct CompactionFacts {
  TableFacts table;
  // Compactions of each of table.partitions, history included, ascending by id.
  std::vector<std::vector<CompactionRow>> of_partition;
  // Of each: who has locked it so that no worker can begin, as a clause; empty: nobody.
  std::vector<std::string> locked_by;
};
absl::StatusOr<CompactionFacts> ReadCompactionFacts(const state::State& state,
                                                    const TableName& name,
                                                    const std::string& partition);

struct CompactionEntry {
  std::string partition;
  Outlook outlook;
  std::string blocked_by;               // what keeps the initiator from it; empty: nothing
  std::optional<CompactionRow> latest;  // newest whose work is over
};

// One per partition. Errors: as LookAt, for the first that has any.
absl::StatusOr<std::vector<CompactionEntry>> ExplainCompaction(fs::FileSystem& fs,
                                                               const CompactionFacts& facts,
                                                               const InitiatorRules& rules,
                                                               const DutiesAtWork& at_work,
                                                               Timestamp now);

}  // namespace skep::duties
