#pragma once

#include <algorithm>
#include <cstdint>

#include <absl/container/btree_map.h>

#include "storage/model/ids.h"

namespace skep::state {

// How many hold a snapshot of which sequence: what was resolved up to the oldest needs no record
// any more. Value type.
class LiveSnapshots {
 public:
  void Add(CommitSeq seq) { ++holders_[seq]; }
  void Remove(CommitSeq seq) {
    const auto it = holders_.find(seq);
    if (it != holders_.end() && --it->second == 0) holders_.erase(it);
  }
  // The oldest held one; `newest` if it is older or if nobody holds any.
  CommitSeq OldestOr(CommitSeq newest) const {
    return holders_.empty() ? newest : std::min(newest, holders_.begin()->first);
  }
  // Somebody holds a snapshot at or after `from` and before `until`. O(log n).
  bool AnyIn(CommitSeq from, CommitSeq until) const {
    const auto it = holders_.lower_bound(from);
    return it != holders_.end() && it->first < until;
  }

 private:
  absl::btree_map<CommitSeq, int64_t> holders_;
};

}  // namespace skep::state
