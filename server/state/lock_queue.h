#pragma once

// Inside of the lock table: requests in their queues, who blocks whom, and grants.

#include <array>
#include <functional>
#include <set>
#include <unordered_map>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "server/state/id_map.h"
#include "server/state/lock_index.h"

namespace skep::state::locks {

// Requests that stop waiting during one change, smallest id first.
using Worklist = std::set<LockId>;

class LockQueue {
 public:
  // -- changes; `work` collects the waiting requests that must be looked at again

  // A new request, unchecked: waiting ones must be parked, granted or taken out before anything
  // else.
  Record& Enter(const LockRequest& request, LockState state);
  void Grant(Record& record, Worklist& work);
  void Leave(Record& record, Worklist& work);
  // From now on `record` is looked at when `blocker` leaves.
  void Park(Record& record, Record& blocker);
  // Grants what of `work` nothing blocks, parks the rest; a grant may add to the work. In order of
  // grants.
  std::vector<LockId> Settle(Worklist work);

  // -- questions

  // One of those that block a waiting request, nullptr if nothing does. The latest in the queue
  // that it finds: then the release of a lock concerns the first waiter, not each of them.
  Record* FindBlocker(const Record& record) const;
  // Those that block it, granted or waiting as asked, with the place that is blocked. A blocker may
  // come more than once. At most `per_queue` of each queue, oldest first.
  using Visit = std::function<void(const Record& blocker, const Place& wanted)>;
  void ForEachBlocker(const Record& record,
                      LockState state,
                      int64_t per_queue,
                      const Visit& visit) const;
  // a granted lock of the owner has the same or a wider scope and the same or a stronger
  // kind.
  bool Covered(const OwnerRecord* owner, const Place& place) const;
  bool Holds(const OwnerRecord& owner, const LockTarget& target) const;  // the same, by name
  // a granted lock of the owner blocks the waiting request.
  bool Passes(const OwnerRecord* owner, const Record& waiting) const;
  // LCQ-1: the waiting request lets readers pass, and this is one.
  static bool PassesAsReader(const Record& record, const Record& waiting) {
    return record.only_reads && waiting.readers_pass;
  }
  // False: nobody waits because of this owner. True: somebody may.
  bool MayBeWaitedFor(const LockOwner& owner) const;
  // A granted lock of another owner that conflicts with it.
  const Record* GrantedConflict(const Record& record) const;

  Record* FindRecord(LockId lock) const;
  const OwnerRecord* FindOwner(const LockOwner& owner) const;
  // The same for transactions; nullptr for other owners, which have no privileges over themselves.
  const OwnerRecord* Privileges(const LockOwner& owner) const;

  const Index& index() const { return index_; }
  int64_t waiting_count() const { return waiting_count_; }
  int64_t looks() const { return looks_; }
  int64_t size() const { return static_cast<int64_t>(records_.size()); }

 private:
  // How many granted components an owner has at a node and below it.
  struct Holding {
    std::array<int64_t, kKinds> self{};
    std::array<int64_t, kKinds> below{};
  };
  using Held = std::unordered_map<const Node*, Holding>;
  // Up to here what an owner holds is looked through, which takes no memory.
  static constexpr uint32_t kFewPlaces = 16;

  static void Link(Record& record, OwnerRecord& owner);
  static void Unlink(Record& record, OwnerRecord& owner);
  void Unpark(Record& record);
  // A granted request comes or goes: `owner` has it linked.
  void Hold(const Record& record, OwnerRecord& owner, int32_t sign);
  static void Count(Held& held, const Record& record, int32_t sign);
  const Held* HeldBy(const OwnerRecord& owner) const;
  bool HeldConflicts(const OwnerRecord& owner, const Place& place) const;
  bool HeldCovers(const OwnerRecord& owner, const Place& place) const;

  Index index_;
  IdMap<LockId, Record> records_;
  absl::flat_hash_map<LockOwner, OwnerRecord> owners_;
  absl::flat_hash_map<LockOwner, Held> held_;  // of owners that hold more than a few places
  int64_t waiting_count_ = 0;
  mutable int64_t looks_ = 0;  // calls of FindBlocker
};

}  // namespace skep::state::locks
