#pragma once

// What a decision changes, as an ordered list of row changes. The state machine emits them; the
// store makes the list of one unit durable as a whole, in order. An effect is a fact already
// decided: applying one never fails for a reason of the domain.

#include <type_traits>
#include <variant>
#include <vector>

#include "storage/base/boxed.h"
#include "storage/model/rows.h"

namespace skep {

// Lists of effects are long where transactions come in batches: the few kinds of large rows, which
// are those of tables, locks and compactions, do not make all others large.
template <class Row>
using RowInPlace = std::conditional_t<(sizeof(Row) > 160), Boxed<Row>, Row>;

template <class Row>
struct Put {  // insert or replace by key
  RowInPlace<Row> row;
  friend bool operator==(const Put&, const Put&) = default;
};

struct EraseTxn {
  TxnId id;
};
struct EraseReplica {
  std::string policy;
  TxnId source;
};
struct EraseAbortedTxns {
  TxnId first;
};
struct EraseTable {
  TableId id;
};  // with its partitions, write ids, marks, changes and aborted intervals
struct EraseDroppedTable {
  TableId id;
};
struct ErasePartition {
  TableId table;
  std::string name;
};
struct EraseWriteId {
  TableId table;
  WriteId write_id;
};
struct EraseAbortedWriteIds {
  TableId table;
  WriteId first;
};
struct EraseComponents {
  TxnId txn;
};  // all of the transaction
struct EraseComponent {
  ComponentRow key;
};
struct EraseWriteMark {
  TableId table;
  std::string partition;
};
struct EraseViewLock {
  TableName view;
};
struct EraseLock {
  LockId lock;
};  // all its components
struct EraseCompaction {
  CompactionId id;
};
// Drops every ResolvedTxnRow and ResolvedWriteIdRow with end_seq ≤ `seq`: no live snapshot is that
// old.
struct ForgetResolved {
  CommitSeq seq;
};

using Effect = std::variant<Put<CounterRow>,
                            Put<TxnRow>,
                            Put<ResolvedTxnRow>,
                            Put<AbortedTxnsRow>,
                            Put<TableRow>,
                            Put<DroppedTableRow>,
                            Put<PartitionRow>,
                            Put<WriteIdRow>,
                            Put<ResolvedWriteIdRow>,
                            Put<AbortedWriteIdsRow>,
                            Put<ComponentRow>,
                            Put<WriteMarkRow>,
                            Put<LockRow>,
                            Put<CompactionRow>,
                            Put<RequestRow>,
                            Put<ReplicaRow>,
                            Put<TableChangeRow>,
                            Put<ViewLockRow>,
                            EraseTxn,
                            EraseAbortedTxns,
                            EraseTable,
                            EraseDroppedTable,
                            ErasePartition,
                            EraseWriteId,
                            EraseAbortedWriteIds,
                            EraseComponents,
                            EraseComponent,
                            EraseWriteMark,
                            EraseLock,
                            EraseCompaction,
                            ForgetResolved,
                            EraseReplica,
                            EraseViewLock>;

using Effects = std::vector<Effect>;

}  // namespace skep
