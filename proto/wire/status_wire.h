#pragma once

#include <chrono>
#include <optional>

#include <absl/status/status.h>
#include <grpcpp/support/status.h>

#include "proto/google/rpc/status.pb.h"

namespace skep::wire {

// A refusal on its way out: the code of its reason, google.rpc.ErrorInfo {reason, domain "skep.v1",
// metadata}, RetryInfo where waiting helps, BadRequest where a field is at fault. Long texts are
// cut so that the whole fits into the 8 KiB of metadata that gRPC lets through. An error without a
// reason leaves as INTERNAL, except DEADLINE_EXCEEDED and CANCELLED, which are gRPC's own and carry
// nothing.
grpc::Status ToGrpc(const absl::Status& status);

// A refusal on its way in. One that carries no ErrorInfo of ours (gRPC's own, a newer server's
// reason) keeps its code and has no reason; the name of a reason that is not known here stands in
// brackets behind the message.
absl::Status FromGrpc(const grpc::Status& status);

// The same inside a message: code, message and details as the trailers of a call would have them.
void ToProto(const absl::Status& from, google::rpc::Status* to);
absl::Status FromProto(const google::rpc::Status& from);
std::optional<std::chrono::milliseconds> RetryDelay(const google::rpc::Status& status);

// How long the server asks to wait before the next attempt; nullopt if it does not say.
std::optional<std::chrono::milliseconds> RetryDelay(const grpc::Status& status);

}  // namespace skep::wire
