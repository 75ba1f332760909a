#pragma once

// Which stream a session belongs to: decisions over values.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/status.h>

namespace skep::loop {

// What is known of a session when somebody names it.
struct KnownSession {
  int64_t epoch = 0;    // of its newest stream, or of the fence
  bool fenced = false;  // ended by a fence: remembered for a lease, so that what is late finds it
};

// What a stream says about itself at its beginning.
struct SessionClaim {
  std::string id;  // 16 bytes
  int64_t epoch = 0;
  bool resume = false;
};

// OK: the stream gets the session, and an older one loses it. Errors: kInvalidRequest (shape; an id
// that is taken), kNoSuchSession (unknown: never begun anew under old numbers), kSessionFenced.
absl::Status DecideHello(const std::optional<KnownSession>& known, const SessionClaim& claim);

// OK: nothing that the session's streams send is executed from now on. Fencing again with the same
// epoch is the same fence. Errors: kInvalidRequest, kSessionFenced.
absl::Status DecideFence(const std::optional<KnownSession>& known,
                         std::string_view id,
                         int64_t epoch);

// The request id of an operation that brings none: the session's id, its last eight bytes
// exclusive-ored with the number. Durable with what the operation creates, so a repeat under it is
// recognised after a restart too, when the session is no longer known.
std::string OperationRequestId(std::string_view session_id, int64_t number);

}  // namespace skep::loop
