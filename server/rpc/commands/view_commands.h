#pragma once

// Requests and answers about materialised views as the state machine's values; see txn_commands.h
// for what is checked.

#include <absl/status/statusor.h>

#include "server/state/commands.h"

#include "proto/skep/v1/lock_service.pb.h"
#include "proto/skep/v1/table_service.pb.h"

namespace skep::wire {

absl::StatusOr<state::LockViewRebuild> FromProto(const v1::LockViewRebuildRequest& from);
void ToProto(const state::ViewLockAnswer& from, v1::LockViewRebuildResponse* to);
void ToProto(const state::ViewLock& from, v1::ViewRebuild* to);

absl::StatusOr<state::GetTableChanges> FromProto(const v1::GetTableChangesRequest& from);
void ToProto(const state::TableChanges& from, v1::GetTableChangesResponse* to);

}  // namespace skep::wire
