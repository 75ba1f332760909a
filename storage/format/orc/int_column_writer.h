#pragma once

// SMALLINT, INT, BIGINT and DATE columns. Apart from the other types because the five system
// columns of ACID files are filled from vectors and, mostly, from constants.

#include <cstdint>
#include <limits>
#include <span>

#include "storage/format/orc/column_writer.h"

namespace skep::orc {

// Minimum, maximum and sum, which is exact for up to 2^63 values.
struct IntRange {
  int64_t minimum = std::numeric_limits<int64_t>::max();
  int64_t maximum = std::numeric_limits<int64_t>::min();
  __int128 sum = 0;

  template <class T>
  void Add(const T* values, size_t count) {
    int64_t low = minimum, high = maximum;
    for (size_t i = 0; i < count; ++i) {
      const auto value = static_cast<int64_t>(values[i]);
      low = value < low ? value : low;
      high = value > high ? value : high;
      sum += value;
    }
    minimum = low;
    maximum = high;
  }
  void AddArithmetic(int64_t first, int64_t step, int64_t count);
  // As integer statistics; starts anew.
  void Take(proto::ColumnStatistics* out);
};

class IntColumnWriter final : public OneStreamWriter<IntEncoder> {
 public:
  IntColumnWriter(const ColumnContext& context, TypeKind kind, uint32_t column);

  // Values that are there, not from an Arrow array.
  template <class T>
  void AppendValues(std::span<const T> values) {
    NotePresent(static_cast<int64_t>(values.size()));
    AddValues(values.data(), values.size());
  }
  // first, first + step, …: costs nothing per value.
  void AppendArithmetic(int64_t first, int64_t step, int64_t count);

  proto::ColumnEncoding Encoding() const override { return Direct(EncodingKind::kDirectV2); }

 protected:
  absl::Status AppendValid(const arrow::ArrayData& data, int64_t from, int64_t count) override;
  void TakeStatistics(proto::ColumnStatistics* out) override;

 private:
  template <class T>
  void AddValues(const T* values, size_t count) {
    range_.Add(values, count);
    if (bloom_ != nullptr) {
      for (size_t i = 0; i < count; ++i) bloom_->AddInteger(values[i]);
    }
    data_.Add(values, count);
  }
  absl::Status AppendHybridDays(const int32_t* days, int64_t count);

  const TypeKind kind_;
  IntRange range_;
};

}  // namespace skep::orc
