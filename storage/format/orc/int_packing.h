#pragma once

// Widths of packed integers and the packing itself (RLE version 2): big-endian bit strings, padded
// with zeros to a byte. Pure.

#include <cstddef>
#include <cstdint>

namespace skep::orc {

// kAligned: only widths that divide a byte or are made of whole ones. They take more room, compress
// better and unpack faster.
enum class Packing { kTight, kAligned };

struct PackedWidth {
  uint32_t bits;
  uint32_t code;
};

// The smallest width that the format has for `bits` bits, 0 counting as 1.
PackedWidth WidthFor(uint32_t bits, Packing packing);

inline size_t PackedBytes(size_t count, uint32_t width) { return (count * width + 7) / 8; }

// Writes `count` values of at most `width` bits; returns the end. May write up to 8 bytes behind
// it.
uint8_t* Pack(const uint64_t* values, size_t count, uint32_t width, uint8_t* out);

}  // namespace skep::orc
