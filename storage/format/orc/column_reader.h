#pragma once

// Columns of one stripe, read forward in batches straight into Arrow's buffers: one reader per
// column of the plan, each with the readers of its children.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <arrow/array/data.h>
#include <arrow/buffer.h>

#include "storage/base/status_macros.h"
#include "storage/format/orc/plan.h"
#include "storage/format/orc/rle.h"
#include "storage/format/orc/row_index.h"
#include "storage/format/orc/stripe_source.h"

namespace skep::orc {

// The places of a batch, and which of them a column has values for (TY-1): those of its parent
// that are there, or for the column's values those that are not null.
struct Slots {
  int64_t length = 0;
  int64_t count = 0;
  std::shared_ptr<arrow::Buffer> valid;  // bitmap; null iff count == length

  static Slots All(int64_t length) { return {length, length, nullptr}; }
  const uint8_t* bits() const { return valid == nullptr ? nullptr : valid->data(); }
  int64_t null_count() const { return length - count; }
};

// Confined to one thread. After an error a reader is of no use but to be restored or destroyed.
// Errors: kCorruptFile, kValueOutOfRange, kNotSupported naming file and column; where the source's
// budget is exceeded, kNotSupported.
class ColumnReader {
 public:
  using Data = std::shared_ptr<arrow::ArrayData>;

  // `source` must outlive the reader.
  static absl::StatusOr<std::unique_ptr<ColumnReader>> Make(StripeSource& source,
                                                            const PlanNode& node);
  virtual ~ColumnReader() = default;

  // The column's next values in the vocabulary, as many as `parent` has places for.
  absl::StatusOr<Data> Read(const Slots& parent);
  // Which of them are not null, for columns whose values nobody wants.
  absl::StatusOr<Slots> ReadPresence(const Slots& parent);
  absl::Status Skip(uint64_t count);

  // Whether the entries of `indexes` have the numbers that this column and those below it take.
  bool Fits(const StripeIndexes& indexes) const;
  // To the first row of a row group.
  absl::Status Seek(const StripeIndexes& indexes, size_t group);

  // A place to come back to; one at a time.
  virtual void Save();
  virtual absl::Status Restore();

 protected:
  ColumnReader(StripeSource& source, const PlanNode& node);

  // `slots`: those of this column's own values.
  virtual absl::StatusOr<Data> ReadValues(const Slots& slots) = 0;
  virtual absl::Status SkipValues(uint64_t count) = 0;
  virtual absl::Status SeekValues(PositionCursor& positions) = 0;
  virtual size_t PositionCount() const = 0;  // without those of PRESENT
  virtual std::span<const std::unique_ptr<ColumnReader>> children() const { return {}; }

  StripeSource& source() { return *source_; }
  const PlanNode& node() const { return node_; }
  const std::shared_ptr<arrow::DataType>& type() const { return type_; }
  bool compressed() const { return source_->tail().compression != Compression::kNone; }
  IntDecoder OpenInts(StreamKind kind, Signedness signedness) const;
  absl::Status Refuse(std::string_view what) const;  // kValueOutOfRange
  absl::Status Damaged(std::string_view what) const;

  // Memory for `bytes`, with ByteStream::kSlack bytes more behind them, out of the budget.
  absl::StatusOr<std::shared_ptr<arrow::Buffer>> NewBuffer(int64_t bytes) const;
  // Makes `scratch` at least `count` long.
  absl::Status Grow(std::vector<int64_t>* scratch, int64_t count) const;

  // An array of this column's type with `slots`' bitmap before the buffers.
  Data Array(const Slots& slots,
             std::vector<std::shared_ptr<arrow::Buffer>> buffers,
             std::vector<Data> children = {}) const;

 private:
  StripeSource* source_;
  PlanNode node_;
  std::shared_ptr<arrow::DataType> type_;
  bool has_present_;
  BitDecoder present_;
  BitDecoder::Place saved_present_;
};

// A column whose place is that of one stream of runs beside PRESENT, and of what is below it.
template <class Decoder>
class OneStreamReader : public ColumnReader {
 public:
  void Save() override {
    ColumnReader::Save();
    values_.Save(&saved_);
  }
  absl::Status Restore() override {
    SKEP_RETURN_IF_ERROR(values_.Restore(saved_));
    return ColumnReader::Restore();
  }

 protected:
  static constexpr bool kOfBits = std::is_same_v<Decoder, BitDecoder>;

  OneStreamReader(StripeSource& source, const PlanNode& node, StreamKind kind)
      : ColumnReader(source, node), values_(source.Open(node, kind)) {}
  // Of integers.
  OneStreamReader(StripeSource& source,
                  const PlanNode& node,
                  StreamKind kind,
                  Signedness signedness)
      : ColumnReader(source, node), values_(OpenInts(kind, signedness)) {}

  absl::Status SeekValues(PositionCursor& positions) override {
    const ByteStream::Position position = positions.Bytes();
    const uint64_t number = positions.Number();
    if constexpr (kOfBits) {
      return values_.Seek(position, number, positions.Number());
    } else {
      return values_.Seek(position, number);
    }
  }
  size_t PositionCount() const override {
    return kOfBits ? PositionCursor::OfBits(compressed()) : PositionCursor::OfRuns(compressed());
  }

  Decoder values_;

 private:
  typename Decoder::Place saved_;
};

// The readers of each kind of column; ColumnReader::Make chooses.
using ColumnReaderOr = absl::StatusOr<std::unique_ptr<ColumnReader>>;
ColumnReaderOr MakeNumberReader(StripeSource& source, const PlanNode& node);
ColumnReaderOr MakeTextReader(StripeSource& source, const PlanNode& node);
ColumnReaderOr MakeTimestampReader(StripeSource& source, const PlanNode& node);
ColumnReaderOr MakeDecimalReader(StripeSource& source, const PlanNode& node);
ColumnReaderOr MakeNestedReader(StripeSource& source, const PlanNode& node);

}  // namespace skep::orc
