#include "storage/meta/sqlite/json_columns.h"

#include <exception>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::meta {
namespace {

using nlohmann::json;

absl::StatusOr<std::string> Dump(const json& value) {
  try {
    return value.dump();
  } catch (const std::exception& e) {
    return MakeError(ErrorReason::kInternal,
                     fmt::format("cannot write a table's description as JSON: {}", e.what()));
  }
}

absl::Status Corrupt(std::string_view text, std::string_view why) {
  return MakeError(ErrorReason::kCorruptStore,
                   fmt::format("'{}' is not what the store writes: {}", Printable(text), why));
}

json ColumnsJson(const std::vector<Column>& columns) {
  json list = json::array();
  for (const Column& column : columns) {
    json entry = {{"name", column.name}, {"type", column.type.ToString()}};
    if (!column.comment.empty()) entry["comment"] = column.comment;
    list.push_back(std::move(entry));
  }
  return list;
}

// Throws what json throws.
absl::Status ReadColumns(const json& list, std::vector<Column>& columns) {
  for (const json& entry : list) {
    Column column;
    column.name = entry.at("name").get<std::string>();
    column.comment = entry.value("comment", std::string());
    SKEP_ASSIGN_OR_RETURN(column.type, ParseHiveType(entry.at("type").get<std::string>()));
    columns.push_back(std::move(column));
  }
  return absl::OkStatus();
}

template <class Read>
absl::Status Parse(std::string_view text, Read read) {
  try {
    const absl::Status status = read(json::parse(text));
    return status.ok() ? status : Corrupt(text, MessageOf(status));
  } catch (const std::exception& e) {
    return Corrupt(text, e.what());
  }
}

}  // namespace

absl::StatusOr<std::string> ToJson(const TableSchema& schema) {
  json value = {{"columns", ColumnsJson(schema.columns)},
                {"partition_columns", ColumnsJson(schema.partition_columns)}};
  if (schema.bucketing.bucketed()) {
    value["bucketing"] = {{"columns", schema.bucketing.columns}, {"count", schema.bucketing.count}};
  }
  return Dump(value);
}

absl::StatusOr<std::string> ToJson(const Properties& properties) { return Dump(json(properties)); }

absl::StatusOr<std::string> ToJson(const std::vector<int64_t>& ids) { return Dump(json(ids)); }

absl::Status FromJson(std::string_view text, TableSchema& schema) {
  return Parse(text, [&](const json& value) -> absl::Status {
    SKEP_RETURN_IF_ERROR(ReadColumns(value.at("columns"), schema.columns));
    if (value.contains("bucketing")) {
      value.at("bucketing").at("columns").get_to(schema.bucketing.columns);
      value.at("bucketing").at("count").get_to(schema.bucketing.count);
    }
    return ReadColumns(value.at("partition_columns"), schema.partition_columns);
  });
}

absl::Status FromJson(std::string_view text, Properties& properties) {
  return Parse(text, [&](const json& value) {
    value.get_to(properties);
    return absl::OkStatus();
  });
}

absl::Status FromJson(std::string_view text, std::vector<int64_t>& ids) {
  return Parse(text, [&](const json& value) {
    value.get_to(ids);
    return absl::OkStatus();
  });
}

}  // namespace skep::meta
