#include "storage/table/row_filter.h"

#include <utility>

#include <arrow/api.h>

#include "storage/model/errors.h"

namespace skep::table {
namespace {

struct Run {
  int64_t first;
  int64_t length;
};

std::vector<Run> RunsOf(const std::vector<int64_t>& indices) {
  std::vector<Run> runs;
  for (const int64_t index : indices) {
    if (!runs.empty() && runs.back().first + runs.back().length == index) {
      ++runs.back().length;
    } else {
      runs.push_back({index, 1});
    }
  }
  return runs;
}

}  // namespace

absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> TakeRows(
    const std::shared_ptr<arrow::RecordBatch>& batch, const std::vector<int64_t>& indices) {
  const std::vector<Run> runs = RunsOf(indices);
  if (runs.empty()) return batch->Slice(0, 0);
  if (runs.size() == 1) {
    if (runs[0].length == batch->num_rows()) return batch;
    return batch->Slice(runs[0].first, runs[0].length);
  }
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (const std::shared_ptr<arrow::Array>& column : batch->columns()) {
    arrow::ArrayVector slices;
    slices.reserve(runs.size());
    for (const Run& run : runs) slices.push_back(column->Slice(run.first, run.length));
    auto joined = arrow::Concatenate(slices);
    if (!joined.ok()) return MakeError(ErrorReason::kInternal, joined.status().ToString());
    columns.push_back(*std::move(joined));
  }
  return arrow::RecordBatch::Make(
      batch->schema(), static_cast<int64_t>(indices.size()), std::move(columns));
}

}  // namespace skep::table
