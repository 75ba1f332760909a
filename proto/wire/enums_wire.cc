#include "proto/wire/enums_wire.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "proto/wire/base_wire.h"

namespace skep::wire {
namespace {

// One table per enumeration, read in both directions.
template <class Model, class Wire, size_t N>
using Table = std::array<std::pair<Model, Wire>, N>;

constexpr Table<TxnType, v1::TransactionType, 7> kTxnTypes{{
    {TxnType::kDefault, v1::TRANSACTION_TYPE_DEFAULT},
    {TxnType::kReplCreated, v1::TRANSACTION_TYPE_REPL_CREATED},
    {TxnType::kReadOnly, v1::TRANSACTION_TYPE_READ_ONLY},
    {TxnType::kCompaction, v1::TRANSACTION_TYPE_COMPACTION},
    {TxnType::kMaterializedViewRebuild, v1::TRANSACTION_TYPE_MATERIALIZED_VIEW_REBUILD},
    {TxnType::kSoftDelete, v1::TRANSACTION_TYPE_SOFT_DELETE},
    {TxnType::kRebalanceCompaction, v1::TRANSACTION_TYPE_REBALANCE_COMPACTION},
}};
constexpr Table<TxnState, v1::TransactionState, 3> kTxnStates{{
    {TxnState::kOpen, v1::TRANSACTION_STATE_OPEN},
    {TxnState::kCommitted, v1::TRANSACTION_STATE_COMMITTED},
    {TxnState::kAborted, v1::TRANSACTION_STATE_ABORTED},
}};
constexpr Table<AbortCause, v1::AbortCause, 10> kAbortCauses{{
    {AbortCause::kNone, v1::ABORT_CAUSE_UNSPECIFIED},
    {AbortCause::kUser, v1::ABORT_CAUSE_USER},
    {AbortCause::kTimeout, v1::ABORT_CAUSE_TIMEOUT},
    {AbortCause::kConflict, v1::ABORT_CAUSE_CONFLICT},
    {AbortCause::kDeadlock, v1::ABORT_CAUSE_DEADLOCK},
    {AbortCause::kOperator, v1::ABORT_CAUSE_OPERATOR},
    {AbortCause::kShutdown, v1::ABORT_CAUSE_SHUTDOWN},
    {AbortCause::kReplication, v1::ABORT_CAUSE_REPLICATION},
    {AbortCause::kRestore, v1::ABORT_CAUSE_RESTORE},
    {AbortCause::kCompaction, v1::ABORT_CAUSE_COMPACTION},
}};
constexpr Table<WriteOp, v1::WriteOperation, 5> kWriteOps{{
    {WriteOp::kInsert, v1::WRITE_OPERATION_INSERT},
    {WriteOp::kUpdate, v1::WRITE_OPERATION_UPDATE},
    {WriteOp::kDelete, v1::WRITE_OPERATION_DELETE},
    {WriteOp::kOverwrite, v1::WRITE_OPERATION_OVERWRITE},
    {WriteOp::kDrop, v1::WRITE_OPERATION_DROP},
}};
constexpr Table<LockKind, v1::LockKind, 4> kLockKinds{{
    {LockKind::kSharedRead, v1::LOCK_KIND_SHARED_READ},
    {LockKind::kSharedWrite, v1::LOCK_KIND_SHARED_WRITE},
    {LockKind::kExclWrite, v1::LOCK_KIND_EXCL_WRITE},
    {LockKind::kExclusive, v1::LOCK_KIND_EXCLUSIVE},
}};
constexpr Table<LockState, v1::LockState, 4> kLockStates{{
    {LockState::kAcquired, v1::LOCK_STATE_ACQUIRED},
    {LockState::kWaiting, v1::LOCK_STATE_WAITING},
    {LockState::kNotAcquired, v1::LOCK_STATE_NOT_ACQUIRED},
    {LockState::kAborted, v1::LOCK_STATE_ABORTED},
}};
constexpr Table<CompactionType, v1::CompactionType, 3> kCompactionTypes{{
    {CompactionType::kMajor, v1::COMPACTION_TYPE_MAJOR},
    {CompactionType::kMinor, v1::COMPACTION_TYPE_MINOR},
    {CompactionType::kRebalance, v1::COMPACTION_TYPE_REBALANCE},
}};
constexpr Table<CompactionState, v1::CompactionState, 8> kCompactionStates{{
    {CompactionState::kInitiated, v1::COMPACTION_STATE_INITIATED},
    {CompactionState::kWorking, v1::COMPACTION_STATE_WORKING},
    {CompactionState::kReadyForCleaning, v1::COMPACTION_STATE_READY_FOR_CLEANING},
    {CompactionState::kSucceeded, v1::COMPACTION_STATE_SUCCEEDED},
    {CompactionState::kFailed, v1::COMPACTION_STATE_FAILED},
    {CompactionState::kNotInitiated, v1::COMPACTION_STATE_NOT_INITIATED},
    {CompactionState::kRefused, v1::COMPACTION_STATE_REFUSED},
    {CompactionState::kCancelled, v1::COMPACTION_STATE_CANCELLED},
}};
constexpr Table<TableKind, v1::TableKind, 3> kTableKinds{{
    {TableKind::kFullAcid, v1::TABLE_KIND_FULL_ACID},
    {TableKind::kInsertOnly, v1::TABLE_KIND_INSERT_ONLY},
    {TableKind::kExternal, v1::TABLE_KIND_EXTERNAL},
}};
constexpr Table<FileFormat, v1::FileFormat, 5> kFileFormats{{
    {FileFormat::kOrc, v1::FILE_FORMAT_ORC},
    {FileFormat::kParquet, v1::FILE_FORMAT_PARQUET},
    {FileFormat::kAvro, v1::FILE_FORMAT_AVRO},
    {FileFormat::kText, v1::FILE_FORMAT_TEXT},
    {FileFormat::kOther, v1::FILE_FORMAT_OTHER},
}};

template <class Model, class Wire, size_t N>
Wire Out(const Table<Model, Wire, N>& table, Model from) {
  for (const auto& [model, wire] : table) {
    if (model == from) return wire;
  }
  return Wire{};
}

template <class Model, class Wire, size_t N>
absl::StatusOr<Model> In(const Table<Model, Wire, N>& table, Wire from, std::string_view field) {
  for (const auto& [model, wire] : table) {
    if (wire == from) return model;
  }
  if (from == Wire{}) return BadField(field, "missing");
  return BadField(field, fmt::format("{} is not known here", static_cast<int>(from)));
}

}  // namespace

v1::TransactionType ToProto(TxnType from) { return Out(kTxnTypes, from); }
v1::TransactionState ToProto(TxnState from) { return Out(kTxnStates, from); }
v1::AbortCause ToProto(AbortCause from) { return Out(kAbortCauses, from); }
v1::WriteOperation ToProto(WriteOp from) { return Out(kWriteOps, from); }
v1::LockKind ToProto(LockKind from) { return Out(kLockKinds, from); }
v1::LockState ToProto(LockState from) { return Out(kLockStates, from); }
v1::CompactionType ToProto(CompactionType from) { return Out(kCompactionTypes, from); }
v1::CompactionState ToProto(CompactionState from) { return Out(kCompactionStates, from); }
v1::TableKind ToProto(TableKind from) { return Out(kTableKinds, from); }
v1::FileFormat ToProto(FileFormat from) { return Out(kFileFormats, from); }

absl::StatusOr<TxnType> FromProto(v1::TransactionType from, std::string_view field) {
  if (from == v1::TRANSACTION_TYPE_UNSPECIFIED) return TxnType::kDefault;
  return In(kTxnTypes, from, field);
}
absl::StatusOr<TxnState> FromProto(v1::TransactionState from, std::string_view field) {
  return In(kTxnStates, from, field);
}
absl::StatusOr<AbortCause> FromProto(v1::AbortCause from, std::string_view field) {
  return In(kAbortCauses, from, field);
}
absl::StatusOr<WriteOp> FromProto(v1::WriteOperation from, std::string_view field) {
  return In(kWriteOps, from, field);
}
absl::StatusOr<LockKind> FromProto(v1::LockKind from, std::string_view field) {
  return In(kLockKinds, from, field);
}
absl::StatusOr<LockState> FromProto(v1::LockState from, std::string_view field) {
  return In(kLockStates, from, field);
}
absl::StatusOr<CompactionType> FromProto(v1::CompactionType from, std::string_view field) {
  return In(kCompactionTypes, from, field);
}
absl::StatusOr<CompactionState> FromProto(v1::CompactionState from, std::string_view field) {
  return In(kCompactionStates, from, field);
}
absl::StatusOr<TableKind> FromProto(v1::TableKind from, std::string_view field) {
  return In(kTableKinds, from, field);
}
absl::StatusOr<FileFormat> FromProto(v1::FileFormat from, std::string_view field) {
  if (from == v1::FILE_FORMAT_UNSPECIFIED) return FileFormat::kOrc;
  return In(kFileFormats, from, field);
}

}  // namespace skep::wire
