#pragma once

#include <map>
#include <set>

#include "server/state/state.h"
#include "storage/model/rows.h"

namespace skep::state {

// Which open transaction rebuilds which view. Confined to the loop thread.
class ViewLocks {
 public:
  // Nobody has it.
  void Add(ViewLockRow row, Unit& unit) {
    unit.Add(Put<ViewLockRow>{row});
    by_txn_[row.txn].insert(row.view);
    const TableName view = row.view;
    rows_[view] = std::move(row);
  }
  // The transaction is over; no-op for those that rebuild nothing.
  void End(TxnId txn, Unit& unit) {
    const auto it = by_txn_.find(txn);
    if (it == by_txn_.end()) return;
    for (const TableName& view : it->second) {
      rows_.erase(view);
      unit.Add(EraseViewLock{view});
    }
    by_txn_.erase(it);
  }

  // nullptr: nobody. Valid until the next change.
  const ViewLockRow* Find(const TableName& view) const {
    const auto it = rows_.find(view);
    return it == rows_.end() ? nullptr : &it->second;
  }
  const std::map<TableName, ViewLockRow>& rows() const { return rows_; }

  void Load(const StoredState& stored) {
    rows_ = stored.view_locks;
    for (const auto& [view, row] : rows_) by_txn_[row.txn].insert(view);
  }
  void Store(StoredState& out) const { out.view_locks = rows_; }

 private:
  std::map<TableName, ViewLockRow> rows_;
  std::map<TxnId, std::set<TableName>> by_txn_;
};

}  // namespace skep::state
