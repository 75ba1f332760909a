#include "server/state/write_marks.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace skep::state {

CommitSeq WriteMarks::NewestOf(const WriteMarkRow& row) {
  return std::max({row.insert_seq, row.update_seq, row.overwrite_seq});
}

void WriteMarks::Merge(const WriteMarkRow& row, NewestWrites& into) {
  if (row.insert_seq > into.insert.seq) into.insert = {row.insert_seq, row.insert_txn};
  if (row.update_seq > into.update.seq) into.update = {row.update_seq, row.update_txn};
  if (row.overwrite_seq > into.overwrite.seq)
    into.overwrite = {row.overwrite_seq, row.overwrite_txn};
}

void WriteMarks::Record(
    TableId table, const std::string& partition, WriteOp op, CommitSeq seq, TxnId txn) {
  Mark& mark = marks_.Touch(table, partition);
  switch (op) {
    case WriteOp::kInsert:
      mark.insert_seq = seq;
      mark.insert_txn = txn;
      break;
    case WriteOp::kUpdate:
    case WriteOp::kDelete:
      mark.update_seq = seq;
      mark.update_txn = txn;
      break;
    case WriteOp::kOverwrite:
    case WriteOp::kDrop:
      mark.overwrite_seq = seq;
      mark.overwrite_txn = txn;
      break;
  }
  Merge(mark, all_[table]);
}

void WriteMarks::DropTable(TableId table) {
  marks_.DropTable(table);
  all_.erase(table);
}

NewestWrites WriteMarks::Newest(TableId table, const std::string& partition) const {
  if (partition.empty()) {
    const auto all = all_.find(table);
    return all == all_.end() ? NewestWrites() : all->second;
  }
  NewestWrites newest;
  for (const std::string_view name : {std::string_view(partition), std::string_view()}) {
    if (const Mark* mark = marks_.Find(table, name)) Merge(*mark, newest);
  }
  return newest;
}

void WriteMarks::Seal(CommitSeq oldest, Unit& unit) {
  if (oldest < unit.seq()) {
    marks_.FromYoungest([&](Mark& mark) {
      if (NewestOf(mark) < unit.seq()) return false;
      mark.stored = true;
      unit.Add(Put<WriteMarkRow>{mark});
      return true;
    });
  }
  while (!marks_.records().empty() && NewestOf(marks_.records().front()) <= oldest) {
    const Mark& mark = marks_.records().front();
    const TableId table = mark.table;
    if (mark.stored) unit.Add(EraseWriteMark{table, mark.partition});
    marks_.PopOldest();
    if (!marks_.Knows(table)) all_.erase(table);
  }
}

void WriteMarks::Load(const StoredState& stored) {
  std::vector<const WriteMarkRow*> rows;
  for (const auto& [key, row] : stored.write_marks) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const WriteMarkRow* a, const WriteMarkRow* b) {
    return NewestOf(*a) < NewestOf(*b);
  });
  for (const WriteMarkRow* row : rows) {
    Mark& mark = marks_.Touch(row->table, row->partition);
    // Not the whole row: its name is what the index looks into.
    mark.insert_seq = row->insert_seq;
    mark.insert_txn = row->insert_txn;
    mark.update_seq = row->update_seq;
    mark.update_txn = row->update_txn;
    mark.overwrite_seq = row->overwrite_seq;
    mark.overwrite_txn = row->overwrite_txn;
    mark.stored = true;
    Merge(*row, all_[row->table]);
  }
}

void WriteMarks::Store(StoredState& out) const {
  for (const Mark& mark : marks_.records()) out.write_marks[{mark.table, mark.partition}] = mark;
}

}  // namespace skep::state
