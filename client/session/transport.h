#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <absl/functional/any_invocable.h>
#include <absl/status/status.h>
#include <google/protobuf/message.h>

#include "storage/base/clock.h"

namespace skep::client {

struct TransportReply {
  absl::Status status;
  std::optional<std::chrono::milliseconds> retry_after;  // the server's RetryInfo
  bool maybe_sent = true;  // false only if the request is known not to have reached a server
};

// One unary call to the server: how a client reaches it. Production: gRPC. Tests and the
// simulation: a server in the same process under virtual time. Thread-safe.
class Transport {
 public:
  using Done = absl::AnyInvocable<void(TransportReply)>;

  virtual ~Transport() = default;

  // Sends `request` to `method` ("/skep.v1.LockService/CheckLock") and calls `done` exactly once,
  // never inside Call, with the outcome; `response` is filled before if the status is OK. No later
  // than `deadline` (on the clock of the implementation) the call ends with DEADLINE_EXCEEDED.
  // Refusals of the server arrive with their reason (ReasonOf); failures of the channel are
  // UNAVAILABLE without one. Destroying the transport ends calls that are under way with CANCELLED
  // before the destructor returns.
  virtual void Call(const std::string& method,
                    std::shared_ptr<const google::protobuf::Message> request,
                    std::shared_ptr<google::protobuf::Message> response,
                    MonoTime deadline,
                    Done done) = 0;
};

}  // namespace skep::client
