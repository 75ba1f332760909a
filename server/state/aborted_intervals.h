#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <absl/container/btree_map.h>

#include "storage/model/txn.h"

namespace skep::state {

// Aborted ids of one sequence as maximal intervals of one cause, so that millions of aborts in a
// row cost one row. Says which row of the store each change touches. Value type.
class AbortedIntervals {
 public:
  struct Interval {
    int64_t first = 0;
    int64_t last = 0;
    AbortCause cause = AbortCause::kNone;
    friend bool operator==(const Interval&, const Interval&) = default;
  };
  struct Change {
    std::optional<int64_t> erase_first;  // key of an interval that went into `put`
    Interval put;
    friend bool operator==(const Change&, const Change&) = default;
  };

  // `id` must not be in the set.
  Change Add(int64_t id, AbortCause cause);
  // A row as the store has it; not joined with its neighbours.
  void Load(const Interval& interval);

  std::optional<AbortCause> CauseOf(int64_t id) const;
  int64_t count() const { return count_; }
  std::vector<Interval> Intervals() const;
  // Members above `after`, ascending, at most `limit`.
  std::vector<int64_t> IdsAfter(int64_t after, int64_t limit) const;
  // Members ≤ high without those in `without` (ascending), ascending.
  std::vector<int64_t> IdsUpTo(int64_t high, const std::vector<int64_t>& without) const;

 private:
  struct Tail {
    int64_t last;
    AbortCause cause;
  };
  absl::btree_map<int64_t, Tail> intervals_;  // by first
  int64_t count_ = 0;
};

}  // namespace skep::state
