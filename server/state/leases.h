#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "storage/base/check.h"
#include "storage/base/clock.h"

namespace skep::state {

// One lease, kept wherever its id's record is.
struct LeaseEntry {
  static constexpr uint32_t kNotQueued = UINT32_MAX;
  MonoTime deadline;
  uint32_t slot = kNotQueued;  // where it stands in the queue: at or before its deadline's
  uint32_t place = 0;          // in that slot
};

// Homes for leases: this one is a map of its own. Another keeps them in records that exist anyway.
template <class Id>
class LeaseMap {
 public:
  LeaseEntry* Find(Id id) {
    const auto it = entries_.find(id);
    return it == entries_.end() ? nullptr : &it->second;
  }
  LeaseEntry& FindOrMake(Id id) { return entries_[id]; }
  void Erase(Id id) { entries_.erase(id); }

 private:
  absl::flat_hash_map<Id, LeaseEntry> entries_;
};

// Who must renew by when. Memory only: after a load everybody starts with a full lease.
// Thread-compatible.
//
// A lease is over when it was not renewed for *longer* than its length (TMO-6). Renewing stores a
// time and no more; the queue by deadline is corrected when the old deadline comes. Memory follows
// the live ids. An id's lease is dropped before its home goes.
template <class Id, class Home = LeaseMap<Id>>
class Leases {
 public:
  using Duration = std::chrono::nanoseconds;

  explicit Leases(Home home = Home()) : home_(std::move(home)) {}

  // Begins a lease, or renews it (with another length if that differs).
  void Renew(Id id, MonoTime now, Duration length) {
    LeaseEntry& entry = home_.FindOrMake(id);
    entry.deadline = Own(now) + length;
    if (entry.slot == LeaseEntry::kNotQueued) {
      Enqueue(id, entry);
    } else if (SlotOf(entry.deadline) < entry.slot) {
      Requeue(id, entry);
    } else if (SlotOf(entry.deadline) == entry.slot) {
      Slot& slot = queue_.at(entry.slot);
      slot.earliest = std::min(slot.earliest, entry.deadline);
    }
  }
  void Drop(Id id) {
    LeaseEntry* const entry = FindQueued(id);
    if (entry == nullptr) return;
    Dequeue(*entry);
    home_.Erase(id);
  }

  // False for unknown ids.
  bool IsOver(Id id, MonoTime now) const {
    const LeaseEntry* const entry = FindQueued(id);
    return entry != nullptr && Own(now) > entry->deadline;
  }
  // Never negative; nullopt for unknown ids.
  std::optional<Duration> Left(Id id, MonoTime now) const {
    const LeaseEntry* const entry = FindQueued(id);
    if (entry == nullptr) return std::nullopt;
    return std::max(Duration(0), entry->deadline - Own(now));
  }

  // Ids whose lease is over, oldest deadline first, at most `limit`. They stay until dropped or
  // renewed. O(due).
  std::vector<Id> Over(MonoTime now, size_t limit) {
    std::vector<std::pair<MonoTime, Id>> over;
    std::vector<Id> renewed;
    for (auto& [number, slot] : queue_) {
      if (slot.earliest >= Own(now)) break;
      slot.earliest = MonoTime::max();
      for (const Id id : slot.ids) {
        const LeaseEntry& entry = *home_.Find(id);
        if (entry.deadline < Own(now)) over.emplace_back(entry.deadline, id);
        if (SlotOf(entry.deadline) != number) {
          renewed.push_back(id);
        } else {
          slot.earliest = std::min(slot.earliest, entry.deadline);
        }
      }
    }
    for (const Id id : renewed) Requeue(id, *home_.Find(id));
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
  // Deadlines are queued by slots of time: who comes and goes within one costs no search. A number
  // of a slot has room for eight years of a machine that stays up, and the lease after that.
  static constexpr Duration kSlot = std::chrono::milliseconds(64);
  struct Slot {
    MonoTime earliest = MonoTime::max();  // of those there; or earlier
    std::vector<Id> ids;
  };

  // Time without the stalls: an extension of all leases is O(1).
  MonoTime Own(MonoTime now) const { return now - stalled_; }
  static uint32_t SlotOf(MonoTime time) {
    const int64_t slot = time.time_since_epoch() / kSlot;
    SKEP_CHECK(slot >= 0 && slot < LeaseEntry::kNotQueued);
    return static_cast<uint32_t>(slot);
  }
  LeaseEntry* FindQueued(Id id) {
    LeaseEntry* const entry = home_.Find(id);
    return entry == nullptr || entry->slot == LeaseEntry::kNotQueued ? nullptr : entry;
  }
  const LeaseEntry* FindQueued(Id id) const { return const_cast<Leases*>(this)->FindQueued(id); }

  void Enqueue(Id id, LeaseEntry& entry) {
    entry.slot = SlotOf(entry.deadline);
    Slot& slot = queue_[entry.slot];
    slot.earliest = std::min(slot.earliest, entry.deadline);
    entry.place = static_cast<uint32_t>(slot.ids.size());
    slot.ids.push_back(id);
  }
  void Dequeue(LeaseEntry& entry) {
    const auto slot = queue_.find(entry.slot);
    std::vector<Id>& ids = slot->second.ids;
    if (entry.place + 1 < ids.size()) {
      ids[entry.place] = ids.back();
      home_.Find(ids[entry.place])->place = entry.place;
    }
    ids.pop_back();
    if (ids.empty()) queue_.erase(slot);
    entry.slot = LeaseEntry::kNotQueued;
  }
  void Requeue(Id id, LeaseEntry& entry) {
    Dequeue(entry);
    Enqueue(id, entry);
  }

  Home home_;
  std::map<uint32_t, Slot> queue_;
  Duration stalled_{0};
};

}  // namespace skep::state
