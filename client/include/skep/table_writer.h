#pragma once

// Writes of one statement to a table within a transaction.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "skep/rows.h"
#include "skep/transaction.h"
#include "storage/model/names.h"

namespace arrow {
class RecordBatch;
}  // namespace arrow

namespace skep::client {

// What a statement does decides its lock and its conflicts: two updates of one partition conflict,
// inserts do not.
enum class WriteKind {
  kInsert,
  kDelete,
  kUpdate,  // updates, and also inserts and deletes: MERGE
};

struct WriteResult {
  int64_t inserted = 0;  // new rows, those of updates included
  int64_t deleted = 0;   // delete events, those of updates included
  std::vector<std::string>
      partitions;  // written to, canonical names; "" for a table without partitions
};

// One statement: INSERT, DELETE, UPDATE or MERGE. Takes the lock it needs, gets write id and
// statement id, and declares what it writes by itself. Nothing is visible to others before the
// transaction's commit; readers of the same transaction see it after Finish. Thread-compatible.
//
// Batches may have their columns in any order; absent ones are null. TIMESTAMP columns take
// timestamp[s|ms|us|ns] (with a zone for WITH LOCAL TIME ZONE) or the vocabulary's extension type.
// After any error of a call that gets rows the statement has failed and the transaction can only
// abort.
class TableWriter {
 public:
  // Errors: NO_SUCH_TABLE; OPERATION_NOT_ALLOWED (read-only transaction, external table, the 4097th
  // statement of one table); NOT_SUPPORTED (insert-only tables, new rows of a bucketed one);
  // DEADLINE_EXCEEDED where the lock was not granted.
  static absl::StatusOr<std::unique_ptr<TableWriter>> Open(Transaction& transaction,
                                                           const TableName& table,
                                                           WriteKind kind);
  // Not finished = failed: what was written is removed as far as possible, the transaction can only
  // abort.
  ~TableWriter();
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;

  // In a partitioned table the batch has the partition columns too, and their values choose the
  // partition. Errors: INVALID_REQUEST (a column the table lacks, a type that does not fit, an
  // absent partition column), VALUE_OUT_OF_RANGE (column and row), STORAGE_UNWRITABLE.
  absl::Status Insert(const arrow::RecordBatch& rows);
  // All rows into one partition, given by its canonical name. The batch needs no partition columns;
  // those it has must have that partition's values.
  absl::Status InsertInto(const std::string& partition, const arrow::RecordBatch& rows);
  // Rows as a TableReader of this transaction showed them. Errors: INVALID_REQUEST; a row named
  // twice in one statement shows at Finish.
  absl::Status Delete(const std::string& partition, const RowIds& rows);
  // Each row of `old_rows` is replaced by the row of the same position; the new one stays in the
  // partition and gets a new identity.
  absl::Status Update(const std::string& partition,
                      const RowIds& old_rows,
                      const arrow::RecordBatch& new_rows);

  // Everything is on stable storage and declared. Only the destructor may follow.
  absl::StatusOr<WriteResult> Finish();

 private:
  class Impl;
  explicit TableWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace skep::client
