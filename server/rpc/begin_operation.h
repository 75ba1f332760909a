#pragma once

#include "server/rpc/unary.h"

#include "proto/skep/v1/session_service.pb.h"

namespace skep::rpc {

// The fused begin of a session: open, lock, allocate, look. It has no rules of its own, it only
// puts the commands of the state machine in order: all of them take place, or the transaction is
// aborted. Where the locks wait, the client is answered WAITING, and snapshot and write ids are
// taken at the grant.
absl::Status BeginTransaction(const v1::BeginTransactionRequest& request,
                              Context& context,
                              v1::BeginTransactionResponse* response);

}  // namespace skep::rpc
