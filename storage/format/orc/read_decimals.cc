// Columns of decimals: unscaled values as varints, each with a scale of its own (TY-23).

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/format/orc/column_reader.h"
#include "storage/format/orc/spread.h"

namespace skep::orc {

namespace {

__extension__ using Int128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;

constexpr int64_t kMostDigits = 38;
constexpr std::string_view kTooLong = "a decimal of more than 38 digits";
constexpr size_t kMostVarint = 19;  // bytes of 128 bits, seven at a time

constexpr std::array<Int128, kMostDigits + 1> PowersOfTen() {
  std::array<Int128, kMostDigits + 1> powers{};
  powers[0] = 1;
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}
constexpr auto kPowers = PowersOfTen();

Int128 Unzigzag128(Unsigned128 value) {
  return static_cast<Int128>((value >> 1) ^ (~(value & 1) + 1));
}

// The low seven bits of each byte, put together.
uint64_t Gather(uint64_t bytes) {
  bytes &= 0x7f7f7f7f7f7f7f7fU;
  bytes = (bytes & 0x007f007f007f007fU) | (bytes & 0x7f007f007f007f00U) >> 1;
  bytes = (bytes & 0x00003fff00003fffU) | (bytes & 0x3fff00003fff0000U) >> 2;
  return (bytes & 0x000000000fffffffU) | (bytes & 0x0fffffff00000000U) >> 4;
}

class DecimalReader final : public ColumnReader {
 public:
  DecimalReader(StripeSource& source, const PlanNode& node)
      : ColumnReader(source, node),
        values_(source.Open(node, StreamKind::kData)),
        scales_(OpenInts(StreamKind::kSecondary, Signedness::kSigned)) {}

  void Save() override {
    ColumnReader::Save();
    saved_values_ = values_.Tell();
    scales_.Save(&saved_scales_);
  }
  absl::Status Restore() override {
    SKEP_RETURN_IF_ERROR(values_.Seek(saved_values_));
    SKEP_RETURN_IF_ERROR(scales_.Restore(saved_scales_));
    return ColumnReader::Restore();
  }

 protected:
  absl::StatusOr<Data> ReadValues(const Slots& slots) override {
    SKEP_ASSIGN_OR_RETURN(auto buffer,
                          NewBuffer(slots.length * static_cast<int64_t>(sizeof(Int128))));
    auto* out = reinterpret_cast<Int128*>(buffer->mutable_data());
    SKEP_RETURN_IF_ERROR(Grow(&scratch_, slots.count));
    SKEP_RETURN_IF_ERROR(scales_.Next(scratch_.data(), static_cast<size_t>(slots.count)));
    SKEP_RETURN_IF_ERROR(ReadVarints(out, slots.count));
    const int64_t scale = node().type.scale;
    int64_t others = 0;
    for (int64_t i = 0; i < slots.count; ++i) others |= scratch_[static_cast<size_t>(i)] ^ scale;
    for (int64_t i = 0; others != 0 && i < slots.count; ++i) {
      SKEP_RETURN_IF_ERROR(Rescale(scratch_[static_cast<size_t>(i)], out + i));
    }
    if (slots.valid != nullptr) Spread(out, slots.length, slots.bits(), slots.count);
    return Array(slots, {std::move(buffer)});
  }

  absl::Status SkipValues(uint64_t count) override {
    SKEP_RETURN_IF_ERROR(scales_.Skip(count));
    while (count > 0) {
      SKEP_RETURN_IF_ERROR(values_.Need(1));
      const uint8_t* const begin = values_.data();
      const uint8_t* at = begin;
      for (const uint8_t* end = begin + values_.available(); at < end && count > 0; ++at) {
        count -= *at < 0x80 ? 1 : 0;
      }
      values_.Advance(static_cast<size_t>(at - begin));
    }
    return absl::OkStatus();
  }
  absl::Status SeekValues(PositionCursor& positions) override {
    SKEP_RETURN_IF_ERROR(values_.Seek(positions.Bytes()));
    const ByteStream::Position position = positions.Bytes();
    return scales_.Seek(position, positions.Number());
  }
  size_t PositionCount() const override {
    return PositionCursor::OfBytes(compressed()) + PositionCursor::OfRuns(compressed());
  }

 private:
  absl::Status ReadVarints(Int128* out, int64_t count) {
    static_assert(ByteStream::kSlack >= sizeof(uint64_t));
    Int128* const end = out + count;
    while (out < end) {
      SKEP_RETURN_IF_ERROR(values_.Want(kMostVarint));
      const uint8_t* at = values_.data();
      const uint8_t* const last = at + values_.available();
      if (at == last) return values_.Bad("a stream ends early");
      // Most values end within eight bytes: one load finds the end and holds all bits.
      for (; out < end && last - at >= 8; ++out) {
        uint64_t word = 0;
        std::memcpy(&word, at, sizeof(word));
        const uint64_t stops = ~word & 0x8080808080808080U;
        if (stops == 0) break;
        const auto bits = static_cast<uint32_t>(std::countr_zero(stops)) + 1;
        const uint64_t value = Gather(bits == 64 ? word : word & ((uint64_t{1} << bits) - 1));
        *out = static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
        at += bits / 8;
      }
      values_.Advance(static_cast<size_t>(at - values_.data()));
      if (out == end) break;
      SKEP_RETURN_IF_ERROR(values_.Want(kMostVarint));
      SKEP_RETURN_IF_ERROR(ReadVarint(out++));
    }
    return absl::OkStatus();
  }

  absl::Status ReadVarint(Int128* out) {
    const uint8_t* at = values_.data();
    const size_t most = std::min(kMostVarint, values_.available());
    Unsigned128 value = 0;
    for (size_t i = 0; i < most; ++i) {
      if (i + 1 == kMostVarint && at[i] > 3) break;
      value |= static_cast<Unsigned128>(at[i] & 0x7f) << (7 * i);
      if (at[i] < 0x80) {
        *out = Unzigzag128(value);
        values_.Advance(i + 1);
        const bool fits = *out > -kPowers[kMostDigits] && *out < kPowers[kMostDigits];
        return fits ? absl::OkStatus() : Refuse(kTooLong);
      }
    }
    return most < kMostVarint ? values_.Bad("a stream ends early") : Refuse(kTooLong);
  }

  absl::Status Rescale(int64_t scale, Int128* value) const {
    const int64_t wanted = node().type.scale;
    if (scale == wanted || *value == 0) return absl::OkStatus();
    // Digits behind the last that the column has would be lost, unless they are zeros.
    if (scale > wanted) {
      const int64_t more = scale - wanted;
      if (more > kMostDigits || *value % kPowers[static_cast<size_t>(more)] != 0) {
        return Refuse("a decimal with " + std::to_string(scale) +
                      " digits behind the point, more than " + node().type.ToString() + " has");
      }
      *value /= kPowers[static_cast<size_t>(more)];
      return absl::OkStatus();
    }
    // A scale below -38 leaves no room for a digit other than zero.
    const int64_t fewer = scale < -kMostDigits ? kMostDigits : wanted - scale;
    if (fewer >= kMostDigits || *value >= kPowers[static_cast<size_t>(kMostDigits - fewer)] ||
        *value <= -kPowers[static_cast<size_t>(kMostDigits - fewer)]) {
      return Refuse(kTooLong);
    }
    *value *= kPowers[static_cast<size_t>(fewer)];
    return absl::OkStatus();
  }

  ByteStream values_;
  IntDecoder scales_;
  std::vector<int64_t> scratch_;
  ByteStream::Position saved_values_;
  IntDecoder::Place saved_scales_;
};

}  // namespace

ColumnReaderOr MakeDecimalReader(StripeSource& source, const PlanNode& node) {
  return std::unique_ptr<ColumnReader>(new DecimalReader(source, node));
}

}  // namespace skep::orc
