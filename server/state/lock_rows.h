#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "server/state/state.h"
#include "storage/model/rows.h"

namespace skep::state {

// What the store holds of each lock request, one row per component, in step with the LockTable that
// decides. Confined to the loop thread.
class LockRows {
 public:
  using Rows = std::vector<LockRow>;  // by component, from 1; never empty

  const Rows* Find(LockId lock) const;
  const std::map<LockId, Rows>& all() const { return rows_; }

  void Add(Rows rows, Unit& unit);
  void Grant(LockId lock, Timestamp when, Unit& unit);
  void Erase(LockId lock, Unit& unit);

  int64_t held_components() const { return held_; }
  int64_t waiting_components() const { return waiting_; }

  void Load(const StoredState& stored);
  void Store(StoredState& out) const;

 private:
  int64_t& CounterOf(const Rows& rows);

  std::map<LockId, Rows> rows_;
  int64_t held_ = 0;
  int64_t waiting_ = 0;
};

}  // namespace skep::state
