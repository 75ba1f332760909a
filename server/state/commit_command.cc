// The end that counts: first committer wins, and what was written becomes visible as one unit.

#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/state/errors.h"
#include "server/state/impl.h"
#include "storage/base/status_macros.h"
#include "storage/model/partition_value.h"

namespace skep::state {

namespace {

std::string ResourceText(const TableName& table, const std::string& partition) {
  return partition.empty() ? table.ToString() : table.ToString() + "/" + partition;
}

std::string_view Past(WriteOp op) {
  switch (op) {
    case WriteOp::kInsert:
      return "inserted into";
    case WriteOp::kUpdate:
    case WriteOp::kDelete:
      return "updated";
    case WriteOp::kOverwrite:
    case WriteOp::kDrop:
      return "overwrote";
  }
  return "wrote";
}

absl::Status LostAgainst(const TxnFacts& txn, const TableName& table, const Conflict& conflict) {
  const std::string resource = ResourceText(table, conflict.own.partition);
  return MakeError(
      ErrorReason::kWriteConflict,
      fmt::format(
          "transaction {} ({} of {}) came second: transaction {} {} it at sequence {}, after "
          "the snapshot of {} at {}; {} is aborted, run it again as a new transaction",
          txn.id.value(),
          WriteOpName(conflict.own.op),
          resource,
          conflict.winner.value(),
          Past(conflict.theirs),
          conflict.seq.value(),
          txn.id.value(),
          txn.snapshot_seq.value(),
          txn.id.value()),
      {{"txnId", txn.id.ToString()},
       {"table", table.ToString()},
       {"partition", conflict.own.partition},
       {"winnerTxnId", conflict.winner.ToString()}});
}

absl::Status LostToDrop(TxnId txn, const std::string& table) {
  return MakeError(
      ErrorReason::kWriteConflict,
      fmt::format("transaction {} wrote to {}, which was dropped meanwhile (a table of "
                  "that name now is another one); {} is aborted",
                  txn.value(),
                  table,
                  txn.value()),
      {{"txnId", txn.ToString()}, {"table", table}, {"partition", ""}});
}

// Tables by name as this transaction knows them: one it writes to keeps its id, whatever the name
// means now.
absl::StatusOr<TableId> OwnTable(const State::Impl& s, const OpenTxn& txn, const TableName& name) {
  TableId own;
  const auto consider = [&](TableId id) {
    const TableRow* row = s.registry.Find(id);
    const DroppedTableRow* dropped = row == nullptr ? s.registry.Dropped(id) : nullptr;
    const bool means =
        row != nullptr ? row->name == name : dropped != nullptr && dropped->name == name;
    if (means && (own.is_none() || id < own)) own = id;
  };
  for (const auto& [table, write_id] : txn.write_ids.all()) consider(table);
  for (const ComponentRow& component : txn.components.Rows(txn.row.id)) consider(component.table);
  if (!own.is_none()) return own;
  SKEP_ASSIGN_OR_RETURN(const TableRow* row, s.ResolveFor(txn.row, name));
  return row->id;
}

// The tables of the properties that a commit sets. Errors leave the transaction as it is (CMT-18).
absl::StatusOr<std::vector<TableId>> ResolveProperties(
    const State::Impl& s, const OpenTxn& txn, const std::vector<CommitTxn::Property>& properties) {
  std::vector<TableId> tables;
  for (const CommitTxn::Property& property : properties) {
    if (property.key.rfind(kCommitKeyPrefix, 0) != 0) {
      return InvalidField("properties",
                          fmt::format("has the key '{}', keys that a commit sets begin with {}",
                                      property.key,
                                      kCommitKeyPrefix));
    }
    SKEP_ASSIGN_OR_RETURN(const TableRow* row, s.ResolveFor(txn.row, property.table));
    tables.push_back(row->id);
  }
  return tables;
}

absl::StatusOr<std::vector<DeclaredTable>> ResolveDeclared(const State::Impl& s,
                                                           const OpenTxn& txn,
                                                           const std::vector<TableWrites>& set) {
  std::vector<DeclaredTable> declared;
  for (const TableWrites& table : set) {
    SKEP_ASSIGN_OR_RETURN(const TableId id, OwnTable(s, txn, table.table));
    DeclaredTable& d = declared.emplace_back(DeclaredTable{id, {}});
    const TableRow* row = s.registry.Find(id);
    for (const PartitionWrite& write : table.writes) {
      if (row == nullptr) {  // dropped: which partition no longer matters
        d.writes.push_back({id, write.partition, write.op});
        continue;
      }
      SKEP_ASSIGN_OR_RETURN(Write checked, s.CheckWrite(txn.row, *row, write.partition, write.op));
      d.writes.push_back(std::move(checked));
    }
  }
  return declared;
}

std::set<Write> WriteSetOf(const OpenTxn& txn, const std::vector<DeclaredTable>& declared) {
  std::set<TableId> with_write_id;
  for (const auto& [table, write_id] : txn.write_ids.all()) with_write_id.insert(table);
  return CompleteWriteSet(declared, txn.components.Rows(txn.row.id), with_write_id);
}

// Both ascend by table. The names move.
std::vector<TableCommit> WithWrites(std::vector<TableCommit> tables, std::set<Write> writes) {
  auto table = tables.begin();
  while (!writes.empty()) {
    Write write = std::move(writes.extract(writes.begin()).value());
    while (table->table.id != write.table) ++table;
    table->writes.push_back({std::move(write.partition), write.op});
  }
  return tables;
}

// The refusal of this write set, if there is one: a write to a table that is no more, or a
// conflict.
absl::Status Refusal(const State::Impl& s, const TxnFacts& txn, const std::set<Write>& writes) {
  for (const Write& write : writes) {
    if (s.registry.Find(write.table) != nullptr) continue;
    const DroppedTableRow* dropped = s.registry.Dropped(write.table);
    return LostToDrop(
        txn.id,
        dropped != nullptr ? dropped->name.ToString() : "table id " + write.table.ToString());
  }
  // Its source decided already who came first (TYP-4).
  if (txn.type == TxnType::kReplCreated) return absl::OkStatus();
  const auto conflict = DecideCommit(writes, s.marks, txn.snapshot_seq);
  if (!conflict) return absl::OkStatus();
  return LostAgainst(txn, s.registry.Find(conflict->own.table)->name, *conflict);
}

}  // namespace

absl::StatusOr<Write> State::Impl::CheckWrite(const TxnFacts& txn,
                                              const TableRow& table,
                                              const std::string& partition,
                                              WriteOp op) const {
  if (txn.type == TxnType::kReadOnly) {
    return TxnMayNot(
        txn.id, "write to " + table.name.ToString(), "it was opened READ_ONLY; open a DEFAULT one");
  }
  if (txn.type == TxnType::kCompaction) {
    return TxnMayNot(txn.id, "write to " + table.name.ToString(), "it belongs to a compaction");
  }
  if (op == WriteOp::kDrop) {
    return InvalidField("operation", "a drop is no write that is declared; use DropTable");
  }
  if (table.kind == TableKind::kExternal) {
    return TableMayNot(
        table.name,
        "write to",
        "it is an external table, whose files Skep never touches; use a managed table");
  }
  const bool changes_rows = op == WriteOp::kUpdate || op == WriteOp::kDelete;
  if (table.kind == TableKind::kInsertOnly && changes_rows) {
    return TableMayNot(table.name,
                       op == WriteOp::kUpdate ? "update" : "delete from",
                       "it is insert-only; insert, overwrite, or use a full ACID table (ORC)");
  }
  Write write{table.id, "", op};
  if (!partition.empty()) {
    SKEP_ASSIGN_OR_RETURN(write.partition, CanonicalPartition(table, partition));
    if (!registry.HasPartition(table.id, write.partition)) {
      SKEP_ASSIGN_OR_RETURN(const PartitionSpec spec, ParsePartition(write.partition));
      SKEP_RETURN_IF_ERROR(CheckPartitionValues(spec, table.schema.partition_columns));
    }
  }
  return write;
}

std::vector<TableCommit> State::Impl::TablesOfCommit(const OpenTxn& txn,
                                                     const std::set<Write>& writes) const {
  std::vector<TableCommit> tables;
  const auto write_ids = txn.write_ids.all();
  auto write_id = write_ids.begin();
  auto write = writes.begin();  // by table, as the write ids
  while (write_id != write_ids.end() || write != writes.end()) {
    const bool has_id = write_id != write_ids.end() &&
                        (write == writes.end() || write_id->first <= write->table);
    const TableId table = has_id ? write_id->first : write->table;
    tables.push_back({EventTableOf(table), has_id ? write_id->second : WriteId(), {}});
    if (has_id) ++write_id;
    while (write != writes.end() && write->table == table) ++write;
  }
  return tables;
}

void State::Impl::ApplyWrites(TxnId txn, const std::set<Write>& writes, Now now, Unit& unit) {
  for (const Write& write : writes) {
    marks.Record(write.table, write.partition, write.op, unit.seq(), txn);
    changes.Record(write.table, write.partition, unit.seq());
    if (write.op != WriteOp::kInsert) row_changes.RowsChanged(write.table, unit.seq());
    if (!write.partition.empty()) registry.AddPartition(write.table, write.partition, unit);
  }
  for (const Write& write : writes) {
    if (write.op == WriteOp::kDrop) DropTable(write.table, txn, now, unit);
  }
}

absl::StatusOr<CommittedTxn> State::Commit(const CommitTxn& command, Now now, Unit& unit) {
  Impl& s = *impl_;
  s.EndBypasses(now, unit);
  TxnId id = command.txn;
  if (command.source) {
    const auto replica = s.replicas.Find(command.source->policy, command.source->txn);
    if (!replica) return CommittedTxn{{}, true};  // idempotent (CMT-2)
    id = *replica;
  }
  if (s.IsCommitted(id)) return CommittedTxn{};  // idempotent (CMT-4)
  SKEP_ASSIGN_OR_RETURN(const OpenTxn* txn, s.Use(id, now, unit));
  if (!txn->compaction.is_none()) {
    return TxnMayNot(id,
                     "commit",
                     fmt::format("it belongs to compaction {}, which its worker publishes",
                                 txn->compaction.value()));
  }
  if (txn->row.abort_only) {
    return TxnMayNot(
        id,
        "commit",
        "an operator released one of its locks by force (R-22); abort it and run it again");
  }
  SKEP_ASSIGN_OR_RETURN(const auto declared, ResolveDeclared(s, *txn, command.write_set));
  SKEP_ASSIGN_OR_RETURN(const auto property_tables, ResolveProperties(s, *txn, command.properties));
  std::set<Write> writes = WriteSetOf(*txn, declared);
  const absl::Status refusal = Refusal(s, txn->row, writes);
  if (!refusal.ok()) {
    // Aborted by the same unit that says so: the owner knows, nothing lingers.
    s.EndTxn(id, {AbortCause::kConflict, Impl::EndedBy::kOwner, "it lost a conflict"}, now, unit);
    return refusal;
  }
  for (size_t i = 0; i < property_tables.size(); ++i) {
    const CommitTxn::Property& property = command.properties[i];
    s.registry.Change(property_tables[i])->properties[property.key] = property.value;
    unit.events().Add(
        PropertiesEvent{s.EventTableOf(property_tables[i]), {{property.key, property.value}}});
  }
  const TxnType type = txn->row.type;
  std::vector<TableCommit> told = s.TablesOfCommit(*txn, writes);
  s.ApplyWrites(id, writes, now, unit);
  s.EndTxn(id, {}, now, unit);
  if (type != TxnType::kReadOnly)
    unit.events().Committed(id, type, WithWrites(std::move(told), std::move(writes)));
  return CommittedTxn{unit.seq()};
}

}  // namespace skep::state
