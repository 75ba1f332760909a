#pragma once

// Which column of which table holds which field: one home for each row type. Columns(io, row) names
// the columns in the order of the statements, the key's first; `io` collects the names, binds or
// reads (column_io.h). The tables themselves are made in migration_steps.cc, and docs/store.md
// explains them.

#include <concepts>
#include <string_view>
#include <type_traits>

#include "storage/model/rows.h"

namespace skep::meta {

template <class Row>
inline constexpr std::string_view kTableOf = "";
template <>
inline constexpr std::string_view kTableOf<CounterRow> = "counters";
template <>
inline constexpr std::string_view kTableOf<TxnRow> = "open_transactions";
template <>
inline constexpr std::string_view kTableOf<ResolvedTxnRow> = "ended_transactions";
template <>
inline constexpr std::string_view kTableOf<AbortedTxnsRow> = "aborted_transactions";
template <>
inline constexpr std::string_view kTableOf<TableRow> = "tables";
template <>
inline constexpr std::string_view kTableOf<DroppedTableRow> = "dropped_tables";
template <>
inline constexpr std::string_view kTableOf<PartitionRow> = "partitions";
template <>
inline constexpr std::string_view kTableOf<WriteIdRow> = "open_write_ids";
template <>
inline constexpr std::string_view kTableOf<ResolvedWriteIdRow> = "ended_write_ids";
template <>
inline constexpr std::string_view kTableOf<AbortedWriteIdsRow> = "aborted_write_ids";
template <>
inline constexpr std::string_view kTableOf<ComponentRow> = "transaction_writes";
template <>
inline constexpr std::string_view kTableOf<WriteMarkRow> = "latest_writes";
template <>
inline constexpr std::string_view kTableOf<LockRow> = "locks";
template <>
inline constexpr std::string_view kTableOf<CompactionRow> = "compactions";
template <>
inline constexpr std::string_view kTableOf<RequestRow> = "requests";

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

template <class Io, RowOf<ResolvedTxnRow> Row>
void Columns(Io& io, Row& row) {
  io("end_seq", row.end_seq);
  io("txn_id", row.id);
  io("opened_seq", row.opened_seq);
  io("committed", row.committed);
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

}  // namespace skep::meta
