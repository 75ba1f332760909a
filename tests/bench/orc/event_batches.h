#pragma once

// The rows that the ORC programs write and read: always the same ones.

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/type_fwd.h>

#include "storage/format/orc/reader.h"
#include "storage/model/hive_type.h"

namespace skep::bench {

// id bigint, name string, amount decimal(12,2), at timestamp
std::vector<Column> EventColumns();

// `rows` insert events in batches of `batch_rows`, from a fixed seed: ids that count up with gaps,
// names of 20 000 customers, amounts, times that go forward by some milliseconds.
std::vector<orc::Batch> EventBatches(int64_t rows, int64_t batch_rows);

// The same for Arrow's writer: the six columns, the row as a struct, timestamps in nanoseconds.
std::shared_ptr<arrow::RecordBatch> ForAdapter(const orc::Batch& batch);

}  // namespace skep::bench
