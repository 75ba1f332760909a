#include "server/duties/initiator_rules.h"

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/compact/sizes.h"
#include "storage/table/source_errors.h"
#include "storage/table/sources.h"

namespace skep::duties {
namespace {

// IN-6: the newest finished ones have all failed.
std::optional<Obstacle> TooManyFailures(std::span<const CompactionRow> of_object,
                                        const InitiatorRules& rules,
                                        Timestamp now) {
  int64_t failed = 0;
  const CompactionRow* latest = nullptr;
  for (auto it = of_object.rbegin(); it != of_object.rend() && failed < rules.failed_threshold;
       ++it) {
    // One whose cleaning was given up or is not wanted has merged all the same.
    const bool merged = it->state == CompactionState::kSucceeded ||
                        it->state == CompactionState::kReadyForCleaning ||
                        !it->published_seq.is_none();
    if (merged) return std::nullopt;
    if (it->state != CompactionState::kFailed) continue;
    if (latest == nullptr) latest = &*it;
    ++failed;
  }
  if (latest == nullptr || failed < rules.failed_threshold) return std::nullopt;
  Obstacle obstacle;
  obstacle.noted = true;
  obstacle.reason = fmt::format("the last {} compactions failed, compaction {} with: {}",
                                failed,
                                latest->id.value(),
                                latest->error);
  if (rules.failed_retry.count() > 0) {
    obstacle.until = latest->enqueue_time + rules.failed_retry;
    if (now >= *obstacle.until) return std::nullopt;
    obstacle.reason +=
        fmt::format("; tried again at {} or on request", FormatRfc3339(*obstacle.until));
  }
  return obstacle;
}

}  // namespace

std::optional<Obstacle> FindObstacle(const TableRow& table,
                                     const std::string& partition,
                                     std::span<const CompactionRow> of_object,
                                     const InitiatorRules& rules,
                                     Timestamp now) {
  if (table.kind == TableKind::kExternal) return Obstacle{"the table is external", {}};
  if (table.kind == TableKind::kInsertOnly) {
    return Obstacle{"compaction of insert-only tables is not supported yet", {}};
  }
  for (const CompactionRow& row : of_object) {
    if (row.state == CompactionState::kInitiated || row.state == CompactionState::kWorking) {
      return Obstacle{
          fmt::format("compaction {} is {}", row.id.value(), CompactionStateName(row.state)), now};
    }
  }
  if (std::optional<Obstacle> obstacle = TooManyFailures(of_object, rules, now)) return obstacle;
  if (compact::AutoCompactionIsOff(table.properties)) {
    return Obstacle{"the table has NO_AUTO_COMPACTION=true", {}};
  }
  if (partition.empty() && !table.schema.partition_columns.empty()) {
    return Obstacle{"a partitioned table is compacted by partition", {}};
  }
  return std::nullopt;
}

absl::StatusOr<Outlook> LookAt(fs::FileSystem& fs,
                               const std::string& dir,
                               const Properties& properties,
                               const WriteIdSnapshot& write_ids,
                               const acid::Visibility& visibility,
                               const InitiatorRules& rules) {
  Outlook outlook;
  SKEP_ASSIGN_OR_RETURN(outlook.thresholds, compact::ThresholdsOf(properties, rules.thresholds));
  absl::StatusOr<acid::Listing> listing = table::ListDirectory(fs, dir);
  if (absl::IsNotFound(listing.status())) {
    outlook.decision.reason = MessageOf(table::MissingIfNotFound(listing.status(), dir));
    return outlook;
  }
  SKEP_RETURN_IF_ERROR(listing.status());
  SKEP_ASSIGN_OR_RETURN(const acid::Selection selection,
                        acid::SelectDirectories(*listing, write_ids.ForCompactor(), visibility));
  SKEP_ASSIGN_OR_RETURN(const compact::Sizes sizes, compact::MeasureSelection(fs, dir, selection));
  outlook.facts = compact::FactsOf(selection, sizes);
  outlook.decision = compact::Decide(outlook.facts, outlook.thresholds);
  return outlook;
}

}  // namespace skep::duties
