#pragma once

// Messages in protobuf's JSON mapping. Stateless functions.

#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <google/protobuf/message.h>

namespace skep::client {

// All fields present: int64 as text, enumerations by name, times as RFC 3339. Errors: kInternal.
absl::StatusOr<std::string> MessageToJson(const google::protobuf::Message& message);
// Errors: kInvalidRequest for a field that does not exist; `what` is for the message.
absl::Status MessageFromJson(std::string_view json,
                             std::string_view what,
                             google::protobuf::Message* message);

}  // namespace skep::client
