#include "skep/errors.h"

namespace skep::client {

bool IsWorthANewTransaction(const absl::Status& status) {
  switch (ReasonOf(status)) {
    case ErrorReason::kWriteConflict:
    case ErrorReason::kTxnAborted:
    case ErrorReason::kSnapshotTooOld:
    case ErrorReason::kNotEnoughHistory:
      return true;
    default:
      return false;
  }
}

bool IsWorthARetry(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kDeadlineExceeded ||
         status.code() == absl::StatusCode::kResourceExhausted;
}

}  // namespace skep::client
