#include "skep/table_writer.h"

#include <utility>

#include "client/table/statement.h"
#include "storage/base/status_macros.h"
#include "storage/fs/posix_file_system.h"

namespace skep::client {

class TableWriter::Impl {
 public:
  fs::PosixFileSystem fs;
  std::unique_ptr<Statement> statement;
};

TableWriter::TableWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TableWriter::~TableWriter() = default;

absl::StatusOr<std::unique_ptr<TableWriter>> TableWriter::Open(Transaction& transaction,
                                                               const TableName& table,
                                                               WriteKind kind) {
  auto impl = std::make_unique<Impl>();
  SKEP_ASSIGN_OR_RETURN(impl->statement,
                        Statement::Open(transaction.core(), impl->fs, table, kind));
  return std::unique_ptr<TableWriter>(new TableWriter(std::move(impl)));
}

absl::Status TableWriter::Insert(const arrow::RecordBatch& rows) {
  return impl_->statement->Insert(rows);
}

absl::Status TableWriter::InsertInto(const std::string& partition, const arrow::RecordBatch& rows) {
  return impl_->statement->InsertInto(partition, rows);
}

absl::Status TableWriter::Delete(const std::string& partition, const RowIds& rows) {
  return impl_->statement->Delete(partition, rows);
}

absl::Status TableWriter::Update(const std::string& partition,
                                 const RowIds& old_rows,
                                 const arrow::RecordBatch& new_rows) {
  return impl_->statement->Update(partition, old_rows, new_rows);
}

absl::StatusOr<WriteResult> TableWriter::Finish() { return impl_->statement->Finish(); }

}  // namespace skep::client
