#include "storage/table/scan.h"

#include <algorithm>
#include <utility>

#include <arrow/api.h>
#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/vocabulary.h"
#include "storage/model/errors.h"
#include "storage/table/column_mapping.h"
#include "storage/table/row_filter.h"

namespace skep::table {
namespace {

const Column* FindColumn(const std::vector<Column>& columns, const std::string& name) {
  const auto found = std::find_if(
      columns.begin(), columns.end(), [&](const Column& column) { return column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

template <class T>
std::vector<T> Pick(const std::vector<T>& values, const std::vector<int64_t>& indices) {
  std::vector<T> picked;
  picked.reserve(indices.size());
  for (const int64_t index : indices) picked.push_back(values[index]);
  return picked;
}

}  // namespace

// One insert file: what is read of it and how its columns become the table's.
class Scan::FileScan {
 public:
  // What follows judges rows by `write_ids` (where `check_rows`) and `deletes`, which outlive it.
  FileScan(ColumnMapping mapping,
           bool check_rows,
           const WriteIdSnapshot& write_ids,
           const DeleteSet& deletes)
      : mapping_(std::move(mapping)),
        check_rows_(check_rows),
        write_ids_(write_ids),
        deletes_(deletes) {}

  // Where every row may be dead, rows are judged before their columns are decoded.
  absl::Status Open(fs::FileSystem& fs,
                    const SourceFile& file,
                    const orc::ReaderOptions& reader_options,
                    orc::ReadOptions read) {
    read.columns = mapping_.file_names();
    selects_ = file.synthetic ? false : check_rows_ || !deletes_.empty();
    if (selects_) {
      read.select = [this](const orc::Batch& keys, std::vector<orc::RowRange>* wanted) {
        Select(keys, wanted);
        return absl::OkStatus();
      };
    }
    SKEP_ASSIGN_OR_RETURN(source_, OpenSource(fs, file, reader_options, read));
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<orc::Batch>> Next() {
    SKEP_ASSIGN_OR_RETURN(std::unique_ptr<orc::Batch> batch, source_->Next());
    if (batch != nullptr && !selects_) rows_seen_ += batch->length;
    return batch;
  }
  // Rows that were judged since the last call.
  int64_t TakeRowsSeen() { return std::exchange(rows_seen_, 0); }
  int64_t stripes_skipped() const { return source_->counters().stripes_skipped; }
  bool by_name() const { return mapping_.by_name(); }

  absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> TableColumns(const orc::Batch& batch) const {
    return mapping_.Apply(batch.rows, batch.length);
  }

  // Rows that the snapshot sees and no delete hits (D-1, D-2).
  std::vector<int64_t> LiveRows(const orc::Batch& batch) const {
    if (!selects_) return Judge(batch);
    std::vector<int64_t> live;
    const int64_t first = batch.first_row - selected_row_;
    const auto from = std::lower_bound(selected_live_.begin(), selected_live_.end(), first);
    for (auto at = from; at != selected_live_.end() && *at < first + batch.length; ++at) {
      live.push_back(*at - first);
    }
    return live;
  }

 private:
  // Gaps of fewer dead rows are not worth a batch of their own.
  static constexpr int64_t kGap = 256;

  void Select(const orc::Batch& keys, std::vector<orc::RowRange>* wanted) {
    rows_seen_ += keys.length;
    selected_row_ = keys.first_row;
    selected_live_ = Judge(keys);
    for (const int64_t row : selected_live_) {
      if (!wanted->empty() && row - wanted->back().end < kGap) {
        wanted->back().end = row + 1;
      } else {
        wanted->push_back({row, row + 1});
      }
    }
  }

  std::vector<int64_t> Judge(const orc::Batch& batch) const {
    std::vector<bool> hit;
    if (!deletes_.empty()) hit = deletes_.Hits(batch);
    std::vector<int64_t> live;
    live.reserve(static_cast<size_t>(batch.length));
    int64_t judged_id = -1;
    bool judged_valid = false;
    for (int64_t i = 0; i < batch.length; ++i) {
      if (!hit.empty() && hit[i]) continue;
      if (check_rows_) {
        const int64_t id = batch.current_write_id[i];
        if (id != judged_id) {
          judged_id = id;
          judged_valid = write_ids_.IsValid(WriteId(id));
        }
        if (!judged_valid) continue;
      }
      live.push_back(i);
    }
    return live;
  }

  const ColumnMapping mapping_;
  const bool check_rows_;
  const WriteIdSnapshot& write_ids_;
  const DeleteSet& deletes_;
  // What Select found last: live rows, counted from selected_row_ of the file.
  bool selects_ = false;
  int64_t rows_seen_ = 0;
  int64_t selected_row_ = 0;
  std::vector<int64_t> selected_live_;
  std::unique_ptr<SourceReader> source_;  // calls Select: goes first
};

Scan::Scan(fs::FileSystem& fs, WriteIdSnapshot write_ids, ScanOptions options)
    : fs_(fs), write_ids_(std::move(write_ids)), options_(std::move(options)) {}

Scan::~Scan() = default;

absl::StatusOr<std::unique_ptr<Scan>> Scan::Open(fs::FileSystem& fs,
                                                 const std::string& dir,
                                                 const WriteIdSnapshot& write_ids,
                                                 const acid::Visibility& visibility,
                                                 ScanOptions options) {
  std::unique_ptr<Scan> scan(new Scan(fs, write_ids, std::move(options)));
  SKEP_RETURN_IF_ERROR(scan->Prepare(dir, visibility));
  return scan;
}

absl::Status Scan::CheckAlive() const {
  return options_.check_alive ? options_.check_alive() : absl::OkStatus();
}

absl::Status Scan::Prepare(const std::string& dir, const acid::Visibility& visibility) {
  SKEP_ASSIGN_OR_RETURN(const acid::Listing listing, ListDirectory(fs_, dir));
  SKEP_RETURN_IF_ERROR(CheckAlive());
  absl::StatusOr<acid::Selection> selection =
      acid::SelectDirectories(listing, write_ids_, visibility);
  if (!selection.ok()) return Annotate(selection.status(), Printable(dir));
  selection_ = *std::move(selection);
  SKEP_ASSIGN_OR_RETURN(sources_, CollectSources(fs_, dir, selection_));
  SKEP_RETURN_IF_ERROR(CheckAlive());
  SKEP_RETURN_IF_ERROR(ResolveColumns());
  bucket_ = sources_.begin();
  return absl::OkStatus();
}

absl::Status Scan::ResolveColumns() {
  table_columns_ = options_.table_columns ? *options_.table_columns : NewestColumns(sources_);
  std::vector<Column> known = table_columns_;
  for (const PartitionValue& value : options_.partition) known.push_back(value.column);

  if (options_.columns) {
    for (const std::string& name : *options_.columns) {
      const Column* column = FindColumn(known, name);
      if (column == nullptr) {
        return MakeError(ErrorReason::kInvalidRequest,
                         fmt::format("there is no column `{}`", Printable(name)),
                         {{"field", "columns"}, {"column", name}});
      }
      result_columns_.push_back(*column);
    }
  } else {
    result_columns_ = known;
  }
  result_schema_ = format::ArrowSchemaOf(result_columns_);

  std::vector<std::string> needed;
  for (const Column& column : result_columns_) needed.push_back(column.name);
  // Without any file there are no columns to bind to and no rows to judge.
  if (options_.predicate && !(sources_.empty() && table_columns_.empty())) {
    SKEP_ASSIGN_OR_RETURN(predicate_, format::BoundPredicate::Bind(*options_.predicate, known));
    for (const std::string& name : predicate_->columns()) needed.push_back(name);
  }
  for (const Column& column : table_columns_) {
    if (std::find(needed.begin(), needed.end(), column.name) != needed.end()) {
      file_columns_.push_back(column);
    }
  }
  return absl::OkStatus();
}

absl::Status Scan::StartBucket() {
  const std::vector<SourceFile> relevant = RelevantDeletes(bucket_->second);
  stats_.delete_files_read += static_cast<int64_t>(relevant.size());
  stats_.delete_files_skipped +=
      static_cast<int64_t>(bucket_->second.deletes.size() - relevant.size());
  SKEP_ASSIGN_OR_RETURN(
      deletes_,
      DeleteSet::Load(fs_,
                      relevant,
                      write_ids_,
                      {.limit = options_.delete_limit, .check_alive = options_.check_alive}));
  next_file_ = 0;
  return absl::OkStatus();
}

absl::Status Scan::StartFile() {
  const SourceFile& file = bucket_->second.inserts[next_file_++];
  const std::vector<Column> in_file = ColumnsOfTail(*file.tail);
  SKEP_ASSIGN_OR_RETURN(ColumnMapping mapping,
                        ColumnMapping::Make(in_file, table_columns_, file_columns_, file.path));
  auto scan = std::make_unique<FileScan>(
      std::move(mapping), RowsNeedCheck(file, write_ids_), write_ids_, *deletes_);
  orc::ReadOptions read{.batch_rows = options_.batch_rows};
  // Statistics are found by the table's names.
  if (predicate_ && scan->by_name()) read.predicate = &*predicate_;
  SKEP_RETURN_IF_ERROR(scan->Open(
      fs_, file, {.logical_length = {}, .calendar = options_.calendar}, std::move(read)));
  SKEP_RETURN_IF_ERROR(CheckAlive());
  ++stats_.files_read;
  file_ = std::move(scan);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ScanBatch>> Scan::Next() {
  while (true) {
    if (file_ == nullptr) {
      if (bucket_ == sources_.end()) return nullptr;
      if (!deletes_ && !bucket_->second.inserts.empty()) SKEP_RETURN_IF_ERROR(StartBucket());
      if (!deletes_ || next_file_ == bucket_->second.inserts.size()) {
        deletes_.reset();
        ++bucket_;
        continue;
      }
      SKEP_RETURN_IF_ERROR(StartFile());
    }
    SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<orc::Batch> batch, file_->Next());
    stats_.rows_read += file_->TakeRowsSeen();
    if (batch == nullptr) {
      stats_.stripes_skipped += file_->stripes_skipped();
      file_.reset();
      continue;
    }
    std::vector<int64_t> live = file_->LiveRows(*batch);
    if (live.empty()) continue;
    SKEP_ASSIGN_OR_RETURN(auto rows, file_->TableColumns(*batch));
    SKEP_ASSIGN_OR_RETURN(auto result, Finish(std::move(rows), &live));
    if (live.empty()) continue;
    stats_.rows_returned += static_cast<int64_t>(live.size());
    return std::make_unique<ScanBatch>(ScanBatch{.rows = std::move(result),
                                                 .write_id = Pick(batch->original_write_id, live),
                                                 .bucket = Pick(batch->bucket, live),
                                                 .row_id = Pick(batch->row_id, live)});
  }
}

absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> Scan::Finish(
    std::shared_ptr<arrow::RecordBatch> rows, std::vector<int64_t>* live) const {
  const int64_t length = rows->num_rows();
  std::vector<std::shared_ptr<arrow::Field>> fields = rows->schema()->fields();
  std::vector<std::shared_ptr<arrow::Array>> columns = rows->columns();
  for (const PartitionValue& value : options_.partition) {
    SKEP_ASSIGN_OR_RETURN(auto repeated, RepeatPartitionValue(value, length));
    fields.push_back(arrow::field(value.column.name, repeated->type()));
    columns.push_back(std::move(repeated));
  }
  rows = arrow::RecordBatch::Make(arrow::schema(std::move(fields)), length, std::move(columns));
  if (predicate_) {
    SKEP_ASSIGN_OR_RETURN(const auto passes, predicate_->Evaluate(*rows));
    std::erase_if(*live, [&](int64_t i) { return !passes->IsValid(i) || !passes->Value(i); });
  }
  std::vector<std::shared_ptr<arrow::Array>> result;
  for (const Column& column : result_columns_) {
    result.push_back(rows->GetColumnByName(column.name));
  }
  return TakeRows(arrow::RecordBatch::Make(result_schema_, length, std::move(result)), *live);
}

}  // namespace skep::table
