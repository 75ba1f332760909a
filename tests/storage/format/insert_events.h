#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <arrow/record_batch.h>

#include "storage/format/orc/reader.h"

namespace skep::testing {

// Rows as insert events of write id 7, statement 0, bucket 0; row ids from `first`.
inline orc::Batch Inserts(std::shared_ptr<arrow::RecordBatch> rows, int64_t first = 0) {
  orc::Batch batch;
  batch.length = rows->num_rows();
  const auto length = static_cast<size_t>(batch.length);
  batch.operation.assign(length, 0);
  batch.original_write_id.assign(length, 7);
  batch.bucket.assign(length, 536870912);
  batch.current_write_id.assign(length, 7);
  for (int64_t i = 0; i < batch.length; ++i) batch.row_id.push_back(first + i);
  batch.rows = std::move(rows);
  return batch;
}

}  // namespace skep::testing
