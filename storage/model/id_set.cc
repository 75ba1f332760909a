#include "storage/model/id_set.h"

#include <algorithm>

namespace skep {

void IdSet::AddRange(int64_t first, int64_t last) {
  if (first > last) return;
  // Everything that overlaps or touches [first, last] melts into it.
  auto it = intervals_.upper_bound(first);
  if (it != intervals_.begin()) {
    const auto before = std::prev(it);
    if (before->second >= first || before->second + 1 == first) it = before;
  }
  while (it != intervals_.end() && (it->first <= last || it->first == last + 1)) {
    first = std::min(first, it->first);
    last = std::max(last, it->second);
    it = intervals_.erase(it);
  }
  intervals_.emplace(first, last);
}

void IdSet::RemoveRange(int64_t first, int64_t last) {
  if (first > last) return;
  auto it = intervals_.upper_bound(first);
  if (it != intervals_.begin() && std::prev(it)->second >= first) --it;
  while (it != intervals_.end() && it->first <= last) {
    const auto [from, to] = *it;
    it = intervals_.erase(it);
    if (from < first) intervals_.emplace(from, first - 1);
    if (to > last) intervals_.emplace(last + 1, to);
  }
}

bool IdSet::Contains(int64_t id) const {
  const auto it = intervals_.upper_bound(id);
  return it != intervals_.begin() && std::prev(it)->second >= id;
}

int64_t IdSet::CountWithin(int64_t first, int64_t last) const {
  int64_t count = 0;
  for (const Interval& interval : IntervalsWithin(first, last))
    count += interval.last - interval.first + 1;
  return count;
}

int64_t IdSet::Count() const {
  int64_t count = 0;
  for (const auto& [first, last] : intervals_) count += last - first + 1;
  return count;
}

std::vector<IdSet::Interval> IdSet::Intervals() const {
  std::vector<Interval> all;
  all.reserve(intervals_.size());
  for (const auto& [first, last] : intervals_) all.push_back({first, last});
  return all;
}

std::vector<IdSet::Interval> IdSet::IntervalsWithin(int64_t first, int64_t last) const {
  std::vector<Interval> cut;
  auto it = intervals_.upper_bound(first);
  if (it != intervals_.begin() && std::prev(it)->second >= first) --it;
  for (; it != intervals_.end() && it->first <= last; ++it) {
    cut.push_back({std::max(first, it->first), std::min(last, it->second)});
  }
  return cut;
}

std::vector<int64_t> IdSet::Ids() const {
  std::vector<int64_t> ids;
  for (const auto& [first, last] : intervals_) {
    for (int64_t id = first; id <= last; ++id) ids.push_back(id);
  }
  return ids;
}

}  // namespace skep
