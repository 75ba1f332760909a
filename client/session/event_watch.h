#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <absl/status/status.h>

namespace skep::client {

// One message of the stream: a WatchEventsResponse as JSON. False: enough.
using ToldEvents = std::function<bool(const std::string& response_json)>;

// Watches the events of the server at `endpoint`, on a connection of its own, until `told` says
// that it is enough. `request_json` is a WatchEventsRequest. Blocks; thread-safe. A stream that
// breaks is not begun again: the caller has its revision. Errors: kInvalidRequest for a field that
// does not exist; the server's refusals; UNAVAILABLE.
absl::Status WatchEvents(const std::string& endpoint,
                         std::string_view request_json,
                         const ToldEvents& told);

}  // namespace skep::client
