#pragma once

// The rows of one table or partition directory that a snapshot sees: inserts minus deletes (D-1),
// as an anti-join by row id with each row's write id checked (D-2…D-4).

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/acid/selection.h"
#include "storage/format/orc/tail.h"
#include "storage/format/predicate.h"
#include "storage/fs/file_system.h"
#include "storage/model/hive_type.h"
#include "storage/model/snapshot.h"
#include "storage/table/delete_set.h"
#include "storage/table/partition_values.h"
#include "storage/table/sources.h"

namespace arrow {
class RecordBatch;
class Schema;
}  // namespace arrow

namespace skep::table {

struct ScanOptions {
  // The table's columns, without partition columns; nullopt: those of the newest file.
  std::optional<std::vector<Column>> table_columns;
  // The partition that is read, typed: its columns come after the table's.
  std::vector<PartitionValue> partition;
  // Wanted columns by lower-case name, in this order; nullopt: all, then the partition columns.
  std::optional<std::vector<std::string>> columns;
  // Rows for which it is TRUE. May name any column of table and partition.
  std::optional<format::Predicate> predicate;
  int64_t batch_rows = 16384;
  int64_t delete_limit = kDefaultDeleteLimit;
  std::optional<orc::Calendar> calendar;
  // Asked after the listing and after each open; an error ends the scan with it. A reader's lease
  // goes in here: rows are returned only from files that were opened while it held.
  std::function<absl::Status()> check_alive;
};

// `rows` in the vocabulary; the row ids have as many entries as it has rows.
struct ScanBatch {
  std::shared_ptr<arrow::RecordBatch> rows;
  std::vector<int64_t> write_id;  // original write id
  std::vector<int32_t> bucket;    // bucket property
  std::vector<int64_t> row_id;
};

struct ScanStats {
  int64_t files_read = 0;
  int64_t delete_files_read = 0;
  int64_t delete_files_skipped = 0;
  int64_t stripes_skipped = 0;
  int64_t rows_read = 0;  // and judged; fewer were decoded
  int64_t rows_returned = 0;
};

// Thread-compatible. Memory: one batch, and the deletes of one bucket. Rows come bucket by bucket,
// file by file, ascending by row id within a file; there is no other order (D-1).
class Scan {
 public:
  // Lists, selects and opens tails. `fs` must outlive the scan.
  // Errors: those of ListDirectory, SelectDirectories (kNotEnoughHistory, S-8) and CollectSources;
  // kInvalidRequest for unknown columns and a predicate that does not fit.
  static absl::StatusOr<std::unique_ptr<Scan>> Open(fs::FileSystem& fs,
                                                    const std::string& dir,
                                                    const WriteIdSnapshot& write_ids,
                                                    const acid::Visibility& visibility,
                                                    ScanOptions options);
  ~Scan();

  // What was chosen and skipped, and why.
  const acid::Selection& selection() const { return selection_; }
  // Of the batches.
  const std::vector<Column>& columns() const { return result_columns_; }
  const ScanStats& stats() const { return stats_; }

  // nullptr at the end; batches are never empty. Errors: those of OpenSource and DeleteSet::Load,
  // kNotSupported for files of another schema, each naming the file.
  absl::StatusOr<std::unique_ptr<ScanBatch>> Next();

 private:
  class FileScan;

  Scan(fs::FileSystem& fs, WriteIdSnapshot write_ids, ScanOptions options);
  absl::Status Prepare(const std::string& dir, const acid::Visibility& visibility);
  absl::Status ResolveColumns();
  absl::Status StartBucket();
  absl::Status StartFile();
  absl::Status CheckAlive() const;
  // The result's columns of the rows in `live` that pass the predicate; the others leave `live`.
  absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> Finish(
      std::shared_ptr<arrow::RecordBatch> rows, std::vector<int64_t>* live) const;

  fs::FileSystem& fs_;
  const WriteIdSnapshot write_ids_;
  const ScanOptions options_;
  acid::Selection selection_;
  std::vector<Column> table_columns_;
  std::vector<Column> file_columns_;  // of the table, as far as result or predicate need them
  std::vector<Column> result_columns_;
  std::shared_ptr<arrow::Schema> result_schema_;
  std::optional<format::BoundPredicate> predicate_;
  std::map<int32_t, BucketSources> sources_;
  std::map<int32_t, BucketSources>::const_iterator bucket_;
  size_t next_file_ = 0;
  std::optional<DeleteSet> deletes_;
  std::unique_ptr<FileScan> file_;
  ScanStats stats_;
};

}  // namespace skep::table
