#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>

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
    const auto [it, fresh] = entries_.try_emplace(id, Entry{deadline, deadline, 0});
    it->second.deadline = deadline;
    if (fresh) {
      Enqueue(id, it->second);
    } else if (deadline < it->second.queued) {
      Requeue(id, it->second);
    }
  }
  void Drop(Id id) {
    const auto it = entries_.find(id);
    if (it == entries_.end()) return;
    Dequeue(it->second);
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

  // Ids whose lease is over, oldest deadline first, at most `limit`. They stay until dropped or
  // renewed. O(due).
  std::vector<Id> Over(MonoTime now, size_t limit) {
    std::vector<std::pair<MonoTime, Id>> over;
    std::vector<Id> renewed;
    for (const auto& [number, slot] : queue_) {
      if (slot.earliest >= Own(now)) break;
      for (const Id id : slot.ids) {
        const Entry& entry = entries_.at(id);
        if (entry.deadline < Own(now)) {
          over.emplace_back(entry.deadline, id);
        } else if (entry.queued < Own(now)) {
          renewed.push_back(id);
        }
      }
    }
    for (const Id id : renewed) Requeue(id, entries_.at(id));
    std::sort(over.begin(), over.end());
    if (over.size() > limit) over.resize(limit);
    std::vector<Id> ids;
    for (const auto& [deadline, id] : over) ids.push_back(id);
    return ids;
  }
  // Nothing is over before this. It may turn out that nothing is over then either.
  std::optional<MonoTime> NextOver() const {
    if (queue_.empty()) return std::nullopt;
    return queue_.begin()->second.earliest + stalled_ + Duration(1);
  }

  // Nobody could renew for `stall`: every lease is longer by it.
  void Extend(Duration stall) { stalled_ += stall; }

 private:
  // Deadlines are queued by slots of time: who comes and goes within one costs no search.
  static constexpr Duration kSlot = std::chrono::milliseconds(64);
  struct Entry {
    MonoTime deadline;
    MonoTime queued;  // where it stands in queue_: at or before deadline
    size_t place;     // in its slot
  };
  struct Slot {
    MonoTime earliest = MonoTime::max();  // queued there ever
    std::vector<Id> ids;
  };

  // Time without the stalls: an extension of all leases is O(1).
  MonoTime Own(MonoTime now) const { return now - stalled_; }
  static int64_t SlotOf(MonoTime time) { return time.time_since_epoch() / kSlot; }

  void Enqueue(Id id, Entry& entry) {
    Slot& slot = queue_[SlotOf(entry.queued)];
    slot.earliest = std::min(slot.earliest, entry.queued);
    entry.place = slot.ids.size();
    slot.ids.push_back(id);
  }
  void Dequeue(const Entry& entry) {
    const auto slot = queue_.find(SlotOf(entry.queued));
    std::vector<Id>& ids = slot->second.ids;
    if (entry.place + 1 < ids.size()) {
      ids[entry.place] = ids.back();
      entries_.at(ids[entry.place]).place = entry.place;
    }
    ids.pop_back();
    if (ids.empty()) queue_.erase(slot);
  }
  void Requeue(Id id, Entry& entry) {
    Dequeue(entry);
    entry.queued = entry.deadline;
    Enqueue(id, entry);
  }

  absl::flat_hash_map<Id, Entry> entries_;
  std::map<int64_t, Slot> queue_;
  Duration stalled_{0};
};

}  // namespace skep::state
