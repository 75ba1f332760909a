#include "skep/table_reader.h"

#include <utility>

#include <arrow/api.h>

#include "client/table/snapshot_scan.h"
#include "storage/base/status_macros.h"
#include "storage/format/vocabulary.h"
#include "storage/fs/posix_file_system.h"
#include "storage/model/errors.h"

namespace skep::client {

class TableReader::Impl {
 public:
  explicit Impl(TimestampResolution resolution)
      : unit_(resolution == TimestampResolution::kNanoseconds ? format::TimestampUnit::kNano
                                                              : format::TimestampUnit::kMicro) {}

  absl::Status Open(Transaction& transaction, const TableName& table, const ReadOptions& options) {
    SKEP_ASSIGN_OR_RETURN(scan_,
                          SnapshotScan::Open(transaction.core(),
                                             fs_,
                                             table,
                                             {.partition = options.partition,
                                              .columns = options.columns,
                                              .where = options.where,
                                              .batch_rows = options.batch_rows}));
    const auto vocabulary = format::ArrowSchemaOf(scan_->columns());
    auto empty = arrow::RecordBatch::MakeEmpty(vocabulary);
    if (!empty.ok()) return MakeError(ErrorReason::kInternal, empty.status().ToString());
    SKEP_ASSIGN_OR_RETURN(const auto converted, format::FromVocabulary(**empty, unit_));
    schema_ = converted->schema();
    return absl::OkStatus();
  }

  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }

  absl::StatusOr<std::optional<RowBatch>> Next() {
    SKEP_ASSIGN_OR_RETURN(std::optional<SnapshotBatch> next, scan_->Next());
    if (!next) return std::nullopt;
    RowBatch batch;
    SKEP_ASSIGN_OR_RETURN(batch.rows, format::FromVocabulary(*next->batch->rows, unit_));
    batch.partition = std::move(next->partition);
    batch.ids.write_id = std::move(next->batch->write_id);
    batch.ids.bucket = std::move(next->batch->bucket);
    batch.ids.row_id = std::move(next->batch->row_id);
    return std::optional(std::move(batch));
  }

 private:
  fs::PosixFileSystem fs_;
  const format::TimestampUnit unit_;
  std::unique_ptr<SnapshotScan> scan_;
  std::shared_ptr<arrow::Schema> schema_;
};

TableReader::TableReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TableReader::~TableReader() = default;

absl::StatusOr<std::unique_ptr<TableReader>> TableReader::Open(Transaction& transaction,
                                                               const TableName& table,
                                                               const ReadOptions& options) {
  auto impl = std::make_unique<Impl>(options.timestamps);
  SKEP_RETURN_IF_ERROR(impl->Open(transaction, table, options));
  return std::unique_ptr<TableReader>(new TableReader(std::move(impl)));
}

const std::shared_ptr<arrow::Schema>& TableReader::schema() const { return impl_->schema(); }

absl::StatusOr<std::optional<RowBatch>> TableReader::Next() { return impl_->Next(); }

}  // namespace skep::client
