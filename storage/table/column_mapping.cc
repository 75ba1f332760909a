#include "storage/table/column_mapping.h"

#include <algorithm>
#include <utility>

#include <arrow/api.h>
#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/vocabulary.h"
#include "storage/model/errors.h"

namespace skep::table {
namespace {

bool HasPlaceholderNames(const std::vector<Column>& columns) {
  if (columns.empty()) return false;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name != fmt::format("_col{}", i)) return false;
  }
  return true;
}

const Column* FindColumn(const std::vector<Column>& columns, const std::string& name) {
  for (const Column& column : columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

absl::Status Evolved(const std::string& path, const std::string& column, std::string_view how) {
  return MakeError(ErrorReason::kNotSupported,
                   fmt::format("{}: column `{}` {}: reading files across such schema changes comes "
                               "with a later release",
                               Printable(path),
                               column,
                               how),
                   {{"path", path}, {"column", column}, {"what", "schema evolution"}});
}

}  // namespace

absl::StatusOr<ColumnMapping> ColumnMapping::Make(const std::vector<Column>& file_columns,
                                                  const std::vector<Column>& table_columns,
                                                  const std::vector<Column>& wanted,
                                                  const std::string& path) {
  ColumnMapping mapping;
  mapping.path_ = path;
  mapping.schema_ = format::ArrowSchemaOf(wanted);
  const bool by_position = HasPlaceholderNames(file_columns) && !HasPlaceholderNames(table_columns);
  mapping.by_name_ = !by_position;
  const auto in_file = [&](const Column& column) -> const Column* {
    if (!by_position) return FindColumn(file_columns, column.name);
    const Column* own = FindColumn(table_columns, column.name);
    const size_t position = own == nullptr ? file_columns.size() : own - table_columns.data();
    return position < file_columns.size() ? &file_columns[position] : nullptr;
  };
  const auto unknown =
      std::find_if(file_columns.begin(), file_columns.end(), [&](const Column& column) {
        return !by_position && FindColumn(table_columns, column.name) == nullptr;
      });
  for (const Column& column : wanted) {
    const Column* source = in_file(column);
    if (source == nullptr && unknown != file_columns.end()) {
      return Evolved(
          path,
          column.name,
          fmt::format("is not in the file, which has `{}` instead (renamed or replaced?)",
                      unknown->name));
    }
    if (source != nullptr && source->type != column.type) {
      return Evolved(path,
                     column.name,
                     fmt::format("is {} in the file and {} in the table",
                                 source->type.ToString(),
                                 column.type.ToString()));
    }
    mapping.source_.push_back(source == nullptr ? std::nullopt : std::optional(source->name));
    if (source != nullptr) mapping.file_names_.push_back(source->name);
  }
  return mapping;
}

absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> ColumnMapping::Apply(
    const std::shared_ptr<arrow::RecordBatch>& batch, int64_t length) const {
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (size_t i = 0; i < source_.size(); ++i) {
    std::shared_ptr<arrow::Array> column;
    if (source_[i]) {
      column = batch->GetColumnByName(*source_[i]);
      if (column == nullptr) {
        return MakeError(
            ErrorReason::kInternal,
            fmt::format("{}: the reader did not give column `{}`", Printable(path_), *source_[i]));
      }
    } else {
      auto nulls = arrow::MakeArrayOfNull(schema_->field(static_cast<int>(i))->type(), length);
      if (!nulls.ok()) return MakeError(ErrorReason::kInternal, nulls.status().ToString());
      column = *std::move(nulls);
    }
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(schema_, length, std::move(columns));
}

}  // namespace skep::table
