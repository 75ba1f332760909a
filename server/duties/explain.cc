#include "server/duties/explain.h"

#include <utility>

#include <fmt/format.h>

#include "storage/acid/obsolete.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/table/sources.h"

namespace skep::duties {
namespace {

constexpr int64_t kHistoryLimit = 1'000;

absl::StatusOr<std::vector<std::string>> DirectoriesToRemove(fs::FileSystem& fs,
                                                             const state::CleanTask& task) {
  std::vector<std::string> names;
  absl::StatusOr<acid::Listing> listing =
      table::ListDirectory(fs, DirectoryOf(task.table, task.row.partition));
  if (absl::IsNotFound(listing.status())) return names;
  SKEP_RETURN_IF_ERROR(listing.status());
  for (const acid::Removal& removal : acid::SelectObsolete(*listing,
                                                           task.write_ids,
                                                           VisibilityOf(task.table, task.txns),
                                                           task.row.highest_write_id)) {
    names.push_back(task.row.partition.empty() ? removal.name
                                               : task.row.partition + "/" + removal.name);
  }
  return names;
}

std::string PinText(const state::Pin& pin) {
  const std::string who = pin.user.empty() ? "" : fmt::format(" of {}@{}", pin.user, pin.host);
  return fmt::format("transaction {}{}, open since {}{}",
                     pin.txn.value(),
                     Printable(who),
                     FormatRfc3339(pin.open_time),
                     pin.ended         ? " and ended by the server, whose readers may not know yet"
                     : pin.every_table ? ", which has not named its tables yet"
                                       : "");
}

std::string CleanSummary(const state::CleanTask& task, size_t directories, Timestamp now) {
  const std::string what = fmt::format("{} {} replaced by compaction {}",
                                       directories,
                                       directories == 1 ? "directory" : "directories",
                                       task.row.id.value());
  if (!task.pinned_by.empty()) {
    const size_t others = task.pinned_by.size() - 1;
    return fmt::format("{} wait for {}{}: it may still read them.",
                       what,
                       PinText(task.pinned_by.front()),
                       others == 0 ? "" : fmt::format(" and {} more", others));
  }
  if (task.row.next_clean_time > now) {
    return fmt::format(
        "{} wait for the next attempt at {}{}.",
        what,
        FormatRfc3339(task.row.next_clean_time),
        task.row.error.empty() ? "" : "; the last one failed: " + Printable(task.row.error));
  }
  return fmt::format("{} go with the cleaner's next pass: nobody reads them any more.", what);
}

}  // namespace

CleanerEntry ExplainClean(fs::FileSystem& fs, state::CleanTask task, Timestamp now) {
  CleanerEntry entry;
  absl::StatusOr<std::vector<std::string>> names = DirectoriesToRemove(fs, task);
  if (names.ok()) {
    entry.directories = *std::move(names);
    entry.summary = CleanSummary(task, entry.directories.size(), now);
  } else {
    entry.summary = "The directory cannot be read: " + MessageOf(names.status());
  }
  entry.task = std::move(task);
  return entry;
}

absl::StatusOr<CompactionFacts> ReadCompactionFacts(const state::State& state,
                                                    const TableName& name,
                                                    const std::string& partition) {
  CompactionFacts facts;
  SKEP_ASSIGN_OR_RETURN(facts.table, ReadTableFacts(state, name, partition));
  for (const std::string& one : facts.table.partitions) {
    state::ListCompactions of_object;
    of_object.table = name;
    of_object.partition = one;
    of_object.limit = kHistoryLimit;
    facts.of_partition.push_back(state.Compactions(of_object));
  }
  return facts;
}

absl::StatusOr<std::vector<CompactionEntry>> ExplainCompaction(fs::FileSystem& fs,
                                                               const CompactionFacts& facts,
                                                               const InitiatorRules& rules,
                                                               Timestamp now) {
  std::vector<CompactionEntry> entries;
  const TableRow& table = facts.table.table;
  for (size_t i = 0; i < facts.table.partitions.size(); ++i) {
    CompactionEntry entry;
    entry.partition = facts.table.partitions[i];
    if (const auto obstacle =
            FindObstacle(table, entry.partition, facts.of_partition[i], rules, now)) {
      entry.blocked_by = obstacle->reason;
    }
    if (table.kind == TableKind::kFullAcid) {
      SKEP_ASSIGN_OR_RETURN(entry.outlook,
                            LookAt(fs,
                                   DirectoryOf(table, entry.partition),
                                   table.properties,
                                   facts.table.write_ids,
                                   VisibilityOf(table, facts.table.txns),
                                   rules));
    } else {
      entry.outlook.decision.reason = "nothing to decide";
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace skep::duties
