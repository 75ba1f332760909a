#include "storage/format/orc/acid_file.h"

#include <algorithm>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/orc/acid_schema.h"
#include "storage/format/orc/types.h"
#include "storage/format/retype.h"
#include "storage/format/vocabulary.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

constexpr std::string_view kMagic = "ORC";
constexpr uint32_t kFirstTableColumn = kRowField + 2;  // the root, the fields before, `row`
constexpr uint64_t kMostBlock = (1 << 23) - 1;         // what a chunk's header can say

// Rows are appended in parts after which the stripe may end: so many, or fewer where they are wide.
constexpr int64_t kMostRowsInPart = 4096;
constexpr int64_t kFirstRowsInPart = 128;
constexpr uint64_t kBytesInPart = 1 << 20;
constexpr uint64_t kMostRowsInStripe = 1 << 30;  // readers count them in 31 bits

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

std::vector<uint32_t> BloomColumns(const std::vector<Column>& columns,
                                   const WriterOptions& options) {
  std::vector<uint32_t> ids;
  uint32_t id = kFirstTableColumn;
  for (const Column& column : columns) {
    const auto& names = options.bloom_columns;
    if (std::find(names.begin(), names.end(), column.name) != names.end()) ids.push_back(id);
    id += CountColumns(column.type);
  }
  return ids;
}

ColumnContext ContextOf(const WriterOptions& options, BlockCompressor* compressor) {
  ColumnContext context;
  context.compressor = compressor;
  context.block_size = std::clamp<uint64_t>(options.block_size, 1 << 10, kMostBlock);
  // What is not compressed afterwards is packed as tight as it can be.
  context.packing = options.compression == Compression::kNone ? Packing::kTight : Packing::kAligned;
  if (options.calendar == Calendar::kJulianGregorian) context.calendar = options.calendar;
  context.most_dictionary_bytes = std::max<uint64_t>(1 << 20, options.stripe_size / 4);
  context.bloom_rows = options.row_index_stride;
  context.bloom_false_positives = options.bloom_false_positives;
  return context;
}

}  // namespace

AcidFile::AcidFile(std::unique_ptr<fs::WritableFile> file,
                   std::string path,
                   std::vector<Column> columns,
                   const WriterOptions& options)
    : file_(std::move(file)),
      path_(std::move(path)),
      columns_(std::move(columns)),
      share_(options.budget, options.stripe_size),
      compressor_(options.compression),
      context_(ContextOf(options, &compressor_)),
      stripe_(context_,
              MakeColumnWriter(context_, AcidRoot(columns_), 0, BloomColumns(columns_, options)),
              options.row_index_stride) {
  tail_.compression = options.compression;
  tail_.block_size = context_.block_size;
  tail_.row_index_stride = options.row_index_stride;
  tail_.calendar = context_.calendar;
  tail_.types = FlattenTree(AcidRoot(columns_));
}

absl::Status AcidFile::Append(const Batch& batch) {
  SKEP_RETURN_IF_ERROR(CheckShape(batch));
  SKEP_RETURN_IF_ERROR(events_.Check(batch, path_));
  row_validity_.clear();
  if (batch.row_struct_validity != nullptr && batch.row_struct_validity->null_count() > 0) {
    row_validity_.assign(static_cast<size_t>(batch.length + 7) / 8, 0);
    for (int64_t i = 0; i < batch.length; ++i)
      arrow::bit_util::SetBitTo(row_validity_.data(), i, batch.row_struct_validity->IsValid(i));
  }
  for (int64_t from = 0; from < batch.length;) {
    const int64_t count = std::min(RowsOfNextPart(), batch.length - from);
    const uint64_t before = stripe_.size();
    SKEP_RETURN_IF_ERROR(AppendPart(batch, from, count));
    const uint64_t after = stripe_.size();
    bytes_per_row_ = (after > before ? after - before : 0) / static_cast<uint64_t>(count) + 1;
    from += count;
    if (after >= share_.bytes() || stripe_.rows() >= kMostRowsInStripe)
      SKEP_RETURN_IF_ERROR(EndStripe());
  }
  return absl::OkStatus();
}

int64_t AcidFile::RowsOfNextPart() const {
  if (bytes_per_row_ == 0) return kFirstRowsInPart;
  return std::clamp<int64_t>(
      static_cast<int64_t>(kBytesInPart / bytes_per_row_), 1, kMostRowsInPart);
}

absl::Status AcidFile::CheckShape(const Batch& batch) const {
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
    fits = format::WithoutExtensions(format::ArrowTypeOf(columns_[static_cast<size_t>(i)].type))
               ->Equals(*format::WithoutExtensions(batch.rows->column(i)->type()));
  }
  return fits ? absl::OkStatus()
              : MakeError(ErrorReason::kInternal,
                          path_ + ": rows of another schema: " + batch.rows->schema()->ToString());
}

absl::Status AcidFile::AppendPart(const Batch& batch, int64_t from, int64_t count) {
  const absl::Status status = stripe_.Append(count, [&](int64_t first, int64_t rows) {
    AcidEvents::Append(batch, from + first, rows, &stripe_.root());
    return AppendRow(batch, from + first, rows);
  });
  if (!status.ok()) return AtColumn(status, batch, from, count);
  rows_ += count;
  const auto last = static_cast<size_t>(from + count - 1);
  last_in_stripe_ = {batch.original_write_id[last], batch.bucket[last], batch.row_id[last]};
  return absl::OkStatus();
}

absl::Status AcidFile::AppendRow(const Batch& batch, int64_t from, int64_t count) {
  ColumnWriter& row = *stripe_.root().children()[kRowField];
  if (batch.rows == nullptr) {
    row.AppendNulls(count);
    return absl::OkStatus();
  }
  std::shared_ptr<arrow::Buffer> validity;
  if (!row_validity_.empty()) {
    validity = std::make_shared<arrow::Buffer>(row_validity_.data(),
                                               static_cast<int64_t>(row_validity_.size()));
  }
  static const auto* const kAnyStruct =
      new std::shared_ptr<arrow::DataType>(arrow::struct_(arrow::FieldVector()));
  const auto fields = arrow::ArrayData::Make(
      *kAnyStruct, batch.length, {std::move(validity)}, batch.rows->column_data());
  return row.Append(*fields, from, count);
}

// Finds the value that could not be stored by storing each alone: the slow way, taken once.
absl::Status AcidFile::AtColumn(const absl::Status& status,
                                const Batch& batch,
                                int64_t from,
                                int64_t count) const {
  if (batch.rows == nullptr) return status;
  for (size_t c = 0; c < columns_.size(); ++c) {
    const auto& data = batch.rows->column_data(static_cast<int>(c));
    for (int64_t i = from; i < from + count; ++i) {
      const bool is_null =
          !row_validity_.empty() && !arrow::bit_util::GetBit(row_validity_.data(), i);
      if (is_null) continue;
      const auto alone = MakeColumnWriter(context_, columns_[c].type, 0);
      alone->StartGroup();
      if (alone->Append(*data, i, 1).ok()) continue;
      const std::string row = std::to_string(rows_ + i - from);
      return MakeError(
          ReasonOf(status),
          path_ + ": column " + columns_[c].name + ", row " + row + ": " + MessageOf(status),
          {{"path", path_}, {"column", columns_[c].name}, {"row", row}});
    }
  }
  return status;
}

absl::Status AcidFile::Write(std::string_view bytes) {
  SKEP_RETURN_IF_ERROR(file_->Append(bytes));
  offset_ += bytes.size();
  return absl::OkStatus();
}

absl::Status AcidFile::EndStripe() {
  if (stripe_.rows() == 0) return absl::OkStatus();
  if (offset_ == 0) SKEP_RETURN_IF_ERROR(Write(kMagic));
  const uint64_t offset = offset_;
  SKEP_ASSIGN_OR_RETURN(FinishedStripe stripe,
                        stripe_.End([&](std::string_view bytes) { return Write(bytes); }));
  stripe.lengths.offset = offset;
  tail_.stripes.push_back(stripe.lengths);
  tail_.stripe_statistics.push_back(std::move(stripe.statistics));
  key_index_.push_back(last_in_stripe_);
  return absl::OkStatus();
}

absl::Status AcidFile::WriteTail() {
  SKEP_RETURN_IF_ERROR(EndStripe());
  if (offset_ == 0) SKEP_RETURN_IF_ERROR(Write(kMagic));
  tail_.user_metadata = {{std::string(kAcidVersionEntry), std::string(kAcidVersion)},
                         {std::string(kKeyIndexEntry), FormatKeyIndex(key_index_)},
                         {std::string(kAcidStatsEntry), FormatAcidStats(events_.stats())}};
  SKEP_ASSIGN_OR_RETURN(const std::string tail, SerializeTail(tail_, offset_));
  SKEP_RETURN_IF_ERROR(Write(tail));
  rows_in_tail_ = rows_;
  return absl::OkStatus();
}

}  // namespace skep::orc
