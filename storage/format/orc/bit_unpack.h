#pragma once

// Fixed-width numbers out of big-endian bit strings, one routine per width (PF-1), and bits in
// Arrow's order. Pure.

#include <cstddef>
#include <cstdint>

namespace skep::orc {

// Bytes of `count` values of `width` bits.
constexpr size_t PackedBytes(size_t count, uint32_t width) { return (count * width + 7) / 8; }

// Unpacks `count` values of 1 to 64 bits. Eight bytes behind the packed ones may be read.
void UnpackBits(const uint8_t* in, uint32_t width, size_t count, uint64_t* out);

// In place: from most significant bit first (ORC) to least significant bit first (Arrow).
void ReverseBits(uint8_t* bytes, size_t count);

// In place: zigzag to two's complement.
void UnzigzagAll(uint64_t* values, size_t count);

constexpr int64_t Unzigzag(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

}  // namespace skep::orc
