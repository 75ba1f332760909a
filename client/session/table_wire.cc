#include "client/session/table_wire.h"

#include <utility>

#include "proto/wire/table_wire.h"
#include "storage/base/status_macros.h"

namespace skep::client {
namespace {

std::vector<ColumnSpec> Describe(const std::vector<Column>& columns) {
  std::vector<ColumnSpec> specs;
  for (const Column& column : columns) {
    specs.push_back({column.name, column.type.ToString(), column.comment});
  }
  return specs;
}

}  // namespace

absl::StatusOr<TableInfo> TableInfoFromProto(const v1::Table& from) {
  SKEP_ASSIGN_OR_RETURN(wire::TableView view, wire::FromProto(from));
  TableInfo info;
  info.id = view.row.id;
  info.name = std::move(view.row.name);
  info.kind = view.row.kind;
  info.format = view.row.format;
  info.location = std::move(view.row.location);
  info.schema = std::move(view.row.schema);
  info.properties = std::move(view.row.properties);
  info.adopted_txn_bound = view.row.adopted_txn_bound;
  info.adopted_aborted_txns = std::move(view.row.adopted_aborted_txns);
  return info;
}

absl::StatusOr<TableDescription> TableDescriptionFromProto(const v1::Table& from) {
  SKEP_ASSIGN_OR_RETURN(TableInfo info, TableInfoFromProto(from));
  TableDescription description;
  description.id = info.id;
  description.name = info.name;
  description.kind = TableKindName(info.kind);
  description.format = FileFormatName(info.format);
  description.location = info.location;
  description.columns = Describe(info.schema.columns);
  description.partition_columns = Describe(info.schema.partition_columns);
  description.properties = std::move(info.properties);
  description.bucket_columns = std::move(info.schema.bucketing.columns);
  description.bucket_count = info.schema.bucketing.count;
  return description;
}

}  // namespace skep::client
