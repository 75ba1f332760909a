#pragma once

// Integer runs decoded bit by bit, as the format's description words it: what the fast decoder is
// held against.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace skep::testing {

struct SlowResult {
  std::vector<int64_t> values;
  std::vector<int> kinds;  // of runs of version 2: 0 short repeat, 1 direct, 2 patched, 3 delta
  size_t bytes = 0;        // that they lie in
};

// The values of all whole runs, up to the end of the stream or the first damage.
SlowResult SlowIntegers(std::string_view bytes, bool version2, bool is_signed);

// The bytes of byte runs; nothing where they end in the middle of a run.
std::vector<uint8_t> SlowBytes(std::string_view bytes);

}  // namespace skep::testing
