#include "proto/wire/base_wire.h"

#include <algorithm>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::wire {
namespace {

constexpr int64_t kMaxDurationSeconds = 315'576'000'000;  // as google.protobuf.Duration allows

// The same refusal, with the field's path in front.
absl::Status InField(const absl::Status& status, std::string_view field) {
  return BadField(field, MessageOf(status));
}

}  // namespace

absl::Status BadField(std::string_view field, std::string_view what) {
  return MakeError(ErrorReason::kInvalidRequest,
                   fmt::format("{}: {}", field, what),
                   {{"field", std::string(field)}});
}

absl::Status NotParsed() {
  return BadField("request",
                  "its bytes are no message that this method takes, or a text in it is not UTF-8");
}

absl::Status TooLarge(int64_t bytes, int64_t max_bytes) {
  return BadField(
      "request",
      fmt::format("a message of {} bytes, at most {} are taken in (server.max_message); "
                  "send it in parts",
                  bytes,
                  max_bytes));
}

std::string FieldOf(std::string_view list, int64_t index, std::string_view field) {
  return field.empty() ? fmt::format("{}[{}]", list, index)
                       : fmt::format("{}[{}].{}", list, index, field);
}

std::string WireText(std::string_view text) {
  return IsValidUtf8(text) ? std::string(text) : Printable(text);
}

absl::Status CheckText(std::string_view field, std::string_view text, int64_t max_bytes) {
  if (static_cast<int64_t>(text.size()) > max_bytes) {
    return BadField(field, fmt::format("{} bytes, at most {} are allowed", text.size(), max_bytes));
  }
  const auto control = std::find_if(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (control != text.end()) {
    return BadField(field, fmt::format("control character at byte {}", control - text.begin()));
  }
  return absl::OkStatus();
}

absl::Status CheckCount(std::string_view field, int64_t count, int64_t min, int64_t max) {
  if (count >= min && count <= max) return absl::OkStatus();
  return BadField(field, fmt::format("{} given, {} to {} are allowed", count, min, max));
}

absl::Status CheckId(std::string_view field, int64_t id) {
  if (id > 0) return absl::OkStatus();
  return BadField(field, fmt::format("{} is no id: ids begin at 1", id));
}

absl::Status CheckOptionalId(std::string_view field, int64_t id) {
  if (id >= 0) return absl::OkStatus();
  return BadField(field, fmt::format("{} is no id: ids begin at 1, 0 means none", id));
}

absl::StatusOr<int64_t> PageSizeFromProto(int32_t page_size) {
  if (page_size < 0) {
    return BadField("page_size",
                    fmt::format("{} is negative; 0 means {}", page_size, kDefaultPageSize));
  }
  if (page_size == 0) return kDefaultPageSize;
  return std::min<int64_t>(page_size, kMaxPageSize);
}

void ToProto(Timestamp from, google::protobuf::Timestamp* to) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(from);
  to->set_seconds(seconds.time_since_epoch().count());
  to->set_nanos(static_cast<int32_t>((from - seconds).count()) * 1'000'000);
}

Timestamp FromProto(const google::protobuf::Timestamp& from) {
  return Timestamp(std::chrono::seconds(from.seconds())) +
         std::chrono::milliseconds(from.nanos() / 1'000'000);
}

void ToProto(std::chrono::milliseconds from, google::protobuf::Duration* to) {
  to->set_seconds(from.count() / 1000);
  to->set_nanos(static_cast<int32_t>(from.count() % 1000) * 1'000'000);
}

absl::StatusOr<std::chrono::milliseconds> FromProto(const google::protobuf::Duration& from,
                                                    std::string_view field) {
  const bool same_sign =
      from.seconds() == 0 || from.nanos() == 0 || (from.seconds() < 0) == (from.nanos() < 0);
  if (!same_sign || from.nanos() <= -1'000'000'000 || from.nanos() >= 1'000'000'000 ||
      from.seconds() < -kMaxDurationSeconds || from.seconds() > kMaxDurationSeconds) {
    return BadField(field,
                    fmt::format("{} s and {} ns are no duration", from.seconds(), from.nanos()));
  }
  return std::chrono::milliseconds(from.seconds() * 1000 + from.nanos() / 1'000'000);
}

void ToProto(const TableName& from, v1::TableName* to) {
  to->set_database(from.database);
  to->set_table(from.table);
}

absl::StatusOr<TableName> FromProto(const v1::TableName& from, std::string_view field) {
  if (from.database().empty()) return BadField(fmt::format("{}.database", field), "missing");
  if (from.table().empty()) return BadField(fmt::format("{}.table", field), "missing");
  absl::StatusOr<TableName> name = MakeTableName(from.database(), from.table());
  if (!name.ok()) return InField(name.status(), field);
  return name;
}

absl::StatusOr<std::string> PartitionFromProto(const std::string& from, std::string_view field) {
  if (from.empty()) return std::string();
  if (static_cast<int64_t>(from.size()) > kMaxPartitionBytes) {
    return BadField(
        field, fmt::format("{} bytes, at most {} are allowed", from.size(), kMaxPartitionBytes));
  }
  absl::StatusOr<PartitionSpec> spec = ParsePartition(from);
  if (!spec.ok()) return InField(spec.status(), field);
  for (const auto& [column, value] : spec->values) {
    if (value && static_cast<int64_t>(value->size()) > kMaxPartitionValueBytes) {
      return BadField(field,
                      fmt::format("value of {}: {} bytes, at most {} are allowed",
                                  Printable(column),
                                  value->size(),
                                  kMaxPartitionValueBytes));
    }
  }
  return FormatPartition(*spec);
}

}  // namespace skep::wire
