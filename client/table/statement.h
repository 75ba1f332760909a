#pragma once

// One write statement of a transaction: the lock, ids and declarations of client/session around the
// files of storage/table. TableWriter without its handle, so that tests bring their own transaction
// and filesystem.

#include <memory>
#include <optional>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "client/session/transaction_core.h"
#include "skep/rows.h"
#include "skep/table_writer.h"
#include "storage/fs/file_system.h"
#include "storage/table/writer.h"

namespace skep::client {

// Thread-compatible. The contract of each call is TableWriter's.
class Statement {
 public:
  // `fs` must outlive the statement.
  static absl::StatusOr<std::unique_ptr<Statement>> Open(std::shared_ptr<TransactionCore> core,
                                                         fs::FileSystem& fs,
                                                         const TableName& table,
                                                         WriteKind kind);
  ~Statement();

  absl::Status Insert(const arrow::RecordBatch& rows);
  absl::Status InsertInto(const std::string& partition, const arrow::RecordBatch& rows);
  absl::Status Delete(const std::string& partition, const RowIds& rows);
  absl::Status Update(const std::string& partition,
                      const RowIds& old_rows,
                      const arrow::RecordBatch& new_rows);
  absl::StatusOr<WriteResult> Finish();

 private:
  enum class Part { kInsert, kDelete, kUpdate };

  Statement(std::shared_ptr<TransactionCore> core, WriteStatement write, WriteKind kind);
  absl::Status Start(fs::FileSystem& fs);
  // OK if the statement is open and of a kind that may do this.
  absl::Status Check(Part part) const;
  absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> ToTable(
      const arrow::RecordBatch& rows, const std::vector<Column>& columns) const;
  // The table's columns of rows that all lie in one partition. Partition columns may be there (a
  // reader's batch has them), with that partition's values.
  absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> WithoutPartition(
      const arrow::RecordBatch& rows, const std::string& partition) const;
  // Passes the status on; the first error fails the statement.
  absl::Status Note(absl::Status status);

  const std::shared_ptr<TransactionCore> core_;  // shared with the Transaction handle
  const WriteStatement write_;
  const WriteKind kind_;
  std::unique_ptr<table::StatementWriter> writer_;
  std::optional<absl::Status> ended_;  // OK after Finish
};

}  // namespace skep::client
