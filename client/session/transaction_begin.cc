// How a transaction begins: alone, with all that it will need in one message, or step by step.
#include <algorithm>
#include <string>
#include <utility>

#include "client/session/lock_wait.h"
#include "client/session/remote_transaction.h"
#include "proto/wire/base_wire.h"
#include "proto/wire/snapshot_wire.h"
#include "storage/base/random.h"
#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::client {
namespace {

using std::chrono::milliseconds;

// A stream says WAITING so long before the deadline.
constexpr milliseconds kMargin{300};

v1::OpenTransactionsRequest OpenRequest(const SessionOptions& session,
                                        const BeginOptions& options) {
  v1::OpenTransactionsRequest request;
  request.set_count(1);
  request.set_type(options.mode == TransactionMode::kReadOnly ? v1::TRANSACTION_TYPE_READ_ONLY
                                                              : v1::TRANSACTION_TYPE_DEFAULT);
  request.set_user(session.user);
  request.set_host(session.host);
  request.set_agent(options.agent.empty() ? session.agent : options.agent);
  if (options.lease.has_value()) wire::ToProto(*options.lease, request.mutable_txn_timeout());
  return request;
}

v1::BeginTransactionRequest FusedRequest(const v1::OpenTransactionsRequest& open,
                                         const BeginOptions& options) {
  v1::BeginTransactionRequest request;
  *request.mutable_open() = open;
  AddComponents(options.locks, request.mutable_locks());
  request.set_no_wait(options.lock_options.wait.count() == 0);
  for (const TableName& table : options.writes) wire::ToProto(table, request.add_write_tables());
  for (const TableName& table : options.reads) wire::ToProto(table, request.add_read_tables());
  request.set_names_all(!options.reads.empty());
  request.set_with_snapshot(!options.reads.empty());
  return request;
}

}  // namespace

absl::StatusOr<std::shared_ptr<RemoteTransaction>> RemoteTransaction::Begin(
    std::shared_ptr<SessionImpl> session, const BeginOptions& options) {
  v1::OpenTransactionsRequest open = OpenRequest(session->options(), options);
  const auto begin = [&]() -> absl::StatusOr<std::shared_ptr<RemoteTransaction>> {
    if (options.locks.empty() && options.reads.empty() && options.writes.empty()) {
      return Open(session, std::move(open), options.mode);
    }
    const MonoTime until = session->clock().MonoNow() + options.lock_options.wait;
    const MonoTime give_up = std::max(until, session->CallDeadline());
    while (session->stream() != nullptr && session->stream()->streaming()) {
      const Uuid id = MakeUuid(session->caller().random());
      open.set_request_id(std::string(id.begin(), id.end()));
      auto begun = BeginFused(session, open, options);
      // The server knows nothing of the first attempt: it opened nothing.
      if (ReasonOf(begun.status()) == ErrorReason::kRequestIdExpired &&
          session->clock().MonoNow() < give_up) {
        continue;
      }
      if (!absl::IsUnimplemented(begun.status())) return begun;
      open.set_repeat(!open.request_id().empty());
      break;
    }
    auto begun = BeginInSteps(session, open, options, until);
    if (ReasonOf(begun.status()) != ErrorReason::kTxnAborted || !open.repeat()) return begun;
    // What the lost attempt opened had been refused the rest, and is no more.
    open.clear_request_id();
    open.clear_repeat();
    return BeginInSteps(session, std::move(open), options, until);
  };
  absl::StatusOr<std::shared_ptr<RemoteTransaction>> begun = begin();
  if (!begun.ok()) return Annotate(begun.status(), "cannot begin a transaction");
  return begun;
}

absl::StatusOr<std::shared_ptr<RemoteTransaction>> RemoteTransaction::Open(
    std::shared_ptr<SessionImpl> session,
    v1::OpenTransactionsRequest request,
    TransactionMode mode) {
  const MonoTime deadline = session->CallDeadline();
  while (true) {
    // The first attempt may be the one that opened it: the lease counts from there.
    const MonoTime sent = session->clock().MonoNow();
    absl::StatusOr<v1::OpenTransactionsResponse> opened = session->caller().Call(request, deadline);
    if (ReasonOf(opened.status()) == ErrorReason::kRequestIdExpired &&
        session->clock().MonoNow() < deadline) {
      request.clear_request_id();
      request.clear_repeat();
      continue;
    }
    if (!opened.ok()) return opened.status();
    return Adopt(std::move(session), *opened, sent, mode);
  }
}

absl::StatusOr<std::shared_ptr<RemoteTransaction>> RemoteTransaction::Adopt(
    std::shared_ptr<SessionImpl> session,
    const v1::OpenTransactionsResponse& opened,
    MonoTime sent,
    TransactionMode mode) {
  SKEP_ASSIGN_OR_RETURN(milliseconds timeout, wire::FromProto(opened.txn_timeout(), "txn_timeout"));
  auto lease =
      std::make_shared<Lease>(TxnId(opened.first_txn_id()), timeout, sent, session->clock());
  session->heartbeater().Add(lease);
  return std::shared_ptr<RemoteTransaction>(new RemoteTransaction(
      std::move(session), std::move(lease), mode, CommitSeq(opened.snapshot_seq())));
}

// ---- all in one message ----

absl::StatusOr<std::shared_ptr<RemoteTransaction>> RemoteTransaction::BeginFused(
    std::shared_ptr<SessionImpl> session,
    v1::OpenTransactionsRequest& open,
    const BeginOptions& options) {
  const milliseconds wait = options.lock_options.wait;
  const bool waits = !options.locks.empty() && wait.count() > 0;
  const MonoTime sent = session->clock().MonoNow();
  const MonoTime deadline = waits ? sent + wait : session->CallDeadline();
  SKEP_ASSIGN_OR_RETURN(const v1::BeginTransactionResponse begun,
                        session->caller().Call(FusedRequest(open, options), deadline));
  const int64_t txn = begun.transaction().first_txn_id();
  switch (begun.state()) {
    case v1::LOCK_STATE_ACQUIRED:
      break;
    case v1::LOCK_STATE_WAITING: {
      v1::AbortTransactionsRequest abort;
      abort.add_txn_ids(txn);
      session->Call(std::move(abort)).status().IgnoreError();  // its lease ends it as well
      if (session->clock().MonoNow() + kMargin < deadline) {
        open.clear_request_id();
        return absl::UnimplementedError("the session that would have told of the grant is lost");
      }
      return NotGranted(wait, DescribeBlockers(begun.lock().blocked_by()));
    }
    case v1::LOCK_STATE_NOT_ACQUIRED:
      return NotGranted(wait, DescribeBlockers(begun.lock().blocked_by()));
    case v1::LOCK_STATE_ABORTED:
      return EndedWhileItWaited(txn, begun.lock().reason());
    default:
      return MakeError(ErrorReason::kInternal,
                       "the server answered a begin with state " + std::to_string(begun.state()));
  }
  SKEP_ASSIGN_OR_RETURN(std::shared_ptr<RemoteTransaction> transaction,
                        Adopt(session, begun.transaction(), sent, options.mode));
  absl::Status kept = transaction->Keep(begun, options);
  if (kept.ok()) kept = transaction->RenewAfter(sent, LockId(begun.lock().lock_id()));
  if (kept.ok()) return transaction;
  transaction->Abandon();
  return kept;
}

absl::Status RemoteTransaction::Keep(const v1::BeginTransactionResponse& begun,
                                     const BeginOptions& options) {
  if (begun.write_ids_size() != std::ssize(options.writes) ||
      begun.valid_write_ids().lists_size() != std::ssize(options.reads)) {
    return MakeError(ErrorReason::kInternal, "the server answered a begin by half");
  }
  absl::MutexLock lock(&mutex_);
  for (size_t i = 0; i < options.writes.size(); ++i) {
    const v1::AllocateWriteIdsResponse& allocated = begun.write_ids(static_cast<int>(i));
    if (allocated.allocations_size() != 1) {
      return MakeError(ErrorReason::kInternal,
                       "the server sent no write id of " + options.writes[i].ToString());
    }
    write_ids_[options.writes[i]] = WriteId(allocated.allocations(0).write_id());
  }
  for (size_t i = 0; i < options.reads.size(); ++i) {
    SKEP_ASSIGN_OR_RETURN(lists_[options.reads[i]],
                          wire::FromProto(begun.valid_write_ids().lists(static_cast<int>(i))));
    named_.insert(options.reads[i]);
  }
  if (begun.has_snapshot()) {
    SKEP_ASSIGN_OR_RETURN(txns_, wire::FromProto(begun.snapshot(), id()));
  }
  return absl::OkStatus();
}

// The lease counts from `sent`, which a long wait for locks has left behind: a question about the
// lock is a beat of its transaction.
absl::Status RemoteTransaction::RenewAfter(MonoTime sent, LockId lock) {
  const MonoTime now = session_->clock().MonoNow();
  if (lock.is_none() || now - sent < lease_->timeout() / 3) return absl::OkStatus();
  v1::CheckLockRequest check;
  check.set_lock_id(lock.value());
  SKEP_RETURN_IF_ERROR(Call(std::move(check)).status());
  lease_->Renew(now);
  return absl::OkStatus();
}

// ---- one call after another ----

absl::StatusOr<std::shared_ptr<RemoteTransaction>> RemoteTransaction::BeginInSteps(
    std::shared_ptr<SessionImpl> session,
    v1::OpenTransactionsRequest open,
    const BeginOptions& options,
    MonoTime until) {
  SKEP_ASSIGN_OR_RETURN(std::shared_ptr<RemoteTransaction> transaction,
                        Open(std::move(session), std::move(open), options.mode));
  const absl::Status taken = transaction->TakeInSteps(options, until);
  if (taken.ok()) return transaction;
  transaction->Abandon();
  return taken;
}

absl::Status RemoteTransaction::TakeInSteps(const BeginOptions& options, MonoTime until) {
  if (!options.locks.empty()) {
    const auto left = std::chrono::ceil<milliseconds>(until - session_->clock().MonoNow());
    // Who was to wait and has waited already asks once more without.
    const LockOptions wait{std::max(left, milliseconds(0))};
    SKEP_RETURN_IF_ERROR(Lock(options.locks, wait).status());  // and a fresh snapshot
  }
  for (const TableName& table : options.writes) {
    SKEP_RETURN_IF_ERROR(AllocateWriteId(table).status());
  }
  for (const TableName& table : options.reads) {
    SKEP_RETURN_IF_ERROR(GetValidWriteIds(table).status());
  }
  if (!options.reads.empty()) SKEP_RETURN_IF_ERROR(GetTxnSnapshot().status());
  return absl::OkStatus();
}

}  // namespace skep::client
