#include "server/state/write_marks.h"

#include <algorithm>
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
  Table& t = tables_[table];
  Mark& mark = t.marks[partition];
  by_age_.erase({NewestOf(mark.row), table, partition});
  mark.row.table = table;
  mark.row.partition = partition;
  switch (op) {
    case WriteOp::kInsert:
      mark.row.insert_seq = seq;
      mark.row.insert_txn = txn;
      break;
    case WriteOp::kUpdate:
    case WriteOp::kDelete:
      mark.row.update_seq = seq;
      mark.row.update_txn = txn;
      break;
    case WriteOp::kOverwrite:
    case WriteOp::kDrop:
      mark.row.overwrite_seq = seq;
      mark.row.overwrite_txn = txn;
      break;
  }
  by_age_.insert({seq, table, partition});
  Merge(mark.row, t.all);
}

void WriteMarks::DropTable(TableId table) {
  const auto it = tables_.find(table);
  if (it == tables_.end()) return;
  for (const auto& [partition, mark] : it->second.marks) {
    by_age_.erase({NewestOf(mark.row), table, partition});
  }
  tables_.erase(it);
}

NewestWrites WriteMarks::Newest(TableId table, const std::string& partition) const {
  NewestWrites newest;
  const auto it = tables_.find(table);
  if (it == tables_.end()) return newest;
  if (partition.empty()) return it->second.all;
  for (const std::string& name : {partition, std::string()}) {
    const auto mark = it->second.marks.find(name);
    if (mark != it->second.marks.end()) Merge(mark->second.row, newest);
  }
  return newest;
}

void WriteMarks::Seal(CommitSeq oldest, Unit& unit) {
  if (oldest < unit.seq()) {
    for (auto it = by_age_.lower_bound({unit.seq(), TableId(), ""}); it != by_age_.end(); ++it) {
      Mark& mark = tables_.at(std::get<1>(*it)).marks.at(std::get<2>(*it));
      mark.stored = true;
      unit.Add(Put<WriteMarkRow>{mark.row});
    }
  }
  while (!by_age_.empty() && std::get<0>(*by_age_.begin()) <= oldest) {
    const auto [seq, table, partition] = *by_age_.begin();
    by_age_.erase(by_age_.begin());
    Table& t = tables_.at(table);
    if (t.marks.at(partition).stored) unit.Add(EraseWriteMark{table, partition});
    t.marks.erase(partition);
    if (t.marks.empty()) tables_.erase(table);
  }
}

void WriteMarks::Load(const StoredState& stored) {
  for (const auto& [key, row] : stored.write_marks) {
    Table& t = tables_[row.table];
    t.marks[row.partition] = {row, true};
    Merge(row, t.all);
    by_age_.insert({NewestOf(row), row.table, row.partition});
  }
}

void WriteMarks::Store(StoredState& out) const {
  for (const auto& [table, t] : tables_) {
    for (const auto& [partition, mark] : t.marks) out.write_marks[{table, partition}] = mark.row;
  }
}

}  // namespace skep::state
