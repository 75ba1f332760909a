#include "storage/format/orc/reader.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "storage/base/status_macros.h"
#include "storage/format/orc/acid_schema.h"
#include "storage/format/orc/adapter.h"
#include "storage/format/orc/decode.h"
#include "storage/format/orc/errors.h"
#include "storage/format/orc/plan.h"
#include "storage/format/orc/stripe.h"
#include "storage/format/orc/stripe_checks.h"
#include "storage/format/orc/stripe_view.h"
#include "storage/format/vocabulary.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

// What one batch may hold, roughly: wide rows make smaller batches.
constexpr int64_t kBatchBytes = 64 << 20;
constexpr int64_t kExpansion = 8;  // decoded bytes for one stored byte, as a guess
constexpr int64_t kMinBatchRows = 64;

// The file and what was learnt of it; streams share it with their reader.
struct OpenFile {
  std::unique_ptr<fs::RandomAccessFile> file;
  Tail tail;
  Calendar calendar = Calendar::kProleptic;
};

int64_t BatchRows(const Stripe& stripe, int64_t wanted) {
  const int64_t rows = std::max<int64_t>(1, static_cast<int64_t>(stripe.rows));
  const int64_t row_bytes =
      std::max<int64_t>(1, static_cast<int64_t>(stripe.data_length) / rows * kExpansion);
  return std::min(std::max<int64_t>(1, wanted), std::max(kMinBatchRows, kBatchBytes / row_bytes));
}

template <class ArrayType, class T>
absl::Status TakeSystemColumn(const std::string& path,
                              const arrow::Array& array,
                              std::string_view name,
                              std::vector<T>* out) {
  if (array.null_count() > 0) {
    return MakeError(ErrorReason::kCorruptFile,
                     path + ": null in the ACID field " + std::string(name),
                     {{"path", path}, {"column", std::string(name)}});
  }
  const T* values = static_cast<const ArrayType&>(array).raw_values();
  out->assign(values, values + array.length());
  return absl::OkStatus();
}

class Stream final : public BatchStream {
 public:
  Stream(std::shared_ptr<const OpenFile> file,
         ReadPlan plan,
         std::vector<size_t> stripes,
         int64_t batch_rows)
      : file_(std::move(file)),
        plan_(std::move(plan)),
        stripes_(std::move(stripes)),
        batch_rows_(batch_rows) {}

  absl::StatusOr<std::unique_ptr<Batch>> Next() override {
    while (next_row_ == end_row_) {
      if (next_stripe_ == stripes_.size()) return std::unique_ptr<Batch>();
      SKEP_RETURN_IF_ERROR(OpenStripe(stripes_[next_stripe_++]));
    }
    auto batch = std::make_unique<Batch>();
    batch->first_row = next_row_;
    if (adapter_ == nullptr) {
      batch->length = std::min(batch_rows_, end_row_ - next_row_);
      batch->rows =
          arrow::RecordBatch::Make(arrow::schema({}), batch->length, arrow::ArrayVector());
    } else {
      SKEP_RETURN_IF_ERROR(Decode(batch.get()));
    }
    next_row_ += batch->length;
    return batch;
  }

 private:
  const std::string& path() const { return file_->file->path(); }

  absl::Status OpenStripe(size_t index) {
    const Tail& tail = file_->tail;
    const Stripe& stripe = tail.stripes[index];
    next_row_ = std::accumulate(tail.stripes.begin(),
                                tail.stripes.begin() + static_cast<ptrdiff_t>(index),
                                int64_t{0},
                                [](int64_t sum, const Stripe& earlier) {
                                  return sum + static_cast<int64_t>(earlier.rows);
                                });
    end_row_ = next_row_ + static_cast<int64_t>(stripe.rows);
    adapter_.reset();
    decoder_.reset();
    if (stripe.rows == 0 || (plan_.columns.empty() && !plan_.is_acid)) return absl::OkStatus();
    SKEP_ASSIGN_OR_RETURN(const StripeLayout layout, ReadStripeLayout(*file_->file, tail, index));
    SKEP_RETURN_IF_ERROR(CheckStripe(*file_->file, tail, layout, plan_));
    SKEP_ASSIGN_OR_RETURN(decoder_,
                          StripeDecoder::Make(*file_->file, tail, layout, plan_, file_->calendar));
    auto view = std::make_shared<StripeView>(*file_->file, tail, stripe, layout, plan_);
    SKEP_ASSIGN_OR_RETURN(
        adapter_, AdapterStream::Open(std::move(view), path(), BatchRows(stripe, batch_rows_)));
    return absl::OkStatus();
  }

  absl::Status Decode(Batch* batch) {
    SKEP_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatch> from, adapter_->Next());
    if (from == nullptr || from->num_rows() == 0 || from->num_rows() > end_row_ - next_row_) {
      return CorruptFile(path(),
                         "a stripe without the rows that the footer promises",
                         static_cast<uint64_t>(next_row_));
    }
    batch->length = from->num_rows();
    arrow::ArrayVector columns = from->columns();
    std::vector<uint8_t> present;
    if (plan_.is_acid) SKEP_RETURN_IF_ERROR(TakeAcid(&columns, &present, batch));
    arrow::FieldVector fields;
    for (size_t i = 0; i < plan_.columns.size(); ++i) {
      const PlanNode& node = plan_.columns[i];
      SKEP_ASSIGN_OR_RETURN(columns[i], decoder_->Column(node, *columns[i], present));
      fields.push_back(arrow::field(node.name, columns[i]->type()));
    }
    batch->rows = arrow::RecordBatch::Make(
        arrow::schema(std::move(fields)), batch->length, std::move(columns));
    return absl::OkStatus();
  }

  // Moves the system columns into `batch`; leaves the fields of `row` in `columns`.
  absl::Status TakeAcid(arrow::ArrayVector* columns, std::vector<uint8_t>* present, Batch* batch) {
    using arrow::Int32Array, arrow::Int64Array;
    const auto name = [](size_t i) { return kAcidFields[i].name; };
    SKEP_RETURN_IF_ERROR(
        TakeSystemColumn<Int32Array>(path(), *(*columns)[0], name(0), &batch->operation));
    SKEP_RETURN_IF_ERROR(
        TakeSystemColumn<Int64Array>(path(), *(*columns)[1], name(1), &batch->original_write_id));
    SKEP_RETURN_IF_ERROR(
        TakeSystemColumn<Int32Array>(path(), *(*columns)[2], name(2), &batch->bucket));
    SKEP_RETURN_IF_ERROR(
        TakeSystemColumn<Int64Array>(path(), *(*columns)[3], name(3), &batch->row_id));
    SKEP_RETURN_IF_ERROR(
        TakeSystemColumn<Int64Array>(path(), *(*columns)[4], name(4), &batch->current_write_id));
    const auto row = std::static_pointer_cast<arrow::StructArray>((*columns)[kRowField]);
    batch->row_struct_validity = row;
    if (row->null_count() > 0) {
      present->resize(static_cast<size_t>(row->length()));
      for (int64_t i = 0; i < row->length(); ++i)
        (*present)[static_cast<size_t>(i)] = row->IsValid(i) ? 1 : 0;
    }
    columns->clear();
    for (int i = 0; i < row->num_fields(); ++i) columns->push_back(row->field(i));
    return absl::OkStatus();
  }

  const std::shared_ptr<const OpenFile> file_;  // shared with the reader, which may go first
  const ReadPlan plan_;
  const std::vector<size_t> stripes_;
  const int64_t batch_rows_;
  size_t next_stripe_ = 0;
  int64_t next_row_ = 0;
  int64_t end_row_ = 0;
  std::unique_ptr<StripeDecoder> decoder_;
  std::unique_ptr<AdapterStream> adapter_;
};

class AdapterReader final : public Reader {
 public:
  AdapterReader(std::shared_ptr<const OpenFile> file, std::vector<PlanNode> nodes)
      : file_(std::move(file)), nodes_(std::move(nodes)), is_acid_(HasAcidSchema(file_->tail)) {
    for (const PlanNode& node : nodes_) columns_.push_back({node.name, node.type, ""});
  }

  const std::string& path() const override { return file_->file->path(); }
  const Tail& tail() const override { return file_->tail; }
  bool is_acid() const override { return is_acid_; }
  const std::vector<Column>& columns() const override { return columns_; }

  absl::StatusOr<std::unique_ptr<BatchStream>> Read(const ReadOptions& options) override {
    ReadPlan plan;
    plan.is_acid = is_acid_;
    plan.root_is_struct = file_->tail.root.kind == TypeKind::kStruct;
    if (!options.columns) {
      plan.columns = nodes_;
    } else {
      for (const std::string& name : *options.columns) {
        SKEP_ASSIGN_OR_RETURN(PlanNode node, Find(name));
        plan.columns.push_back(std::move(node));
      }
    }
    std::vector<size_t> stripes;
    if (options.stripes) {
      stripes = *options.stripes;
    } else {
      stripes.resize(file_->tail.stripes.size());
      std::iota(stripes.begin(), stripes.end(), size_t{0});
    }
    for (const size_t stripe : stripes) {
      if (stripe >= file_->tail.stripes.size()) {
        return MakeError(ErrorReason::kInternal, path() + ": no stripe " + std::to_string(stripe));
      }
    }
    return std::unique_ptr<BatchStream>(new Stream(
        file_, std::move(plan), std::move(stripes), std::max<int64_t>(1, options.batch_rows)));
  }

 private:
  absl::StatusOr<PlanNode> Find(const std::string& name) const {
    for (const PlanNode& node : nodes_) {
      if (node.name == name) return node;
    }
    return MakeError(ErrorReason::kInvalidRequest,
                     path() + ": no column \"" + name + "\"",
                     {{"path", path()}, {"column", name}});
  }

  const std::shared_ptr<const OpenFile> file_;  // shared with streams
  const std::vector<PlanNode> nodes_;
  std::vector<Column> columns_;
  bool is_acid_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Reader>> OpenReader(std::unique_ptr<fs::RandomAccessFile> file,
                                                   const ReaderOptions& options) {
  auto open = std::make_shared<OpenFile>();
  SKEP_ASSIGN_OR_RETURN(open->tail, ReadTail(*file, options.logical_length.value_or(file->size())));
  SKEP_ASSIGN_OR_RETURN(std::vector<PlanNode> nodes, ColumnsOf(open->tail, file->path()));
  open->calendar = options.calendar.value_or(open->tail.EffectiveCalendar());
  if (open->calendar == Calendar::kUnknown) open->calendar = open->tail.EffectiveCalendar();
  open->file = std::move(file);
  return std::unique_ptr<Reader>(new AdapterReader(std::move(open), std::move(nodes)));
}

}  // namespace skep::orc
