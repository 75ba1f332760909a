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
    if (owner_ == nullptr || owner_->granted_places == 0) return false;
    auto [it, is_new] = known_.try_emplace(&waiting, false);
    if (is_new) it->second = queue_.Passes(owner_, waiting);
    return it->second;
  }

 private:
  const LockQueue& queue_;
  const OwnerRecord* owner_;
  std::unordered_map<const Record*, bool> known_;
};

template <class Counts>
bool HasAny(const Counts& counts, KindSet kinds) {
  for (size_t k = 0; k < kKinds; ++k) {
    if ((kinds >> k & 1) != 0 && counts[k] > 0) return true;
  }
  return false;
}

// Whether `is_it` says so of a place that the owner holds.
template <class Predicate>
bool HoldsAny(const OwnerRecord& owner, Predicate is_it) {
  for (const Record* r = owner.first; r != nullptr; r = r->next_of_owner) {
    if (r->granted && std::any_of(r->places.begin(), r->places.end(), is_it)) return true;
  }
  return false;
}

}  // namespace

void LockQueue::Link(Record& record, OwnerRecord& owner) {
  Record* before = owner.last;
  while (before != nullptr && before->id() > record.id()) before = before->previous_of_owner;
  record.previous_of_owner = before;
  record.next_of_owner = before == nullptr ? owner.first : before->next_of_owner;
  (before == nullptr ? owner.first : before->next_of_owner) = &record;
  (record.next_of_owner == nullptr ? owner.last : record.next_of_owner->previous_of_owner) =
      &record;
}

void LockQueue::Unlink(Record& record, OwnerRecord& owner) {
  Record* const before = record.previous_of_owner;
  Record* const after = record.next_of_owner;
  (before == nullptr ? owner.first : before->next_of_owner) = after;
  (after == nullptr ? owner.last : after->previous_of_owner) = before;
}

Record& LockQueue::Enter(const LockRequest& request, LockState state) {
  Record& record = records_.Insert(request.id, request.id, request.owner);
  record.places = index_.PlacesOf(request);
  record.granted = state == LockState::kAcquired;
  record.readers_pass = request.readers_pass;
  record.only_reads =
      std::all_of(record.places.begin(), record.places.end(), [](const Place& place) {
        return place.kind == LockKind::kSharedRead;
      });
  OwnerRecord& owner = owners_[record.owner()];
  Link(record, owner);
  index_.Insert(record);
  if (record.granted) {
    Hold(record, owner, 1);
  } else {
    ++owner.waiting;
    ++waiting_count_;
  }
  return record;
}

void LockQueue::Count(Held& held, const Record& record, int32_t sign) {
  const auto count = [&](const Node* node, auto member, LockKind kind) {
    Holding& holding = held[node];
    (holding.*member)[static_cast<size_t>(kind)] += sign;
    if (!HasAny(holding.self, ~KindSet{0}) && !HasAny(holding.below, ~KindSet{0})) held.erase(node);
  };
  for (const Place& place : record.places) {
    count(place.node, &Holding::self, place.kind);
    for (const Node* outer = place.node->parent; outer != nullptr; outer = outer->parent) {
      count(outer, &Holding::below, place.kind);
    }
  }
}

void LockQueue::Hold(const Record& record, OwnerRecord& owner, int32_t sign) {
  owner.granted_places += static_cast<uint32_t>(sign * std::ssize(record.places));
  // Nobody asks what owners outside transactions hold: they have no privileges.
  if (!record.owner().is_txn()) return;
  if (const auto known = held_.find(record.owner()); known != held_.end()) {
    Count(known->second, record, sign);
    if (owner.granted_places == 0) held_.erase(known);
  } else if (owner.granted_places > kFewPlaces) {
    Held& held = held_[record.owner()];
    for (const Record* r = owner.first; r != nullptr; r = r->next_of_owner) {
      if (r->granted) Count(held, *r, 1);
    }
  }
}

const LockQueue::Held* LockQueue::HeldBy(const OwnerRecord& owner) const {
  // One that held more once has its index until it holds nothing.
  const auto known = held_.empty() ? held_.end() : held_.find(owner.first->owner());
  return known == held_.end() ? nullptr : &known->second;
}

bool LockQueue::HeldConflicts(const OwnerRecord& owner, const Place& place) const {
  const Held* const held = HeldBy(owner);
  if (held == nullptr) {
    return HoldsAny(owner, [&](const Place& own) { return PlacesConflict(place, own); });
  }
  for (const Node* outer = place.node; outer != nullptr; outer = outer->parent) {
    const auto it = held->find(outer);
    if (it == held->end()) continue;
    if (HasAny(it->second.self, ConflictsAbove(place.kind, *place.node, *outer))) return true;
    if (outer == place.node && HasAny(it->second.below, ConflictsBelow(place.kind, *outer)))
      return true;
  }
  return false;
}

bool LockQueue::HeldCovers(const OwnerRecord& owner, const Place& place) const {
  const Held* const held = HeldBy(owner);
  if (held == nullptr) {
    return HoldsAny(owner, [&](const Place& own) {
      return LockCovers(own.kind, *own.node, place.kind, *place.node);
    });
  }
  for (const Node* outer = place.node; outer != nullptr; outer = outer->parent) {
    const auto it = held->find(outer);
    if (it == held->end()) continue;
    for (auto k = static_cast<size_t>(place.kind); k < kKinds; ++k) {
      if (it->second.self[k] > 0 &&
          LockCovers(static_cast<LockKind>(k), *outer, place.kind, *place.node)) {
        return true;
      }
    }
  }
  return false;
}

void LockQueue::Grant(Record& record, Worklist& work) {
  Unpark(record);
  index_.Remove(record);
  record.granted = true;
  index_.Insert(record);
  OwnerRecord& owner = owners_[record.owner()];
  Hold(record, owner, 1);
  --owner.waiting;
  --waiting_count_;
  // Those parked here stay: a granted lock blocks them as the waiting one did. The own
  // transaction's other requests may be covered by it now, or may pass whom it blocks.
  if (!record.owner().is_txn() || owner.waiting == 0) return;
  for (const Record* waiting : WaitingOf(owner)) work.insert(waiting->id());
}

void LockQueue::Leave(Record& record, Worklist& work) {
  if (record.parked_here != nullptr) {
    for (Record* parked : *record.parked_here) {
      parked->parked_on = nullptr;
      work.insert(parked->id());
    }
    record.parked_here = nullptr;
  }
  Unpark(record);
  index_.Remove(record);
  const auto owner = owners_.find(record.owner());
  if (record.granted) {
    Hold(record, owner->second, -1);
  } else {
    --owner->second.waiting;
    --waiting_count_;
  }
  index_.Prune(record.places);
  Unlink(record, owner->second);
  if (owner->second.first == nullptr) owners_.erase(owner);
  work.erase(record.id());
  records_.Erase(record.id());
}

void LockQueue::Park(Record& record, Record& blocker) {
  Unpark(record);
  record.parked_on = &blocker;
  if (blocker.parked_here == nullptr) {
    blocker.parked_here = std::make_unique<std::vector<Record*>>();
  }
  record.parked_slot = static_cast<uint32_t>(blocker.parked_here->size());
  blocker.parked_here->push_back(&record);
}

void LockQueue::Unpark(Record& record) {
  if (record.parked_on == nullptr) return;
  std::vector<Record*>& list = *record.parked_on->parked_here;
  list[record.parked_slot] = list.back();
  list[record.parked_slot]->parked_slot = record.parked_slot;
  list.pop_back();
  if (list.empty()) record.parked_on->parked_here = nullptr;
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
        Record* other = (--it)->second;
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
      for (const auto& [id, other] : queue) {
        if (SameTxn(record, *other)) continue;
        latest = other;
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
        const Record& other = *it->second;
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
  return owner != nullptr && owner->granted_places > 0 && HeldCovers(*owner, place);
}

bool LockQueue::Holds(const OwnerRecord& owner, const LockTarget& target) const {
  // What is asked for may have no node of its own: then the next around it that has one stands for
  // it.
  for (const LockResource& outer : Containers(target.resource)) {
    const Node* node = index_.FindNode(outer);
    if (node == nullptr) continue;
    const bool is_asked_one = outer == target.resource;
    return HoldsAny(owner, [&](const Place& own) {
      const bool covers_itself_only =
          own.kind == LockKind::kSharedRead && own.node->is_database() && !is_asked_one;
      return !covers_itself_only && LockCovers(own.kind, *own.node, target.kind, *node);
    });
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
  for (const Record* record = found->first; record != nullptr; record = record->next_of_owner) {
    for (const Place& place : record->places) {
      const bool nobody =
          ForEachConflictingQueue(place, LockState::kWaiting, [&](const Queue& queue) {
            for (const auto& [other_id, other] : queue) {
              if (other != record && !SameTxn(*record, *other)) return false;
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
      for (const auto& [id, other] : queue) {
        if (other == &record || SameTxn(record, *other)) continue;
        found = other;
        return false;
      }
      return true;
    });
    if (found != nullptr) break;
  }
  return found;
}

Record* LockQueue::FindRecord(LockId lock) const {
  return const_cast<Record*>(records_.Find(lock));
}

const OwnerRecord* LockQueue::FindOwner(const LockOwner& owner) const {
  auto it = owners_.find(owner);
  return it == owners_.end() ? nullptr : &it->second;
}

const OwnerRecord* LockQueue::Privileges(const LockOwner& owner) const {
  return owner.is_txn() ? FindOwner(owner) : nullptr;
}

}  // namespace skep::state::locks
