#pragma once

// Why a call failed, for programs: ErrorReason, ReasonOf(status), MetadataOf(status),
// ReasonName(reason).
//
// Three groups decide what a program does next:
//   start the transaction again   kWriteConflict, kTxnAborted, kSnapshotTooOld, kNotEnoughHistory
//   ask for the outcome           kOutcomeUnknown: Transaction::QueryOutcome or Commit again
//   try later                     status code UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED
// Everything else is final.

#include <absl/status/status.h>

#include "storage/model/errors.h"

namespace skep::client {

// True if a new transaction that does the same may succeed.
bool IsWorthANewTransaction(const absl::Status& status);
// True if the same call may succeed later.
bool IsWorthARetry(const absl::Status& status);

}  // namespace skep::client
