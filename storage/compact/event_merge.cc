#include "storage/compact/event_merge.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include <arrow/api.h>
#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::compact {

namespace {

constexpr size_t kOriginalWriteIdColumn = 2;  // ORC's column id in an ACID file (RW-1)

orc::AcidKey KeyOf(const orc::Batch& events, int64_t i) {
  const auto at = static_cast<size_t>(i);
  return {events.original_write_id[at], events.bucket[at], events.row_id[at]};
}

orc::AcidKey FirstKeyOf(int64_t write_id) {
  return {write_id, std::numeric_limits<int32_t>::min(), std::numeric_limits<int64_t>::min()};
}

std::string FormatKey(const orc::AcidKey& key) {
  return fmt::format("({},{},{})", key.original_write_id, key.bucket, key.row_id);
}

}  // namespace

orc::AcidKey LowestPossibleKey(const table::SourceFile& file) {
  if (file.synthetic) {
    return {
        file.synthetic->write_id, file.synthetic->bucket_property, file.synthetic->first_row_id};
  }
  if (file.tail != nullptr && file.tail->StatisticsTrusted() &&
      file.tail->file_statistics.size() > kOriginalWriteIdColumn) {
    const auto& lowest = file.tail->file_statistics[kOriginalWriteIdColumn].int_min;
    if (lowest) return FirstKeyOf(*lowest);
  }
  if (file.dir && file.dir->kind == acid::DirKind::kDelta)
    return FirstKeyOf(file.dir->min_write_id);
  return FirstKeyOf(std::numeric_limits<int64_t>::min());
}

orc::AcidKey EventRun::KeyAt(int64_t i) const { return KeyOf(*events, i); }

struct EventMerge::Position {
  orc::AcidKey key;
  int64_t newness = 0;  // the current write id, negative: the newest delete of one key comes first

  friend auto operator<=>(const Position&, const Position&) = default;
};

// One open source: its batch and the next event in it.
class EventMerge::Cursor {
 public:
  Cursor(table::SourceFile file,
         std::unique_ptr<table::SourceReader> reader,
         std::optional<table::ColumnMapping> mapping)
      : file_(std::move(file)), reader_(std::move(reader)), mapping_(std::move(mapping)) {}

  // False at the end. Skips batches without rows.
  absl::StatusOr<bool> NextBatch() {
    do {
      SKEP_ASSIGN_OR_RETURN(events_, reader_->Next());
      if (events_ == nullptr) return false;
    } while (events_->length == 0);
    at_ = 0;
    rows_.reset();
    if (mapping_) {
      SKEP_ASSIGN_OR_RETURN(rows_, mapping_->Apply(events_->rows, events_->length));
    }
    return true;
  }

  Position PositionAt(int64_t i) const {
    return {KeyOf(*events_, i), -events_->current_write_id[static_cast<size_t>(i)]};
  }
  Position position() const { return PositionAt(at_); }

  // The first event at or after the cursor that does not come before `limit`; at least one event
  // on.
  int64_t EndBefore(const Position& limit) const {
    int64_t low = at_ + 1;
    int64_t high = events_->length;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (PositionAt(middle) < limit) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  const table::SourceFile& file() const { return file_; }
  const orc::Batch& events() const { return *events_; }
  const std::shared_ptr<arrow::RecordBatch>& rows() const { return rows_; }
  int64_t at() const { return at_; }
  int64_t length() const { return events_->length; }
  void MoveTo(int64_t i) { at_ = i; }

 private:
  const table::SourceFile file_;
  const std::unique_ptr<table::SourceReader> reader_;
  const std::optional<table::ColumnMapping> mapping_;
  std::unique_ptr<orc::Batch> events_;
  std::shared_ptr<arrow::RecordBatch> rows_;
  int64_t at_ = 0;
};

EventMerge::EventMerge(fs::FileSystem& fs, std::vector<table::SourceFile> files, Options options)
    : fs_(fs), options_(std::move(options)), pending_(std::move(files)) {
  std::ranges::stable_sort(pending_, [](const table::SourceFile& a, const table::SourceFile& b) {
    return LowestPossibleKey(b) < LowestPossibleKey(a);
  });
}

EventMerge::~EventMerge() = default;

bool EventMerge::Later(const std::unique_ptr<Cursor>& a, const std::unique_ptr<Cursor>& b) {
  return b->position() < a->position();
}

absl::StatusOr<std::unique_ptr<EventMerge::Cursor>> EventMerge::Open(
    const table::SourceFile& file) {
  orc::ReadOptions read_options{.columns = std::vector<std::string>(),
                                .stripes = std::nullopt,
                                .batch_rows = options_.batch_rows};
  std::optional<table::ColumnMapping> mapping;
  if (options_.kind == EventKind::kInserts) {
    if (file.tail == nullptr) {
      return MakeError(ErrorReason::kInternal, "no tail of " + Printable(file.path));
    }
    SKEP_ASSIGN_OR_RETURN(
        mapping,
        table::ColumnMapping::Make(
            table::ColumnsOfTail(*file.tail), options_.columns, options_.columns, file.path));
    read_options.columns = mapping->file_names();
  }
  const orc::ReaderOptions reader_options{.logical_length = file.logical_length,
                                          .calendar = options_.calendar};
  SKEP_ASSIGN_OR_RETURN(auto reader, table::OpenSource(fs_, file, reader_options, read_options));
  auto cursor = std::make_unique<Cursor>(file, std::move(reader), std::move(mapping));
  SKEP_ASSIGN_OR_RETURN(const bool any, cursor->NextBatch());
  if (!any) return std::unique_ptr<Cursor>();
  events_read_ += cursor->length();
  if (options_.after_batch) SKEP_RETURN_IF_ERROR(options_.after_batch(events_read_));
  return cursor;
}

// Opens every source that may hold the next event.
absl::Status EventMerge::OpenDue() {
  while (!pending_.empty()) {
    const orc::AcidKey lowest = LowestPossibleKey(pending_.back());
    if (!open_.empty() && open_.front()->position().key < lowest) break;
    SKEP_ASSIGN_OR_RETURN(std::unique_ptr<Cursor> cursor, Open(pending_.back()));
    pending_.pop_back();
    if (cursor == nullptr) continue;
    if (cursor->position().key < lowest) {
      return MakeError(
          ErrorReason::kCorruptFile,
          fmt::format("{} begins with row id {}, below what its name or statistics allow",
                      Printable(cursor->file().path),
                      FormatKey(cursor->position().key)),
          {{"path", cursor->file().path}});
    }
    open_.push_back(std::move(cursor));
    std::ranges::push_heap(open_, Later);
  }
  return absl::OkStatus();
}

// Puts the source of the last run back among the others.
absl::Status EventMerge::Advance() {
  if (current_ == nullptr) return absl::OkStatus();
  std::unique_ptr<Cursor> cursor = std::move(current_);
  if (current_end_ < cursor->length()) {
    cursor->MoveTo(current_end_);
  } else {
    SKEP_ASSIGN_OR_RETURN(const bool more, cursor->NextBatch());
    if (!more) return absl::OkStatus();
    events_read_ += cursor->length();
    if (options_.after_batch) SKEP_RETURN_IF_ERROR(options_.after_batch(events_read_));
  }
  open_.push_back(std::move(cursor));
  std::ranges::push_heap(open_, Later);
  return absl::OkStatus();
}

absl::Status EventMerge::CheckOrder(const Cursor& next) {
  if (!any_ || options_.kind == EventKind::kDeletes) return absl::OkStatus();
  const orc::AcidKey key = next.position().key;
  if (last_ < key) return absl::OkStatus();
  return MakeError(
      ErrorReason::kCorruptFile,
      fmt::format("{} has a row with row id {} after row id {} of {}: row ids must be unique and "
                  "ascend; the inputs stay as they are",
                  Printable(next.file().path),
                  FormatKey(key),
                  FormatKey(last_),
                  Printable(last_path_)),
      {{"path", next.file().path}, {"other", last_path_}});
}

absl::StatusOr<std::optional<EventRun>> EventMerge::Next() {
  SKEP_RETURN_IF_ERROR(Advance());
  SKEP_RETURN_IF_ERROR(OpenDue());
  if (open_.empty()) return std::nullopt;
  std::ranges::pop_heap(open_, Later);
  current_ = std::move(open_.back());
  open_.pop_back();
  SKEP_RETURN_IF_ERROR(CheckOrder(*current_));

  current_end_ = current_->length();
  if (!open_.empty()) current_end_ = current_->EndBefore(open_.front()->position());
  if (!pending_.empty()) {
    const Position limit{LowestPossibleKey(pending_.back()), std::numeric_limits<int64_t>::min()};
    current_end_ = std::min(current_end_, current_->EndBefore(limit));
  }
  any_ = true;
  last_ = KeyOf(current_->events(), current_end_ - 1);
  last_path_ = current_->file().path;
  return EventRun{.source = &current_->file(),
                  .events = &current_->events(),
                  .rows = current_->rows(),
                  .begin = current_->at(),
                  .end = current_end_};
}

}  // namespace skep::compact
