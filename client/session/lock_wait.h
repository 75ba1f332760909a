#pragma once

#include <chrono>

#include <absl/status/statusor.h>

#include "client/session/caller.h"
#include "skep/transaction.h"

#include "proto/skep/v1/lock_service.pb.h"

namespace skep::client {

// Acquires the locks of `request` (its request id and no_wait are set here) within `wait`; 0 means
// at once or not at all. The server holds the call while it waits; after its answer WAITING the
// client asks by CheckLock.
//
// Whatever ends the attempt except success gives the request up by ReleaseLock, also when its id
// was never learned because answers were lost; a grant that wins against giving up is the success
// it is. What cannot be released (no connection) ends with its transaction. Errors:
// DEADLINE_EXCEEDED naming who blocks; UNAVAILABLE; the server's refusals.
absl::StatusOr<LockGrant> AcquireAndWait(Caller& caller,
                                         v1::AcquireLocksRequest request,
                                         std::chrono::milliseconds wait,
                                         std::chrono::milliseconds call_deadline);

}  // namespace skep::client
