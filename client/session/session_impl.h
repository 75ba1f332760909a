#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "client/session/caller.h"
#include "client/session/heartbeater.h"
#include "client/session/list_cache.h"
#include "client/session/session_stream.h"
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
  SessionConnector* connector = nullptr;  // none: unary calls only
};

// Behind Session and all its transactions. Thread-safe.
class SessionImpl {
 public:
  SessionImpl(SessionOptions options, SessionPorts ports);
  ~SessionImpl();

  const SessionOptions& options() const { return options_; }
  // None: unary calls only.
  const SessionStream* stream() const { return stream_.get(); }
  Caller& caller() { return caller_; }
  Heartbeater& heartbeater() { return heartbeater_; }
  ListCache& lists() { return lists_; }
  Clock& clock() const { return caller_.clock(); }
  MonoTime CallDeadline() const { return clock().MonoNow() + options_.call_deadline; }

  // Lets the caller's thread wait, on the session's clock.
  void Sleep(std::chrono::milliseconds time);

  template <class Request>
  absl::StatusOr<typename Rpc<Request>::Response> Call(Request request) {
    return caller_.Call(std::move(request), CallDeadline());
  }

 private:
  std::unique_ptr<SessionStream> MakeStream(const SessionPorts& ports);

  const SessionOptions options_;
  const std::unique_ptr<SessionStream> stream_;
  Caller caller_;
  Heartbeater heartbeater_;
  ListCache lists_;
  std::shared_ptr<void> owned_;  // last: goes first
};

// Threads, channels and the system's clock for one endpoint. Errors: kInvalidRequest for an
// endpoint that cannot be one.
absl::StatusOr<SessionPorts> MakeProductionPorts(const std::string& endpoint);

}  // namespace skep::client
