#include "storage/meta/log/field_io.h"

#include <string.h>

#include <utility>

#include <fmt/format.h>

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::meta {

void FieldWriter::Write(const std::vector<int64_t>& ids) {
  Count(ids.size());
  for (const int64_t id : ids) Write(id);
}

// What describes a table becomes JSON in the tables, and JSON is UTF-8.
void FieldWriter::WriteUtf8(const std::string& text) {
  if (!IsValidUtf8(text) && status_.ok()) {
    status_ = MakeError(
        ErrorReason::kInternal,
        fmt::format("cannot store the text '{}' of a table: it is not UTF-8", Printable(text)));
  }
  Write(text);
}

void FieldWriter::Write(const Properties& properties) {
  Count(properties.size());
  for (const auto& [key, value] : properties) {
    WriteUtf8(key);
    WriteUtf8(value);
  }
}

void FieldWriter::Write(const std::vector<Column>& columns) {
  Count(columns.size());
  for (const Column& column : columns) {
    WriteUtf8(column.name);
    WriteUtf8(column.type.ToString());
    WriteUtf8(column.comment);
  }
}

void FieldWriter::Write(const TableSchema& schema) {
  Write(schema.columns);
  Write(schema.partition_columns);
  Count(schema.bucketing.columns.size());
  for (const std::string& column : schema.bucketing.columns) WriteUtf8(column);
  Write(schema.bucketing.count);
}

void FieldReader::Read(std::array<uint8_t, 16>& bytes) {
  if (bytes_.size() < bytes.size()) {
    Misfit();
    return;
  }
  memcpy(bytes.data(), bytes_.data(), bytes.size());
  bytes_.remove_prefix(bytes.size());
}

void FieldReader::Read(std::vector<int64_t>& ids) {
  ids.resize(CountOf(1));
  for (int64_t& id : ids) Read(id);
}

void FieldReader::Read(Properties& properties) {
  properties.clear();
  for (uint64_t left = CountOf(2); left > 0; --left) {
    std::string key;
    std::string value;
    Read(key);
    Read(value);
    properties.emplace_hint(properties.end(), std::move(key), std::move(value));
  }
}

void FieldReader::Read(std::vector<Column>& columns) {
  columns.clear();
  for (uint64_t left = CountOf(3); left > 0 && ok_; --left) {
    Column column;
    std::string type;
    Read(column.name);
    Read(type);
    Read(column.comment);
    absl::StatusOr<HiveType> parsed = ParseHiveType(type);
    if (!parsed.ok()) {
      Misfit();
      return;
    }
    column.type = *std::move(parsed);
    columns.push_back(std::move(column));
  }
}

void FieldReader::Read(TableSchema& schema) {
  Read(schema.columns);
  Read(schema.partition_columns);
  schema.bucketing.columns.resize(CountOf(1));
  for (std::string& column : schema.bucketing.columns) Read(column);
  Read(schema.bucketing.count);
}

}  // namespace skep::meta
