#pragma once

// Rows of a table as a transaction sees them, in Arrow record batches.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "skep/rows.h"
#include "skep/transaction.h"
#include "storage/model/names.h"

namespace arrow {
class Schema;
}  // namespace arrow

namespace skep::client {

enum class TimestampResolution { kMicroseconds, kNanoseconds };

struct ReadOptions {
  std::string partition;             // canonical name; empty: the whole table
  std::vector<std::string> columns;  // in this order; empty: all, partition columns last
  std::vector<Condition> where;      // joined by AND
  TimestampResolution timestamps = TimestampResolution::kMicroseconds;
  int64_t batch_rows = 16'384;  // at most
};

// A read of one full-ACID table within a transaction: what its snapshot sees, its own writes
// included. Order of rows is not defined; a batch holds rows of one partition. Thread-compatible.
//
// Columns come as Arrow has them: utf8, int8…int64, float, double, decimal128, date32, binary,
// list, map, struct; TIMESTAMP as timestamp in the resolution asked for, without zone (WITH LOCAL
// TIME ZONE: UTC); a uniontype as struct<tag, f0, f1, …>.
class TableReader {
 public:
  // Errors: NO_SUCH_TABLE, SNAPSHOT_TOO_OLD; INVALID_REQUEST for a column, partition or condition
  // that the table does not have; NOT_SUPPORTED for external and insert-only tables.
  static absl::StatusOr<std::unique_ptr<TableReader>> Open(Transaction& transaction,
                                                           const TableName& table,
                                                           const ReadOptions& options = {});
  ~TableReader();
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  // Of the batches.
  const std::shared_ptr<arrow::Schema>& schema() const;

  // nullopt at the end; a batch has at least one row. After an error only the destructor may
  // follow. Errors: TXN_ABORTED where the transaction's lease ran out (files may be gone: rows
  // would be missing); NOT_ENOUGH_HISTORY; CORRUPT_FILE; VALUE_OUT_OF_RANGE by column for a
  // value that cannot be held or shown right.
  absl::StatusOr<std::optional<RowBatch>> Next();

 private:
  class Impl;
  explicit TableReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace skep::client
