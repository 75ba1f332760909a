#pragma once

// Rows of a batch, taken by number.

#include <cstdint>
#include <memory>
#include <vector>

#include <absl/status/statusor.h>

namespace arrow {
class RecordBatch;
}  // namespace arrow

namespace skep::table {

// The rows `indices` of the batch, in that order. Runs of neighbours are copied as one; the batch
// itself comes back where all of its rows are asked for in order. A batch without columns keeps its
// row count.
absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> TakeRows(
    const std::shared_ptr<arrow::RecordBatch>& batch, const std::vector<int64_t>& indices);

}  // namespace skep::table
