#include "server/duties/explain.h"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "storage/acid/obsolete.h"
#include "storage/base/counted.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/compact/input_check.h"
#include "storage/model/errors.h"
#include "storage/model/quote.h"
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

// The first thing in them that Skep does not understand, for which its directory stays (CL-14).
absl::Status FindStranger(fs::FileSystem& fs,
                          const TableRow& table,
                          const std::vector<std::string>& directories) {
  for (const std::string& name : directories) {
    const std::string path = fs::JoinPath(table.location, name);
    const absl::StatusOr<fs::FileInfo> info = fs.Stat(path);
    if (!info.ok() || info->kind != fs::EntryKind::kDirectory) continue;
    const absl::Status status = compact::CheckTreeNames(fs, path);
    if (ReasonOf(status) == ErrorReason::kMalformedDirectory) return status;
  }
  return absl::OkStatus();
}

std::string PinText(const state::Pin& pin) {
  std::string text = fmt::format("transaction {}", pin.txn.value());
  if (!pin.user.empty()) text += " of " + OwnerText(pin.user, pin.host);
  // Of one that ended before the last start nothing but its id and its lease is kept.
  if (pin.open_time != Timestamp()) text += ", open since " + FormatRfc3339(pin.open_time);
  if (pin.ended) {
    text +=
        ", ended by the server; its reader may not know yet, so its files stay for one more "
        "lease";
  } else if (pin.every_table) {
    text +=
        ", which has not named its tables (again after the restart of the server, if it named "
        "them before)";
  }
  return Printable(text);
}

std::string CleanSummary(const state::CleanTask& task,
                         size_t directories,
                         const DutiesAtWork& at_work,
                         const absl::Status& stranger,
                         Timestamp now) {
  const bool one = directories == 1;
  const std::string what = fmt::format("{} replaced by compaction {}",
                                       Counted(static_cast<int64_t>(directories), "directory"),
                                       task.row.id.value());
  if (task.row.state == CompactionState::kFailed) {
    return fmt::format("{} {}: {}.", what, one ? "stays" : "stay", Printable(task.row.error));
  }
  if (!stranger.ok()) {
    return fmt::format(
        "{} {}, all or in part: {}.", what, one ? "stays" : "stay", MessageOf(stranger));
  }
  if (!task.pinned_by.empty()) {
    const size_t others = task.pinned_by.size() - 1;
    return fmt::format("{} {} for {}{}, which may still read {}.",
                       what,
                       one ? "waits" : "wait",
                       PinText(task.pinned_by.front()),
                       others == 0 ? "" : fmt::format(", and {} more", others),
                       one ? "it" : "them");
  }
  if (!at_work.cleaner) {
    return fmt::format("{} {}: this server's cleaner is off (cleaner.enabled = false).",
                       what,
                       one ? "stays" : "stay");
  }
  if (task.row.next_clean_time > now) {
    return fmt::format(
        "{} {} for the next attempt at {}{}.",
        what,
        one ? "waits" : "wait",
        FormatRfc3339(task.row.next_clean_time),
        task.row.error.empty() ? "" : "; the last one failed: " + Printable(task.row.error));
  }
  return fmt::format("{} {} with the cleaner's next pass: nobody reads {} any more.",
                     what,
                     one ? "goes" : "go",
                     one ? "it" : "them");
}

// Who has locked an object against a worker's shared lock; empty: nobody.
std::string LockInTheWay(const state::State& state,
                         const TableName& table,
                         const std::string& partition) {
  state::ListLocks query;
  query.resource = LockResource{table.database, table.table, partition};
  query.limit = kHistoryLimit;
  for (const LockRow& row : state.Locks(query)) {
    if (!LocksConflict(row.kind, LockKind::kSharedRead)) continue;
    const std::string owner = row.txn.is_none() ? fmt::format("lock {}", row.lock.value())
                                                : fmt::format("transaction {}", row.txn.value());
    return Printable(fmt::format("{} of {} {} {} on {} (lock {})",
                                 owner,
                                 OwnerText(row.user, row.host),
                                 row.state == LockState::kAcquired ? "holds" : "waits for",
                                 LockKindName(row.kind),
                                 row.resource.ToString(),
                                 row.lock.value()));
  }
  return "";
}

// What a queued or running compaction is at, as the obstacle of another.
std::optional<std::string> UnderWay(std::span<const CompactionRow> of_object,
                                    const std::string& lock,
                                    const DutiesAtWork& at_work) {
  for (const CompactionRow& row : of_object) {
    if (row.state == CompactionState::kWorking) {
      return fmt::format("compaction {} is being worked on by {} since {}",
                         row.id.value(),
                         Printable(row.worker),
                         FormatRfc3339(row.start_time));
    }
    if (row.state != CompactionState::kInitiated) continue;
    std::string why = lock.empty() ? "for a worker" : "with its turn: " + lock;
    if (!at_work.workers) why = "for ever: this server has no workers (compactor.workers = 0)";
    return fmt::format("compaction {} is queued since {} and waits {}{}",
                       row.id.value(),
                       FormatRfc3339(row.enqueue_time),
                       why,
                       row.error.empty() ? "" : "; " + Printable(row.error));
  }
  return std::nullopt;
}

std::optional<CompactionRow> Latest(std::span<const CompactionRow> of_object) {
  for (auto it = of_object.rbegin(); it != of_object.rend(); ++it) {
    if (it->state != CompactionState::kInitiated && it->state != CompactionState::kWorking)
      return *it;
  }
  return std::nullopt;
}

}  // namespace

CleanerEntry ExplainClean(fs::FileSystem& fs,
                          state::CleanTask task,
                          const DutiesAtWork& at_work,
                          Timestamp now) {
  CleanerEntry entry;
  absl::StatusOr<std::vector<std::string>> names = DirectoriesToRemove(fs, task);
  if (names.ok()) {
    entry.directories = *std::move(names);
    const absl::Status stranger = FindStranger(fs, task.table, entry.directories);
    entry.summary = CleanSummary(task, entry.directories.size(), at_work, stranger, now);
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
    facts.locked_by.push_back(LockInTheWay(state, name, one));
  }
  return facts;
}

absl::StatusOr<std::vector<CompactionEntry>> ExplainCompaction(fs::FileSystem& fs,
                                                               const CompactionFacts& facts,
                                                               const InitiatorRules& rules,
                                                               const DutiesAtWork& at_work,
                                                               Timestamp now) {
  std::vector<CompactionEntry> entries;
  const TableRow& table = facts.table.table;
  for (size_t i = 0; i < facts.table.partitions.size(); ++i) {
    CompactionEntry entry;
    entry.partition = facts.table.partitions[i];
    if (const auto obstacle =
            FindObstacle(table, entry.partition, facts.of_partition[i], rules, now)) {
      entry.blocked_by =
          UnderWay(facts.of_partition[i], facts.locked_by[i], at_work).value_or(obstacle->reason);
    }
    entry.latest = Latest(facts.of_partition[i]);
    if (table.kind == TableKind::kFullAcid) {
      SKEP_ASSIGN_OR_RETURN(entry.outlook,
                            LookAt(fs,
                                   DirectoryOf(table, entry.partition),
                                   table.properties,
                                   facts.table.write_ids,
                                   VisibilityOf(table, facts.table.txns),
                                   rules));
    } else {
      entry.outlook.decision.reason = "Skep does not compact it";
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace skep::duties
