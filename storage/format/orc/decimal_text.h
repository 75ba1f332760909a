#pragma once

// Decimals as the statistics hold them: plain text.

#include <cstdint>
#include <string>

namespace skep::orc {

using int128_t = __int128;
using uint128_t = unsigned __int128;

// At most 38 digits.
bool FitsDecimal(int128_t unscaled);
// "-1.5" for -150 at scale 2: no exponent, no trailing zeros (as Java writes them).
std::string DecimalText(int128_t unscaled, int32_t scale);

// The same from the digits of the unscaled value, with or without a sign.
std::string PlainDecimal(std::string digits, int32_t scale);

}  // namespace skep::orc
