#pragma once

#include <map>
#include <memory>

#include "storage/model/ids.h"
#include "storage/model/snapshot.h"

namespace skep::state {

// Lists made lately, by sequence. The list of a published sequence never changes, so all
// transactions of one sequence share it; how many are kept is bounded, whatever the number of live
// snapshots. Thread-compatible.
class ValidIdsCache {
 public:
  // Sharers: the cache and whoever was given the list.
  using List = std::shared_ptr<const ValidIds>;

  explicit ValidIdsCache(size_t capacity) : capacity_(capacity) {}

  // The kept list of `seq`, or the one that `make()` returns.
  template <class Make>
  List GetOrMake(CommitSeq seq, Make make) {
    const auto it = lists_.find(seq);
    if (it != lists_.end()) return it->second;
    if (lists_.size() >= capacity_) lists_.erase(lists_.begin());
    return lists_[seq] = std::make_shared<const ValidIds>(make());
  }

  // nullptr: it is not kept.
  List Find(CommitSeq seq) const {
    const auto it = lists_.find(seq);
    return it == lists_.end() ? nullptr : it->second;
  }

 private:
  size_t capacity_;
  std::map<CommitSeq, List> lists_;
};

}  // namespace skep::state
