#include "skep/transaction.h"

#include <utility>

#include "client/session/remote_transaction.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::client {

Transaction::Transaction(std::shared_ptr<RemoteTransaction> impl) : impl_(std::move(impl)) {}

Transaction::~Transaction() { impl_->Abandon(); }

TxnId Transaction::id() const { return impl_->id(); }
TransactionState Transaction::state() const { return impl_->state(); }
CommitSeq Transaction::snapshot() const { return impl_->snapshot(); }

absl::Status Transaction::Commit() { return impl_->Commit(); }
absl::Status Transaction::Abort() { return impl_->Abort(impl_->call_deadline()); }
absl::StatusOr<TransactionState> Transaction::QueryOutcome() { return impl_->QueryOutcome(); }

absl::StatusOr<LockGrant> Transaction::Lock(const std::vector<LockTarget>& targets,
                                            const LockOptions& options) {
  for (const LockTarget& target : targets) {
    if (IsValidUtf8(target.database) && IsValidUtf8(target.table) && IsValidUtf8(target.partition))
      continue;
    return MakeError(
        ErrorReason::kInvalidRequest, "a name to lock is not valid UTF-8", {{"field", "targets"}});
  }
  return impl_->Lock(targets, options);
}

absl::Status Transaction::RefreshSnapshot() { return impl_->RefreshSnapshot(); }

absl::StatusOr<VisibleWriteIds> Transaction::GetVisibleWriteIds(const TableName& table) {
  SKEP_ASSIGN_OR_RETURN(WriteIdSnapshot list, impl_->GetValidWriteIds(table));
  return VisibleWriteIds{list.seq,
                         list.ids.high,
                         std::move(list.ids.open),
                         std::move(list.ids.aborted),
                         std::move(list.own)};
}

absl::Status Transaction::DropTable(const TableName& table, const LockOptions& options) {
  return impl_->DropTable(table, options);
}

std::shared_ptr<TransactionCore> Transaction::core() const { return impl_; }

}  // namespace skep::client
