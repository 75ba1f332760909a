#include "storage/format/orc/scalar_writers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <arrow/util/bitmap_ops.h>

#include "storage/base/status_macros.h"
#include "storage/format/orc/int_column_writer.h"

namespace skep::orc {

namespace {

class BooleanWriter final : public OneStreamWriter<BitEncoder> {
 public:
  BooleanWriter(const ColumnContext& context, uint32_t column) : OneStreamWriter(context, column) {}
  proto::ColumnEncoding Encoding() const override { return Direct(EncodingKind::kDirect); }

 protected:
  absl::Status AppendValid(const arrow::ArrayData& data, int64_t from, int64_t count) override {
    const uint8_t* const bits = data.buffers[1]->data();
    data_.Add(bits, data.offset + from, count);
    trues_ += arrow::internal::CountSetBits(bits, data.offset + from, count);
    return absl::OkStatus();
  }
  void TakeStatistics(proto::ColumnStatistics* out) override {
    out->mutable_bucket_statistics()->add_count(static_cast<uint64_t>(trues_));
    trues_ = 0;
  }

 private:
  int64_t trues_ = 0;
};

class TinyintWriter final : public OneStreamWriter<ByteEncoder> {
 public:
  TinyintWriter(const ColumnContext& context, uint32_t column) : OneStreamWriter(context, column) {
    EnableBloom();
  }
  proto::ColumnEncoding Encoding() const override { return Direct(EncodingKind::kDirect); }

 protected:
  absl::Status AppendValid(const arrow::ArrayData& data, int64_t from, int64_t count) override {
    const int8_t* const values = data.GetValues<int8_t>(1) + from;
    const auto size = static_cast<size_t>(count);
    data_.Add(reinterpret_cast<const uint8_t*>(values), size);
    range_.Add(values, size);
    if (bloom_ != nullptr) {
      for (size_t i = 0; i < size; ++i) bloom_->AddInteger(values[i]);
    }
    return absl::OkStatus();
  }
  void TakeStatistics(proto::ColumnStatistics* out) override { range_.Take(out); }

 private:
  IntRange range_;
};

template <class T>
class FloatingWriter final : public OneStreamWriter<OutStream> {
 public:
  FloatingWriter(const ColumnContext& context, uint32_t column) : OneStreamWriter(context, column) {
    EnableBloom();
  }
  proto::ColumnEncoding Encoding() const override { return Direct(EncodingKind::kDirect); }

 protected:
  absl::Status AppendValid(const arrow::ArrayData& data, int64_t from, int64_t count) override {
    const T* const values = data.GetValues<T>(1) + from;
    const auto size = static_cast<size_t>(count);
    data_.Append(values, size * sizeof(T));  // IEEE 754, little-endian, as in memory
    T low = static_cast<T>(minimum_), high = static_cast<T>(maximum_);
    for (size_t i = 0; i < size; ++i) {
      low = values[i] < low ? values[i] : low;
      high = values[i] > high ? values[i] : high;
      sum_ += static_cast<double>(values[i]);
    }
    minimum_ = static_cast<double>(low);
    maximum_ = static_cast<double>(high);
    if (bloom_ != nullptr) {
      for (size_t i = 0; i < size; ++i) bloom_->AddDouble(static_cast<double>(values[i]));
    }
    return absl::OkStatus();
  }
  // Of values among which a NaN may be nothing is said: readers disagree on where it stands (SG-5).
  // A sum that is not a NaN has seen none. Zeros lie between -0.0 and 0.0, whatever a reader holds
  // of their order.
  void TakeStatistics(proto::ColumnStatistics* out) override {
    if (!std::isnan(sum_)) {
      proto::DoubleStatistics* doubles = out->mutable_double_statistics();
      doubles->set_minimum(minimum_ == 0 ? -0.0 : minimum_);
      doubles->set_maximum(maximum_ == 0 ? 0.0 : maximum_);
      doubles->set_sum(sum_);
    }
    minimum_ = std::numeric_limits<double>::infinity();
    maximum_ = -std::numeric_limits<double>::infinity();
    sum_ = 0;
  }

 private:
  double minimum_ = std::numeric_limits<double>::infinity();
  double maximum_ = -std::numeric_limits<double>::infinity();
  double sum_ = 0;
};

class BinaryWriter final : public ColumnWriter {
 public:
  BinaryWriter(const ColumnContext& context, uint32_t column)
      : ColumnWriter(context, column),
        data_(context.compressor, context.block_size),
        lengths_(context.compressor, context.block_size, Signedness::kUnsigned, context.packing) {
    EnableBloom();
  }
  proto::ColumnEncoding Encoding() const override { return Direct(EncodingKind::kDirectV2); }

 protected:
  absl::Status AppendValid(const arrow::ArrayData& data, int64_t from, int64_t count) override {
    const int32_t* const offsets = data.GetValues<int32_t>(1) + from;
    const auto bytes = static_cast<size_t>(offsets[count] - offsets[0]);
    const char* const first =
        bytes == 0 ? nullptr : reinterpret_cast<const char*>(data.buffers[2]->data());
    if (bytes > 0) data_.Append(first + offsets[0], bytes);
    for (int64_t i = 0; i < count; ++i) {
      const int32_t length = offsets[i + 1] - offsets[i];
      lengths_.Add(&length, 1);
      if (bloom_ != nullptr) {
        bloom_->AddBytes(length == 0
                             ? std::string_view()
                             : std::string_view(first + offsets[i], static_cast<size_t>(length)));
      }
    }
    total_ += static_cast<int64_t>(bytes);
    return absl::OkStatus();
  }
  void AddPositions(Positions* out) const override {
    data_.AddPosition(out);
    lengths_.AddPosition(out);
  }
  void TakeStatistics(proto::ColumnStatistics* out) override {
    out->mutable_binary_statistics()->set_sum(total_);
    total_ = 0;
  }
  absl::Status FinishStreams() override {
    SKEP_RETURN_IF_ERROR(data_.Finish());
    return lengths_.Finish();
  }
  void AddStreams(std::vector<FinishedStream>* out) const override {
    out->push_back({StreamKind::kData, &data_});
    out->push_back({StreamKind::kLength, &lengths_.stream()});
  }
  void ClearStreams() override {
    data_.Clear();
    lengths_.Clear();
  }
  uint64_t StreamBytes() const override { return data_.size() + lengths_.size(); }

 private:
  OutStream data_;
  IntEncoder lengths_;
  int64_t total_ = 0;
};

}  // namespace

std::unique_ptr<ColumnWriter> MakeBooleanWriter(const ColumnContext& context, uint32_t column) {
  return std::make_unique<BooleanWriter>(context, column);
}
std::unique_ptr<ColumnWriter> MakeTinyintWriter(const ColumnContext& context, uint32_t column) {
  return std::make_unique<TinyintWriter>(context, column);
}
std::unique_ptr<ColumnWriter> MakeFloatWriter(const ColumnContext& context, uint32_t column) {
  return std::make_unique<FloatingWriter<float>>(context, column);
}
std::unique_ptr<ColumnWriter> MakeDoubleWriter(const ColumnContext& context, uint32_t column) {
  return std::make_unique<FloatingWriter<double>>(context, column);
}
std::unique_ptr<ColumnWriter> MakeBinaryWriter(const ColumnContext& context, uint32_t column) {
  return std::make_unique<BinaryWriter>(context, column);
}

}  // namespace skep::orc
