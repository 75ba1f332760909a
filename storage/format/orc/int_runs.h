#pragma once

// Integers as runs of RLE version 2 (RL-10…RL-15): which of the four kinds takes least room. Pure.

#include <cstddef>
#include <cstdint>

#include "storage/format/orc/int_packing.h"
#include "storage/format/orc/rle.h"

namespace skep::orc {

inline constexpr size_t kMaxIntRun = 512;
// No encoding of kMaxIntRun values is longer; out buffers have this size.
inline constexpr size_t kMaxEncodedInts = 16 << 10;

// Writes 1…512 values and returns the end. Unsigned streams hold numbers below 2^63.
uint8_t* EncodeInts(
    const int64_t* values, size_t count, Signedness signedness, Packing packing, uint8_t* out);

// The same for first, first + step, …, 1…512 values, without looking at each.
uint8_t* EncodeArithmetic(
    int64_t first, int64_t step, size_t count, Signedness signedness, uint8_t* out);

}  // namespace skep::orc
