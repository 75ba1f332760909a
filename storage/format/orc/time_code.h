#pragma once

#include <cstdint>

namespace skep::orc {

// The code of a fraction of a second (TY-14): trailing zeros are counted, not stored.
inline uint64_t NanosCode(uint32_t nanos) {
  if (nanos == 0) return 0;
  if (nanos % 100 != 0) return static_cast<uint64_t>(nanos) << 3;
  uint64_t value = nanos / 100;
  uint64_t zeros = 1;  // as stored: one less than there are
  while (value % 10 == 0 && zeros < 7) {
    value /= 10;
    ++zeros;
  }
  return value << 3 | zeros;
}

}  // namespace skep::orc
