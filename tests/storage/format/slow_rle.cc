#include "tests/storage/format/slow_rle.h"

#include <array>

namespace skep::testing {

namespace {

constexpr std::array<uint32_t, 32> kWidths{1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                           12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                                           23, 24, 26, 28, 30, 32, 40, 48, 56, 64};

class Slow {
 public:
  Slow(std::string_view bytes, bool is_signed) : bytes_(bytes), is_signed_(is_signed) {}

  SlowResult All(bool version2) {
    SlowResult result;
    while (at_ < bytes_.size()) {
      version2 ? RunV2() : RunV1();
      if (bad_) break;
      result.bytes = at_;
      result.values = values_;
      result.kinds = kinds_;
    }
    return result;
  }

 private:
  uint64_t Byte() {
    if (at_ >= bytes_.size()) {
      bad_ = true;
      return 0;
    }
    return static_cast<uint8_t>(bytes_[at_++]);
  }
  uint64_t Varint() {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 70; shift += 7) {
      const uint64_t byte = Byte();
      if (shift < 64) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    bad_ = true;
    return 0;
  }
  uint64_t BigEndian(uint64_t bytes) {
    uint64_t value = 0;
    for (; bytes > 0; --bytes) value = value << 8 | Byte();
    return value;
  }
  std::vector<uint64_t> Packed(uint64_t count, uint32_t width) {
    std::vector<uint64_t> out;
    const size_t bytes = (count * width + 7) / 8;
    if (bytes > bytes_.size() - at_) bad_ = true;
    for (uint64_t i = 0; i < count && !bad_; ++i) {
      uint64_t value = 0;
      for (uint64_t bit = i * width; bit < (i + 1) * width; ++bit) {
        const auto byte = static_cast<uint8_t>(bytes_[at_ + bit / 8]);
        value = value << 1 | (byte >> (7 - bit % 8) & 1U);
      }
      out.push_back(value);
    }
    at_ += bytes;
    return out;
  }
  static uint64_t Unzigzag(uint64_t value) { return value >> 1 ^ (0 - (value & 1)); }
  uint64_t Unsign(uint64_t value) const { return is_signed_ ? Unzigzag(value) : value; }
  void Put(uint64_t value) { values_.push_back(static_cast<int64_t>(value)); }

  void RunV1() {
    const uint64_t control = Byte();
    if (control < 128) {
      const auto delta = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int8_t>(Byte())));
      const uint64_t first = Unsign(Varint());
      for (uint64_t i = 0; i < control + 3; ++i) Put(first + i * delta);
    } else {
      for (uint64_t i = 0; i < 256 - control; ++i) Put(Unsign(Varint()));
    }
  }

  void RunV2() {
    const uint64_t first = Byte();
    const uint64_t code = first >> 1 & 31;
    kinds_.push_back(static_cast<int>(first >> 6));
    if (first >> 6 == 0) {
      const uint64_t value = Unsign(BigEndian((first >> 3 & 7) + 1));
      for (uint64_t i = 0; i < (first & 7) + 3; ++i) Put(value);
      return;
    }
    const uint64_t count = ((first & 1) << 8 | Byte()) + 1;
    if (first >> 6 == 1) {
      for (const uint64_t value : Packed(count, kWidths[code])) Put(Unsign(value));
    } else if (first >> 6 == 2) {
      Patched(count, kWidths[code]);
    } else {
      Delta(count, code);
    }
  }

  void Patched(uint64_t count, uint32_t width) {
    const uint64_t third = Byte(), fourth = Byte();
    const uint64_t base_bytes = (third >> 5) + 1;
    const uint32_t patch_width = kWidths[third & 31];
    const auto gap_width = static_cast<uint32_t>(fourth >> 5) + 1;
    const uint64_t patches = fourth & 31;
    if (patches == 0 || patch_width + gap_width > 64) bad_ = true;
    uint64_t base = BigEndian(base_bytes);
    const uint64_t sign = uint64_t{1} << (8 * base_bytes - 1);
    if ((base & sign) != 0) base = 0 - (base ^ sign);
    std::vector<uint64_t> values = Packed(count, width);
    uint32_t entry_width = 0;
    for (const uint32_t listed : kWidths) {
      if (listed >= patch_width + gap_width && entry_width == 0) entry_width = listed;
    }
    uint64_t position = 0;
    for (const uint64_t entry : Packed(patches, entry_width)) {
      position += entry >> patch_width;
      const uint64_t patch = entry & ((uint64_t{1} << patch_width) - 1);
      if (patch == 0) continue;
      if (position >= values.size()) {
        bad_ = true;
        return;
      }
      if (width < 64) values[position] |= patch << width;
    }
    for (const uint64_t value : values) Put(base + value);
  }

  void Delta(uint64_t count, uint64_t code) {
    uint64_t value = Unsign(Varint());
    const uint64_t delta = Unzigzag(Varint());
    Put(value);
    if (code == 0) {
      for (uint64_t i = 1; i < count; ++i) Put(value += delta);
      return;
    }
    if (count < 2) {
      bad_ = true;
      return;
    }
    Put(value += delta);
    for (const uint64_t step : Packed(count - 2, kWidths[code])) {
      Put(value = static_cast<int64_t>(delta) < 0 ? value - step : value + step);
    }
  }

  std::string_view bytes_;
  bool is_signed_;
  size_t at_ = 0;
  bool bad_ = false;
  std::vector<int64_t> values_;
  std::vector<int> kinds_;
};

}  // namespace

SlowResult SlowIntegers(std::string_view bytes, bool version2, bool is_signed) {
  return Slow(bytes, is_signed).All(version2);
}

std::vector<uint8_t> SlowBytes(std::string_view bytes) {
  std::vector<uint8_t> out;
  for (size_t at = 0; at < bytes.size();) {
    const auto control = static_cast<uint8_t>(bytes[at++]);
    const size_t literals = control < 128 ? 1 : 256 - control;
    if (literals > bytes.size() - at) return {};
    for (size_t i = 0; i < (control < 128 ? control + 3U : literals); ++i)
      out.push_back(static_cast<uint8_t>(bytes[control < 128 ? at : at + i]));
    at += literals;
  }
  return out;
}

}  // namespace skep::testing
