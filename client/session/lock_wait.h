#pragma once

#include <chrono>
#include <string>
#include <vector>

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

// "SHARED_WRITE on sales.orders held by transaction 17 of ann@host1 (nightly etl) and 2 more"; ""
// for none.
std::string DescribeBlockers(const google::protobuf::RepeatedPtrField<v1::LockBlocker>& blockers);
// DEADLINE_EXCEEDED with the way out.
absl::Status NotGranted(std::chrono::milliseconds wait, const std::string& blockers);
// TXN_ABORTED.
absl::Status EndedWhileItWaited(int64_t txn, const std::string& reason);
void AddComponents(const std::vector<LockTarget>& targets,
                   google::protobuf::RepeatedPtrField<v1::LockComponent>* components);

}  // namespace skep::client
