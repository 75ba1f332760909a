#pragma once

// Which method a request belongs to, for typed calls.

#include <string>

#include "proto/skep/v1/compaction_service.pb.h"
#include "proto/skep/v1/lock_service.pb.h"
#include "proto/skep/v1/session_service.pb.h"
#include "proto/skep/v1/table_service.pb.h"
#include "proto/skep/v1/transaction_service.pb.h"

namespace skep::client {

template <class Request>
struct Rpc;

template <>
struct Rpc<v1::OpenTransactionsRequest> {
  using Response = v1::OpenTransactionsResponse;
  static constexpr char kMethod[] = "/skep.v1.TransactionService/OpenTransactions";
};
// Over a session's stream only.
template <>
struct Rpc<v1::BeginTransactionRequest> {
  using Response = v1::BeginTransactionResponse;
  static constexpr char kMethod[] = "/skep.v1.SessionService/BeginTransaction";
};
template <>
struct Rpc<v1::GetTransactionRequest> {
  using Response = v1::GetTransactionResponse;
  static constexpr char kMethod[] = "/skep.v1.TransactionService/GetTransaction";
};
template <>
struct Rpc<v1::HeartbeatTransactionsRequest> {
  using Response = v1::HeartbeatTransactionsResponse;
  static constexpr char kMethod[] = "/skep.v1.TransactionService/HeartbeatTransactions";
};
template <>
struct Rpc<v1::CommitTransactionRequest> {
  using Response = v1::CommitTransactionResponse;
  static constexpr char kMethod[] = "/skep.v1.TransactionService/CommitTransaction";
};
template <>
struct Rpc<v1::AbortTransactionsRequest> {
  using Response = v1::AbortTransactionsResponse;
  static constexpr char kMethod[] = "/skep.v1.TransactionService/AbortTransactions";
};
template <>
struct Rpc<v1::AddPartitionsRequest> {
  using Response = v1::AddPartitionsResponse;
  static constexpr char kMethod[] = "/skep.v1.TransactionService/AddPartitions";
};
template <>
struct Rpc<v1::GetSnapshotRequest> {
  using Response = v1::GetSnapshotResponse;
  static constexpr char kMethod[] = "/skep.v1.TransactionService/GetSnapshot";
};
template <>
struct Rpc<v1::AcquireLocksRequest> {
  using Response = v1::AcquireLocksResponse;
  static constexpr char kMethod[] = "/skep.v1.LockService/AcquireLocks";
};
template <>
struct Rpc<v1::CheckLockRequest> {
  using Response = v1::CheckLockResponse;
  static constexpr char kMethod[] = "/skep.v1.LockService/CheckLock";
};
template <>
struct Rpc<v1::ReleaseLockRequest> {
  using Response = v1::ReleaseLockResponse;
  static constexpr char kMethod[] = "/skep.v1.LockService/ReleaseLock";
};
template <>
struct Rpc<v1::CreateTableRequest> {
  using Response = v1::CreateTableResponse;
  static constexpr char kMethod[] = "/skep.v1.TableService/CreateTable";
};
template <>
struct Rpc<v1::GetTableRequest> {
  using Response = v1::GetTableResponse;
  static constexpr char kMethod[] = "/skep.v1.TableService/GetTable";
};
template <>
struct Rpc<v1::ListPartitionsRequest> {
  using Response = v1::ListPartitionsResponse;
  static constexpr char kMethod[] = "/skep.v1.TableService/ListPartitions";
};
template <>
struct Rpc<v1::DropTableRequest> {
  using Response = v1::DropTableResponse;
  static constexpr char kMethod[] = "/skep.v1.TableService/DropTable";
};
template <>
struct Rpc<v1::AllocateWriteIdsRequest> {
  using Response = v1::AllocateWriteIdsResponse;
  static constexpr char kMethod[] = "/skep.v1.TableService/AllocateWriteIds";
};
template <>
struct Rpc<v1::GetValidWriteIdsRequest> {
  using Response = v1::GetValidWriteIdsResponse;
  static constexpr char kMethod[] = "/skep.v1.TableService/GetValidWriteIds";
};
template <>
struct Rpc<v1::EnqueueCompactionRequest> {
  using Response = v1::EnqueueCompactionResponse;
  static constexpr char kMethod[] = "/skep.v1.CompactionService/EnqueueCompaction";
};
template <>
struct Rpc<v1::GetCompactionRequest> {
  using Response = v1::GetCompactionResponse;
  static constexpr char kMethod[] = "/skep.v1.CompactionService/GetCompaction";
};

}  // namespace skep::client
