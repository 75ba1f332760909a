#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "client/session/caller.h"
#include "client/session/heartbeater.h"
#include "skep/session.h"

namespace skep::client {

// What a session stands on. All of it must outlive the session's last call; `owned` may hold it.
struct SessionPorts {
  Transport& calls;
  Transport& heartbeats;  // its own channel
  Executor& executor;
  Executor& heartbeat_executor;  // its own thread
  Clock& clock;
  Random& random;  // thread-safe
  Blocker& blocker;
  std::shared_ptr<void> owned;  // destroyed before the session's own parts: ends calls under way
};

// Behind Session and all its transactions. Thread-safe.
class SessionImpl {
 public:
  SessionImpl(SessionOptions options, SessionPorts ports);
  ~SessionImpl();

  const SessionOptions& options() const { return options_; }
  Caller& caller() { return caller_; }
  Heartbeater& heartbeater() { return heartbeater_; }
  Clock& clock() const { return caller_.clock(); }
  MonoTime CallDeadline() const { return clock().MonoNow() + options_.call_deadline; }

  // Lets the caller's thread wait, on the session's clock.
  void Sleep(std::chrono::milliseconds time);

  template <class Request>
  absl::StatusOr<typename Rpc<Request>::Response> Call(Request request) {
    return caller_.Call(std::move(request), CallDeadline());
  }

 private:
  const SessionOptions options_;
  Caller caller_;
  Heartbeater heartbeater_;
  std::shared_ptr<void> owned_;  // last: goes first
};

// Threads, channels and the system's clock for one endpoint. Errors: kInvalidRequest for an
// endpoint that cannot be one.
absl::StatusOr<SessionPorts> MakeProductionPorts(const std::string& endpoint);

}  // namespace skep::client
