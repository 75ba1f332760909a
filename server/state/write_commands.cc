// What a transaction writes: its write id of each table, and the partitions it declares.

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "server/state/errors.h"
#include "server/state/impl.h"
#include "storage/base/status_macros.h"

namespace skep::state {

namespace {

absl::Status CheckWriter(const OpenTxn& txn) {
  if (txn.row.type == TxnType::kReadOnly) {
    return TxnMayNot(txn.row.id, "get a write id", "it was opened READ_ONLY; open a DEFAULT one");
  }
  if (!txn.compaction.is_none()) {
    return TxnMayNot(
        txn.row.id, "get a write id", "a compaction writes under the ids of its inputs");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AllocatedWriteIds> State::Allocate(const AllocateWriteIds& command,
                                                  Now now,
                                                  Unit& unit) {
  Impl& s = *impl_;
  std::set<TxnId> txns(command.txns.begin(), command.txns.end());
  if (txns.empty()) return InvalidField("txn_ids", "names no transaction");
  TableId table;
  for (TxnId id :
       txns) {  // all or none of them: nothing is given out before each is checked (WID-3)
    SKEP_ASSIGN_OR_RETURN(const OpenTxn* txn, s.Use(id, now, unit));
    SKEP_RETURN_IF_ERROR(CheckWriter(*txn));
    SKEP_ASSIGN_OR_RETURN(const TableRow* row, s.ResolveFor(txn->row, command.table));
    if (row->kind == TableKind::kExternal) return NotTransactional(row->name, "get a write id of");
    table = row->id;
  }
  AllocatedWriteIds answer{table, {}};
  for (TxnId id : txns) {
    OpenTxn* txn = s.txns.Find(id);
    const WriteId own = txn->write_ids.Of(table);
    if (!own.is_none() && !command.reallocate) {
      answer.ids.emplace_back(id, own);
      continue;
    }
    if (!own.is_none()) {
      s.write_ids.Resolve(table, own, WriteIds::Outcome::kAborted, unit);
      s.changes.Record(table, "", unit.seq());
    }
    answer.ids.emplace_back(id, s.GiveWriteId(*txn, table, unit));
  }
  return answer;
}

WriteId State::Impl::GiveWriteId(OpenTxn& txn, TableId table, Unit& unit) {
  WriteId& next = registry.Change(table)->next_write_id;
  const WriteId given = std::exchange(next, next.Next());
  txn.write_ids.Set(table, given);
  write_ids.Allocate(table, given, txn.row.id, unit);
  unit.events().Allocated(EventTableOf(table), txn.row.id, given);
  return given;
}

absl::Status State::AddWrites(const AddPartitions& command, Now now, Unit& unit) {
  Impl& s = *impl_;
  SKEP_ASSIGN_OR_RETURN(OpenTxn * txn, s.Use(command.txn, now, unit));
  SKEP_ASSIGN_OR_RETURN(const TableRow* table, s.ResolveFor(txn->row, command.table));
  std::vector<Write> writes;
  for (const std::string& partition : command.partitions) {
    SKEP_ASSIGN_OR_RETURN(Write write, s.CheckWrite(txn->row, *table, partition, command.op));
    writes.push_back(std::move(write));
  }
  // The placeholders have done their duty (DYN-3); a commit that does not declare the table
  // completely still counts as an update of all of it.
  for (ComponentRow& row : txn->components.TakeDynamic(command.txn, table->id)) {
    unit.Add(EraseComponent{std::move(row)});
  }
  for (const Write& write : writes) {
    s.AddComponent(*txn, {command.txn, write.table, write.partition, write.op, false}, unit);
  }
  return absl::OkStatus();
}

}  // namespace skep::state
