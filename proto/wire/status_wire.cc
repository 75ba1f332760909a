#include "proto/wire/status_wire.h"

#include <string>

#include <fmt/format.h>

#include "proto/wire/base_wire.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

#include "proto/google/rpc/error_details.pb.h"
#include "proto/google/rpc/status.pb.h"

namespace skep::wire {
namespace {

constexpr char kDomain[] = "skep.v1";
// What a reply may carry: message and metadata travel twice (once as the plain text of HTTP/2
// trailers, once in the binary details, a third larger in base64), all within 8 KiB.
constexpr size_t kMaxMessage = 900;
constexpr size_t kMaxMetadataValue = 400;
constexpr size_t kMaxMetadata = 1600;

// At most `max` bytes, never within a UTF-8 sequence; the cut shows.
std::string Cut(std::string_view text, size_t max) {
  const std::string clean = WireText(text);
  if (clean.size() <= max) return clean;
  size_t end = max - 3;
  while (end > 0 && (static_cast<unsigned char>(clean[end]) & 0xC0) == 0x80) --end;
  return clean.substr(0, end) + "…";
}

std::optional<std::chrono::milliseconds> WaitFor(ErrorReason reason) {
  using std::chrono::milliseconds;
  switch (reason) {
    case ErrorReason::kOverloaded:
      return milliseconds(50);
    case ErrorReason::kStoreBusy:
      return milliseconds(100);
    case ErrorReason::kTooManyOpenTxns:
    case ErrorReason::kShuttingDown:
      return milliseconds(1000);
    case ErrorReason::kStoreFull:
      return milliseconds(5000);
    default:
      return std::nullopt;
  }
}

void AddErrorInfo(ErrorReason reason, const ErrorMetadata& metadata, google::rpc::Status* to) {
  google::rpc::ErrorInfo info;
  info.set_reason(std::string(ReasonName(reason)));
  info.set_domain(kDomain);
  size_t used = 0;
  for (const auto& [key, value] : metadata) {
    std::string text = Cut(value, kMaxMetadataValue);
    used += key.size() + text.size();
    if (used > kMaxMetadata) break;
    (*info.mutable_metadata())[key] = std::move(text);
  }
  to->add_details()->PackFrom(info);
}

void AddBadRequest(const ErrorMetadata& metadata,
                   const std::string& message,
                   google::rpc::Status* to) {
  google::rpc::BadRequest bad;
  google::rpc::BadRequest::FieldViolation* violation = bad.add_field_violations();
  const auto field = metadata.find("field");
  if (field != metadata.end()) violation->set_field(Cut(field->second, kMaxMetadataValue));
  violation->set_description(Cut(message, kMaxMetadataValue));
  to->add_details()->PackFrom(bad);
}

bool ReadDetails(const grpc::Status& status, google::rpc::Status* details) {
  return !status.error_details().empty() && details->ParseFromString(status.error_details());
}

}  // namespace

void ToProto(const absl::Status& from, google::rpc::Status* to) {
  to->Clear();
  if (from.ok()) return;
  const ErrorReason given = ReasonOf(from);
  to->set_message(Cut(MessageOf(from), kMaxMessage));
  if (given == ErrorReason::kUnspecified &&
      (absl::IsDeadlineExceeded(from) || absl::IsCancelled(from))) {
    to->set_code(static_cast<int32_t>(from.code()));
    return;
  }
  const ErrorReason reason = given == ErrorReason::kUnspecified ? ErrorReason::kInternal : given;
  const ErrorMetadata metadata = MetadataOf(from);
  to->set_code(static_cast<int32_t>(CodeOf(reason)));
  AddErrorInfo(reason, metadata, to);
  if (const auto wait = WaitFor(reason)) {
    google::rpc::RetryInfo retry;
    ToProto(*wait, retry.mutable_retry_delay());
    to->add_details()->PackFrom(retry);
  }
  if (reason == ErrorReason::kInvalidRequest) AddBadRequest(metadata, to->message(), to);
}

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  google::rpc::Status details;
  ToProto(status, &details);
  if (details.details().empty()) {
    return {static_cast<grpc::StatusCode>(details.code()), details.message()};
  }
  return {static_cast<grpc::StatusCode>(details.code()),
          details.message(),
          details.SerializeAsString()};
}

absl::Status FromProto(const google::rpc::Status& from) {
  if (from.code() == 0) return absl::OkStatus();
  for (const google::protobuf::Any& detail : from.details()) {
    google::rpc::ErrorInfo info;
    if (!detail.UnpackTo(&info) || info.domain() != kDomain) continue;
    const std::optional<ErrorReason> reason = ParseReasonName(info.reason());
    if (!reason || *reason == ErrorReason::kUnspecified) {
      return absl::Status(static_cast<absl::StatusCode>(from.code()),
                          fmt::format("{} [{}]", from.message(), info.reason()));
    }
    return MakeError(*reason, from.message(), {info.metadata().begin(), info.metadata().end()});
  }
  return absl::Status(static_cast<absl::StatusCode>(from.code()), from.message());
}

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  google::rpc::Status details;
  if (!ReadDetails(status, &details)) details.Clear();
  // What gRPC says itself counts, whatever the details repeat.
  details.set_code(static_cast<int32_t>(status.error_code()));
  details.set_message(status.error_message());
  return FromProto(details);
}

std::optional<std::chrono::milliseconds> RetryDelay(const google::rpc::Status& status) {
  for (const google::protobuf::Any& detail : status.details()) {
    google::rpc::RetryInfo retry;
    if (!detail.UnpackTo(&retry)) continue;
    const auto delay = FromProto(retry.retry_delay(), "retry_delay");
    if (delay.ok() && delay->count() >= 0) return *delay;
  }
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> RetryDelay(const grpc::Status& status) {
  google::rpc::Status details;
  if (!ReadDetails(status, &details)) return std::nullopt;
  return RetryDelay(details);
}

}  // namespace skep::wire
