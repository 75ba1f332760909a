#include "storage/format/orc/int_runs.h"

#include <algorithm>
#include <array>
#include <bit>

namespace skep::orc {

namespace {

constexpr uint32_t kDirect = 1, kPatched = 2, kDelta = 3;
constexpr size_t kMinRepeat = 3, kMaxShortRepeat = 10;
constexpr size_t kMaxPatches = 31, kMaxGap = 255;

uint64_t ZigZag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}

uint32_t Bits(uint64_t value) { return static_cast<uint32_t>(std::bit_width(value)); }
size_t VarintBytes(uint64_t value) { return std::max<size_t>(1, (Bits(value) + 6) / 7); }

uint64_t Distance(int64_t from, int64_t to) {  // wraps
  return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
}

// What a choice needs to know of a segment.
struct Shape {
  uint32_t bits = 0;  // of the widest value as stored
  int64_t minimum = 0, maximum = 0;
  size_t breaks = 0;           // where a difference is another than the one before
  bool monotone = false;       // with a first difference that shows the direction
  uint32_t later_bits = 0;     // of the widest difference from the second on
  bool has_distances = false;  // maximum - minimum fits 63 bits
};

class Encoder {
 public:
  Encoder(Signedness signedness, Packing packing, uint8_t* out)
      : signed_(signedness == Signedness::kSigned), packing_(packing), out_(out) {}

  uint8_t* end() const { return out_; }

  void Encode(const int64_t* values, size_t count);
  void Arithmetic(int64_t first, int64_t step, size_t count);

 private:
  uint64_t Stored(int64_t value) const {
    return signed_ ? ZigZag(value) : static_cast<uint64_t>(value);
  }
  Shape Look(const int64_t* values, size_t count) const;
  // Of a whole run of equal differences.
  size_t ArithmeticBytes(int64_t first, int64_t step, size_t count) const;
  size_t DeltaBytes(const int64_t* values, size_t count, const Shape& shape) const;
  void Segment(const int64_t* values, size_t count);
  void Cheapest(const int64_t* values, size_t count, const Shape& shape);

  void Direct(const int64_t* values, size_t count, PackedWidth width);
  void Delta(const int64_t* values, size_t count, PackedWidth width);
  // False where it does not save enough over `limit` bytes.
  bool Patched(const int64_t* values, size_t count, const Shape& shape, size_t limit);

  void Byte(uint64_t byte) { *out_++ = static_cast<uint8_t>(byte); }
  void Header(uint32_t kind, uint32_t code, size_t count) {
    Byte(kind << 6 | code << 1 | (count - 1) >> 8);
    Byte((count - 1) & 0xff);
  }
  void BigEndian(uint64_t value, size_t bytes) {
    for (size_t i = bytes; i-- > 0;) Byte(value >> (i * 8) & 0xff);
  }
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) Byte((value & 0x7f) | 0x80);
    Byte(value);
  }
  PackedWidth DeltaWidth(uint32_t bits) const {
    return WidthFor(std::max(2U, bits), packing_);  // code 0 means no packed deltas
  }

  const bool signed_;
  const Packing packing_;
  uint8_t* out_;
  std::array<uint64_t, kMaxIntRun + 2 * kMaxPatches> scratch_;
};

Shape Encoder::Look(const int64_t* values, size_t count) const {
  Shape shape;
  uint64_t all = Stored(values[0]), later = 0;
  int64_t low = values[0], high = values[0];
  bool rises = true, falls = true;
  uint64_t before = count > 1 ? Distance(values[0], values[1]) : 0;
  for (size_t i = 1; i < count; ++i) {
    all |= Stored(values[i]);
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
    rises &= values[i] >= values[i - 1];
    falls &= values[i] <= values[i - 1];
    const uint64_t step = Distance(values[i - 1], values[i]);
    shape.breaks += step != before ? 1 : 0;
    before = step;
    const auto signed_step = static_cast<int64_t>(step);
    later |= i > 1 ? (signed_step < 0 ? 0 - step : step) : 0;
  }
  shape.bits = Bits(all);
  shape.minimum = low;
  shape.maximum = high;
  shape.has_distances = Distance(low, high) >> 63 == 0;
  shape.monotone = count > 1 && (rises || falls) && shape.has_distances && values[1] != values[0];
  shape.later_bits = Bits(later);
  return shape;
}

size_t Encoder::ArithmeticBytes(int64_t first, int64_t step, size_t count) const {
  if (step == 0 && count <= kMaxShortRepeat) {
    return 1 + std::max<size_t>(1, (Bits(Stored(first)) + 7) / 8);
  }
  return 2 + VarintBytes(Stored(first)) + VarintBytes(ZigZag(step));
}

void Encoder::Arithmetic(int64_t first, int64_t step, size_t count) {
  if (count < kMinRepeat) {
    int64_t values[2] = {
        first, static_cast<int64_t>(static_cast<uint64_t>(first) + static_cast<uint64_t>(step))};
    const uint64_t all = Stored(values[0]) | (count > 1 ? Stored(values[1]) : 0);
    Direct(values, count, WidthFor(Bits(all), packing_));
    return;
  }
  if (step == 0 && count <= kMaxShortRepeat) {
    const uint64_t value = Stored(first);
    const size_t bytes = std::max<size_t>(1, (Bits(value) + 7) / 8);
    Byte((bytes - 1) << 3 | (count - kMinRepeat));
    BigEndian(value, bytes);
    return;
  }
  Header(kDelta, 0, count);
  Varint(Stored(first));
  Varint(ZigZag(step));
}

size_t Encoder::DeltaBytes(const int64_t* values, size_t count, const Shape& shape) const {
  return 2 + VarintBytes(Stored(values[0])) +
         VarintBytes(ZigZag(static_cast<int64_t>(Distance(values[0], values[1])))) +
         PackedBytes(count - 2, DeltaWidth(shape.later_bits).bits);
}

// The block as runs of equal differences that are worth a run of their own, and what lies between.
void Encoder::Encode(const int64_t* values, size_t count) {
  const Shape whole = Look(values, count);
  if (whole.breaks == 0 && (whole.has_distances || count < kMinRepeat)) {
    Arithmetic(
        values[0], static_cast<int64_t>(count > 1 ? Distance(values[0], values[1]) : 0), count);
    return;
  }
  // One run of many small steps instead of many runs.
  if (whole.monotone && whole.breaks > count / 10) {
    Cheapest(values, count, whole);
    return;
  }
  const size_t value_bits = WidthFor(whole.bits, packing_).bits;
  constexpr size_t kNextHeader = 3;
  size_t literal = 0;  // where values not yet written begin
  for (size_t at = 0; at + kMinRepeat <= count;) {
    const uint64_t step = Distance(values[at], values[at + 1]);
    size_t end = at + 2;
    while (end < count && Distance(values[end - 1], values[end]) == step) ++end;
    const bool is_run = end - at >= kMinRepeat && (step == 0 || whole.has_distances);
    if (is_run &&
        (end - at) * value_bits / 8 >=
            ArithmeticBytes(values[at], static_cast<int64_t>(step), end - at) + kNextHeader) {
      Segment(values + literal, at - literal);
      Arithmetic(values[at], static_cast<int64_t>(step), end - at);
      literal = at = end;
    } else {
      at = end - 1;
    }
  }
  if (literal == 0) {
    Cheapest(values, count, whole);
  } else {
    Segment(values + literal, count - literal);
  }
}

void Encoder::Segment(const int64_t* values, size_t count) {
  if (count == 0) return;
  Cheapest(values, count, Look(values, count));
}

void Encoder::Cheapest(const int64_t* values, size_t count, const Shape& shape) {
  const PackedWidth width = WidthFor(shape.bits, packing_);
  const size_t direct = 2 + PackedBytes(count, width.bits);
  if (shape.monotone && count > kMinRepeat && DeltaBytes(values, count, shape) < direct) {
    Delta(values, count, DeltaWidth(shape.later_bits));
    return;
  }
  if (count > 16 && Patched(values, count, shape, direct)) return;
  Direct(values, count, width);
}

void Encoder::Direct(const int64_t* values, size_t count, PackedWidth width) {
  Header(kDirect, width.code, count);
  for (size_t i = 0; i < count; ++i) scratch_[i] = Stored(values[i]);
  out_ = Pack(scratch_.data(), count, width.bits, out_);
}

void Encoder::Delta(const int64_t* values, size_t count, PackedWidth width) {
  Header(kDelta, width.code, count);
  Varint(Stored(values[0]));
  Varint(ZigZag(static_cast<int64_t>(Distance(values[0], values[1]))));
  const bool rises = values[1] > values[0];
  for (size_t i = 2; i < count; ++i) {
    scratch_[i - 2] =
        rises ? Distance(values[i - 1], values[i]) : Distance(values[i], values[i - 1]);
  }
  out_ = Pack(scratch_.data(), count - 2, width.bits, out_);
}

bool Encoder::Patched(const int64_t* values, size_t count, const Shape& shape, size_t limit) {
  const uint64_t magnitude = shape.minimum < 0 ? 0 - static_cast<uint64_t>(shape.minimum)
                                               : static_cast<uint64_t>(shape.minimum);
  if (!shape.has_distances || Bits(magnitude) > 56) return false;  // RL-15
  std::array<uint32_t, 65> with_bits{};
  for (size_t i = 0; i < count; ++i) ++with_bits[Bits(Distance(shape.minimum, values[i]))];
  const uint32_t full = Bits(Distance(shape.minimum, shape.maximum));
  // The narrowest width that leaves few enough outside.
  const size_t most = std::min<size_t>(kMaxPatches - 4, count / 20);
  uint32_t bits = full;
  for (size_t outside = 0; bits > 0 && outside + with_bits[bits] <= most; --bits)
    outside += with_bits[bits];
  PackedWidth width = WidthFor(bits, Packing::kTight);
  if (width.bits >= full) return false;
  PackedWidth patch = WidthFor(full - width.bits, Packing::kTight);
  if (patch.bits == 64) {
    patch = WidthFor(56, Packing::kTight);
    width = WidthFor(8, Packing::kTight);
  }
  std::array<uint64_t, 2 * kMaxPatches> gaps, patches;
  size_t entries = 0, last = 0;
  uint64_t widest_gap = 1;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t reduced = Distance(shape.minimum, values[i]);
    scratch_[i] = reduced & ((uint64_t{1} << width.bits) - 1);
    if (reduced >> width.bits == 0) continue;
    size_t gap = i - last;
    for (; gap > kMaxGap; gap -= kMaxGap) {
      gaps[entries] = kMaxGap;
      patches[entries++] = 0;
      widest_gap = kMaxGap;
    }
    gaps[entries] = gap;
    patches[entries++] = reduced >> width.bits;
    widest_gap = std::max<uint64_t>(widest_gap, gap);
    last = i;
  }
  const uint32_t gap_bits = Bits(widest_gap);
  const PackedWidth entry = WidthFor(gap_bits + patch.bits, Packing::kTight);
  const size_t base_bytes = (WidthFor(Bits(magnitude), Packing::kTight).bits + 1 + 7) / 8;
  const size_t bytes =
      4 + base_bytes + PackedBytes(count, width.bits) + PackedBytes(entries, entry.bits);
  // A patched run takes longer to read than a direct one.
  if (entries == 0 || entries > kMaxPatches || bytes > limit - limit / 8) return false;
  Header(kPatched, width.code, count);
  Byte((base_bytes - 1) << 5 | patch.code);
  Byte((gap_bits - 1) << 5 | entries);
  const uint64_t sign = shape.minimum < 0 ? uint64_t{1} << (base_bytes * 8 - 1) : 0;
  BigEndian(magnitude | sign, base_bytes);
  out_ = Pack(scratch_.data(), count, width.bits, out_);
  for (size_t i = 0; i < entries; ++i) scratch_[i] = gaps[i] << patch.bits | patches[i];
  out_ = Pack(scratch_.data(), entries, entry.bits, out_);
  return true;
}

}  // namespace

uint8_t* EncodeInts(
    const int64_t* values, size_t count, Signedness signedness, Packing packing, uint8_t* out) {
  Encoder encoder(signedness, packing, out);
  encoder.Encode(values, count);
  return encoder.end();
}

uint8_t* EncodeArithmetic(
    int64_t first, int64_t step, size_t count, Signedness signedness, uint8_t* out) {
  Encoder encoder(signedness, Packing::kAligned, out);
  encoder.Arithmetic(first, step, count);
  return encoder.end();
}

}  // namespace skep::orc
