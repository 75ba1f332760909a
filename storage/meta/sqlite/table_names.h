#pragma once

// Which table holds the rows of a type. The tables themselves are made in migration_steps.cc, and
// docs/store.md explains them.

#include <string_view>

#include "storage/model/rows.h"

namespace skep::meta {

template <class Row>
inline constexpr std::string_view kTableOf = "";
template <>
inline constexpr std::string_view kTableOf<CounterRow> = "counters";
template <>
inline constexpr std::string_view kTableOf<TxnRow> = "open_transactions";
template <>
inline constexpr std::string_view kTableOf<ReplicaRow> = "replicated_transactions";
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
inline constexpr std::string_view kTableOf<TableChangeRow> = "table_changes";
template <>
inline constexpr std::string_view kTableOf<ViewLockRow> = "view_rebuilds";
template <>
inline constexpr std::string_view kTableOf<LockRow> = "locks";
template <>
inline constexpr std::string_view kTableOf<CompactionRow> = "compactions";
template <>
inline constexpr std::string_view kTableOf<RequestRow> = "requests";

}  // namespace skep::meta
