#include "tests/sim/snapshot_model.h"

namespace skep::sim {

void SnapshotModel::Ended(TxnId txn, CommitSeq unit, bool committed) {
  const auto end = [&](Life& life) {
    if (life.ended) return;
    life.ended = unit;
    life.committed = committed;
  };
  const auto found = txns_.find(txn.value());
  if (found != txns_.end()) end(found->second);
  const auto owned = owned_.find(txn);
  if (owned == owned_.end()) return;
  for (const auto& [table, write_id] : owned->second) {
    end(write_ids_[table].at(write_id.value()));
  }
}

void SnapshotModel::Allocated(TableId table, WriteId write_id, TxnId owner, CommitSeq unit) {
  if (!write_ids_[table].emplace(write_id.value(), Life{unit, {}, false, owner}).second) return;
  owned_[owner].emplace_back(table, write_id);
  Touched(owner, table);
}

void SnapshotModel::Replaced(TableId table, WriteId write_id, CommitSeq unit) {
  const auto found = write_ids_[table].find(write_id.value());
  if (found != write_ids_[table].end() && !found->second.ended) found->second.ended = unit;
}

bool SnapshotModel::IsOpen(TxnId txn) const {
  const auto found = txns_.find(txn.value());
  return found != txns_.end() && !found->second.ended;
}

ValidIds SnapshotModel::ListAt(const Lives& lives, CommitSeq seq) {
  ValidIds list;
  for (const auto& [id, life] : lives) {
    if (life.begun > seq) continue;
    list.high = id;
    if (!life.ended || *life.ended > seq) {
      list.open.push_back(id);
    } else if (!life.committed) {
      list.aborted.push_back(id);
    }
  }
  return list;
}

ValidIds SnapshotModel::TxnsAt(CommitSeq seq) const { return ListAt(txns_, seq); }

ValidIds SnapshotModel::WriteIdsAt(TableId table, CommitSeq seq) const {
  const auto found = write_ids_.find(table);
  return found == write_ids_.end() ? ValidIds() : ListAt(found->second, seq);
}

TxnId SnapshotModel::OwnerOf(TableId table, WriteId write_id) const {
  const auto found = write_ids_.find(table);
  if (found == write_ids_.end()) return TxnId();
  const auto life = found->second.find(write_id.value());
  return life == found->second.end() ? TxnId() : life->second.owner;
}

TableId SnapshotModel::SharedTable(TxnId a, TxnId b) const {
  const auto mine = touched_.find(a);
  const auto theirs = touched_.find(b);
  if (mine == touched_.end() || theirs == touched_.end()) return TableId();
  for (const TableId table : mine->second) {
    if (theirs->second.contains(table)) return table;
  }
  return TableId();
}

}  // namespace skep::sim
