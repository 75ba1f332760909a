#include "server/state/lock_rows.h"

#include <utility>

namespace skep::state {

const LockRows::Rows* LockRows::Find(LockId lock) const {
  const auto it = rows_.find(lock);
  return it == rows_.end() ? nullptr : &it->second;
}

int64_t& LockRows::CounterOf(const Rows& rows) {
  return rows.front().state == LockState::kAcquired ? held_ : waiting_;
}

void LockRows::Add(Rows rows, Unit& unit) {
  for (const LockRow& row : rows) unit.Add(Put<LockRow>{row});
  CounterOf(rows) += std::ssize(rows);
  const LockId lock = rows.front().lock;
  rows_[lock] = std::move(rows);
}

void LockRows::Grant(LockId lock, Timestamp when, Unit& unit) {
  Rows& rows = rows_.at(lock);
  CounterOf(rows) -= std::ssize(rows);
  for (LockRow& row : rows) {
    row.state = LockState::kAcquired;
    row.acquire_time = when;
    unit.Add(Put<LockRow>{row});
  }
  CounterOf(rows) += std::ssize(rows);
}

void LockRows::Erase(LockId lock, Unit& unit) {
  const auto it = rows_.find(lock);
  if (it == rows_.end()) return;
  CounterOf(it->second) -= std::ssize(it->second);
  rows_.erase(it);
  unit.Add(EraseLock{lock});
}

void LockRows::Load(const StoredState& stored) {
  for (const auto& [key, row] : stored.locks) {
    rows_[row.lock].push_back(row);
    (row.state == LockState::kAcquired ? held_ : waiting_) += 1;
  }
}

void LockRows::Store(StoredState& out) const {
  for (const auto& [lock, rows] : rows_) {
    for (const LockRow& row : rows) out.locks[{lock, row.component}] = row;
  }
}

}  // namespace skep::state
