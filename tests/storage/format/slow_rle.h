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
  size_t bytes = 0;  // that they lie in
};

// The values of all whole runs, up to the end of the stream or the first damage.
SlowResult SlowIntegers(std::string_view bytes, bool version2, bool is_signed);

}  // namespace skep::testing
