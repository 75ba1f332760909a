#pragma once

// What the ORC benchmarks read and write: rows from a fixed seed, the same in every run.

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/record_batch.h>
#include <arrow/util/type_fwd.h>

namespace skep::bench {

// Insert events of an ACID table (bigint, string, decimal(12,2), timestamp), as Arrow's writer
// takes them.
std::shared_ptr<arrow::RecordBatch> AcidRows(int64_t rows);
// Ten bigint columns of 20 random bits.
std::shared_ptr<arrow::RecordBatch> TenColumns(int64_t rows);

// A file of Arrow's writer, in memory: dictionaries off, 64 MiB stripes, 256 KiB blocks.
std::string WrittenByArrow(const arrow::RecordBatch& rows, arrow::Compression::type codec);

}  // namespace skep::bench
