#pragma once

#include <string_view>
#include <vector>

#include <absl/status/statusor.h>
#include <google/protobuf/map.h>

#include "storage/model/rows.h"

#include "proto/skep/v1/table.pb.h"

namespace skep::wire {

inline constexpr int64_t kMaxColumns = 10'000;
inline constexpr int64_t kMaxColumnBytes = 767;  // as Hive's metastore
inline constexpr int64_t kMaxCommentBytes = 4000;
inline constexpr int64_t kMaxTypeBytes = 64 * 1024;
inline constexpr int64_t kMaxProperties = 1000;
inline constexpr int64_t kMaxPropertyKeyBytes = 256;
inline constexpr int64_t kMaxPropertyValueBytes = 64 * 1024;
inline constexpr int64_t kMaxLocationBytes = 4096;

using ProtoColumns = google::protobuf::RepeatedPtrField<v1::Column>;
using ProtoProperties = google::protobuf::Map<std::string, std::string>;

void ToProto(const std::vector<Column>& from, ProtoColumns* to);
// Names lower case. Errors: kInvalidRequest naming the column: empty, twice, an unknown type.
absl::StatusOr<std::vector<Column>> FromProto(const ProtoColumns& from, std::string_view field);
// Also: partition columns are primitive and share no name with the others; a table is bucketed by
// columns of its own.
absl::StatusOr<TableSchema> SchemaFromProto(const ProtoColumns& columns,
                                            const ProtoColumns& partition_columns,
                                            const v1::Bucketing& bucketing);

void ToProto(const Properties& from, ProtoProperties* to);
absl::StatusOr<Properties> FromProto(const ProtoProperties& from, std::string_view field);

// A table as answers show it: its row and what is counted beside it.
struct TableView {
  TableRow row;
  int64_t partitions = 0;
  int64_t open_write_ids = 0;
};
void ToProto(const TableRow& from, v1::Table* to);
// Errors: kInvalidRequest for what this version cannot hold (a newer server's kind, format or
// type).
absl::StatusOr<TableView> FromProto(const v1::Table& from);

}  // namespace skep::wire
