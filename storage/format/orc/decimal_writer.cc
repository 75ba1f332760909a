#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "storage/base/status_macros.h"
#include "storage/format/orc/decimal_text.h"
#include "storage/format/orc/scalar_writers.h"

namespace skep::orc {

namespace {

constexpr size_t kDecimalBytes = 16;

int128_t Load(const uint8_t* at) {
  int128_t value = 0;
  std::memcpy(&value, at, sizeof(value));  // two's complement, little-endian
  return value;
}

// Zigzag varint of any length (TY-23).
uint8_t* AppendVarint(int128_t value, uint8_t* out) {
  const auto sign = static_cast<uint128_t>(value >> 127);
  auto zigzag = static_cast<uint128_t>(value) << 1 ^ sign;
  auto low = static_cast<uint64_t>(zigzag);
  while (zigzag >> 64 != 0) {
    *out++ = static_cast<uint8_t>((low & 0x7f) | 0x80);
    zigzag >>= 7;
    low = static_cast<uint64_t>(zigzag);
  }
  for (; low >= 0x80; low >>= 7) *out++ = static_cast<uint8_t>((low & 0x7f) | 0x80);
  *out++ = static_cast<uint8_t>(low);
  return out;
}

class DecimalWriter final : public ColumnWriter {
 public:
  DecimalWriter(const ColumnContext& context, const HiveType& type, uint32_t column)
      : ColumnWriter(context, column),
        scale_(type.scale),
        data_(context.compressor, context.block_size),
        scales_(context.compressor, context.block_size, Signedness::kSigned, context.packing) {
    EnableBloom();
  }
  proto::ColumnEncoding Encoding() const override { return Direct(EncodingKind::kDirectV2); }

 protected:
  absl::Status AppendValid(const arrow::ArrayData& data, int64_t from, int64_t count) override {
    const uint8_t* values =
        data.buffers[1]->data() + (data.offset + from) * static_cast<int64_t>(kDecimalBytes);
    scales_.AddArithmetic(scale_, 0, static_cast<size_t>(count));
    std::array<uint8_t, kPart * kMostBytes> bytes;
    for (int64_t at = 0; at < count;) {
      const int64_t part = std::min(count - at, kPart);
      uint8_t* end = bytes.data();
      for (int64_t i = 0; i < part; ++i, values += kDecimalBytes) {
        const int128_t value = Load(values);
        minimum_ = !any_ || value < minimum_ ? value : minimum_;
        maximum_ = !any_ || value > maximum_ ? value : maximum_;
        any_ = true;
        if (sum_ && __builtin_add_overflow(*sum_, value, &*sum_)) sum_.reset();
        end = AppendVarint(value, end);
        if (bloom_ != nullptr) bloom_->AddBytes(DecimalText(value, scale_));
      }
      data_.Append(bytes.data(), static_cast<size_t>(end - bytes.data()));
      at += part;
    }
    return absl::OkStatus();
  }
  void AddPositions(Positions* out) const override {
    data_.AddPosition(out);
    scales_.AddPosition(out);
  }
  void TakeStatistics(proto::ColumnStatistics* out) override {
    proto::DecimalStatistics* decimals = out->mutable_decimal_statistics();
    decimals->set_minimum(DecimalText(minimum_, scale_));
    decimals->set_maximum(DecimalText(maximum_, scale_));
    if (sum_ && FitsDecimal(*sum_)) decimals->set_sum(DecimalText(*sum_, scale_));
    sum_ = 0;
    any_ = false;
  }
  absl::Status FinishStreams() override {
    SKEP_RETURN_IF_ERROR(data_.Finish());
    return scales_.Finish();
  }
  void AddStreams(std::vector<FinishedStream>* out) const override {
    out->push_back({StreamKind::kData, &data_});
    out->push_back({StreamKind::kSecondary, &scales_.stream()});
  }
  void ClearStreams() override {
    data_.Clear();
    scales_.Clear();
  }
  uint64_t StreamBytes() const override { return data_.size() + scales_.size(); }

 private:
  static constexpr int64_t kPart = 256;
  static constexpr size_t kMostBytes = 19;

  const int32_t scale_;
  OutStream data_;
  IntEncoder scales_;
  int128_t minimum_ = 0, maximum_ = 0;
  std::optional<int128_t> sum_ = 0;  // nullopt after an overflow
  bool any_ = false;
};

}  // namespace

std::unique_ptr<ColumnWriter> MakeDecimalWriter(const ColumnContext& context,
                                                const HiveType& type,
                                                uint32_t column) {
  return std::make_unique<DecimalWriter>(context, type, column);
}

}  // namespace skep::orc
