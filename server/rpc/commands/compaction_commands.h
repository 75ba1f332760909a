#pragma once

// Requests and answers of CompactionService and AdminService as the state machine's values; see
// txn_commands.h for what is checked.

#include <absl/status/statusor.h>

#include "server/state/commands.h"

#include "proto/skep/v1/admin_service.pb.h"
#include "proto/skep/v1/compaction_service.pb.h"

namespace skep::wire {

absl::StatusOr<state::EnqueueCompaction> FromProto(const v1::EnqueueCompactionRequest& from);
void ToProto(const state::EnqueuedCompaction& from, v1::EnqueueCompactionResponse* to);
absl::StatusOr<state::ListCompactions> FromProto(const v1::ListCompactionsRequest& from);

void ToProto(const state::Pin& from, v1::ExplainCleanerResponse::Pin* to);

}  // namespace skep::wire
