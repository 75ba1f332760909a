#include "storage/format/orc/decimal_text.h"

#include <algorithm>
#include <utility>

namespace skep::orc {

namespace {

constexpr int kMostDigits = 38;

uint128_t Magnitude(int128_t value) {
  return value < 0 ? 0 - static_cast<uint128_t>(value) : static_cast<uint128_t>(value);
}

constexpr uint128_t kLimit = [] {
  uint128_t limit = 1;
  for (int i = 0; i < kMostDigits; ++i) limit *= 10;
  return limit;
}();

}  // namespace

bool FitsDecimal(int128_t unscaled) { return Magnitude(unscaled) < kLimit; }

std::string PlainDecimal(std::string digits, int32_t scale) {
  const bool negative = digits.starts_with('-');
  if (negative) digits.erase(0, 1);
  const auto fraction = static_cast<size_t>(scale);
  if (digits.size() <= fraction) digits.insert(0, fraction + 1 - digits.size(), '0');
  if (fraction > 0) {
    digits.insert(digits.size() - fraction, ".");
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
  }
  if (negative) digits.insert(0, "-");
  return digits;
}

std::string DecimalText(int128_t unscaled, int32_t scale) {
  std::string digits;  // from the last one
  for (uint128_t rest = Magnitude(unscaled); rest != 0 || digits.empty(); rest /= 10)
    digits.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
  if (unscaled < 0) digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return PlainDecimal(std::move(digits), scale);
}

}  // namespace skep::orc
