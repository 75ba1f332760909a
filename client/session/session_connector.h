#pragma once

#include <functional>
#include <memory>

#include <absl/status/status.h>

#include "proto/skep/v1/session_service.pb.h"

namespace skep::client {

// The client's end of one session stream. Thread-safe.
class SessionConnection {
 public:
  // Ends the stream; no event comes after the destructor has returned. Never inside an event.
  virtual ~SessionConnection() = default;
  // One message at a time: the next one after `written`.
  virtual void Write(const v1::SessionRequest& message) = 0;
  // Ends the stream at once: `ended` comes.
  virtual void Cancel() = 0;
  // Sends `last` if that takes no more than a moment, then ends. No event comes any more.
  virtual void Close(const v1::SessionRequest& last) = 0;
};

// On any thread, never inside a call of the connection.
struct SessionEvents {
  std::function<void(v1::SessionResponse)> received;
  std::function<void()> written;
  // The last one. `connected`: something may have reached a server.
  std::function<void(absl::Status, bool connected)> ended;
};

// How a client reaches SessionService.Session. Production: gRPC. Tests and the simulation: a server
// in the same process under virtual time. Thread-safe.
class SessionConnector {
 public:
  virtual ~SessionConnector() = default;
  virtual std::unique_ptr<SessionConnection> Open(SessionEvents events) = 0;
};

}  // namespace skep::client
