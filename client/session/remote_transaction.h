#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include "client/session/lease.h"
#include "client/session/session_impl.h"
#include "client/session/transaction_core.h"
#include "client/session/write_set.h"
#include "skep/transaction.h"

namespace skep::client {

// A transaction of the server: its calls, what they answered, its end. Behind Transaction and
// behind everything opened on it. Thread-safe; no mutex is held over a call.
class RemoteTransaction final : public TransactionCore {
 public:
  // Opens one, with all that is asked for or not at all. A lost answer is asked for again under the
  // same request id; if the server has forgotten the id, a new transaction is opened and the lost
  // one, if there is one, ends by its lease.
  static absl::StatusOr<std::shared_ptr<RemoteTransaction>> Begin(
      std::shared_ptr<SessionImpl> session, const BeginOptions& options);
  ~RemoteTransaction() override;

  // ---- the handle's part ----
  TransactionState state() const;
  CommitSeq snapshot() const;
  std::chrono::milliseconds call_deadline() const { return session_->options().call_deadline; }
  absl::Status Commit();
  absl::Status Abort(std::chrono::milliseconds deadline);
  absl::StatusOr<TransactionState> QueryOutcome();
  absl::StatusOr<LockGrant> Lock(const std::vector<LockTarget>& targets,
                                 const LockOptions& options);
  absl::Status RefreshSnapshot();
  absl::Status DropTable(const TableName& table, const LockOptions& options);
  // The handle is going: aborts what is open.
  void Abandon();

  // ---- TransactionCore ----
  TxnId id() const override { return lease_->txn(); }
  absl::Status CheckLease() const override;
  absl::StatusOr<TableInfo> GetTable(const TableName& name) override;
  absl::StatusOr<std::vector<std::string>> ListPartitions(const TableName& name) override;
  absl::StatusOr<WriteIdSnapshot> GetValidWriteIds(const TableName& name) override;
  absl::StatusOr<TxnSnapshot> GetTxnSnapshot() override;
  absl::StatusOr<WriteStatement> BeginWrite(const TableName& name, WriteOp op) override;
  absl::Status DeclarePartitions(const WriteStatement& statement,
                                 const std::vector<std::string>& partitions) override;
  absl::Status EndWrite(const WriteStatement& statement, Wrote wrote) override;
  void FailWrite(const WriteStatement& statement, const absl::Status& why) override;

 private:
  enum class Phase { kOpen, kCommitting, kCommitted, kAborted, kUnknown };

  RemoteTransaction(std::shared_ptr<SessionImpl> session,
                    std::shared_ptr<Lease> lease,
                    TransactionMode mode,
                    CommitSeq snapshot);

  // ---- begin (transaction_begin.cc) ----
  static absl::StatusOr<std::shared_ptr<RemoteTransaction>> Open(
      std::shared_ptr<SessionImpl> session,
      v1::OpenTransactionsRequest request,
      TransactionMode mode);
  static absl::StatusOr<std::shared_ptr<RemoteTransaction>> Adopt(
      std::shared_ptr<SessionImpl> session,
      const v1::OpenTransactionsResponse& opened,
      MonoTime sent,
      TransactionMode mode);
  // UNIMPLEMENTED: there is no stream (any more). Whether it began is not known while `open` has
  // its request id.
  static absl::StatusOr<std::shared_ptr<RemoteTransaction>> BeginFused(
      std::shared_ptr<SessionImpl> session,
      v1::OpenTransactionsRequest& open,
      const BeginOptions& options);
  static absl::StatusOr<std::shared_ptr<RemoteTransaction>> BeginInSteps(
      std::shared_ptr<SessionImpl> session,
      v1::OpenTransactionsRequest open,
      const BeginOptions& options,
      MonoTime until);
  absl::Status Keep(const v1::BeginTransactionResponse& begun, const BeginOptions& options);
  absl::Status RenewAfter(MonoTime sent, LockId lock);
  absl::Status TakeInSteps(const BeginOptions& options, MonoTime until);

  // OK while calls make sense; the final state otherwise, a heartbeat's word included.
  absl::Status CheckOpen() const;
  absl::Status CheckOpenLocked() const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // The transaction has ended: beats stop, `final` is what later calls answer.
  void End(Phase phase, absl::Status final);
  // Ends the transaction if `status` says that it has ended; passes `status` on.
  absl::Status Learn(absl::Status status);
  template <class Request>
  absl::StatusOr<typename Rpc<Request>::Response> Call(Request request);

  absl::Status CommitOnce(MonoTime deadline);
  absl::Status SettleCommit(absl::Status lost);
  absl::StatusOr<LockGrant> Freshen(LockGrant grant);
  absl::StatusOr<LockGrant> LockForWrite(const TableInfo& table, WriteOp op);
  absl::StatusOr<WriteId> AllocateWriteId(const TableName& name);

  const std::shared_ptr<SessionImpl>
      session_;                         // shared with the session and its other transactions
  const std::shared_ptr<Lease> lease_;  // shared with the heartbeater
  const TransactionMode mode_;

  mutable absl::Mutex mutex_;
  Phase phase_ ABSL_GUARDED_BY(mutex_) = Phase::kOpen;
  absl::Status final_ ABSL_GUARDED_BY(mutex_);
  CommitSeq snapshot_ ABSL_GUARDED_BY(mutex_);
  WriteSet write_set_ ABSL_GUARDED_BY(mutex_);
  // Answers that cannot change while the snapshot stays.
  std::map<TableName, TableInfo> tables_ ABSL_GUARDED_BY(mutex_);
  std::map<TableName, WriteIdSnapshot> lists_ ABSL_GUARDED_BY(mutex_);
  std::optional<TxnSnapshot> txns_ ABSL_GUARDED_BY(mutex_);
  std::map<TableName, WriteId> write_ids_ ABSL_GUARDED_BY(mutex_);
  std::set<TableName> named_ ABSL_GUARDED_BY(mutex_);  // tables whose list was asked for
  std::set<std::pair<TableName, WriteOp>> write_locks_ ABSL_GUARDED_BY(mutex_);
};

template <class Request>
absl::StatusOr<typename Rpc<Request>::Response> RemoteTransaction::Call(Request request) {
  absl::Status open = CheckOpen();
  if (!open.ok()) return open;
  auto answer = session_->Call(std::move(request));
  if (!answer.ok()) return Learn(answer.status());
  return answer;
}

}  // namespace skep::client
