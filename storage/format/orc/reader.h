#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/format/orc/tail.h"
#include "storage/fs/file_system.h"

namespace arrow {
class Array;
class RecordBatch;
}  // namespace arrow

namespace skep::orc {

struct ReaderOptions {
  std::optional<int64_t> logical_length;  // streaming file: read as if it ended here
  std::optional<Calendar> calendar;       // a table property's override of Tail::EffectiveCalendar
};

struct ReadOptions {
  // Columns wanted, as lower-case top-level names of the rows (`row`'s fields in an ACID file);
  // nullopt = all.
  std::optional<std::vector<std::string>> columns;
  std::optional<std::vector<size_t>> stripes;  // ascending; nullopt = all
  int64_t batch_rows = 16384;                  // at most; wide rows come in smaller batches
};

// Rows in file order. `rows` holds the wanted columns in the vocabulary of
// storage/format/vocabulary.h.
struct Batch {
  int64_t first_row = 0;  // position in the file
  int64_t length = 0;
  std::shared_ptr<arrow::RecordBatch> rows;  // for an ACID file: the fields of `row`
  // ACID: the `row` struct as the file has it, for its nulls alone: IsNull(i) in delete events. Its
  // fields may be in other types than `rows`.
  std::shared_ptr<arrow::Array> row_struct_validity;
  // ACID files only; empty otherwise. Each has `length` values; never null.
  std::vector<int32_t> operation;
  std::vector<int64_t> original_write_id;
  std::vector<int32_t> bucket;
  std::vector<int64_t> row_id;
  std::vector<int64_t> current_write_id;
};

class BatchStream {
 public:
  virtual ~BatchStream() = default;
  // nullptr at the end. Errors: kCorruptFile, kNotSupported, kValueOutOfRange, each naming file and
  // column.
  virtual absl::StatusOr<std::unique_ptr<Batch>> Next() = 0;
};

// One ORC file, opened. Thread-compatible; several streams of one reader may be read one after
// another.
//
// Values that this reader cannot deliver right are refused by file and column, never shown wrong:
// timestamps outside of the years 1 to 9999 or of an unknown writer zone, a 29 February that only
// the Julian calendar has, decimals of a larger scale than their column's, null map keys. Only
// columns that are asked for can fail.
//
// What is shown where engines differ is what Hive shows: days before 1582-10-15 of hybrid files by
// their label, instants of the last second before 1970 as ORC stores them (TY-17), absent zones as
// UTC.
class Reader {
 public:
  virtual ~Reader() = default;

  virtual const std::string& path() const = 0;
  virtual const Tail& tail() const = 0;
  virtual bool is_acid() const = 0;
  // The table's columns in this file: the fields of `row`, or of the root of a non-ACID file. A
  // root that is no struct is one column `value`.
  virtual const std::vector<Column>& columns() const = 0;

  virtual absl::StatusOr<std::unique_ptr<BatchStream>> Read(const ReadOptions& options) = 0;
};

// Reads and checks the tail. Errors as ReadTail.
absl::StatusOr<std::unique_ptr<Reader>> OpenReader(std::unique_ptr<fs::RandomAccessFile> file,
                                                   const ReaderOptions& options);

}  // namespace skep::orc
