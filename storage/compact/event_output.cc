#include "storage/compact/event_output.h"

#include <utility>

#include <arrow/api.h>

#include "storage/base/status_macros.h"
#include "storage/model/errors.h"
#include "storage/table/row_filter.h"

namespace skep::compact {

namespace {

constexpr int64_t kFlushRows = 8192;
constexpr int kMaxFinishedBatches = 4;
constexpr int32_t kInsert = 0;
constexpr int32_t kDelete = 2;

}  // namespace

EventOutput::EventOutput(fs::FileSystem& fs, std::string path, Options options)
    : fs_(fs), path_(std::move(path)), options_(std::move(options)) {}

EventOutput::~EventOutput() = default;

void EventOutput::TakeEvents(const orc::Batch& events, const std::vector<int64_t>& kept) {
  const bool inserts = options_.kind == EventKind::kInserts;
  for (const int64_t index : kept) {
    const auto i = static_cast<size_t>(index);
    buffer_.operation.push_back(inserts ? kInsert : kDelete);
    buffer_.original_write_id.push_back(events.original_write_id[i]);
    buffer_.bucket.push_back(events.bucket[i]);
    buffer_.row_id.push_back(events.row_id[i]);
    buffer_.current_write_id.push_back(inserts ? events.original_write_id[i]
                                               : events.current_write_id[i]);
  }
  buffer_.length += static_cast<int64_t>(kept.size());
}

absl::Status EventOutput::Add(const EventRun& run, const std::vector<int64_t>& kept) {
  if (!kept.empty()) {
    TakeEvents(*run.events, kept);
    if (options_.kind == EventKind::kInserts) {
      SKEP_ASSIGN_OR_RETURN(std::shared_ptr<arrow::RecordBatch> rows,
                            table::TakeRows(run.rows, kept));
      row_pieces_.push_back(std::move(rows));
    }
  }
  if (run.end == run.events->length && !row_pieces_.empty()) ++finished_batches_;
  if (buffer_.length < kFlushRows && finished_batches_ < kMaxFinishedBatches) {
    return absl::OkStatus();
  }
  return Flush();
}

absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> EventOutput::JoinRows() {
  if (row_pieces_.size() == 1) return row_pieces_.front();
  const std::shared_ptr<arrow::Schema> schema = row_pieces_.front()->schema();
  arrow::ArrayVector columns;
  for (int i = 0; i < schema->num_fields(); ++i) {
    arrow::ArrayVector pieces;
    pieces.reserve(row_pieces_.size());
    for (const auto& rows : row_pieces_) pieces.push_back(rows->column(i));
    arrow::Result<std::shared_ptr<arrow::Array>> joined = arrow::Concatenate(pieces);
    if (!joined.ok()) return MakeError(ErrorReason::kInternal, joined.status().ToString());
    columns.push_back(*std::move(joined));
  }
  return arrow::RecordBatch::Make(schema, buffer_.length, std::move(columns));
}

absl::Status EventOutput::Flush() {
  finished_batches_ = 0;
  if (buffer_.length == 0) return absl::OkStatus();
  if (writer_ == nullptr) {
    SKEP_ASSIGN_OR_RETURN(writer_,
                          orc::CreateAcidWriter(fs_, path_, options_.columns, options_.orc));
  }
  if (options_.kind == EventKind::kInserts) {
    SKEP_ASSIGN_OR_RETURN(buffer_.rows, JoinRows());
  }
  SKEP_RETURN_IF_ERROR(writer_->Append(buffer_));
  buffer_ = orc::Batch();
  row_pieces_.clear();
  return absl::OkStatus();
}

absl::StatusOr<orc::FileSummary> EventOutput::Close() {
  SKEP_RETURN_IF_ERROR(Flush());
  if (writer_ == nullptr) return orc::FileSummary();
  return writer_->Close();
}

}  // namespace skep::compact
