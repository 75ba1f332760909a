#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include <absl/status/statusor.h>

#include "server/state/commands.h"
#include "storage/base/executor.h"

namespace skep::loop {

// Somebody who waits for the end of a lock request that is queued.
class LockWaiter {
 public:
  virtual ~LockWaiter() = default;
  // Once: the request was granted or ended, or the time to wait is over (state kWaiting, still
  // queued).
  virtual void Answer(const absl::StatusOr<state::LockAnswer>& answer) = 0;
};

// Who waits for which lock request. A request that was repeated may have several waiters. Confined
// to the loop's thread; waiters are borrowed and must be taken out before they end.
class LockWaiters {
 public:
  struct Entry {
    LockWaiter* waiter = nullptr;
    CommitSeq unit;  // that queued the request, or was open when a repeat came; 0: an earlier one
    std::optional<Executor::TimerId> timer;  // its time to wait; none: as long as it takes
  };

  void Add(LockId lock, const Entry& entry);
  // Everybody who waits for `lock`; they are gone from here.
  std::vector<Entry> Take(LockId lock);
  // One waiter. False if it does not wait (any more).
  bool Remove(LockWaiter* waiter, LockId* lock, Entry* entry);
  bool Waits(LockId lock) const { return entries_.contains(lock); }
  std::vector<LockId> Locks() const;
  // Those whose request was queued by a unit that was not stored.
  std::vector<Entry> TakeOfUnit(CommitSeq unit);
  size_t size() const { return locks_.size(); }

 private:
  std::unordered_map<LockId, std::vector<Entry>> entries_;
  std::unordered_map<LockWaiter*, LockId> locks_;
};

}  // namespace skep::loop
