#pragma once

// One column of a stripe while it is written: its streams, its part of the row index, its
// statistics. What is common to all types is here; the types themselves are behind
// MakeColumnWriter.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <arrow/array/data.h>

#include "storage/format/orc/bloom_filter.h"
#include "storage/format/orc/byte_encoder.h"
#include "storage/format/orc/int_encoder.h"
#include "storage/format/orc/orc.pb.h"
#include "storage/format/orc/stripe.h"
#include "storage/model/hive_type.h"

namespace skep::orc {

// What all columns of a file share.
struct ColumnContext {
  BlockCompressor* compressor = nullptr;  // must outlive the columns
  size_t block_size = 256 << 10;
  Packing packing = Packing::kAligned;
  Calendar calendar = Calendar::kProleptic;
  uint64_t most_dictionary_bytes = 16 << 20;  // a larger dictionary is given up
  uint64_t bloom_rows = 0;                    // rows of a group; 0: no bloom filters
  double bloom_false_positives = 0.01;
};

struct FinishedStream {
  StreamKind kind;
  const OutStream* stream;
};

// One row group: where it begins and what it holds.
struct FinishedGroup {
  Positions positions;
  proto::ColumnStatistics statistics;
  std::string bloom;  // the bits, if the column has a filter
};

// Arrow arrays come as ArrayData in the layout of the vocabulary, with or without its extension
// types: only buffers, offsets and children are looked at. Calls of one stripe: StartGroup,
// Append…, EndGroup, StartGroup, …, Finish, the accessors, Clear. Confined to one thread.
class ColumnWriter {
 public:
  virtual ~ColumnWriter() = default;
  ColumnWriter(const ColumnWriter&) = delete;
  ColumnWriter& operator=(const ColumnWriter&) = delete;

  // Slots [from, from + count) of `data`, whose parents are present. Errors: kValueOutOfRange,
  // without column and row; then the writer is of no more use.
  absl::Status Append(const arrow::ArrayData& data, int64_t from, int64_t count);
  void AppendNulls(int64_t count);
  // Slots that are not null, for values that do not come as an Arrow array: a struct's fields, or
  // IntColumnWriter's.
  void NotePresent(int64_t count) {
    present_.AddRun(true, count);
    values_ += count;
  }
  // A struct above was null: there is no slot, but who looks for nulls finds one.
  void NoteNullParent();

  // For this column and those below.
  void StartGroup();
  void EndGroup();
  absl::Status Finish();
  void Clear();
  // Bytes held, as an estimate of what the stripe takes.
  uint64_t size() const;

  uint32_t column() const { return column_; }
  const std::vector<std::unique_ptr<ColumnWriter>>& children() const { return children_; }

  // After Finish: of this column alone.
  std::vector<FinishedStream> Streams() const;
  virtual proto::ColumnEncoding Encoding() const = 0;
  const std::vector<FinishedGroup>& groups() const { return groups_; }
  const proto::ColumnStatistics& statistics() const { return statistics_; }  // of the stripe
  bool has_bloom() const { return bloom_ != nullptr; }
  const BloomFilter* bloom() const { return bloom_.get(); }

 protected:
  ColumnWriter(const ColumnContext& context, uint32_t column);

  // Slots that are not null.
  virtual absl::Status AppendValid(const arrow::ArrayData& data, int64_t from, int64_t count) = 0;
  virtual void StartOfGroup() {}
  // Where the next value goes, in all streams but PRESENT (RI-2).
  virtual void AddPositions(Positions* out) const = 0;
  // The typed part of a group with values; what was collected starts anew.
  virtual void TakeStatistics(proto::ColumnStatistics* out) = 0;
  virtual absl::Status FinishStreams() = 0;
  virtual void AddStreams(std::vector<FinishedStream>* out) const = 0;
  virtual void ClearStreams() = 0;
  virtual uint64_t StreamBytes() const = 0;

  // Only primitive columns have one.
  void EnableBloom();
  void AddChild(std::unique_ptr<ColumnWriter> child) { children_.push_back(std::move(child)); }

  static proto::ColumnEncoding Direct(EncodingKind kind) {
    proto::ColumnEncoding encoding;
    encoding.set_kind(static_cast<uint32_t>(kind));
    return encoding;
  }

  const ColumnContext context_;
  std::vector<FinishedGroup> groups_;
  std::unique_ptr<BloomFilter> bloom_;

 private:
  const uint32_t column_;
  BitEncoder present_;
  bool stripe_has_null_ = false;  // a null of its own
  bool group_has_null_ = false;   // or one of a parent
  int64_t values_ = 0;            // of the group
  proto::ColumnStatistics statistics_;
  std::vector<std::unique_ptr<ColumnWriter>> children_;
};

inline const OutStream& StreamOf(const OutStream& stream) { return stream; }
template <class Encoder>
const OutStream& StreamOf(const Encoder& encoder) {
  return encoder.stream();
}

// A column with one stream beside PRESENT.
template <class Encoder>
class OneStreamWriter : public ColumnWriter {
 protected:
  template <class... Options>
  OneStreamWriter(const ColumnContext& context, uint32_t column, Options... options)
      : ColumnWriter(context, column), data_(context.compressor, context.block_size, options...) {}

  void AddPositions(Positions* out) const override { data_.AddPosition(out); }
  absl::Status FinishStreams() override { return data_.Finish(); }
  void AddStreams(std::vector<FinishedStream>* out) const override {
    out->push_back({StreamKind::kData, &StreamOf(data_)});
  }
  void ClearStreams() override { data_.Clear(); }
  uint64_t StreamBytes() const override { return data_.size(); }

  Encoder data_;
};

// The writer of `type` as column `column` (preorder), with its children. `bloom` names the columns
// that get bloom filters.
std::unique_ptr<ColumnWriter> MakeColumnWriter(const ColumnContext& context,
                                               const HiveType& type,
                                               uint32_t column,
                                               const std::vector<uint32_t>& bloom = {});

}  // namespace skep::orc
