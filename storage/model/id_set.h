#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace skep {

// A set of int64 ids kept as maximal, disjoint, inclusive intervals: memory and cost follow the
// number of intervals, not of ids. Value type, thread-compatible.
class IdSet {
 public:
  struct Interval {
    int64_t first;
    int64_t last;
    friend bool operator==(const Interval&, const Interval&) = default;
  };

  void Add(int64_t id) { AddRange(id, id); }
  void AddRange(int64_t first, int64_t last);
  void RemoveRange(int64_t first, int64_t last);

  bool Contains(int64_t id) const;
  // Number of members within [first, last].
  int64_t CountWithin(int64_t first, int64_t last) const;
  int64_t Count() const;
  bool empty() const { return intervals_.empty(); }

  std::vector<Interval> Intervals() const;
  // Intervals cut to [first, last].
  std::vector<Interval> IntervalsWithin(int64_t first, int64_t last) const;
  std::vector<int64_t> Ids() const;

  friend bool operator==(const IdSet&, const IdSet&) = default;

 private:
  std::map<int64_t, int64_t> intervals_;  // first → last
};

}  // namespace skep
