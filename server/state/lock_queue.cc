#include "server/state/lock_queue.h"

#include <algorithm>
#include <utility>

namespace skep::state::locks {
namespace {

// Waiting requests that the owner of one request passes, remembered while it is looked at.
class PassMemo {
 public:
  PassMemo(const LockQueue& queue, const OwnerRecord* owner) : queue_(queue), owner_(owner) {}

  bool Passes(const Record& waiting) {
    if (owner_ == nullptr || owner_->held.empty()) return false;
    auto [it, is_new] = known_.try_emplace(&waiting, false);
    if (is_new) it->second = queue_.Passes(owner_, waiting);
    return it->second;
  }

 private:
  const LockQueue& queue_;
  const OwnerRecord* owner_;
  std::unordered_map<const Record*, bool> known_;
};

bool HasAny(const std::array<int64_t, kKinds>& counts, KindSet kinds) {
  for (size_t k = 0; k < kKinds; ++k) {
    if ((kinds >> k & 1) != 0 && counts[k] > 0) return true;
  }
  return false;
}

bool HeldConflicts(const OwnerRecord& owner, const Place& place) {
  for (const Node* outer = place.node; outer != nullptr; outer = outer->parent) {
    auto it = owner.held.find(outer);
    if (it == owner.held.end()) continue;
    if (HasAny(it->second.self, ConflictsAbove(place.kind, *place.node, *outer))) return true;
    if (outer == place.node && HasAny(it->second.below, ConflictsBelow(place.kind, *outer)))
      return true;
  }
  return false;
}

// R-19 for one place where something may be held: the asked one itself, or one that contains it.
bool HeldCovers(const OwnerRecord& owner, const Node& node, LockKind kind, bool is_asked_one) {
  auto it = owner.held.find(&node);
  if (it == owner.held.end()) return false;
  for (size_t k = static_cast<size_t>(kind); k < kKinds; ++k) {
    const bool covers_itself_only =
        static_cast<LockKind>(k) == LockKind::kSharedRead && node.is_database();
    if (it->second.self[k] > 0 && (is_asked_one || !covers_itself_only)) return true;
  }
  return false;
}

}  // namespace

Record& LockQueue::Enter(LockRequest request, LockState state) {
  auto owned = std::make_unique<Record>();
  Record& record = *owned;
  record.request = std::move(request);
  record.places = index_.PlacesOf(record.request);
  record.granted = state == LockState::kAcquired;
  record.only_reads =
      std::all_of(record.places.begin(), record.places.end(), [](const Place& place) {
        return place.kind == LockKind::kSharedRead;
      });
  records_[record.id()] = std::move(owned);
  OwnerRecord& owner = owners_[record.owner()];
  owner.requests[record.id()] = &record;
  index_.Insert(record);
  if (record.granted) {
    Hold(record, 1);
  } else {
    owner.waiting[record.id()] = &record;
    ++waiting_count_;
  }
  return record;
}

void LockQueue::Hold(const Record& record, int64_t sign) {
  OwnerRecord& owner = owners_[record.owner()];
  auto count = [&](const Node* node, auto member, LockKind kind) {
    Holding& holding = owner.held[node];
    (holding.*member)[static_cast<size_t>(kind)] += sign;
    if (!HasAny(holding.self, ~KindSet{0}) && !HasAny(holding.below, ~KindSet{0}))
      owner.held.erase(node);
  };
  for (const Place& place : record.places) {
    count(place.node, &Holding::self, place.kind);
    for (const Node* outer = place.node->parent; outer != nullptr; outer = outer->parent) {
      count(outer, &Holding::below, place.kind);
    }
  }
}

void LockQueue::Grant(Record& record, Worklist& work) {
  Unpark(record);
  index_.Remove(record);
  record.granted = true;
  index_.Insert(record);
  Hold(record, 1);
  OwnerRecord& owner = owners_[record.owner()];
  owner.waiting.erase(record.id());
  --waiting_count_;
  // Those parked here stay: a granted lock blocks them as the waiting one did. The own
  // transaction's other requests may be covered by it now, or may pass whom it blocks.
  if (!record.owner().is_txn()) return;
  for (const auto& [id, waiting] : owner.waiting) work.insert(id);
}

void LockQueue::Leave(Record& record, Worklist& work) {
  for (Record* parked : record.parked_here) {
    parked->parked_on = nullptr;
    work.insert(parked->id());
  }
  record.parked_here.clear();
  Unpark(record);
  index_.Remove(record);
  auto owner = owners_.find(record.owner());
  if (record.granted) {
    Hold(record, -1);
  } else {
    owner->second.waiting.erase(record.id());
    --waiting_count_;
  }
  index_.Prune(record.places);
  owner->second.requests.erase(record.id());
  if (owner->second.requests.empty()) owners_.erase(owner);
  work.erase(record.id());
  records_.erase(record.id());
}

void LockQueue::Park(Record& record, Record& blocker) {
  Unpark(record);
  record.parked_on = &blocker;
  record.parked_slot = blocker.parked_here.size();
  blocker.parked_here.push_back(&record);
}

void LockQueue::Unpark(Record& record) {
  if (record.parked_on == nullptr) return;
  std::vector<Record*>& list = record.parked_on->parked_here;
  list[record.parked_slot] = list.back();
  list[record.parked_slot]->parked_slot = record.parked_slot;
  list.pop_back();
  record.parked_on = nullptr;
}

std::vector<LockId> LockQueue::Settle(Worklist work) {
  std::vector<LockId> granted;
  while (!work.empty()) {
    Record* record = FindRecord(work.extract(work.begin()).value());
    if (record == nullptr || record->granted) continue;
    if (Record* blocker = FindBlocker(*record); blocker != nullptr) {
      Park(*record, *blocker);
    } else {
      Grant(*record, work);
      granted.push_back(record->id());
    }
  }
  return granted;
}

Record* LockQueue::FindBlocker(const Record& record) const {
  ++looks_;
  const OwnerRecord* owner = Privileges(record.owner());
  PassMemo memo(*this, owner);
  for (const Place& place : record.places) {
    if (Covered(owner, place)) continue;
    Record* latest = nullptr;
    ForEachConflictingQueue(place, LockState::kWaiting, [&](const Queue& queue) {
      for (auto it = queue.lower_bound(record.id()); it != queue.begin();) {
        Record* other = (--it)->second.request;
        if (latest != nullptr && other->id() < latest->id()) break;
        if (SameTxn(record, *other) || PassesAsReader(record, *other)) continue;
        if (memo.Passes(*other)) continue;
        latest = other;
        break;
      }
      return true;
    });
    if (latest != nullptr) return latest;
    ForEachConflictingQueue(place, LockState::kAcquired, [&](const Queue& queue) {
      for (const auto& [id, entry] : queue) {
        if (SameTxn(record, *entry.request)) continue;
        latest = entry.request;
        return false;
      }
      return true;
    });
    if (latest != nullptr) return latest;
  }
  return nullptr;
}

void LockQueue::ForEachBlocker(const Record& record,
                               LockState state,
                               int64_t per_queue,
                               const Visit& visit) const {
  const OwnerRecord* owner = Privileges(record.owner());
  PassMemo memo(*this, owner);
  for (const Place& place : record.places) {
    if (Covered(owner, place)) continue;
    ForEachConflictingQueue(place, state, [&](const Queue& queue) {
      int64_t left = per_queue;
      for (auto it = queue.begin(); it != queue.end() && left > 0; ++it) {
        const Record& other = *it->second.request;
        if (state == LockState::kWaiting && it->first >= record.id()) break;
        if (SameTxn(record, other)) continue;
        if (state == LockState::kWaiting && (PassesAsReader(record, other) || memo.Passes(other))) {
          continue;
        }
        visit(other, place);
        --left;
      }
      return true;
    });
  }
}

bool LockQueue::Covered(const OwnerRecord* owner, const Place& place) const {
  if (owner == nullptr) return false;
  for (const Node* outer = place.node; outer != nullptr; outer = outer->parent) {
    if (HeldCovers(*owner, *outer, place.kind, outer == place.node)) return true;
  }
  return false;
}

bool LockQueue::Holds(const OwnerRecord& owner, const LockTarget& target) const {
  for (const LockResource& outer : Containers(target.resource)) {
    const Node* node = index_.FindNode(outer);
    if (node != nullptr && HeldCovers(owner, *node, target.kind, outer == target.resource))
      return true;
  }
  return false;
}

bool LockQueue::Passes(const OwnerRecord* owner, const Record& waiting) const {
  if (owner == nullptr) return false;
  for (const Place& place : waiting.places) {
    if (HeldConflicts(*owner, place)) return true;
  }
  return false;
}

bool LockQueue::MayBeWaitedFor(const LockOwner& owner) const {
  const OwnerRecord* found = FindOwner(owner);
  if (found == nullptr) return false;
  for (const auto& request : found->requests) {
    const Record* record = request.second;
    for (const Place& place : record->places) {
      const bool nobody =
          ForEachConflictingQueue(place, LockState::kWaiting, [&](const Queue& queue) {
            for (const auto& [other_id, entry] : queue) {
              if (entry.request != record && !SameTxn(*record, *entry.request)) return false;
            }
            return true;
          });
      if (!nobody) return true;
    }
  }
  return false;
}

const Record* LockQueue::GrantedConflict(const Record& record) const {
  const Record* found = nullptr;
  for (const Place& place : record.places) {
    ForEachConflictingQueue(place, LockState::kAcquired, [&](const Queue& queue) {
      for (const auto& [id, entry] : queue) {
        if (entry.request == &record || SameTxn(record, *entry.request)) continue;
        found = entry.request;
        return false;
      }
      return true;
    });
    if (found != nullptr) break;
  }
  return found;
}

Record* LockQueue::FindRecord(LockId lock) const {
  auto it = records_.find(lock);
  return it == records_.end() ? nullptr : it->second.get();
}

const OwnerRecord* LockQueue::FindOwner(const LockOwner& owner) const {
  auto it = owners_.find(owner);
  return it == owners_.end() ? nullptr : &it->second;
}

const OwnerRecord* LockQueue::Privileges(const LockOwner& owner) const {
  return owner.is_txn() ? FindOwner(owner) : nullptr;
}

}  // namespace skep::state::locks
