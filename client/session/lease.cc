#include "client/session/lease.h"

#include <algorithm>
#include <utility>

#include "storage/model/errors.h"

namespace skep::client {

void Lease::Renew(MonoTime sent) {
  absl::MutexLock lock(&mutex_);
  renewed_ = std::max(renewed_, sent);
}

void Lease::End(absl::Status final) {
  absl::MutexLock lock(&mutex_);
  if (final_.ok()) final_ = std::move(final);
}

absl::Status Lease::final_state() const {
  absl::MutexLock lock(&mutex_);
  return final_;
}

absl::Status Lease::Check() const {
  absl::MutexLock lock(&mutex_);
  if (!final_.ok()) return final_;
  if (clock_.MonoNow() < renewed_ + timeout_) return absl::OkStatus();
  return MakeError(
      ErrorReason::kTxnAborted,
      "the lease of transaction " + txn_.ToString() + " ran out: no heartbeat got through for " +
          std::to_string(timeout_.count()) +
          " ms, so the files of its snapshot may be gone. Start the transaction again.",
      {{"txnId", txn_.ToString()}, {"cause", "timeout"}});
}

}  // namespace skep::client
