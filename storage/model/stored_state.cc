#include "storage/model/stored_state.h"

namespace skep {

namespace {

// Erases every entry of `map` for which `matches(key)` holds.
template <class Map, class Matches>
void EraseWhere(Map& map, Matches matches) {
  std::erase_if(map, [&](const auto& entry) { return matches(entry.first); });
}

class Applier {
 public:
  explicit Applier(StoredState& state) : s_(state) {}

  void operator()(const Put<CounterRow>& e) { s_.counters = e.row; }
  void operator()(const Put<TxnRow>& e) { s_.txns[e.row.id] = e.row; }
  void operator()(const Put<ReplicaRow>& e) { s_.replicas[{e.row.policy, e.row.source}] = e.row; }
  void operator()(const Put<ResolvedTxnRow>& e) {
    s_.resolved_txns[{e.row.end_seq, e.row.id}] = e.row;
  }
  void operator()(const Put<AbortedTxnsRow>& e) { s_.aborted_txns[e.row.first] = e.row; }
  void operator()(const Put<TableRow>& e) { s_.tables[e.row->id] = *e.row; }
  void operator()(const Put<DroppedTableRow>& e) { s_.dropped_tables[e.row.id] = e.row; }
  void operator()(const Put<PartitionRow>& e) { s_.partitions[{e.row.table, e.row.name}] = e.row; }
  void operator()(const Put<WriteIdRow>& e) { s_.write_ids[{e.row.table, e.row.write_id}] = e.row; }
  void operator()(const Put<ResolvedWriteIdRow>& e) {
    s_.resolved_write_ids[{e.row.end_seq, e.row.table, e.row.write_id}] = e.row;
  }
  void operator()(const Put<AbortedWriteIdsRow>& e) {
    s_.aborted_write_ids[{e.row.table, e.row.first}] = e.row;
  }
  void operator()(const Put<ComponentRow>& e) { s_.components[ComponentKey(e.row)] = e.row; }
  void operator()(const Put<WriteMarkRow>& e) {
    s_.write_marks[{e.row.table, e.row.partition}] = e.row;
  }
  void operator()(const Put<TableChangeRow>& e) { s_.table_changes[e.row.table] = e.row; }
  void operator()(const Put<ViewLockRow>& e) { s_.view_locks[e.row.view] = e.row; }
  void operator()(const Put<LockRow>& e) { s_.locks[{e.row->lock, e.row->component}] = *e.row; }
  void operator()(const Put<CompactionRow>& e) { s_.compactions[e.row->id] = *e.row; }
  void operator()(const Put<RequestRow>& e) { s_.requests[e.row.slot] = e.row; }

  void operator()(const EraseTxn& e) { s_.txns.erase(e.id); }
  void operator()(const EraseReplica& e) { s_.replicas.erase({e.policy, e.source}); }
  void operator()(const EraseAbortedTxns& e) { s_.aborted_txns.erase(e.first); }
  void operator()(const EraseTable& e) {
    s_.tables.erase(e.id);
    EraseWhere(s_.partitions, [&](const auto& key) { return key.first == e.id; });
    EraseWhere(s_.write_ids, [&](const auto& key) { return key.first == e.id; });
    EraseWhere(s_.resolved_write_ids, [&](const auto& key) { return std::get<1>(key) == e.id; });
    EraseWhere(s_.aborted_write_ids, [&](const auto& key) { return key.first == e.id; });
    EraseWhere(s_.write_marks, [&](const auto& key) { return key.first == e.id; });
    s_.table_changes.erase(e.id);
  }
  void operator()(const EraseDroppedTable& e) { s_.dropped_tables.erase(e.id); }
  void operator()(const ErasePartition& e) { s_.partitions.erase({e.table, e.name}); }
  void operator()(const EraseWriteId& e) { s_.write_ids.erase({e.table, e.write_id}); }
  void operator()(const EraseAbortedWriteIds& e) { s_.aborted_write_ids.erase({e.table, e.first}); }
  void operator()(const EraseComponents& e) {
    const auto first = s_.components.lower_bound({e.txn, TableId(INT64_MIN), "", WriteOp::kInsert});
    const auto last =
        s_.components.lower_bound({e.txn.Next(), TableId(INT64_MIN), "", WriteOp::kInsert});
    s_.components.erase(first, last);
  }
  void operator()(const EraseComponent& e) { s_.components.erase(ComponentKey(e.key)); }
  void operator()(const EraseWriteMark& e) { s_.write_marks.erase({e.table, e.partition}); }
  void operator()(const EraseViewLock& e) { s_.view_locks.erase(e.view); }
  void operator()(const EraseLock& e) {
    s_.locks.erase(s_.locks.lower_bound({e.lock, 0}), s_.locks.lower_bound({e.lock.Next(), 0}));
  }
  void operator()(const EraseCompaction& e) { s_.compactions.erase(e.id); }
  void operator()(const ForgetResolved& e) {
    s_.resolved_txns.erase(s_.resolved_txns.begin(),
                           s_.resolved_txns.lower_bound({e.seq.Next(), TxnId()}));
    s_.resolved_write_ids.erase(
        s_.resolved_write_ids.begin(),
        s_.resolved_write_ids.lower_bound({e.seq.Next(), TableId(), WriteId()}));
  }

 private:
  static std::tuple<TxnId, TableId, std::string, WriteOp> ComponentKey(const ComponentRow& row) {
    return {row.txn, row.table, row.partition, row.op};
  }

  StoredState& s_;
};

}  // namespace

void ApplyEffects(StoredState& state, const Effects& effects) {
  Applier applier(state);
  for (const Effect& effect : effects) std::visit(applier, effect);
}

}  // namespace skep
