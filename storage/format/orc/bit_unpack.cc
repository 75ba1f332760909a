#include "storage/format/orc/bit_unpack.h"

#include <array>
#include <cstring>
#include <utility>

namespace skep::orc {

namespace {

uint64_t LoadBigEndian(const uint8_t* in) {
  uint64_t word = 0;
  std::memcpy(&word, in, sizeof(word));
  return __builtin_bswap64(word);
}

// Eight values fill `kWidth` bytes, so within a group every shift is a constant. A value of up to
// 57 bits lies within the eight bytes from where it begins.
template <uint32_t kWidth>
void Unpack(const uint8_t* in, size_t count, uint64_t* out) {
  static_assert(kWidth <= 57);
  const auto group = [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    ((out[kIndex] =
          LoadBigEndian(in + kIndex * kWidth / 8) << (kIndex * kWidth % 8) >> (64 - kWidth)),
     ...);
  };
  for (; count >= 8; count -= 8, in += kWidth, out += 8) group(std::make_index_sequence<8>());
  for (size_t i = 0; i < count; ++i) {
    out[i] = LoadBigEndian(in + i * kWidth / 8) << (i * kWidth % 8) >> (64 - kWidth);
  }
}

template <>
void Unpack<0>(const uint8_t* /*in*/, size_t count, uint64_t* out) {
  std::memset(out, 0, count * sizeof(*out));
}

void UnpackWords(const uint8_t* in, size_t count, uint64_t* out) {
  for (size_t i = 0; i < count; ++i) out[i] = LoadBigEndian(in + 8 * i);
}

// Widths of 58 to 63 bits: none has a code, but patch lists of hostile files add up to any number.
void UnpackSlowly(const uint8_t* in, uint32_t width, size_t count, uint64_t* out) {
  for (size_t i = 0; i < count; ++i) {
    const size_t bit = i * width;
    const uint32_t shift = bit % 8;
    uint64_t value = LoadBigEndian(in + bit / 8) << shift >> (64 - width);
    if (const uint32_t beyond = shift + width; beyond > 64) {
      value |= in[bit / 8 + 8] >> (72 - beyond);
    }
    out[i] = value;
  }
}

using Routine = void (*)(const uint8_t*, size_t, uint64_t*);

template <size_t... kWidths>
constexpr std::array<Routine, sizeof...(kWidths)> RoutinesOf(std::index_sequence<kWidths...>) {
  return {&Unpack<kWidths>...};
}

constexpr auto kRoutines = RoutinesOf(std::make_index_sequence<58>());

}  // namespace

void UnpackBits(const uint8_t* in, uint32_t width, size_t count, uint64_t* out) {
  if (width < kRoutines.size()) return kRoutines[width](in, count, out);
  if (width == 64) return UnpackWords(in, count, out);
  UnpackSlowly(in, width, count, out);
}

void ReverseBits(uint8_t* bytes, size_t count) {
  const auto reverse = [](uint64_t word) {
    word = (word >> 1 & 0x5555555555555555U) | (word & 0x5555555555555555U) << 1;
    word = (word >> 2 & 0x3333333333333333U) | (word & 0x3333333333333333U) << 2;
    return (word >> 4 & 0x0f0f0f0f0f0f0f0fU) | (word & 0x0f0f0f0f0f0f0f0fU) << 4;
  };
  uint64_t word = 0;
  for (; count >= sizeof(word); count -= sizeof(word), bytes += sizeof(word)) {
    std::memcpy(&word, bytes, sizeof(word));
    word = reverse(word);
    std::memcpy(bytes, &word, sizeof(word));
  }
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(reverse(bytes[i]));
}

void UnzigzagAll(uint64_t* values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<uint64_t>(Unzigzag(values[i]));
}

}  // namespace skep::orc
