#include "storage/format/orc/writer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>

#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/arrow_status.h"
#include "storage/format/orc/acid_schema.h"
#include "storage/format/orc/physical.h"
#include "storage/format/orc/storage_type.h"
#include "storage/format/orc/stripe_builder.h"
#include "storage/format/orc/tail_writer.h"
#include "storage/format/orc/types.h"
#include "storage/format/retype.h"
#include "storage/format/vocabulary.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

using format::FromArrow;
using Data = std::shared_ptr<arrow::ArrayData>;

constexpr std::string_view kMagic = "ORC";
constexpr size_t kRowColumn = kRowField + 1;  // column id of `row`
constexpr size_t kFirstTableColumn = kRowColumn + 1;

HiveType Simple(TypeKind kind) {
  HiveType type;
  type.kind = kind;
  return type;
}

HiveType AcidRoot(const std::vector<Column>& columns) {
  HiveType root = Simple(TypeKind::kStruct);
  for (const AcidField& field : kAcidFields) {
    root.children.push_back(Simple(field.kind));
    root.field_names.emplace_back(field.name);
  }
  for (const Column& column : columns) {
    root.children.back().children.push_back(column.type);
    root.children.back().field_names.push_back(column.name);
  }
  return root;
}

uint32_t CountColumns(const HiveType& type) {
  return static_cast<uint32_t>(FlattenTree(type).size());
}

template <class Builder, class T>
absl::StatusOr<std::shared_ptr<arrow::Array>> ArrayOf(const std::vector<T>& values,
                                                      int64_t from,
                                                      int64_t count) {
  Builder builder;
  SKEP_RETURN_IF_ERROR(FromArrow(builder.AppendValues(values.data() + from, count)));
  return FromArrow(builder.Finish());
}

std::string Text(const AcidKey& key) {
  return "(" + std::to_string(key.original_write_id) + "," + std::to_string(key.bucket) + "," +
         std::to_string(key.row_id) + ")";
}

class Writer final : public AcidWriter {
 public:
  Writer(fs::FileSystem& fs,
         std::string path,
         std::string temporary,
         std::unique_ptr<fs::WritableFile> file,
         std::vector<Column> columns,
         const WriterOptions& options)
      : fs_(fs),
        path_(std::move(path)),
        temporary_(std::move(temporary)),
        file_(std::move(file)),
        columns_(std::move(columns)),
        root_(AcidRoot(columns_)),
        schema_(root_),
        converter_(CountColumns(root_), options.calendar),
        stripes_(schema_, converter_, options) {
    tail_.compression = options.compression;
    tail_.block_size = options.block_size;
    tail_.row_index_stride = options.row_index_stride;
    tail_.calendar = options.calendar;
    tail_.types = FlattenTree(root_);
  }

  ~Writer() override {
    if (!renamed_) RemoveTemporary();
  }

  absl::Status Append(const Batch& batch) override {
    SKEP_RETURN_IF_ERROR(failure_);
    failure_ = AppendAll(batch);
    return failure_;
  }

  absl::StatusOr<FileSummary> Close() override {
    SKEP_RETURN_IF_ERROR(failure_);
    absl::Status status = Finish();
    // Nothing may follow, whether this worked or not.
    failure_ = status.ok() ? MakeError(ErrorReason::kInternal, path_ + " is closed") : status;
    if (!status.ok()) return status;
    return FileSummary{rows_, static_cast<int64_t>(offset_), stats_};
  }

 private:
  absl::Status AppendAll(const Batch& batch) {
    SKEP_RETURN_IF_ERROR(CheckShape(batch));
    SKEP_RETURN_IF_ERROR(CheckOrder(batch));
    for (int64_t from = 0; from < batch.length; from += StripeBuilder::kMaxRows) {
      const int64_t count = std::min(StripeBuilder::kMaxRows, batch.length - from);
      SKEP_ASSIGN_OR_RETURN(const auto slice, Physical(batch, from, count));
      SKEP_ASSIGN_OR_RETURN(std::optional<FinishedStripe> stripe, stripes_.Append(*slice));
      rows_ += count;
      last_in_stripe_ = KeyAt(batch, static_cast<size_t>(from + count - 1));
      if (stripe) SKEP_RETURN_IF_ERROR(WriteStripe(*std::move(stripe)));
    }
    return absl::OkStatus();
  }

  absl::Status CheckShape(const Batch& batch) const {
    const auto rows = static_cast<size_t>(batch.length);
    const bool vectors = batch.operation.size() == rows && batch.original_write_id.size() == rows &&
                         batch.bucket.size() == rows && batch.row_id.size() == rows &&
                         batch.current_write_id.size() == rows;
    if (!vectors)
      return MakeError(ErrorReason::kInternal, path_ + ": ACID columns of unequal length");
    if (batch.rows == nullptr) return absl::OkStatus();
    bool fits = batch.rows->num_rows() == batch.length &&
                batch.rows->num_columns() == static_cast<int>(columns_.size());
    for (int i = 0; fits && i < batch.rows->num_columns(); ++i) {
      fits = StorageTypeOf(columns_[static_cast<size_t>(i)].type)
                 ->Equals(*format::WithoutExtensions(batch.rows->column(i)->type()));
    }
    return fits
               ? absl::OkStatus()
               : MakeError(ErrorReason::kInternal,
                           path_ + ": rows of another schema: " + batch.rows->schema()->ToString());
  }

  static AcidKey KeyAt(const Batch& batch, size_t i) {
    return {batch.original_write_id[i], batch.bucket[i], batch.row_id[i]};
  }

  // RW-8; counts operations on the way.
  absl::Status CheckOrder(const Batch& batch) {
    for (size_t i = 0; i < static_cast<size_t>(batch.length); ++i) {
      const AcidKey key = KeyAt(batch, i);
      if (last_key_ &&
          (key < *last_key_ || (key == *last_key_ && batch.current_write_id[i] > last_current_))) {
        return MakeError(ErrorReason::kInternal,
                         path_ + ": event " + Text(key) + " of write id " +
                             std::to_string(batch.current_write_id[i]) + " after " +
                             Text(*last_key_) + " of write id " + std::to_string(last_current_));
      }
      last_key_ = key;
      last_current_ = batch.current_write_id[i];
      switch (batch.operation[i]) {
        case 0:
          ++stats_.inserts;
          break;
        case 1:
          ++stats_.updates;
          break;
        case 2:
          ++stats_.deletes;
          break;
        default:
          return MakeError(ErrorReason::kInternal,
                           path_ + ": operation " + std::to_string(batch.operation[i]));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> Physical(const Batch& batch,
                                                               int64_t from,
                                                               int64_t count) {
    arrow::ArrayVector arrays;
    const auto add = [&](absl::StatusOr<std::shared_ptr<arrow::Array>> array) -> absl::Status {
      if (array.ok()) arrays.push_back(*std::move(array));
      return array.status();
    };
    SKEP_RETURN_IF_ERROR(add(ArrayOf<arrow::Int32Builder>(batch.operation, from, count)));
    SKEP_RETURN_IF_ERROR(add(ArrayOf<arrow::Int64Builder>(batch.original_write_id, from, count)));
    SKEP_RETURN_IF_ERROR(add(ArrayOf<arrow::Int32Builder>(batch.bucket, from, count)));
    SKEP_RETURN_IF_ERROR(add(ArrayOf<arrow::Int64Builder>(batch.row_id, from, count)));
    SKEP_RETURN_IF_ERROR(add(ArrayOf<arrow::Int64Builder>(batch.current_write_id, from, count)));
    SKEP_RETURN_IF_ERROR(add(RowStruct(batch, from, count)));
    return arrow::RecordBatch::Make(schema_.schema(), count, std::move(arrays));
  }

  absl::StatusOr<std::shared_ptr<arrow::Array>> RowStruct(const Batch& batch,
                                                          int64_t from,
                                                          int64_t count) {
    const std::shared_ptr<arrow::DataType>& type =
        schema_.schema()->field(static_cast<int>(kRowField))->type();
    if (batch.rows == nullptr) return FromArrow(arrow::MakeArrayOfNull(type, count));
    SKEP_ASSIGN_OR_RETURN(const Data vocabulary, RowInStorageTypes(batch, from, count));
    std::vector<Data> children;
    auto column = static_cast<uint32_t>(kFirstTableColumn);
    for (size_t i = 0; i < columns_.size(); ++i) {
      absl::StatusOr<Data> child =
          converter_.Convert(columns_[i].type, column, vocabulary->child_data[i]);
      if (!child.ok()) return AtColumn(child.status(), i, column, *vocabulary->child_data[i]);
      // Names within are for people only: the final types carry the table's.
      children.push_back(format::Retype(**child, type->field(static_cast<int>(i))->type()));
      column += CountColumns(columns_[i].type);
    }
    return arrow::MakeArray(
        arrow::ArrayData::Make(type, count, {vocabulary->buffers[0]}, std::move(children)));
  }

  // The slice as one struct, copied, with the nulls of `row` pushed into its fields.
  absl::StatusOr<Data> RowInStorageTypes(const Batch& batch, int64_t from, int64_t count) const {
    arrow::ArrayVector slices;
    arrow::FieldVector fields;
    for (size_t i = 0; i < columns_.size(); ++i) {
      slices.push_back(batch.rows->column(static_cast<int>(i))->Slice(from, count));
      fields.push_back(arrow::field("f" + std::to_string(i), slices.back()->type()));
    }
    std::shared_ptr<arrow::Buffer> validity;
    if (batch.row_struct_validity != nullptr && batch.row_struct_validity->null_count() > 0) {
      arrow::TypedBufferBuilder<bool> bits;
      for (int64_t i = from; i < from + count; ++i) {
        SKEP_RETURN_IF_ERROR(FromArrow(bits.Append(batch.row_struct_validity->IsValid(i))));
      }
      SKEP_ASSIGN_OR_RETURN(validity, FromArrow(bits.Finish()));
    }
    std::vector<Data> children;
    for (const auto& slice : slices) children.push_back(slice->data());
    const auto row = arrow::MakeArray(arrow::ArrayData::Make(
        arrow::struct_(std::move(fields)), count, {validity}, std::move(children)));
    return CopyForAdapter(*row, 0, count);
  }

  // Finds the row that does not convert by converting each alone: the slow way, taken once.
  absl::Status AtColumn(const absl::Status& status,
                        size_t index,
                        uint32_t column,
                        const arrow::ArrayData& data) {
    const std::shared_ptr<arrow::Array> all = arrow::MakeArray(data.Copy());
    for (int64_t i = 0; i < all->length(); ++i) {
      const absl::StatusOr<Data> one = CopyForAdapter(*all, i, 1);
      if (!one.ok()) return one.status();
      if (converter_.Convert(columns_[index].type, column, *one).ok()) continue;
      const std::string row = std::to_string(rows_ + i);
      return MakeError(
          ReasonOf(status),
          path_ + ": column " + columns_[index].name + ", row " + row + ": " + MessageOf(status),
          {{"path", path_}, {"column", columns_[index].name}, {"row", row}});
    }
    return status;
  }

  absl::Status Write(std::string_view bytes) {
    SKEP_RETURN_IF_ERROR(file_->Append(bytes));
    offset_ += bytes.size();
    return absl::OkStatus();
  }

  absl::Status WriteStripe(FinishedStripe stripe) {
    if (offset_ == 0) SKEP_RETURN_IF_ERROR(Write(kMagic));
    stripe.lengths.offset = offset_;
    tail_.stripes.push_back(stripe.lengths);
    tail_.stripe_statistics.push_back(std::move(stripe.statistics));
    key_index_.push_back(last_in_stripe_);
    return Write(stripe.bytes);
  }

  absl::Status Finish() {
    SKEP_ASSIGN_OR_RETURN(std::optional<FinishedStripe> last, stripes_.Finish());
    if (last) SKEP_RETURN_IF_ERROR(WriteStripe(*std::move(last)));
    if (offset_ == 0) SKEP_RETURN_IF_ERROR(Write(kMagic));
    tail_.user_metadata = {{std::string(kAcidVersionEntry), std::string(kAcidVersion)},
                           {std::string(kKeyIndexEntry), FormatKeyIndex(key_index_)},
                           {std::string(kAcidStatsEntry), FormatAcidStats(stats_)}};
    SKEP_ASSIGN_OR_RETURN(const std::string tail, SerializeTail(tail_, offset_));
    SKEP_RETURN_IF_ERROR(Write(tail));
    SKEP_RETURN_IF_ERROR(file_->Close());  // syncs
    closed_ = true;
    SKEP_RETURN_IF_ERROR(fs_.RenameNoReplace(temporary_, path_));
    renamed_ = true;
    return fs_.SyncDirectory(fs::ParentPath(path_));
  }

  void RemoveTemporary() {
    file_.reset();  // removes what was not closed
    if (!closed_) return;
    if (const absl::Status status = fs_.RemoveFile(temporary_); !status.ok()) {
      Log(LogLevel::kWarn,
          "orc.temporary_left",
          {{"path", temporary_}, {"error", MessageOf(status)}});
    }
  }

  fs::FileSystem& fs_;
  const std::string path_;
  const std::string temporary_;
  std::unique_ptr<fs::WritableFile> file_;
  const std::vector<Column> columns_;
  const HiveType root_;
  const PhysicalWriterSchema schema_;
  PhysicalConverter converter_;
  StripeBuilder stripes_;
  TailContents tail_;
  std::vector<AcidKey> key_index_;
  AcidStats stats_;
  AcidKey last_in_stripe_;
  std::optional<AcidKey> last_key_;
  int64_t last_current_ = 0;
  int64_t rows_ = 0;
  uint64_t offset_ = 0;
  bool closed_ = false;
  bool renamed_ = false;
  absl::Status failure_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<AcidWriter>> CreateAcidWriter(fs::FileSystem& fs,
                                                             const std::string& path,
                                                             const std::vector<Column>& columns,
                                                             const WriterOptions& options) {
  const std::string temporary =
      fs::JoinPath(fs::ParentPath(path), "." + fs::BaseName(path) + ".tmp");
  // What an attempt that crashed left behind under this name is nobody's.
  SKEP_RETURN_IF_ERROR(fs.RemoveFile(temporary));
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<fs::WritableFile> file, fs.Create(temporary));
  WriterOptions used = options;
  if (used.calendar == Calendar::kUnknown) used.calendar = Calendar::kProleptic;
  // The adapter's blocks are whole multiples of 64 KiB, below what a chunk's header can say.
  constexpr uint64_t kUnit = 64 << 10, kMost = (8 << 20) - kUnit;
  used.block_size =
      std::min(kMost, (std::max<uint64_t>(1, used.block_size) + kUnit - 1) / kUnit * kUnit);
  return std::unique_ptr<AcidWriter>(
      new Writer(fs, path, temporary, std::move(file), columns, used));
}

}  // namespace skep::orc
