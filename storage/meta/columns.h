#pragma once

// Which fields a row and an erase have, in which order and under which names: one home for each
// type. Columns(io, row) passes them to `io`, the key's first, which collects the names, binds or
// reads columns (sqlite/column_io.h), or writes or reads the bytes of a record (log/field_io.h). An
// erase has the key, or the part of it, that it erases by. What changes here changes the schema and
// the record: a migration step and a new kRecordSchema go with it.

#include <concepts>
#include <string_view>
#include <type_traits>

#include "storage/model/effect.h"

namespace skep::meta {

// `Row` below is the row type or its const form.
template <class Row, class Model>
concept RowOf = std::same_as<std::remove_const_t<Row>, Model>;

template <class Io, RowOf<CounterRow> Row>
void Columns(Io& io, Row& row) {
  io.Constant("id", 1);
  io("seq", row.seq);
  io("next_txn_id", row.next_txn);
  io("next_lock_id", row.next_lock);
  io("next_compaction_id", row.next_compaction);
  io("next_table_id", row.next_table);
  io("next_request_slot", row.next_request_slot);
}

template <class Io, RowOf<TxnRow> Row>
void Columns(Io& io, Row& row) {
  io("txn_id", row.id);
  io("type", row.type);
  io("opened_seq", row.opened_seq);
  io("snapshot_seq", row.snapshot_seq);
  io("open_time_ms", row.open_time);
  io("user_name", row.user);
  io("host", row.host);
  io("agent", row.agent);
  io("timeout_ms", row.timeout_ms);
  io("from_batch", row.from_batch);
  io("keep_all_pinned", row.keep_all_pinned);
  io("abort_only", row.abort_only);
}

template <class Io, RowOf<ReplicaRow> Row>
void Columns(Io& io, Row& row) {
  io("policy", row.policy);
  io("source_txn_id", row.source);
  io("txn_id", row.txn);
}

template <class Io, RowOf<ResolvedTxnRow> Row>
void Columns(Io& io, Row& row) {
  io("end_seq", row.end_seq);
  io("txn_id", row.id);
  io("opened_seq", row.opened_seq);
  io("committed", row.committed);
  io("pinned_ms", row.pinned_ms);
}

template <class Io, RowOf<AbortedTxnsRow> Row>
void Columns(Io& io, Row& row) {
  io("first_txn_id", row.first);
  io("last_txn_id", row.last);
  io("cause", row.cause);
}

template <class Io, RowOf<TableRow> Row>
void Columns(Io& io, Row& row) {
  io("table_id", row.id);
  io("database_name", row.name.database);
  io("table_name", row.name.table);
  io("kind", row.kind);
  io("format", row.format);
  io("location", row.location);
  io("schema", row.schema);
  io("properties", row.properties);
  io("create_time_ms", row.create_time);
  io("created_seq", row.created_seq);
  io("next_write_id", row.next_write_id);
  io("cleaned_seq", row.cleaned_seq);
  io("adopted_txn_bound", row.adopted_txn_bound);
  io("adopted_aborted_txns", row.adopted_aborted_txns);
}

template <class Io, RowOf<DroppedTableRow> Row>
void Columns(Io& io, Row& row) {
  io("table_id", row.id);
  io("database_name", row.name.database);
  io("table_name", row.name.table);
  io("location", row.location);
  io("dropped_seq", row.dropped_seq);
}

template <class Io, RowOf<PartitionRow> Row>
void Columns(Io& io, Row& row) {
  io("table_id", row.table);
  io("partition_name", row.name);
  io("created_seq", row.created_seq);
}

template <class Io, RowOf<WriteIdRow> Row>
void Columns(Io& io, Row& row) {
  io("table_id", row.table);
  io("write_id", row.write_id);
  io("txn_id", row.txn);
  io("allocated_seq", row.allocated_seq);
}

template <class Io, RowOf<ResolvedWriteIdRow> Row>
void Columns(Io& io, Row& row) {
  io("end_seq", row.end_seq);
  io("table_id", row.table);
  io("write_id", row.write_id);
  io("allocated_seq", row.allocated_seq);
  io("committed", row.committed);
}

template <class Io, RowOf<AbortedWriteIdsRow> Row>
void Columns(Io& io, Row& row) {
  io("table_id", row.table);
  io("first_write_id", row.first);
  io("last_write_id", row.last);
}

template <class Io, RowOf<ComponentRow> Row>
void Columns(Io& io, Row& row) {
  io("txn_id", row.txn);
  io("table_id", row.table);
  io("partition_name", row.partition);
  io("operation", row.op);
  io("dynamic", row.dynamic);
}

template <class Io, RowOf<WriteMarkRow> Row>
void Columns(Io& io, Row& row) {
  io("table_id", row.table);
  io("partition_name", row.partition);
  io("insert_seq", row.insert_seq);
  io("insert_txn_id", row.insert_txn);
  io("update_seq", row.update_seq);
  io("update_txn_id", row.update_txn);
  io("overwrite_seq", row.overwrite_seq);
  io("overwrite_txn_id", row.overwrite_txn);
}

template <class Io, RowOf<TableChangeRow> Row>
void Columns(Io& io, Row& row) {
  io("table_id", row.table);
  io("rows_changed_seq", row.rows_changed_seq);
  io("compacted_seq", row.compacted_seq);
}

template <class Io, RowOf<ViewLockRow> Row>
void Columns(Io& io, Row& row) {
  io("database_name", row.view.database);
  io("view_name", row.view.table);
  io("txn_id", row.txn);
  io("acquire_time_ms", row.acquire_time);
}

template <class Io, RowOf<LockRow> Row>
void Columns(Io& io, Row& row) {
  io("lock_id", row.lock);
  io("component", row.component);
  io("txn_id", row.txn);
  io("database_name", row.resource.database);
  io("table_name", row.resource.table);
  io("partition_name", row.resource.partition);
  io("table_id", row.table);
  io("kind", row.kind);
  io("state", row.state);
  io("operation", row.op);
  io("dynamic", row.dynamic);
  io("request_time_ms", row.request_time);
  io("acquire_time_ms", row.acquire_time);
  io("user_name", row.user);
  io("host", row.host);
  io("agent", row.agent);
}

template <class Io, RowOf<CompactionRow> Row>
void Columns(Io& io, Row& row) {
  io("compaction_id", row.id);
  io("table_id", row.table);
  io("database_name", row.name.database);
  io("table_name", row.name.table);
  io("partition_name", row.partition);
  io("type", row.type);
  io("state", row.state);
  io("reason", row.reason);
  io("initiator", row.initiator);
  io("worker", row.worker);
  io("claim", row.claim);
  io("txn_id", row.txn);
  io("highest_write_id", row.highest_write_id);
  io("published_seq", row.published_seq);
  io("error", row.error);
  io("enqueue_time_ms", row.enqueue_time);
  io("start_time_ms", row.start_time);
  io("end_time_ms", row.end_time);
  io("commit_time_ms", row.commit_time);
  io("clean_attempts", row.clean_attempts);
  io("next_clean_time_ms", row.next_clean_time);
}

template <class Io, RowOf<RequestRow> Row>
void Columns(Io& io, Row& row) {
  io("slot", row.slot);
  io("request_id", row.request_id);
  io("kind", row.kind);
  io("fingerprint", row.fingerprint);
  io("first_id", row.first_id);
  io("count", row.count);
  io("time_ms", row.time);
}

// -- erases

template <class Io, RowOf<EraseTxn> Erase>
void Columns(Io& io, Erase& erase) {
  io("txn_id", erase.id);
}
template <class Io, RowOf<EraseReplica> Erase>
void Columns(Io& io, Erase& erase) {
  io("policy", erase.policy);
  io("source_txn_id", erase.source);
}
template <class Io, RowOf<EraseAbortedTxns> Erase>
void Columns(Io& io, Erase& erase) {
  io("first_txn_id", erase.first);
}
template <class Io, RowOf<EraseTable> Erase>
void Columns(Io& io, Erase& erase) {
  io("table_id", erase.id);
}
template <class Io, RowOf<EraseDroppedTable> Erase>
void Columns(Io& io, Erase& erase) {
  io("table_id", erase.id);
}
template <class Io, RowOf<ErasePartition> Erase>
void Columns(Io& io, Erase& erase) {
  io("table_id", erase.table);
  io("partition_name", erase.name);
}
template <class Io, RowOf<EraseWriteId> Erase>
void Columns(Io& io, Erase& erase) {
  io("table_id", erase.table);
  io("write_id", erase.write_id);
}
template <class Io, RowOf<EraseAbortedWriteIds> Erase>
void Columns(Io& io, Erase& erase) {
  io("table_id", erase.table);
  io("first_write_id", erase.first);
}
template <class Io, RowOf<EraseComponents> Erase>
void Columns(Io& io, Erase& erase) {
  io("txn_id", erase.txn);
}
template <class Io, RowOf<EraseComponent> Erase>
void Columns(Io& io, Erase& erase) {
  io("txn_id", erase.key.txn);
  io("table_id", erase.key.table);
  io("partition_name", erase.key.partition);
  io("operation", erase.key.op);
}
template <class Io, RowOf<EraseWriteMark> Erase>
void Columns(Io& io, Erase& erase) {
  io("table_id", erase.table);
  io("partition_name", erase.partition);
}
template <class Io, RowOf<EraseViewLock> Erase>
void Columns(Io& io, Erase& erase) {
  io("database_name", erase.view.database);
  io("view_name", erase.view.table);
}
template <class Io, RowOf<EraseLock> Erase>
void Columns(Io& io, Erase& erase) {
  io("lock_id", erase.lock);
}
template <class Io, RowOf<EraseCompaction> Erase>
void Columns(Io& io, Erase& erase) {
  io("compaction_id", erase.id);
}
template <class Io, RowOf<ForgetResolved> Erase>
void Columns(Io& io, Erase& erase) {
  io("end_seq", erase.seq);
}

// -- any effect

template <class Io, class Row>
void Columns(Io& io, Boxed<Row>& row) {
  Columns(io, *row);
}
template <class Io, class Row>
void Columns(Io& io, const Boxed<Row>& row) {
  Columns(io, *row);
}
template <class Io, class Row>
void Columns(Io& io, Put<Row>& put) {
  Columns(io, put.row);
}
template <class Io, class Row>
void Columns(Io& io, const Put<Row>& put) {
  Columns(io, put.row);
}

}  // namespace skep::meta
