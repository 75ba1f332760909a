#pragma once

// Between dense values (those that a stream has) and slots (one per row, nulls too). Bitmaps are in
// Arrow's order, begin at a byte and are padded to a byte.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace skep::orc {

constexpr int64_t BitmapBytes(int64_t bits) { return (bits + 7) / 8; }

inline bool BitAt(const uint8_t* bits, int64_t index) {
  return (bits[index >> 3] >> (index & 7) & 1) != 0;
}

int64_t CountBits(const uint8_t* bits, int64_t length);

// Every set bit of `slots` takes the next bit of `dense`; the others are zero. `out` is another
// bitmap of `length` bits.
void SpreadBits(const uint8_t* dense, const uint8_t* slots, int64_t length, uint8_t* out);

// Up to 64 bits from a byte's edge; bits behind `length` are zero.
inline uint64_t BitsFrom(const uint8_t* bits, int64_t at, int64_t length) {
  uint64_t word = 0;
  const int64_t count = length - at < 64 ? length - at : 64;
  std::memcpy(&word, bits + at / 8, static_cast<size_t>(BitmapBytes(count)));
  return count == 64 ? word : word & ((uint64_t{1} << count) - 1);
}

// Moves the first `count` values to the slots that are set in `valid`, in place; the others become
// zero.
template <class T>
void Spread(T* values, int64_t length, const uint8_t* valid, int64_t count) {
  int64_t next = count;  // values[0, next) are still to be moved
  for (int64_t begin = (length - 1) / 64 * 64; begin >= 0 && length > 0; begin -= 64) {
    const int64_t end = length - begin < 64 ? length : begin + 64;
    if (next == end) return;  // the rest is where it belongs
    const uint64_t word = BitsFrom(valid, begin, length);
    if (word == 0) {
      std::memset(
          static_cast<void*>(values + begin), 0, static_cast<size_t>(end - begin) * sizeof(T));
      continue;
    }
    if (word == ~uint64_t{0}) {
      next -= 64;
      std::memmove(static_cast<void*>(values + begin), values + next, 64 * sizeof(T));
      continue;
    }
    for (int64_t i = end - 1; i >= begin; --i) {
      const bool here = (word >> (i - begin) & 1) != 0;
      next -= here ? 1 : 0;
      values[i] = here ? values[next] : T{};
    }
  }
}

}  // namespace skep::orc
