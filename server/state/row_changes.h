#pragma once

#include <map>
#include <set>

#include "server/state/state.h"
#include "storage/model/rows.h"

namespace skep::state {

// When rows of a table that were there were last changed, and when its files were last compacted: a
// few bytes for each table that ever was (MV-6). Confined to the loop thread.
class RowChanges {
 public:
  // An update, delete, overwrite or truncate; or write ids whose rows nobody here saw written.
  // `seq` never falls.
  void RowsChanged(TableId table, CommitSeq seq) { Change(table).rows_changed_seq = seq; }
  void Compacted(TableId table, CommitSeq seq) { Change(table).compacted_seq = seq; }
  // The store does the same on EraseTable.
  void DropTable(TableId table) {
    rows_.erase(table);
    changed_.erase(table);
  }

  TableChangeRow Of(TableId table) const {
    const auto it = rows_.find(table);
    return it == rows_.end() ? TableChangeRow{table, {}, {}} : it->second;
  }

  // Writes what this unit changed.
  void Seal(Unit& unit) {
    for (TableId table : changed_) unit.Add(Put<TableChangeRow>{rows_.at(table)});
    changed_.clear();
  }

  void Load(const StoredState& stored) { rows_ = stored.table_changes; }
  void Store(StoredState& out) const { out.table_changes = rows_; }

 private:
  TableChangeRow& Change(TableId table) {
    changed_.insert(table);
    TableChangeRow& row = rows_[table];
    row.table = table;
    return row;
  }

  std::map<TableId, TableChangeRow> rows_;
  std::set<TableId> changed_;
};

}  // namespace skep::state
