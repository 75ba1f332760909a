#include "server/state/lock_deadlock.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <unordered_set>
#include <utility>

namespace skep::state::locks {
namespace {

// Breadth first from one waiting request over owners. A queue is read once: what one waiter found
// ahead of it need not be found again for the next. The start's own look is not remembered, because
// it leaves out the start's other requests, which are what the search is for.
class Search {
 public:
  Search(const LockQueue& queue, const Record& start) : queue_(queue), start_(start) {}

  std::optional<LockDeadlock> Run() {
    Expand(start_, Remember::kNo);
    while (!found_ && !todo_.empty()) {
      const OwnerRecord* owner = queue_.FindOwner(todo_.front());
      todo_.pop_front();
      for (const Record* waiting : WaitingOf(*owner)) {
        if (!found_) Expand(*waiting, Remember::kYes);
      }
    }
    if (!found_) return std::nullopt;
    return Describe();
  }

 private:
  enum class Remember { kNo, kYes };
  struct Edge {  // into an owner
    const Record* waiting = nullptr;
    const Record* blocker = nullptr;
    Place wanted;
  };

  void Expand(const Record& waiting, Remember remember) {
    const OwnerRecord* privileges = queue_.Privileges(waiting.owner());
    for (const Place& place : waiting.places) {
      if (found_) return;
      if (queue_.Covered(privileges, place)) continue;
      ForEachConflictingQueue(place, LockState::kAcquired, [&](const Queue& holders) {
        ReadHolders(holders, waiting, place, remember);
        return !found_;
      });
      if (found_) return;
      ForEachConflictingQueue(place, LockState::kWaiting, [&](const Queue& waiters) {
        ReadWaiters(waiters, waiting, place, remember, privileges);
        return !found_;
      });
    }
  }

  void ReadHolders(const Queue& holders,
                   const Record& waiting,
                   const Place& place,
                   Remember remember) {
    if (remember == Remember::kYes && !read_holders_.insert(&holders).second) return;
    for (const auto& [id, holder] : holders) {
      if (!SameTxn(waiting, *holder)) Reach({&waiting, holder, place});
      if (found_) return;
    }
  }

  void ReadWaiters(const Queue& waiters,
                   const Record& waiting,
                   const Place& place,
                   Remember remember,
                   const OwnerRecord* privileges) {
    LockId known;  // everything up to here was read before
    if (remember == Remember::kYes) known = read_waiters_[&waiters];
    bool complete = remember == Remember::kYes;
    for (auto it = waiters.upper_bound(known); it != waiters.end() && it->first < waiting.id();
         ++it) {
      const Record& other = *it->second;
      if (!SameTxn(waiting, other)) {
        if (LockQueue::PassesAsReader(waiting, other) || queue_.Passes(privileges, other)) {
          complete = false;  // it blocks others all the same: read again from here
        } else {
          Reach({&waiting, &other, place});
          if (found_) return;
        }
      }
      if (complete) known = it->first;
    }
    if (remember == Remember::kYes) read_waiters_[&waiters] = known;
  }

  void Reach(const Edge& edge) {
    const LockOwner& owner = edge.blocker->owner();
    if (owner == start_.owner()) {
      found_ = true;
      last_ = edge;
      return;
    }
    if (queue_.FindOwner(owner)->waiting == 0) return;
    if (into_.try_emplace(owner, edge).second) todo_.push_back(owner);
  }

  LockDeadlock Describe() const {
    LockDeadlock deadlock;
    const Edge* edge = &last_;
    while (true) {
      deadlock.cycle.push_back({edge->waiting->owner(),
                                edge->waiting->id(),
                                DescribeBlocker(*edge->blocker, edge->wanted)});
      if (edge->waiting == &start_) break;
      edge = &into_.at(edge->waiting->owner());
    }
    std::reverse(deadlock.cycle.begin(), deadlock.cycle.end());
    ChooseVictim(deadlock);
    for (const LockDeadlock::Step& step : deadlock.cycle) {
      if (!deadlock.text.empty()) deadlock.text += "; ";
      deadlock.text +=
          step.owner.ToString() + " waits for " + step.blocker.wanted.ToString() + " (lock " +
          step.waiting.ToString() + ") behind " + step.blocker.held.ToString() +
          (step.blocker.state == LockState::kAcquired ? " held by " : " asked for earlier by ") +
          step.blocker.owner.ToString() + " (lock " + step.blocker.lock.ToString() + ")";
    }
    return deadlock;
  }

  static void ChooseVictim(LockDeadlock& deadlock) {
    auto younger = [](const LockDeadlock::Step& a, const LockDeadlock::Step& b) {
      if (a.owner.is_txn() != b.owner.is_txn()) return b.owner.is_txn();
      if (a.owner.is_txn()) return a.owner < b.owner;
      return a.waiting < b.waiting;
    };
    auto youngest = std::max_element(deadlock.cycle.begin(), deadlock.cycle.end(), younger);
    deadlock.victim = youngest->owner;
    deadlock.victim_request = youngest->waiting;
  }

  const LockQueue& queue_;
  const Record& start_;
  std::deque<LockOwner> todo_;
  std::map<LockOwner, Edge> into_;  // by whom an owner was reached
  std::unordered_set<const Queue*> read_holders_;
  std::unordered_map<const Queue*, LockId> read_waiters_;
  Edge last_;
  bool found_ = false;
};

}  // namespace

std::optional<LockDeadlock> FindCycle(const LockQueue& queue, const Record& waiting) {
  if (waiting.granted || !queue.MayBeWaitedFor(waiting.owner())) return std::nullopt;
  return Search(queue, waiting).Run();
}

LockTarget TargetOf(const Place& place) {
  LockTarget target;
  target.kind = place.kind;
  const Node* node = place.node;
  if (node->parent != nullptr && node->parent->parent != nullptr) {
    target.resource.partition = node->name;
    node = node->parent;
  }
  if (node->parent != nullptr) {
    target.resource.table = node->name;
    node = node->parent;
  }
  target.resource.database = node->name;
  return target;
}

LockBlocker DescribeBlocker(const Record& blocker, const Place& wanted) {
  LockBlocker described;
  described.lock = blocker.id();
  described.owner = blocker.owner();
  described.state = blocker.granted ? LockState::kAcquired : LockState::kWaiting;
  described.wanted = TargetOf(wanted);
  auto held = std::find_if(blocker.places.begin(), blocker.places.end(), [&](const Place& place) {
    return PlacesConflict(wanted, place);
  });
  if (held != blocker.places.end()) described.held = TargetOf(*held);
  return described;
}

}  // namespace skep::state::locks
