#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/format/orc/tail.h"
#include "storage/fs/file_system.h"

namespace arrow {
class Array;
class RecordBatch;
}  // namespace arrow

namespace skep::format {
class BoundPredicate;
}  // namespace skep::format

namespace skep::orc {

struct ReaderOptions {
  std::optional<int64_t> logical_length;  // streaming file: read as if it ended here
  std::optional<Calendar> calendar;       // a table property's override of Tail::EffectiveCalendar
};

struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;  // exclusive
  friend bool operator==(const RowRange&, const RowRange&) = default;
};

// Rows of an ACID file whose system columns are constant and whose row ids go up in even steps.
struct AcidRun {
  int64_t length = 0;
  int32_t operation = 0;
  int64_t original_write_id = 0;
  int32_t bucket = 0;
  int64_t row_id = 0;  // of the first row
  int64_t row_id_step = 0;
  int64_t current_write_id = 0;

  int64_t LastRowId() const {
    return static_cast<int64_t>(static_cast<uint64_t>(row_id) +
                                static_cast<uint64_t>(length - 1) *
                                    static_cast<uint64_t>(row_id_step));
  }
  friend bool operator==(const AcidRun&, const AcidRun&) = default;
};

// Rows in file order. `rows` holds the wanted columns in the vocabulary of
// storage/format/vocabulary.h.
struct Batch {
  int64_t first_row = 0;  // position in the file
  int64_t length = 0;
  std::shared_ptr<arrow::RecordBatch> rows;  // for an ACID file: the fields of `row`
  // ACID: a struct without fields that is null where `row` is: IsNull(i) in delete events.
  std::shared_ptr<arrow::Array> row_struct_validity;
  // ACID files only; empty otherwise. Each has `length` values; never null.
  std::vector<int32_t> operation;
  std::vector<int64_t> original_write_id;
  std::vector<int32_t> bucket;
  std::vector<int64_t> row_id;
  std::vector<int64_t> current_write_id;
  // The same as runs, instead of the vectors, where ReadOptions::acid_runs asks for it.
  std::vector<AcidRun> runs;
};

struct ReadOptions {
  // Columns wanted, as lower-case top-level names of the rows (`row`'s fields in an ACID file), or
  // paths into structs ("address.city"): of a struct that is named by paths only those fields are
  // there. nullopt = all.
  std::optional<std::vector<std::string>> columns;
  std::optional<std::vector<size_t>> stripes;  // ascending; nullopt = all
  std::optional<RowRange> rows;                // positions in the file; nullopt = all
  int64_t batch_rows = 16384;                  // at most; wide rows come in smaller batches
  // Row groups that it proves free of matches are left out, by statistics of the file, the stripes
  // and the row groups, and by bloom filters. It skips, it does not filter. Bound to columns() of
  // this file; must outlive the stream.
  const format::BoundPredicate* predicate = nullptr;
  bool acid_runs = false;
  // ACID files: sees the system columns of a batch before `row` is decoded and says which of its
  // rows are wanted, as ascending ranges of positions in the batch. Rows outside of them are not
  // delivered; where all are, `row` is decoded for the wanted ranges alone.
  std::function<absl::Status(const Batch& keys, std::vector<RowRange>* wanted)> select;
};

struct ReadCounters {
  int64_t stripes_read = 0;
  int64_t stripes_skipped = 0;  // by the predicate
  int64_t groups_skipped = 0;   // row groups of stripes that were read
  int64_t rows_read = 0;        // decoded
};

class BatchStream {
 public:
  virtual ~BatchStream() = default;
  // Replaces `batch`, whose vectors keep their memory; false at the end. Errors: kCorruptFile,
  // kNotSupported, kValueOutOfRange, each naming file and column.
  virtual absl::StatusOr<bool> Next(Batch* batch) = 0;
  virtual const ReadCounters& counters() const = 0;

  // nullptr at the end.
  absl::StatusOr<std::unique_ptr<Batch>> Next() {
    auto batch = std::make_unique<Batch>();
    absl::StatusOr<bool> more = Next(batch.get());
    if (!more.ok()) return std::move(more).status();
    if (!*more) return std::unique_ptr<Batch>();
    return batch;
  }
};

// One ORC file, opened. Thread-safe; each stream is confined to one thread and may outlive the
// reader: stripes are read in parallel by one stream each.
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
