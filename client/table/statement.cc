#include "client/table/statement.h"

#include <utility>

#include <arrow/api.h>
#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/vocabulary.h"
#include "storage/model/errors.h"
#include "storage/table/partition_values.h"

namespace skep::client {
namespace {

WriteOp OpOf(WriteKind kind) {
  switch (kind) {
    case WriteKind::kInsert:
      return WriteOp::kInsert;
    case WriteKind::kDelete:
      return WriteOp::kDelete;
    case WriteKind::kUpdate:
      return WriteOp::kUpdate;
  }
  return WriteOp::kUpdate;
}

bool HasColumn(const arrow::RecordBatch& rows, const std::string& name) {
  for (const std::string& field : rows.schema()->field_names()) {
    if (AsciiEqualsIgnoreCase(field, name)) return true;
  }
  return false;
}

table::RowIds ToTableIds(const RowIds& ids) {
  return {.write_id = ids.write_id, .bucket = ids.bucket, .row_id = ids.row_id};
}

}  // namespace

Statement::Statement(std::shared_ptr<TransactionCore> core, WriteStatement write, WriteKind kind)
    : core_(std::move(core)), write_(std::move(write)), kind_(kind) {}

Statement::~Statement() {
  // The files go before the transaction hears of it: what the writer cannot remove is an aborted
  // directory.
  writer_.reset();
  if (ended_) return;
  core_->FailWrite(write_,
                   MakeError(ErrorReason::kOperationNotAllowed,
                             fmt::format("a writer of {} was dropped before it was finished",
                                         write_.table.name.ToString()),
                             {{"table", write_.table.name.ToString()}}));
}

absl::StatusOr<std::unique_ptr<Statement>> Statement::Open(std::shared_ptr<TransactionCore> core,
                                                           fs::FileSystem& fs,
                                                           const TableName& table,
                                                           WriteKind kind) {
  SKEP_ASSIGN_OR_RETURN(WriteStatement write, core->BeginWrite(table, OpOf(kind)));
  std::unique_ptr<Statement> statement(new Statement(std::move(core), std::move(write), kind));
  SKEP_RETURN_IF_ERROR(statement->Note(statement->Start(fs)));
  return statement;
}

absl::Status Statement::Start(fs::FileSystem& fs) {
  const TableInfo& table = write_.table;
  SKEP_ASSIGN_OR_RETURN(
      writer_,
      table::StatementWriter::Open(
          fs,
          {.name = table.name,
           .location = table.location,
           .kind = table.kind,
           .format = table.format,
           .schema = table.schema,
           .properties = table.properties,
           .write_id = write_.write_id,
           .statement_id = write_.statement_id,
           .declare_partitions = [this](const std::vector<std::string>& partitions) {
             return core_->DeclarePartitions(write_, partitions);
           }}));
  return absl::OkStatus();
}

absl::Status Statement::Check(Part part) const {
  const bool allowed = kind_ == WriteKind::kUpdate ||
                       (kind_ == WriteKind::kInsert && part == Part::kInsert) ||
                       (kind_ == WriteKind::kDelete && part == Part::kDelete);
  if (ended_ && ended_->ok()) {
    return MakeError(
        ErrorReason::kOperationNotAllowed,
        fmt::format("the writer of {} is finished: open another", write_.table.name.ToString()),
        {{"table", write_.table.name.ToString()}, {"operation", "write"}});
  }
  if (ended_) return *ended_;
  if (!allowed) {
    return MakeError(
        ErrorReason::kOperationNotAllowed,
        fmt::format("a writer of {} that was opened for one kind of write was asked for "
                    "another: open it with WriteKind::kUpdate",
                    write_.table.name.ToString()),
        {{"table", write_.table.name.ToString()}, {"operation", "write"}});
  }
  return absl::OkStatus();
}

absl::Status Statement::Note(absl::Status status) {
  if (!status.ok() && !ended_) {
    ended_ = status;
    writer_.reset();
    core_->FailWrite(write_, status);
  }
  return status;
}

absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> Statement::ToTable(
    const arrow::RecordBatch& rows, const std::vector<Column>& columns) const {
  auto converted = format::ToVocabulary(rows, columns);
  if (!converted.ok()) return Annotate(converted.status(), write_.table.name.ToString());
  return converted;
}

absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> Statement::WithoutPartition(
    const arrow::RecordBatch& rows, const std::string& partition) const {
  const TableSchema& schema = write_.table.schema;
  std::vector<Column> columns = schema.columns;
  for (const Column& key : schema.partition_columns) {
    if (HasColumn(rows, key.name)) columns.push_back(key);
  }
  SKEP_ASSIGN_OR_RETURN(const auto converted, ToTable(rows, columns));
  if (columns.size() == schema.columns.size()) return converted;
  SKEP_ASSIGN_OR_RETURN(const auto values,
                        table::PartitionValuesOf(partition, schema.partition_columns));
  for (const table::PartitionValue& value : values) {
    const auto given = converted->GetColumnByName(value.column.name);
    if (given == nullptr) continue;
    SKEP_ASSIGN_OR_RETURN(const auto wanted,
                          table::RepeatPartitionValue(value, converted->num_rows()));
    if (!given->Equals(wanted)) {
      return MakeError(
          ErrorReason::kInvalidRequest,
          fmt::format("rows for partition \"{}\" of {} have another value of `{}`: a row "
                      "moves to another partition by delete and insert",
                      partition,
                      write_.table.name.ToString(),
                      value.column.name),
          {{"field", "rows"}, {"column", value.column.name}});
    }
  }
  const int width = static_cast<int>(schema.columns.size());
  std::vector<std::shared_ptr<arrow::Array>> arrays(converted->columns().begin(),
                                                    converted->columns().begin() + width);
  return arrow::RecordBatch::Make(
      format::ArrowSchemaOf(schema.columns), converted->num_rows(), std::move(arrays));
}

absl::Status Statement::Insert(const arrow::RecordBatch& rows) {
  SKEP_RETURN_IF_ERROR(Check(Part::kInsert));
  std::vector<Column> columns = write_.table.schema.columns;
  for (const Column& key : write_.table.schema.partition_columns) {
    if (!HasColumn(rows, key.name)) {
      return Note(MakeError(ErrorReason::kInvalidRequest,
                            fmt::format("rows for {} need the partition column `{}`: its values "
                                        "choose the partition (or use InsertInto)",
                                        write_.table.name.ToString(),
                                        key.name),
                            {{"field", "rows"}, {"column", key.name}}));
    }
    columns.push_back(key);
  }
  const auto converted = ToTable(rows, columns);
  if (!converted.ok()) return Note(converted.status());
  return Note(writer_->Insert(*converted));
}

absl::Status Statement::InsertInto(const std::string& partition, const arrow::RecordBatch& rows) {
  SKEP_RETURN_IF_ERROR(Check(Part::kInsert));
  const auto converted = WithoutPartition(rows, partition);
  if (!converted.ok()) return Note(converted.status());
  return Note(writer_->InsertInto(partition, *converted));
}

absl::Status Statement::Delete(const std::string& partition, const RowIds& rows) {
  SKEP_RETURN_IF_ERROR(Check(Part::kDelete));
  return Note(writer_->Delete(partition, ToTableIds(rows)));
}

absl::Status Statement::Update(const std::string& partition,
                               const RowIds& old_rows,
                               const arrow::RecordBatch& new_rows) {
  SKEP_RETURN_IF_ERROR(Check(Part::kUpdate));
  const auto converted = WithoutPartition(new_rows, partition);
  if (!converted.ok()) return Note(converted.status());
  return Note(writer_->Update(partition, ToTableIds(old_rows), *converted));
}

absl::StatusOr<WriteResult> Statement::Finish() {
  SKEP_RETURN_IF_ERROR(Check(kind_ == WriteKind::kDelete ? Part::kDelete : Part::kInsert));
  absl::StatusOr<table::WriteSummary> summary = writer_->Close();
  if (!summary.ok()) return Note(summary.status());
  const auto wrote =
      summary->files > 0 ? TransactionCore::Wrote::kRows : TransactionCore::Wrote::kNothing;
  // The files are whole now; from here on only the transaction's end decides about them.
  ended_ = core_->EndWrite(write_, wrote);
  SKEP_RETURN_IF_ERROR(*ended_);
  return WriteResult{.inserted = summary->inserted,
                     .deleted = summary->deleted,
                     .partitions = std::move(summary->partitions)};
}

}  // namespace skep::client
