#include "storage/format/orc/spread.h"

#include <bit>

namespace skep::orc {

int64_t CountBits(const uint8_t* bits, int64_t length) {
  int64_t count = 0;
  for (int64_t at = 0; at < length; at += 64) count += std::popcount(BitsFrom(bits, at, length));
  return count;
}

void SpreadBits(const uint8_t* dense, const uint8_t* slots, int64_t length, uint8_t* out) {
  std::memset(out, 0, static_cast<size_t>(BitmapBytes(length)));
  int64_t next = 0;
  for (int64_t at = 0; at < length; at += 64) {
    uint64_t left = BitsFrom(slots, at, length);
    uint64_t word = 0;
    for (; left != 0; left &= left - 1, ++next) {
      if (BitAt(dense, next)) word |= left & (~left + 1);
    }
    const int64_t bits = length - at < 64 ? length - at : 64;
    std::memcpy(out + at / 8, &word, static_cast<size_t>(BitmapBytes(bits)));
  }
}

}  // namespace skep::orc
