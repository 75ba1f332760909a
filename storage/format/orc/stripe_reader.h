#pragma once

// One stripe, read in batches whose memory is bounded, with what nobody wants left out: by seeking
// to row groups where the stripe has an index, by skipping otherwise.

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <arrow/type_fwd.h>

#include "storage/format/literal.h"
#include "storage/format/orc/acid_columns.h"
#include "storage/format/orc/bloom_filter.h"
#include "storage/format/orc/column_reader.h"
#include "storage/format/orc/plan.h"
#include "storage/format/orc/reader.h"
#include "storage/format/orc/row_index.h"
#include "storage/format/orc/stripe_source.h"

namespace skep::orc {

// Confined to one thread. Rows are counted from the stripe's first. Keys (the system columns of an
// ACID file) and rows are read independently; both only go forward.
class StripeReader {
 public:
  // `file`, `tail` and `plan` must outlive it. Errors: as BatchStream::Next.
  static absl::StatusOr<std::unique_ptr<StripeReader>> Open(const fs::RandomAccessFile& file,
                                                            const Tail& tail,
                                                            const ReadPlan& plan,
                                                            Calendar calendar,
                                                            size_t stripe);

  const StripeSource& source() const { return *source_; }

  // The system columns of rows [row, row + count).
  absl::Status ReadKeys(int64_t row, int64_t count, bool as_runs, Batch* batch);
  // `rows`, `row_struct_validity` and `length` of the rows from `row` on: `most`, or fewer where
  // rows are wide.
  absl::Status ReadRows(int64_t row, int64_t most, Batch* batch);

  // Of one row group and column; nullptr where the stripe has no usable index.
  const ColumnStatistics* StatisticsOfGroup(uint32_t column, size_t group);

  // Whether the group's bloom filter lets one of the column's values be `literal`, which is of
  // `type`. `bounded` as BloomFilterCounts has it.
  bool GroupMayHold(uint32_t column,
                    size_t group,
                    const HiveType& type,
                    bool bounded,
                    const format::Literal& literal);

  // Where the budget let the last batches end; the next stripe of the file is likely as wide.
  int64_t batch_rows() const { return batch_rows_; }
  void set_batch_rows(int64_t rows) { batch_rows_ = rows; }

 private:
  StripeReader(const ReadPlan& plan, std::unique_ptr<StripeSource> source, int64_t rows);
  absl::Status Prepare();
  size_t groups() const;
  // The first row of the row group of `row` if it lies behind `from` and can be sought, else -1.
  int64_t GroupToSeek(int64_t from, int64_t row);
  absl::StatusOr<ColumnReader::Data> ReadSlots(int64_t count);

  const ReadPlan* plan_;
  std::unique_ptr<StripeSource> source_;
  const int64_t rows_;  // of the stripe
  std::unique_ptr<AcidColumns> acid_;
  PlanNode root_node_;                  // of root_
  std::unique_ptr<ColumnReader> root_;  // the struct that holds the wanted columns, or the one
                                        // column of another root; null where there is none
  std::shared_ptr<arrow::Schema> schema_;
  int64_t next_key_ = 0;
  int64_t next_row_ = 0;
  int64_t batch_rows_ = INT64_MAX;
  // Row indexes that were read: of the predicate's columns, or of all that are decoded.
  std::unordered_set<uint32_t> indexes_missing_;
  bool indexes_tried_ = false;
  bool indexes_usable_ = false;
  StripeIndexes indexes_;
  std::unordered_map<uint32_t, std::vector<BloomFilter>> filters_;  // empty: none that count
};

}  // namespace skep::orc
