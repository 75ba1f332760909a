#pragma once

// Requests and answers of LockService as the state machine's values; see txn_commands.h for what is
// checked.

#include <absl/status/statusor.h>

#include "server/state/commands.h"

#include "proto/skep/v1/lock_service.pb.h"

namespace skep::wire {

absl::StatusOr<state::AcquireLocks> FromProto(const v1::AcquireLocksRequest& from);
void ToProto(const state::LockAnswer& from, v1::AcquireLocksResponse* to);
void ToProto(const state::LockAnswer& from, v1::CheckLockResponse* to);
void ToProto(const state::Blocker& from, v1::LockBlocker* to);

absl::StatusOr<state::ReleaseLock> FromProto(const v1::ReleaseLockRequest& from);
absl::StatusOr<state::ListLocks> FromProto(const v1::ListLocksRequest& from);

}  // namespace skep::wire
