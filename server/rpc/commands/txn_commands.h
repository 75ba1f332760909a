#pragma once

// Requests and answers of TransactionService and the write-id calls of TableService as the state
// machine's values. FromProto refuses what is malformed by field (kInvalidRequest); what is only
// wrong in the present state is the state machine's to refuse. Lists take their page from page_size
// and page_token.

#include <optional>
#include <string>

#include <absl/status/statusor.h>

#include "server/state/commands.h"

#include "proto/skep/v1/table_service.pb.h"
#include "proto/skep/v1/transaction_service.pb.h"

namespace skep::wire {

// Empty, or 16 bytes that are not all zero; `repeat` needs one.
absl::StatusOr<state::RequestKey> RequestKeyFromProto(const std::string& request_id, bool repeat);

// A transaction is named by its own id (nullopt) or by that of another server, never by both.
absl::StatusOr<std::optional<state::CommitTxn::Source>> SourceFromProto(const std::string& policy,
                                                                        int64_t source_txn,
                                                                        int64_t txn);

absl::StatusOr<state::OpenTxns> FromProto(const v1::OpenTransactionsRequest& from);
void ToProto(const state::OpenedTxns& from, v1::OpenTransactionsResponse* to);

void ToProto(const state::TxnInfo& from, v1::Transaction* to);

// `table` of the request is a name; the caller looks its id up.
absl::StatusOr<state::ListTxns> FromProto(const v1::ListTransactionsRequest& from);

absl::StatusOr<state::Heartbeat> FromProto(const v1::HeartbeatTransactionsRequest& from);
void ToProto(const state::HeartbeatResult& from, v1::HeartbeatTransactionsResponse* to);

absl::StatusOr<state::CommitTxn> FromProto(const v1::CommitTransactionRequest& from);
void ToProto(const state::CommittedTxn& from, v1::CommitTransactionResponse* to);

absl::StatusOr<state::AbortTxns> FromProto(const v1::AbortTransactionsRequest& from);
void ToProto(const state::AbortedTxns& from, v1::AbortTransactionsResponse* to);

absl::StatusOr<state::AddPartitions> FromProto(const v1::AddPartitionsRequest& from);

absl::StatusOr<state::AllocateWriteIds> FromProto(const v1::AllocateWriteIdsRequest& from);
// Of a request that names a replication policy.
absl::StatusOr<state::ReplicateWriteIds> ReplicateFromProto(
    const v1::AllocateWriteIdsRequest& from);
void ToProto(const state::AllocatedWriteIds& from, v1::AllocateWriteIdsResponse* to);

absl::StatusOr<state::AdoptWriteIds> FromProto(const v1::AdoptWriteIdsRequest& from);
void ToProto(const state::AdoptedWriteIds& from, v1::AdoptWriteIdsResponse* to);

absl::StatusOr<state::GetValidWriteIds> FromProto(const v1::GetValidWriteIdsRequest& from);
void ToProto(const state::ValidWriteIds& from, v1::GetValidWriteIdsResponse* to);
// "TXN$LIST$LIST…" (SER-5).
std::string HiveText(TxnId txn, const state::ValidWriteIds& lists);

void ToProto(const state::VersionedTxns& from, v1::GetSnapshotResponse* to);

}  // namespace skep::wire
