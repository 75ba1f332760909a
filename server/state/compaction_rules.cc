#include "server/state/compaction_rules.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace skep::state {

namespace {

enum class History { kNone, kSucceeded, kFailed, kRefused, kNotInitiated };

History GroupOf(CompactionState state) {
  switch (state) {
    case CompactionState::kSucceeded:
      return History::kSucceeded;
    case CompactionState::kFailed:
      return History::kFailed;
    case CompactionState::kNotInitiated:
      return History::kNotInitiated;
    case CompactionState::kRefused:
    case CompactionState::kCancelled:
      return History::kRefused;
    case CompactionState::kInitiated:
    case CompactionState::kWorking:
    case CompactionState::kReadyForCleaning:
      return History::kNone;
  }
  return History::kNone;
}

int64_t Kept(History group, const Options& options) {
  switch (group) {
    case History::kSucceeded:
      return options.history_succeeded;
    case History::kFailed:
      return std::max(options.history_failed, options.failed_threshold);
    case History::kNotInitiated:
      return options.history_not_initiated;
    default:
      return options.history_refused;
  }
}

}  // namespace

const CompactionRow* FindDuplicate(std::span<const CompactionRow> of_object,
                                   CompactionType type,
                                   WriteId highest_write_id) {
  for (const CompactionRow& row : of_object) {
    if (row.state == CompactionState::kInitiated || row.state == CompactionState::kWorking)
      return &row;
    const bool did_as_much = row.type == CompactionType::kMajor || row.type == type;
    if (row.state == CompactionState::kReadyForCleaning && did_as_much &&
        row.highest_write_id >= highest_write_id) {
      return &row;
    }
  }
  return nullptr;
}

std::vector<CompactionId> HistoryToDrop(std::span<const CompactionRow> of_object,
                                        const Options& options) {
  std::vector<CompactionId> drop;
  std::map<History, int64_t> seen;
  for (size_t i = of_object.size(); i-- > 0;) {
    const History group = GroupOf(of_object[i].state);
    if (group == History::kNone) continue;
    if (++seen[group] > Kept(group, options)) drop.push_back(of_object[i].id);
  }
  std::reverse(drop.begin(), drop.end());
  return drop;
}

std::vector<const CompactionRow*> Outdated(std::span<const CompactionRow> of_object) {
  std::vector<const CompactionRow*> outdated;
  bool major = false;
  bool any = false;
  for (size_t i = of_object.size(); i-- > 0;) {
    const CompactionRow& row = of_object[i];
    const History group = GroupOf(row.state);
    if (group == History::kSucceeded) {
      any = true;
      major |= row.type == CompactionType::kMajor;
    } else if (group != History::kNone && (major || (any && row.type == CompactionType::kMinor))) {
      outdated.push_back(&row);
    }
  }
  return outdated;
}

Timestamp BirthOf(const CompactionRow& row) {
  return row.start_time == Timestamp() ? row.enqueue_time : row.start_time;
}

bool CleaningWasGivenUp(const CompactionRow& row) {
  return row.state == CompactionState::kFailed && !row.published_seq.is_none();
}

std::vector<CompactionId> SelectReady(std::span<const CompactionRow> ready, Timestamp now) {
  std::map<std::pair<TableId, std::string>, const CompactionRow*> first;
  for (const CompactionRow& row : ready) {
    const CompactionRow*& lowest = first[{row.table, row.partition}];
    if (lowest == nullptr || row.highest_write_id < lowest->highest_write_id) lowest = &row;
  }
  std::vector<CompactionId> ids;
  for (const auto& [object, row] : first) {
    if (row->next_clean_time <= now) ids.push_back(row->id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace skep::state
