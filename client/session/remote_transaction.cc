#include "client/session/remote_transaction.h"

#include <algorithm>

#include "client/session/lock_wait.h"
#include "proto/wire/base_wire.h"
#include "proto/wire/enums_wire.h"
#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::client {
namespace {

using std::chrono::milliseconds;

// How long a vanishing handle may hold up its owner.
constexpr milliseconds kAbandonDeadline{2'000};

bool IsAmbiguous(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kDeadlineExceeded ||
         status.code() == absl::StatusCode::kCancelled ||
         ReasonOf(status) == ErrorReason::kOutcomeUnknown;
}

absl::Status AlreadyCommitted(TxnId txn, std::string_view so) {
  return MakeError(ErrorReason::kTxnAlreadyCommitted,
                   "transaction " + txn.ToString() + " is committed and " + std::string(so),
                   {{"txnId", txn.ToString()}});
}

constexpr std::string_view kTakesNoMore = "takes no more operations; begin another one";
constexpr std::string_view kTooLateToAbort =
    "cannot be aborted any more; undo what it wrote in another one";

absl::Status AbortedBy(TxnId txn, std::string_view cause) {
  return MakeError(ErrorReason::kTxnAborted,
                   "transaction " + txn.ToString() + " was aborted (" + std::string(cause) +
                       "). Start the transaction again.",
                   {{"txnId", txn.ToString()}, {"cause", std::string(cause)}});
}

}  // namespace

RemoteTransaction::RemoteTransaction(std::shared_ptr<SessionImpl> session,
                                     std::shared_ptr<Lease> lease,
                                     TransactionMode mode,
                                     CommitSeq snapshot)
    : session_(std::move(session)), lease_(std::move(lease)), mode_(mode), snapshot_(snapshot) {}

RemoteTransaction::~RemoteTransaction() { session_->heartbeater().Remove(id()); }

TransactionState RemoteTransaction::state() const {
  const bool ended_by_server = !lease_->final_state().ok();
  absl::MutexLock lock(&mutex_);
  switch (phase_) {
    case Phase::kCommitted:
      return TransactionState::kCommitted;
    case Phase::kAborted:
      return TransactionState::kAborted;
    case Phase::kUnknown:
      return TransactionState::kUnknown;
    case Phase::kCommitting:
      return TransactionState::kOpen;
    case Phase::kOpen:
      break;
  }
  return ended_by_server ? TransactionState::kAborted : TransactionState::kOpen;
}

CommitSeq RemoteTransaction::snapshot() const {
  absl::MutexLock lock(&mutex_);
  return snapshot_;
}

absl::Status RemoteTransaction::CheckOpenLocked() const {
  switch (phase_) {
    case Phase::kCommitted:
      return AlreadyCommitted(id(), kTakesNoMore);
    case Phase::kAborted:
      return final_;
    case Phase::kCommitting:
    case Phase::kUnknown:
      return MakeError(ErrorReason::kOperationNotAllowed,
                       "transaction " + id().ToString() +
                           " is being committed; ask QueryOutcome or Commit again",
                       {{"txnId", id().ToString()}, {"operation", "use"}});
    case Phase::kOpen:
      break;
  }
  return lease_->final_state();
}

absl::Status RemoteTransaction::CheckOpen() const {
  absl::MutexLock lock(&mutex_);
  return CheckOpenLocked();
}

absl::Status RemoteTransaction::CheckLease() const {
  SKEP_RETURN_IF_ERROR(CheckOpen());
  return lease_->Check();
}

void RemoteTransaction::End(Phase phase, absl::Status final) {
  session_->heartbeater().Remove(id());
  absl::MutexLock lock(&mutex_);
  if (phase_ == Phase::kCommitted || phase_ == Phase::kAborted) return;
  phase_ = phase;
  final_ = std::move(final);
}

absl::Status RemoteTransaction::Learn(absl::Status status) {
  switch (ReasonOf(status)) {
    case ErrorReason::kTxnAborted:
    case ErrorReason::kWriteConflict:
    case ErrorReason::kNoSuchTxn:
      End(Phase::kAborted, status);
      break;
    case ErrorReason::kTxnAlreadyCommitted:
      End(Phase::kCommitted, status);
      break;
    default:
      break;
  }
  return status;
}

// ---- ends ----

absl::Status RemoteTransaction::Commit() {
  {
    absl::MutexLock lock(&mutex_);
    if (phase_ == Phase::kCommitted) return absl::OkStatus();
    if (phase_ != Phase::kUnknown) {
      SKEP_RETURN_IF_ERROR(CheckOpenLocked());
      SKEP_RETURN_IF_ERROR(write_set_.CheckComplete());
    }
    phase_ = Phase::kCommitting;
  }
  // Beats go on: the commit itself may have to wait for a server that restarts.
  absl::Status committed = CommitOnce(session_->CallDeadline());
  return IsAmbiguous(committed) ? SettleCommit(std::move(committed)) : committed;
}

absl::Status RemoteTransaction::CommitOnce(MonoTime deadline) {
  v1::CommitTransactionRequest request;
  request.set_txn_id(id().value());
  {
    absl::MutexLock lock(&mutex_);
    for (const WriteSet::TableWrites& table : write_set_.Tables()) {
      v1::TableWrites* writes = request.add_write_set();
      wire::ToProto(table.table, writes->mutable_table());
      for (const auto& [partition, op] : table.writes) {
        v1::PartitionWrite* write = writes->add_writes();
        write->set_partition(partition);
        write->set_operation(wire::ToProto(op));
      }
    }
  }
  absl::Status status = session_->caller().Call(std::move(request), deadline).status();
  if (status.ok() || ReasonOf(status) == ErrorReason::kTxnAlreadyCommitted) {
    End(Phase::kCommitted, absl::OkStatus());
    return absl::OkStatus();
  }
  status = Learn(Annotate(status, "cannot commit transaction " + id().ToString()));
  absl::MutexLock lock(&mutex_);
  if (phase_ == Phase::kCommitting) phase_ = IsAmbiguous(status) ? Phase::kUnknown : Phase::kOpen;
  return status;
}

// The commit may have happened: asks, and commits again if it has not, within one more deadline.
absl::Status RemoteTransaction::SettleCommit(absl::Status lost) {
  absl::StatusOr<TransactionState> outcome = QueryOutcome();
  if (outcome.ok() && *outcome == TransactionState::kOpen) {
    {
      absl::MutexLock lock(&mutex_);
      phase_ = Phase::kCommitting;
    }
    lost = CommitOnce(session_->CallDeadline());
    if (!IsAmbiguous(lost)) return lost;
  } else if (outcome.ok()) {
    absl::MutexLock lock(&mutex_);
    return phase_ == Phase::kCommitted ? absl::OkStatus() : final_;
  }
  return MakeError(ErrorReason::kOutcomeUnknown,
                   "whether transaction " + id().ToString() + " is committed is not known (" +
                       MessageOf(lost) +
                       "). Ask for the outcome or commit again before anything is written anew.",
                   {{"txnId", id().ToString()}});
}

absl::StatusOr<TransactionState> RemoteTransaction::QueryOutcome() {
  {
    absl::MutexLock lock(&mutex_);
    if (phase_ == Phase::kCommitted) return TransactionState::kCommitted;
    if (phase_ == Phase::kAborted) return TransactionState::kAborted;
  }
  v1::GetTransactionRequest request;
  request.set_txn_id(id().value());
  absl::StatusOr<v1::GetTransactionResponse> answer = session_->Call(std::move(request));
  if (!answer.ok()) return Learn(answer.status());
  switch (answer->transaction().state()) {
    case v1::TRANSACTION_STATE_COMMITTED:
      End(Phase::kCommitted, absl::OkStatus());
      return TransactionState::kCommitted;
    case v1::TRANSACTION_STATE_ABORTED: {
      absl::StatusOr<AbortCause> cause =
          wire::FromProto(answer->transaction().abort_cause(), "abort_cause");
      End(Phase::kAborted, AbortedBy(id(), cause.ok() ? AbortCauseName(*cause) : "unknown"));
      return TransactionState::kAborted;
    }
    case v1::TRANSACTION_STATE_OPEN:
      break;
    default:
      return MakeError(ErrorReason::kNotSupported,
                       "the server names a state of transaction " + id().ToString() +
                           " that this client does not know; use a newer client",
                       {{"what", "transaction state"}});
  }
  absl::MutexLock lock(&mutex_);
  if (phase_ == Phase::kUnknown) phase_ = Phase::kOpen;
  return TransactionState::kOpen;
}

absl::Status RemoteTransaction::Abort(milliseconds deadline) {
  {
    absl::MutexLock lock(&mutex_);
    if (phase_ == Phase::kAborted) return absl::OkStatus();
    if (phase_ == Phase::kCommitted) return AlreadyCommitted(id(), kTooLateToAbort);
    if (phase_ != Phase::kUnknown && ReasonOf(lease_->final_state()) == ErrorReason::kTxnAborted) {
      phase_ = Phase::kAborted;
      final_ = lease_->final_state();
      return absl::OkStatus();
    }
  }
  // Beats stop first: whatever becomes of the call, the lease ends the transaction.
  session_->heartbeater().Remove(id());
  v1::AbortTransactionsRequest request;
  request.add_txn_ids(id().value());
  absl::StatusOr<v1::AbortTransactionsResponse> answer =
      session_->caller().Call(std::move(request), session_->clock().MonoNow() + deadline);
  if (answer.ok() && answer->already_committed_size() > 0) {
    End(Phase::kCommitted, absl::OkStatus());
    return AlreadyCommitted(id(), kTooLateToAbort);
  }
  End(Phase::kAborted, AbortedBy(id(), AbortCauseName(AbortCause::kUser)));
  if (answer.ok()) return absl::OkStatus();
  return Annotate(answer.status(),
                  "transaction " + id().ToString() +
                      " is given up, but the server was not told; its lease of " +
                      std::to_string(lease_->timeout().count()) + " ms ends it");
}

void RemoteTransaction::Abandon() {
  {
    absl::MutexLock lock(&mutex_);
    if (phase_ == Phase::kCommitted || phase_ == Phase::kAborted) return;
    if (phase_ == Phase::kUnknown || phase_ == Phase::kCommitting) {
      // Nobody may call this failed: if the commit did not happen, the lease ends the transaction.
      phase_ = Phase::kAborted;
      final_ = MakeError(
          ErrorReason::kOutcomeUnknown,
          "transaction " + id().ToString() + " was left while its commit was not answered",
          {{"txnId", id().ToString()}});
    }
  }
  session_->heartbeater().Remove(id());
  absl::Status aborted = Abort(kAbandonDeadline);
  if (aborted.ok() || ReasonOf(aborted) == ErrorReason::kTxnAlreadyCommitted) return;
  Log(LogLevel::kWarn, "txn.abandoned", {{"txn_id", id().value()}, {"error", MessageOf(aborted)}});
}

// ---- locks and snapshot ----

absl::StatusOr<LockGrant> RemoteTransaction::Lock(const std::vector<LockTarget>& targets,
                                                  const LockOptions& options) {
  SKEP_RETURN_IF_ERROR(CheckOpen());
  v1::AcquireLocksRequest request;
  request.set_txn_id(id().value());
  AddComponents(targets, request.mutable_components());
  absl::StatusOr<LockGrant> grant = AcquireAndWait(
      session_->caller(), std::move(request), options.wait, session_->options().call_deadline);
  if (!grant.ok()) return Learn(grant.status());
  return Freshen(*std::move(grant));
}

// What was read or written under the old snapshot stays under it; where nothing was, nobody goes on
// with what the lock was waited for.
absl::StatusOr<LockGrant> RemoteTransaction::Freshen(LockGrant grant) {
  if (!grant.snapshot_stale) return grant;
  {
    absl::MutexLock lock(&mutex_);
    if (!lists_.empty() || !write_ids_.empty()) return grant;
  }
  const absl::Status fresh = RefreshSnapshot();
  if (fresh.ok()) grant.snapshot_stale = false;
  // A lock as strong as that is what it takes; whatever else the server knows, it says.
  if (!fresh.ok() && ReasonOf(fresh) != ErrorReason::kOperationNotAllowed) return fresh;
  return grant;
}

absl::Status RemoteTransaction::RefreshSnapshot() {
  v1::GetSnapshotRequest request;
  request.set_txn_id(id().value());
  request.set_refresh(true);
  request.set_snapshot_seq(snapshot().value());
  SKEP_ASSIGN_OR_RETURN(v1::GetSnapshotResponse answer, Call(std::move(request)));
  absl::MutexLock lock(&mutex_);
  // What was derived from the old snapshot is void.
  snapshot_ = CommitSeq(answer.snapshot_seq());
  tables_.clear();
  lists_.clear();
  txns_.reset();
  return absl::OkStatus();
}

absl::Status RemoteTransaction::DropTable(const TableName& table, const LockOptions& options) {
  SKEP_RETURN_IF_ERROR(
      Lock({{table.database, table.table, "", LockMode::kExclusive}}, options).status());
  v1::DropTableRequest request;
  wire::ToProto(table, request.mutable_name());
  request.set_txn_id(id().value());
  return Call(std::move(request)).status();
}

}  // namespace skep::client
