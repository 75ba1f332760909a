#include "server/loop/lock_waiters.h"

#include <algorithm>

namespace skep::loop {

void LockWaiters::Add(LockId lock, const Entry& entry) {
  entries_[lock].push_back(entry);
  locks_[entry.waiter] = lock;
}

std::vector<LockWaiters::Entry> LockWaiters::Take(LockId lock) {
  const auto found = entries_.find(lock);
  if (found == entries_.end()) return {};
  std::vector<Entry> taken = std::move(found->second);
  entries_.erase(found);
  for (const Entry& entry : taken) locks_.erase(entry.waiter);
  return taken;
}

bool LockWaiters::Remove(LockWaiter* waiter, LockId* lock, Entry* entry) {
  const auto found = locks_.find(waiter);
  if (found == locks_.end()) return false;
  *lock = found->second;
  locks_.erase(found);
  std::vector<Entry>& entries = entries_[*lock];
  const auto it = std::find_if(
      entries.begin(), entries.end(), [&](const Entry& e) { return e.waiter == waiter; });
  *entry = *it;
  entries.erase(it);
  if (entries.empty()) entries_.erase(*lock);
  return true;
}

std::vector<LockId> LockWaiters::Locks() const {
  std::vector<LockId> locks;
  locks.reserve(entries_.size());
  for (const auto& [lock, entries] : entries_) locks.push_back(lock);
  std::sort(locks.begin(), locks.end());
  return locks;
}

std::vector<LockWaiters::Entry> LockWaiters::TakeOfUnit(CommitSeq unit) {
  std::vector<LockWaiter*> gone;
  for (const auto& [lock, entries] : entries_) {
    for (const Entry& entry : entries) {
      if (entry.unit == unit) gone.push_back(entry.waiter);
    }
  }
  std::vector<Entry> taken(gone.size());
  LockId lock;
  for (size_t i = 0; i < gone.size(); ++i) Remove(gone[i], &lock, &taken[i]);
  return taken;
}

}  // namespace skep::loop
