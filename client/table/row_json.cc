#include "client/table/row_json.h"

#include <arrow/api.h>
#include <nlohmann/json.hpp>

#include "storage/format/vocabulary.h"

namespace skep::client {

void AppendJsonString(std::string_view text, std::string* out) {
  out->append(nlohmann::json(text).dump(
      -1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace));
}

void AppendRowObject(const arrow::RecordBatch& rows,
                     const std::vector<Column>& columns,
                     int64_t index,
                     std::string* out) {
  out->push_back('{');
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendJsonString(columns[i].name, out);
    out->push_back(':');
    format::AppendJson(*rows.column(static_cast<int>(i)), index, columns[i].type, out);
  }
  out->push_back('}');
}

std::string RowIdPrefix(const std::string& partition,
                        int64_t write_id,
                        int32_t bucket,
                        int64_t row_id) {
  std::string text = "{";
  if (!partition.empty()) {
    text.append("\"partition\":");
    AppendJsonString(partition, &text);
    text.push_back(',');
  }
  text.append("\"writeid\":").append(std::to_string(write_id));
  text.append(",\"bucket\":").append(std::to_string(bucket));
  text.append(",\"rowid\":").append(std::to_string(row_id));
  text.append(",\"row\":");
  return text;
}

void AppendIdentifiedRow(const table::ScanBatch& batch,
                         const std::vector<Column>& columns,
                         const std::string& partition,
                         int64_t index,
                         std::string* out) {
  const size_t i = static_cast<size_t>(index);
  out->append(RowIdPrefix(partition, batch.write_id[i], batch.bucket[i], batch.row_id[i]));
  AppendRowObject(*batch.rows, columns, index, out);
  out->push_back('}');
}

}  // namespace skep::client
