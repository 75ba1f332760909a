#include "proto/wire/table_wire.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "proto/wire/base_wire.h"
#include "proto/wire/enums_wire.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"

namespace skep::wire {
namespace {

bool IsPrimitive(TypeKind kind) {
  return kind != TypeKind::kList && kind != TypeKind::kMap && kind != TypeKind::kStruct &&
         kind != TypeKind::kUnion;
}

absl::StatusOr<Column> ReadColumn(const v1::Column& from, std::string_view field) {
  Column column;
  column.name = AsciiLower(from.name());
  if (column.name.empty()) return BadField(fmt::format("{}.name", field), "missing");
  SKEP_RETURN_IF_ERROR(CheckText(fmt::format("{}.name", field), column.name, kMaxColumnBytes));
  SKEP_RETURN_IF_ERROR(CheckText(fmt::format("{}.type", field), from.type(), kMaxTypeBytes));
  absl::StatusOr<HiveType> type = ParseHiveType(from.type());
  if (!type.ok()) {
    return BadField(fmt::format("{}.type", field),
                    fmt::format("column {}: {}", column.name, MessageOf(type.status())));
  }
  column.type = *std::move(type);
  if (static_cast<int64_t>(from.comment().size()) > kMaxCommentBytes) {
    return BadField(
        fmt::format("{}.comment", field),
        fmt::format("{} bytes, at most {} are allowed", from.comment().size(), kMaxCommentBytes));
  }
  column.comment = from.comment();
  return column;
}

// `names` are the table's columns.
absl::StatusOr<Bucketing> ReadBucketing(const v1::Bucketing& from,
                                        const std::set<std::string>& names) {
  Bucketing bucketing;
  bucketing.count = from.count();
  if (from.count() < 0 || (from.count() == 0) != from.columns().empty()) {
    return BadField("bucketing.count",
                    fmt::format("{} buckets by {} columns: give one of each at least, or neither",
                                from.count(),
                                from.columns_size()));
  }
  for (int i = 0; i < from.columns_size(); ++i) {
    const std::string column = AsciiLower(from.columns(i));
    const std::string field = FieldOf("bucketing.columns", i);
    if (!names.contains(column)) {
      return BadField(field, fmt::format("{} is no column of the table", Printable(column)));
    }
    if (std::find(bucketing.columns.begin(), bucketing.columns.end(), column) !=
        bucketing.columns.end()) {
      return BadField(field, fmt::format("column {} is there twice", column));
    }
    bucketing.columns.push_back(column);
  }
  return bucketing;
}

void BucketingToProto(const Bucketing& from, v1::Table* to) {
  if (!from.bucketed()) return;
  to->mutable_bucketing()->set_count(from.count);
  to->mutable_bucketing()->mutable_columns()->Add(from.columns.begin(), from.columns.end());
}

}  // namespace

void ToProto(const std::vector<Column>& from, ProtoColumns* to) {
  for (const Column& column : from) {
    v1::Column* out = to->Add();
    out->set_name(column.name);
    out->set_type(column.type.ToString());
    out->set_comment(column.comment);
  }
}

absl::StatusOr<std::vector<Column>> FromProto(const ProtoColumns& from, std::string_view field) {
  SKEP_RETURN_IF_ERROR(CheckCount(field, from.size(), 0, kMaxColumns));
  std::vector<Column> columns;
  columns.reserve(from.size());
  std::set<std::string> names;
  for (int i = 0; i < from.size(); ++i) {
    SKEP_ASSIGN_OR_RETURN(Column column, ReadColumn(from[i], FieldOf(field, i)));
    if (!names.insert(column.name).second) {
      return BadField(FieldOf(field, i, "name"),
                      fmt::format("column {} is there twice", column.name));
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

absl::StatusOr<TableSchema> SchemaFromProto(const ProtoColumns& columns,
                                            const ProtoColumns& partition_columns,
                                            const v1::Bucketing& bucketing) {
  TableSchema schema;
  SKEP_ASSIGN_OR_RETURN(schema.columns, FromProto(columns, "columns"));
  SKEP_ASSIGN_OR_RETURN(schema.partition_columns,
                        FromProto(partition_columns, "partition_columns"));
  std::set<std::string> names;
  for (const Column& column : schema.columns) names.insert(column.name);
  for (size_t i = 0; i < schema.partition_columns.size(); ++i) {
    const Column& column = schema.partition_columns[i];
    const auto index = static_cast<int64_t>(i);
    if (names.contains(column.name)) {
      return BadField(FieldOf("partition_columns", index, "name"),
                      fmt::format("{} is a column of the table too", column.name));
    }
    if (!IsPrimitive(column.type.kind)) {
      return BadField(FieldOf("partition_columns", index, "type"),
                      fmt::format("{} is {}: a partition column holds one simple value",
                                  column.name,
                                  column.type.ToString()));
    }
  }
  SKEP_ASSIGN_OR_RETURN(schema.bucketing, ReadBucketing(bucketing, names));
  return schema;
}

void ToProto(const Properties& from, ProtoProperties* to) {
  for (const auto& [key, value] : from) (*to)[key] = value;
}

absl::StatusOr<Properties> FromProto(const ProtoProperties& from, std::string_view field) {
  SKEP_RETURN_IF_ERROR(CheckCount(field, static_cast<int64_t>(from.size()), 0, kMaxProperties));
  Properties properties;
  for (const auto& [key, value] : from) {
    if (key.empty()) return BadField(field, "a key is empty");
    SKEP_RETURN_IF_ERROR(CheckText(field, key, kMaxPropertyKeyBytes));
    if (static_cast<int64_t>(value.size()) > kMaxPropertyValueBytes) {
      return BadField(field,
                      fmt::format("value of {}: {} bytes, at most {} are allowed",
                                  key,
                                  value.size(),
                                  kMaxPropertyValueBytes));
    }
    properties.emplace(key, value);
  }
  return properties;
}

void ToProto(const TableRow& from, v1::Table* to) {
  to->set_table_id(from.id.value());
  ToProto(from.name, to->mutable_name());
  to->set_kind(ToProto(from.kind));
  to->set_format(ToProto(from.format));
  to->set_location(from.location);
  ToProto(from.schema.columns, to->mutable_columns());
  ToProto(from.schema.partition_columns, to->mutable_partition_columns());
  BucketingToProto(from.schema.bucketing, to);
  ToProto(from.properties, to->mutable_properties());
  ToProto(from.create_time, to->mutable_create_time());
  to->set_created_seq(from.created_seq.value());
  to->set_next_write_id(from.next_write_id.value());
  to->set_adopted_txn_bound(from.adopted_txn_bound.value());
  to->mutable_adopted_aborted_txns()->Add(from.adopted_aborted_txns.begin(),
                                          from.adopted_aborted_txns.end());
}

absl::StatusOr<TableView> FromProto(const v1::Table& from) {
  TableView view;
  view.row.id = TableId(from.table_id());
  SKEP_ASSIGN_OR_RETURN(view.row.name, FromProto(from.name(), "name"));
  SKEP_ASSIGN_OR_RETURN(view.row.kind, FromProto(from.kind(), "kind"));
  SKEP_ASSIGN_OR_RETURN(view.row.format, FromProto(from.format(), "format"));
  view.row.location = from.location();
  SKEP_ASSIGN_OR_RETURN(
      view.row.schema, SchemaFromProto(from.columns(), from.partition_columns(), from.bucketing()));
  SKEP_ASSIGN_OR_RETURN(view.row.properties, FromProto(from.properties(), "properties"));
  view.row.create_time = FromProto(from.create_time());
  view.row.created_seq = CommitSeq(from.created_seq());
  view.row.next_write_id = WriteId(from.next_write_id());
  view.row.adopted_txn_bound = TxnId(from.adopted_txn_bound());
  view.row.adopted_aborted_txns.assign(from.adopted_aborted_txns().begin(),
                                       from.adopted_aborted_txns().end());
  view.partitions = from.partition_count();
  view.open_write_ids = from.open_write_id_count();
  return view;
}

}  // namespace skep::wire
