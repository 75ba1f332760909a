#pragma once

// The small things that every message is made of. Stateless functions, thread-safe.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include "storage/base/clock.h"
#include "storage/model/names.h"

#include "proto/skep/v1/table.pb.h"

namespace skep::wire {

// What one request may carry; more is kInvalidRequest that names the limit.
inline constexpr int64_t kMaxUserBytes = 128;
inline constexpr int64_t kMaxHostBytes = 256;
inline constexpr int64_t kMaxAgentBytes = 1024;
inline constexpr int64_t kMaxPolicyBytes = 256;
inline constexpr int64_t kMaxPartitionBytes = 4000;
inline constexpr int64_t kMaxPartitionValueBytes = 1024;
inline constexpr int64_t kMaxOpenPerCall = 1000;
inline constexpr int64_t kMaxAllocatePerCall = 1000;
inline constexpr int64_t kMaxIdsPerCall = 10'000;
inline constexpr int64_t kMaxPartitionsPerCall = 10'000;
inline constexpr int64_t kMaxTablesPerCall = 1000;
// What gRPC lets a server receive as one message.
inline constexpr size_t kMaxRequestBytes = 4 * 1024 * 1024;
inline constexpr int64_t kDefaultPageSize = 100;
inline constexpr int64_t kMaxPageSize = 1000;

// kInvalidRequest that names the field: `field` is its path in the request ("components[3].kind").
absl::Status BadField(std::string_view field, std::string_view what);
// Bytes that are no message of the type that the method takes, or more than are taken in.
absl::Status NotParsed();
absl::Status TooLarge(int64_t bytes, int64_t max_bytes);
// "components", 3, "kind" → "components[3].kind"
std::string FieldOf(std::string_view list, int64_t index, std::string_view field = "");

// Text that came from a filesystem, as a string field can carry it: bytes that are not UTF-8 become
// U+FFFD and control characters \xNN, so that the answer can be read at all.
std::string WireText(std::string_view text);
// Text that people see: at most `max_bytes`, no control characters.
absl::Status CheckText(std::string_view field, std::string_view text, int64_t max_bytes);
absl::Status CheckCount(std::string_view field, int64_t count, int64_t min, int64_t max);
// An id that must name something: positive.
absl::Status CheckId(std::string_view field, int64_t id);
// An id that may be left out: 0 or positive.
absl::Status CheckOptionalId(std::string_view field, int64_t id);

// 0 → 100; capped at 1 000. Errors: kInvalidRequest for a negative one.
absl::StatusOr<int64_t> PageSizeFromProto(int32_t page_size);

void ToProto(Timestamp from, google::protobuf::Timestamp* to);
Timestamp FromProto(const google::protobuf::Timestamp& from);  // the epoch for an unset one
void ToProto(std::chrono::milliseconds from, google::protobuf::Duration* to);
// Rounds down to milliseconds. Errors: kInvalidRequest for one that is not normalised or beyond 10
// 000 years.
absl::StatusOr<std::chrono::milliseconds> FromProto(const google::protobuf::Duration& from,
                                                    std::string_view field);

void ToProto(const TableName& from, v1::TableName* to);
// Lower-cased and checked; `field` is the path of the message.
absl::StatusOr<TableName> FromProto(const v1::TableName& from, std::string_view field);
// In canonical form; empty stays empty.
absl::StatusOr<std::string> PartitionFromProto(const std::string& from, std::string_view field);

}  // namespace skep::wire
