#include "client/session/message_json.h"

#include <google/protobuf/util/json_util.h>

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::client {

absl::StatusOr<std::string> MessageToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  std::string json;
  auto printed = google::protobuf::util::MessageToJsonString(message, &json, options);
  if (!printed.ok()) {
    return MakeError(ErrorReason::kInternal,
                     "a reply cannot be shown as JSON: " + Printable(printed.ToString()));
  }
  return json;
}

absl::Status MessageFromJson(std::string_view json,
                             std::string_view what,
                             google::protobuf::Message* message) {
  auto parsed = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), message);
  if (parsed.ok()) return absl::OkStatus();
  return MakeError(
      ErrorReason::kInvalidRequest,
      "the request of " + Printable(what) + " does not fit: " + Printable(parsed.ToString()),
      {{"field", "request"}});
}

}  // namespace skep::client
