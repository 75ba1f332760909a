#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <absl/container/btree_map.h>

#include "storage/model/effect.h"

namespace skep {

// Everything the store holds, in key order: what Load returns and what the state machine must equal
// after every durable unit. Value type.
struct StoredState {
  CounterRow counters;
  std::map<TxnId, TxnRow> txns;
  std::map<std::pair<std::string, TxnId>, ReplicaRow> replicas;  // by policy, source
  std::map<std::pair<CommitSeq, TxnId>, ResolvedTxnRow> resolved_txns;
  absl::btree_map<TxnId, AbortedTxnsRow> aborted_txns;  // by first; may be very many
  std::map<TableId, TableRow> tables;
  std::map<TableId, DroppedTableRow> dropped_tables;
  std::map<std::pair<TableId, std::string>, PartitionRow> partitions;
  std::map<std::pair<TableId, WriteId>, WriteIdRow> write_ids;
  std::map<std::tuple<CommitSeq, TableId, WriteId>, ResolvedWriteIdRow> resolved_write_ids;
  std::map<std::pair<TableId, WriteId>, AbortedWriteIdsRow> aborted_write_ids;  // by table, first
  std::map<std::tuple<TxnId, TableId, std::string, WriteOp>, ComponentRow> components;
  std::map<std::pair<TableId, std::string>, WriteMarkRow> write_marks;
  std::map<TableId, TableChangeRow> table_changes;
  std::map<TableName, ViewLockRow> view_locks;
  std::map<std::pair<LockId, int32_t>, LockRow> locks;
  std::map<CompactionId, CompactionRow> compactions;
  std::map<int64_t, RequestRow> requests;  // by slot

  friend bool operator==(const StoredState&, const StoredState&) = default;
};

// The meaning of effects, in one place: every store must leave what this leaves.
void ApplyEffects(StoredState& state, const Effects& effects);

}  // namespace skep
