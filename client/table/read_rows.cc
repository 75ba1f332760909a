#include "client/table/read_rows.h"

#include <utility>

#include <arrow/api.h>

#include "client/table/row_json.h"
#include "client/table/snapshot_scan.h"
#include "storage/base/status_macros.h"
#include "storage/format/vocabulary.h"

namespace skep::client {

absl::Status ReadRows(std::shared_ptr<TransactionCore> core,
                      fs::FileSystem& fs,
                      const TableName& table,
                      const ReadRowsOptions& options,
                      const RowSink& sink) {
  SKEP_ASSIGN_OR_RETURN(
      const auto scan,
      SnapshotScan::Open(
          std::move(core),
          fs,
          table,
          {.partition = options.partition, .columns = options.columns, .where = options.where}));
  const std::vector<Column>& columns = scan->columns();
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  SKEP_RETURN_IF_ERROR(sink.header(names));

  int64_t left = options.limit.value_or(INT64_MAX);
  TextRow row;
  row.values.resize(columns.size());
  while (left > 0) {
    SKEP_ASSIGN_OR_RETURN(const std::optional<SnapshotBatch> next, scan->Next());
    if (!next) break;
    const table::ScanBatch& batch = *next->batch;
    row.partition = next->partition;
    for (int64_t i = 0; i < batch.rows->num_rows() && left > 0; ++i, --left) {
      row.write_id = batch.write_id[i];
      row.bucket = batch.bucket[i];
      row.row_id = batch.row_id[i];
      for (size_t c = 0; c < columns.size(); ++c) {
        row.values[c].clear();
        format::AppendJson(
            *batch.rows->column(static_cast<int>(c)), i, columns[c].type, &row.values[c]);
      }
      SKEP_RETURN_IF_ERROR(sink.row(row));
    }
  }
  return absl::OkStatus();
}

std::string JsonLine(const std::vector<std::string>& columns, const TextRow& row) {
  std::string line = "{";
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) line.push_back(',');
    AppendJsonString(columns[i], &line);
    line.append(":").append(row.values[i]);
  }
  line.push_back('}');
  return line;
}

std::string JsonLineWithRowId(const std::vector<std::string>& columns, const TextRow& row) {
  std::string line = RowIdPrefix(row.partition, row.write_id, row.bucket, row.row_id);
  line.append(JsonLine(columns, row)).push_back('}');
  return line;
}

}  // namespace skep::client
