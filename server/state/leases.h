#pragma once

#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/base/clock.h"

namespace skep::state {

// Who must renew by when. Memory only: after a load everybody starts with a full lease.
// Thread-compatible.
//
// A lease is over when it was not renewed for *longer* than its length (TMO-6). Renewing stores a
// time and no more; the queue by deadline is corrected when the old deadline comes. Memory follows
// the live ids.
template <class Id>
class Leases {
 public:
  using Duration = std::chrono::nanoseconds;

  // Begins a lease, or renews it (with another length if that differs).
  void Renew(Id id, MonoTime now, Duration length) {
    const MonoTime deadline = Own(now) + length;
    const auto [it, fresh] = entries_.try_emplace(id, Entry{deadline, deadline});
    it->second.deadline = deadline;
    if (fresh || deadline < it->second.queued) Requeue(id, it->second);
  }
  void Drop(Id id) {
    const auto it = entries_.find(id);
    if (it == entries_.end()) return;
    queue_.erase({it->second.queued, id});
    entries_.erase(it);
  }

  // False for unknown ids.
  bool IsOver(Id id, MonoTime now) const {
    const auto it = entries_.find(id);
    return it != entries_.end() && Own(now) > it->second.deadline;
  }
  // Never negative; nullopt for unknown ids.
  std::optional<Duration> Left(Id id, MonoTime now) const {
    const auto it = entries_.find(id);
    if (it == entries_.end()) return std::nullopt;
    return std::max(Duration(0), it->second.deadline - Own(now));
  }

  // Ids whose lease is over, oldest deadline first. They stay until dropped or renewed. O(due).
  std::vector<Id> Over(MonoTime now) {
    std::vector<Id> over;
    std::vector<Id> renewed;
    for (auto it = queue_.begin(); it != queue_.end() && it->first < Own(now); ++it) {
      const bool is_over = entries_.at(it->second).deadline < Own(now);
      (is_over ? over : renewed).push_back(it->second);
    }
    for (Id id : renewed) Requeue(id, entries_.at(id));
    return over;
  }
  // Nothing is over before this. It may turn out that nothing is over then either.
  std::optional<MonoTime> NextOver() const {
    if (queue_.empty()) return std::nullopt;
    return queue_.begin()->first + stalled_ + Duration(1);
  }

  // Nobody could renew for `stall`: every lease is longer by it.
  void Extend(Duration stall) { stalled_ += stall; }

 private:
  struct Entry {
    MonoTime deadline;
    MonoTime queued;  // where it stands in queue_: at or before deadline
  };

  // Time without the stalls: an extension of all leases is O(1).
  MonoTime Own(MonoTime now) const { return now - stalled_; }
  void Requeue(Id id, Entry& entry) {
    queue_.erase({entry.queued, id});
    entry.queued = entry.deadline;
    queue_.insert({entry.queued, id});
  }

  std::unordered_map<Id, Entry> entries_;
  std::set<std::pair<MonoTime, Id>> queue_;
  Duration stalled_{0};
};

}  // namespace skep::state
