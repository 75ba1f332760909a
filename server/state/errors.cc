#include "server/state/errors.h"

#include <fmt/format.h>

namespace skep::state {

absl::Status NoSuchTxn(TxnId txn) {
  return MakeError(ErrorReason::kNoSuchTxn,
                   fmt::format("transaction {} was never opened here; open one", txn.value()),
                   {{"txnId", txn.ToString()}});
}

absl::Status TxnAborted(TxnId txn, AbortCause cause, std::string_view detail) {
  const std::string_view name = AbortCauseName(cause);
  std::string message = fmt::format("transaction {} is aborted ({})", txn.value(), name);
  if (!detail.empty()) message += fmt::format(": {}", detail);
  message += "; run it again as a new transaction";
  return MakeError(
      ErrorReason::kTxnAborted, message, {{"txnId", txn.ToString()}, {"cause", std::string(name)}});
}

absl::Status TxnAlreadyCommitted(TxnId txn) {
  return MakeError(ErrorReason::kTxnAlreadyCommitted,
                   fmt::format("transaction {} is committed and takes no more operations; "
                               "open another for further work",
                               txn.value()),
                   {{"txnId", txn.ToString()}});
}

absl::Status NotPublishedYet(TxnId txn) {
  return MakeError(
      ErrorReason::kStoreBusy,
      fmt::format("the snapshot of transaction {} is not durable yet; ask again", txn.value()),
      {{"txnId", txn.ToString()}});
}

absl::Status TxnMayNot(TxnId txn, std::string_view operation, std::string_view why) {
  return MakeError(ErrorReason::kOperationNotAllowed,
                   fmt::format("transaction {} cannot {}: {}", txn.value(), operation, why),
                   {{"txnId", txn.ToString()}, {"operation", std::string(operation)}});
}

absl::Status TableMayNot(const TableName& table, std::string_view operation, std::string_view why) {
  return MakeError(ErrorReason::kOperationNotAllowed,
                   fmt::format("cannot {} {}: {}", operation, table.ToString(), why),
                   {{"table", table.ToString()}, {"operation", std::string(operation)}});
}

absl::Status NoSuchTable(const TableName& table, std::string_view why) {
  std::string message = fmt::format("there is no table {}", table.ToString());
  message += why.empty() ? std::string("; `skepctl show tables` lists those there are")
                         : fmt::format(": {}", why);
  return MakeError(ErrorReason::kNoSuchTable, message, {{"table", table.ToString()}});
}

absl::Status SnapshotTooOld(TxnId txn, const TableName& table, std::string_view why) {
  return MakeError(
      ErrorReason::kSnapshotTooOld,
      fmt::format("the snapshot of transaction {} is too old for {}: {}; run it again as a new "
                  "transaction",
                  txn.value(),
                  table.ToString(),
                  why),
      {{"txnId", txn.ToString()}, {"table", table.ToString()}});
}

absl::Status NotTransactional(const TableName& table, std::string_view operation) {
  return MakeError(ErrorReason::kTableNotTransactional,
                   fmt::format("cannot {} {}: it is an external table, whose files Skep never "
                               "touches; use a managed table",
                               operation,
                               table.ToString()),
                   {{"table", table.ToString()}, {"operation", std::string(operation)}});
}

absl::Status NoSuchLock(LockId lock) {
  return MakeError(ErrorReason::kNoSuchLock,
                   fmt::format("there is no lock {}: it was released, or its lease or its "
                               "transaction is over; ask for it again",
                               lock.value()),
                   {{"lockId", lock.ToString()}});
}

absl::Status NoSuchCompaction(CompactionId id) {
  return MakeError(
      ErrorReason::kNoSuchCompaction,
      fmt::format("there is no compaction {}: it never was, left the history, or its "
                  "table was dropped; `skepctl show compactions` lists those there are",
                  id.value()),
      {{"compactionId", id.ToString()}});
}

absl::Status InvalidField(std::string_view field, std::string_view message) {
  return MakeError(ErrorReason::kInvalidRequest,
                   fmt::format("{}: {}", field, message),
                   {{"field", std::string(field)}});
}

}  // namespace skep::state
