#include "storage/format/orc/int_packing.h"

#include <array>
#include <bit>
#include <cstring>

namespace skep::orc {

namespace {

constexpr uint32_t CodeOf(uint32_t width) {
  if (width <= 24) return width - 1;
  switch (width) {
    case 26:
      return 24;
    case 28:
      return 25;
    case 30:
      return 26;
    case 32:
      return 27;
    default:
      return 28 + (width - 40) / 8;
  }
}

constexpr uint32_t Closest(uint32_t bits) {
  if (bits <= 24) return bits == 0 ? 1 : bits;
  if (bits <= 32) return (bits + 1) / 2 * 2;
  return (bits + 7) / 8 * 8;
}

constexpr uint32_t Aligned(uint32_t bits) {
  if (bits <= 8) return std::bit_ceil(bits == 0 ? 1U : bits);
  return (bits + 7) / 8 * 8;
}

constexpr auto Table(uint32_t (*width)(uint32_t)) {
  std::array<PackedWidth, 65> table{};
  for (uint32_t bits = 0; bits <= 64; ++bits) table[bits] = {width(bits), CodeOf(width(bits))};
  return table;
}

constexpr std::array<PackedWidth, 65> kTightWidths = Table(Closest);
constexpr std::array<PackedWidth, 65> kAlignedWidths = Table(Aligned);

// Whole bytes: the value at the upper end of a big-endian word, of which the first bytes stay.
template <size_t kBytes>
uint8_t* PackBytes(const uint64_t* values, size_t count, uint8_t* out) {
  for (size_t i = 0; i < count; ++i) {
    const uint64_t word = __builtin_bswap64(values[i] << (64 - kBytes * 8));
    std::memcpy(out, &word, sizeof(word));
    out += kBytes;
  }
  return out;
}

uint8_t* PackBits(const uint64_t* values, size_t count, uint32_t width, uint8_t* out) {
  uint64_t window = 0;  // the upper `used` bits are filled
  uint32_t used = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t value = values[i];
    const uint32_t room = 64 - used;
    if (width < room) {
      window |= value << (room - width);
      used += width;
      continue;
    }
    window |= value >> (width - room);
    const uint64_t word = __builtin_bswap64(window);
    std::memcpy(out, &word, sizeof(word));
    out += sizeof(word);
    used = width - room;
    window = used == 0 ? 0 : value << (64 - used);
  }
  const uint64_t word = __builtin_bswap64(window);
  std::memcpy(out, &word, sizeof(word));
  return out + (used + 7) / 8;
}

}  // namespace

PackedWidth WidthFor(uint32_t bits, Packing packing) {
  return packing == Packing::kTight ? kTightWidths[bits] : kAlignedWidths[bits];
}

uint8_t* Pack(const uint64_t* values, size_t count, uint32_t width, uint8_t* out) {
  switch (width) {
    case 8:
      for (size_t i = 0; i < count; ++i) out[i] = static_cast<uint8_t>(values[i]);
      return out + count;
    case 16:
      return PackBytes<2>(values, count, out);
    case 24:
      return PackBytes<3>(values, count, out);
    case 32:
      return PackBytes<4>(values, count, out);
    case 40:
      return PackBytes<5>(values, count, out);
    case 48:
      return PackBytes<6>(values, count, out);
    case 56:
      return PackBytes<7>(values, count, out);
    case 64:
      return PackBytes<8>(values, count, out);
    default:
      return PackBits(values, count, width, out);
  }
}

}  // namespace skep::orc
