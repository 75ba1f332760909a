#include "storage/format/orc/reader.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include <arrow/record_batch.h>

#include "storage/base/status_macros.h"
#include "storage/format/orc/acid_schema.h"
#include "storage/format/orc/plan.h"
#include "storage/format/orc/prune.h"
#include "storage/format/orc/stripe_reader.h"
#include "storage/format/predicate.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

// The file and what was learnt of it; streams share it with their reader, which may go first.
struct OpenFile {
  std::unique_ptr<fs::RandomAccessFile> file;
  Tail tail;
  Calendar calendar = Calendar::kProleptic;
  std::vector<PlanNode> nodes;  // of Reader::columns()
  bool is_acid = false;
  std::vector<int64_t> first_rows;  // of the stripes, and the number of all rows

  const PlanNode* Find(const std::string& name) const {
    const auto at = std::find_if(
        nodes.begin(), nodes.end(), [&](const PlanNode& node) { return node.name == name; });
    return at == nodes.end() ? nullptr : &*at;
  }
};

// What the statistics of one level say about the columns that a predicate looks at.
class Ranges {
 public:
  // `statistics_of`: by column id; nullptr where there are none.
  using StatisticsOf = std::function<const ColumnStatistics*(uint32_t column)>;

  // Whether a value may be there that the bounds allow; `bounded` as BloomFilterCounts has it.
  using MayHold = std::function<bool(
      uint32_t column, const HiveType& type, bool bounded, const format::Literal& literal)>;

  Ranges(const OpenFile& file,
         StatisticsLevel level,
         uint64_t rows,
         StatisticsOf statistics_of,
         MayHold may_hold = nullptr)
      : file_(file),
        level_(level),
        rows_(rows),
        statistics_of_(std::move(statistics_of)),
        may_hold_(std::move(may_hold)) {}

  bool MayMatch(const format::BoundPredicate& predicate) const {
    return predicate.MayMatch(
        [this](const std::string& name, const HiveType& type) { return Of(name, type); });
  }

 private:
  std::optional<format::ColumnRange> Of(const std::string& name, const HiveType& type) const {
    const PlanNode* node = file_.Find(name);
    // SG-8: another type in the file is read converted, if at all.
    if (node == nullptr || node->type != type) return std::nullopt;
    const ColumnStatistics* statistics = statistics_of_(node->column);
    if (statistics == nullptr) return std::nullopt;
    std::optional<format::ColumnRange> range =
        RangeOf(*statistics, type, file_.tail, file_.calendar, level_, rows_);
    if (range && file_.is_acid) {
      // A column is null where `row` is, and says nothing about it (SG-10).
      const ColumnStatistics* row = statistics_of_(file_.tail.types[0].subtypes[kRowField]);
      if (row == nullptr || row->has_null || row->values != rows_) range->may_be_null = true;
    }
    if (range && may_hold_ != nullptr) {
      range->may_contain = [this, &type, column = node->column, bounded = range->min && range->max](
                               const format::Literal& literal) {
        return may_hold_(column, type, bounded, literal);
      };
    }
    return range;
  }

  const OpenFile& file_;
  StatisticsLevel level_;
  uint64_t rows_;
  StatisticsOf statistics_of_;
  MayHold may_hold_;
};

const ColumnStatistics* At(const std::vector<ColumnStatistics>& statistics, uint32_t column) {
  return column < statistics.size() ? &statistics[column] : nullptr;
}

template <class T>
void Slice(const std::vector<T>& from, int64_t begin, int64_t end, std::vector<T>* to) {
  to->assign(from.begin() + begin, from.begin() + end);
}

// The part [begin, end) of `runs`.
void SliceRuns(const std::vector<AcidRun>& runs,
               int64_t begin,
               int64_t end,
               std::vector<AcidRun>* out) {
  out->clear();
  int64_t at = 0;
  for (const AcidRun& run : runs) {
    const int64_t from = std::max(begin, at), to = std::min(end, at + run.length);
    if (from < to) {
      AcidRun& part = out->emplace_back(run);
      part.length = from - at + 1;
      part.row_id = part.LastRowId();
      part.length = to - from;
    }
    at += run.length;
  }
}

class Stream final : public BatchStream {
 public:
  Stream(std::shared_ptr<const OpenFile> file,
         ReadPlan plan,
         std::vector<size_t> stripes,
         ReadOptions options,
         ReadCounters counters)
      : file_(std::move(file)),
        plan_(std::move(plan)),
        stripes_(std::move(stripes)),
        options_(std::move(options)),
        counters_(counters) {
    options_.batch_rows = std::max<int64_t>(1, options_.batch_rows);
  }

  absl::StatusOr<bool> Next(Batch* batch) override {
    while (true) {
      if (next_part_ < parts_.size()) {
        SKEP_RETURN_IF_ERROR(NextPart(batch));
        return true;
      }
      if (next_row_ < end_row_) {
        SKEP_RETURN_IF_ERROR(NextKeys(batch));
      } else if (next_range_ < ranges_.size()) {
        next_row_ = ranges_[next_range_].begin;
        end_row_ = ranges_[next_range_++].end;
      } else if (next_stripe_ < stripes_.size()) {
        SKEP_RETURN_IF_ERROR(OpenStripe(stripes_[next_stripe_++]));
      } else {
        return false;
      }
    }
  }

  const ReadCounters& counters() const override { return counters_; }

 private:
  absl::Status OpenStripe(size_t index) {
    first_row_ = file_->first_rows[index];
    ranges_.clear();
    next_range_ = 0;
    RowRange wanted{0, file_->first_rows[index + 1] - first_row_};
    if (options_.rows) {
      wanted.begin = std::max(wanted.begin, options_.rows->begin - first_row_);
      wanted.end = std::min(wanted.end, options_.rows->end - first_row_);
    }
    if (wanted.begin >= wanted.end) return absl::OkStatus();
    if (!StripeMayMatch(index)) {
      ++counters_.stripes_skipped;
      return absl::OkStatus();
    }
    const int64_t rows_of_batch = stripe_ == nullptr ? INT64_MAX : stripe_->batch_rows();
    stripe_.reset();
    ++counters_.stripes_read;
    if (plan_.columns.empty() && !plan_.is_acid && options_.predicate == nullptr) {
      ranges_.push_back(wanted);
      return absl::OkStatus();
    }
    SKEP_ASSIGN_OR_RETURN(
        stripe_, StripeReader::Open(*file_->file, file_->tail, plan_, file_->calendar, index));
    stripe_->set_batch_rows(rows_of_batch);
    ChooseGroups(index, wanted);
    return absl::OkStatus();
  }

  bool StripeMayMatch(size_t index) const {
    const Tail& tail = file_->tail;
    if (options_.predicate == nullptr || index >= tail.stripe_statistics.size()) return true;
    return Ranges(*file_,
                  StatisticsLevel::kStripe,
                  tail.stripes[index].rows,
                  [&](uint32_t column) { return At(tail.stripe_statistics[index], column); })
        .MayMatch(*options_.predicate);
  }

  // The rows of `wanted` whose row groups the predicate may find something in.
  void ChooseGroups(size_t index, RowRange wanted) {
    const Tail& tail = file_->tail;
    const auto stride = static_cast<int64_t>(tail.row_index_stride.value_or(0));
    if (options_.predicate == nullptr || stride == 0) {
      ranges_.push_back(wanted);
      return;
    }
    const auto rows = static_cast<int64_t>(tail.stripes[index].rows);
    for (int64_t begin = 0, group = 0; begin < rows; begin += stride, ++group) {
      const RowRange part{std::max(begin, wanted.begin), std::min(begin + stride, wanted.end)};
      if (part.begin >= part.end) continue;
      const auto length = static_cast<uint64_t>(std::min(stride, rows - begin));
      const auto number = static_cast<size_t>(group);
      const Ranges ranges(
          *file_,
          StatisticsLevel::kRowGroup,
          length,
          [&](uint32_t column) { return stripe_->StatisticsOfGroup(column, number); },
          [&](uint32_t column, const HiveType& type, bool bounded, const format::Literal& literal) {
            return stripe_->GroupMayHold(column, number, type, bounded, literal);
          });
      if (!ranges.MayMatch(*options_.predicate)) {
        ++counters_.groups_skipped;
      } else if (!ranges_.empty() && ranges_.back().end == part.begin) {
        ranges_.back().end = part.end;
      } else {
        ranges_.push_back(part);
      }
    }
  }

  // The system columns of the next rows, and which of the rows are wanted.
  absl::Status NextKeys(Batch* batch) {
    const int64_t count = std::min(options_.batch_rows, end_row_ - next_row_);
    batch->first_row = first_row_ + next_row_;
    batch->length = count;
    batch->rows = nullptr;
    batch->row_struct_validity = nullptr;
    if (!plan_.is_acid) DropKeys(batch);
    if (stripe_ != nullptr) {
      SKEP_RETURN_IF_ERROR(stripe_->ReadKeys(next_row_, count, options_.acid_runs, batch));
    }
    parts_.clear();
    next_part_ = 0;
    if (options_.select && plan_.is_acid) {
      SKEP_RETURN_IF_ERROR(options_.select(*batch, &parts_));
      for (size_t i = 0; i < parts_.size(); ++i) {
        if (parts_[i].begin < (i == 0 ? 0 : parts_[i - 1].end) || parts_[i].end > count ||
            parts_[i].begin >= parts_[i].end) {
          return MakeError(ErrorReason::kInternal, "select gave ranges that do not ascend");
        }
      }
    } else {
      parts_.push_back({0, count});
    }
    keys_row_ = next_row_;
    keys_length_ = count;
    keys_in_place_ = true;
    next_row_ += count;
    return absl::OkStatus();
  }

  // The rows of the next wanted range, with their system columns.
  absl::Status NextPart(Batch* batch) {
    RowRange& part = parts_[next_part_];
    const int64_t most = part.end - part.begin;
    // The keys were read into `batch`: they stay there if it takes all of them.
    const bool whole = keys_in_place_ && most == keys_length_;
    if (keys_in_place_ && !whole) MoveKeys(batch, &keys_);
    keys_in_place_ = keys_in_place_ && whole;
    if (stripe_ != nullptr) {
      SKEP_RETURN_IF_ERROR(stripe_->ReadRows(keys_row_ + part.begin, most, batch));
    } else {
      batch->length = most;
      batch->rows = arrow::RecordBatch::Make(arrow::schema({}), most, arrow::ArrayVector());
    }
    counters_.rows_read += batch->length;
    batch->first_row = first_row_ + keys_row_ + part.begin;
    if (plan_.is_acid && !(whole && batch->length == most)) {
      if (whole) MoveKeys(batch, &keys_);
      keys_in_place_ = false;
      SliceKeys(part.begin, part.begin + batch->length, batch);
    }
    part.begin += batch->length;
    if (part.begin == part.end) ++next_part_;
    return absl::OkStatus();
  }

  // Of another file that the batch was used for before.
  static void DropKeys(Batch* batch) {
    batch->operation.clear();
    batch->original_write_id.clear();
    batch->bucket.clear();
    batch->row_id.clear();
    batch->current_write_id.clear();
    batch->runs.clear();
  }

  static void MoveKeys(Batch* from, Batch* to) {
    std::swap(from->operation, to->operation);
    std::swap(from->original_write_id, to->original_write_id);
    std::swap(from->bucket, to->bucket);
    std::swap(from->row_id, to->row_id);
    std::swap(from->current_write_id, to->current_write_id);
    std::swap(from->runs, to->runs);
  }

  void SliceKeys(int64_t begin, int64_t end, Batch* to) const {
    if (options_.acid_runs) {
      SliceRuns(keys_.runs, begin, end, &to->runs);
      return;
    }
    Slice(keys_.operation, begin, end, &to->operation);
    Slice(keys_.original_write_id, begin, end, &to->original_write_id);
    Slice(keys_.bucket, begin, end, &to->bucket);
    Slice(keys_.row_id, begin, end, &to->row_id);
    Slice(keys_.current_write_id, begin, end, &to->current_write_id);
  }

  const std::shared_ptr<const OpenFile> file_;
  const ReadPlan plan_;
  const std::vector<size_t> stripes_;
  ReadOptions options_;
  ReadCounters counters_;
  size_t next_stripe_ = 0;
  std::unique_ptr<StripeReader> stripe_;  // null where nothing has to be decoded
  int64_t first_row_ = 0;                 // of the stripe; what follows counts from there
  std::vector<RowRange> ranges_;          // to be read
  size_t next_range_ = 0;
  int64_t next_row_ = 0;  // whose keys were not read yet
  int64_t end_row_ = 0;   // of the range
  // The keys that were read last, and the parts of them that are to be delivered.
  int64_t keys_row_ = 0;
  int64_t keys_length_ = 0;
  bool keys_in_place_ = false;  // in the caller's batch, not in keys_
  Batch keys_;
  std::vector<RowRange> parts_;
  size_t next_part_ = 0;
};

class FileReader final : public Reader {
 public:
  explicit FileReader(std::shared_ptr<const OpenFile> file) : file_(std::move(file)) {
    for (const PlanNode& node : file_->nodes) columns_.push_back({node.name, node.type, ""});
  }

  const std::string& path() const override { return file_->file->path(); }
  const Tail& tail() const override { return file_->tail; }
  bool is_acid() const override { return file_->is_acid; }
  const std::vector<Column>& columns() const override { return columns_; }

  absl::StatusOr<std::unique_ptr<BatchStream>> Read(const ReadOptions& options) override {
    const Tail& tail = file_->tail;
    ReadPlan plan;
    plan.is_acid = file_->is_acid;
    plan.root_is_struct = tail.root.kind == TypeKind::kStruct;
    if (options.columns) {
      SKEP_ASSIGN_OR_RETURN(plan.columns, SelectColumns(file_->nodes, *options.columns, path()));
    } else {
      plan.columns = file_->nodes;
    }
    std::vector<size_t> stripes;
    if (options.stripes) {
      stripes = *options.stripes;
    } else {
      stripes.resize(tail.stripes.size());
      std::iota(stripes.begin(), stripes.end(), size_t{0});
    }
    for (const size_t stripe : stripes) {
      if (stripe >= tail.stripes.size()) {
        return MakeError(ErrorReason::kInternal, path() + ": no stripe " + std::to_string(stripe));
      }
    }
    ReadCounters counters;
    if (options.predicate != nullptr &&
        !Ranges(*file_, StatisticsLevel::kFile, tail.rows, [&](uint32_t column) {
           return At(tail.file_statistics, column);
         }).MayMatch(*options.predicate)) {
      counters.stripes_skipped = static_cast<int64_t>(stripes.size());
      stripes.clear();
    }
    return std::unique_ptr<BatchStream>(
        new Stream(file_, std::move(plan), std::move(stripes), options, counters));
  }

 private:
  const std::shared_ptr<const OpenFile> file_;
  std::vector<Column> columns_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Reader>> OpenReader(std::unique_ptr<fs::RandomAccessFile> file,
                                                   const ReaderOptions& options) {
  auto open = std::make_shared<OpenFile>();
  SKEP_ASSIGN_OR_RETURN(open->tail, ReadTail(*file, options.logical_length.value_or(file->size())));
  SKEP_ASSIGN_OR_RETURN(open->nodes, ColumnsOf(open->tail, file->path()));
  open->is_acid = HasAcidSchema(open->tail);
  open->calendar = options.calendar.value_or(open->tail.EffectiveCalendar());
  if (open->calendar == Calendar::kUnknown) open->calendar = open->tail.EffectiveCalendar();
  open->first_rows.push_back(0);
  for (const Stripe& stripe : open->tail.stripes) {
    open->first_rows.push_back(open->first_rows.back() + static_cast<int64_t>(stripe.rows));
  }
  open->file = std::move(file);
  return std::unique_ptr<Reader>(new FileReader(std::move(open)));
}

}  // namespace skep::orc
