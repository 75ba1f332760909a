#include "server/state/aborted_intervals.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace skep::state {

AbortedIntervals::Change AbortedIntervals::Add(int64_t id, AbortCause cause) {
  ++count_;
  Change change{std::nullopt, {id, id, cause}};
  auto next = intervals_.upper_bound(id);
  if (next != intervals_.end() && next->first == id + 1 && next->second.cause == cause) {
    change.erase_first = next->first;
    change.put.last = next->second.last;
    next = intervals_.erase(next);
  }
  if (next != intervals_.begin()) {
    const auto before = std::prev(next);
    if (before->second.last == id - 1 && before->second.cause == cause) {
      change.put.first = before->first;
    }
  }
  intervals_[change.put.first] = {change.put.last, cause};
  return change;
}

void AbortedIntervals::Load(const Interval& interval) {
  // Rows come in order.
  intervals_.insert_or_assign(
      intervals_.end(), interval.first, Tail{interval.last, interval.cause});
  count_ += interval.last - interval.first + 1;
}

std::optional<AbortCause> AbortedIntervals::CauseOf(int64_t id) const {
  const auto next = intervals_.upper_bound(id);
  if (next == intervals_.begin()) return std::nullopt;
  const Tail& tail = std::prev(next)->second;
  if (id > tail.last) return std::nullopt;
  return tail.cause;
}

std::vector<AbortedIntervals::Interval> AbortedIntervals::Intervals() const {
  std::vector<Interval> out;
  out.reserve(intervals_.size());
  for (const auto& [first, tail] : intervals_) out.push_back({first, tail.last, tail.cause});
  return out;
}

std::vector<int64_t> AbortedIntervals::IdsAfter(int64_t after, int64_t limit) const {
  std::vector<int64_t> out;
  if (after == std::numeric_limits<int64_t>::max()) return out;  // a page token somebody made up
  auto it = intervals_.upper_bound(after);
  if (it != intervals_.begin()) --it;
  for (; it != intervals_.end(); ++it) {
    for (int64_t id = std::max(it->first, after + 1); id <= it->second.last; ++id) {
      if (static_cast<int64_t>(out.size()) >= limit) return out;
      out.push_back(id);
    }
  }
  return out;
}

std::vector<int64_t> AbortedIntervals::IdsUpTo(int64_t high,
                                               const std::vector<int64_t>& without) const {
  std::vector<int64_t> out;
  auto skip = without.begin();
  for (const auto& [first, tail] : intervals_) {
    if (first > high) break;
    for (int64_t id = first; id <= std::min(tail.last, high); ++id) {
      while (skip != without.end() && *skip < id) ++skip;
      if (skip != without.end() && *skip == id) continue;
      out.push_back(id);
    }
  }
  return out;
}

}  // namespace skep::state
