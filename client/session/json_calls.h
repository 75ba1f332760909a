#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "storage/base/clock.h"

namespace skep::client {

class SessionImpl;

// Calls by name with JSON in and out, for tools that show what the server says: protobuf's JSON
// mapping with all fields present (int64 as text, enumerations by name, times as RFC 3339). The
// only place that prints replies. Thread-safe.
class JsonCalls {
 public:
  // `session` must outlive the calls.
  explicit JsonCalls(SessionImpl& session) : session_(session) {}

  // `method` is "AdminService.GetStatus". Retries and request ids as for every other call.
  // Errors: kInvalidRequest for a method or a field that does not exist; the server's refusals.
  absl::StatusOr<std::string> Call(std::string_view method, std::string_view request_json);

  // A List method: all pages joined into one reply, or as many as hold `limit` items (0: all).
  absl::StatusOr<std::string> List(std::string_view method,
                                   std::string_view request_json,
                                   int64_t limit);

 private:
  SessionImpl& session_;
};

}  // namespace skep::client
