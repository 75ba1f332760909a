#pragma once

// Dates and timestamps as text, in Hive's form. Pure.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skep::format {

// A wall clock's instant: microseconds since 1970-01-01 00:00:00 (floor) and 0…999 nanoseconds
// within.
struct WallTime {
  int64_t us = 0;
  int16_t sub = 0;
  friend auto operator<=>(const WallTime&, const WallTime&) = default;
};

inline constexpr int64_t kMicrosPerSecond = 1'000'000;
inline constexpr int64_t kMicrosPerDay = 86'400 * kMicrosPerSecond;
// 0001-01-01 00:00:00 and the last microsecond of 9999-12-31.
inline constexpr int64_t kMinWallMicros = -62'135'596'800 * kMicrosPerSecond;
inline constexpr int64_t kMaxWallMicros = 253'402'300'800 * kMicrosPerSecond - 1;
inline constexpr int64_t kMinDay = -719'162;   // 0001-01-01
inline constexpr int64_t kMaxDay = 2'932'896;  // 9999-12-31

constexpr int64_t FloorDivide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// "2026-10-01"; years have at least four digits.
void AppendDate(int64_t days, std::string* out);
// "2026-10-01 12:30:00.25": a fraction without trailing zeros, none where it is zero.
void AppendTimestamp(WallTime time, std::string* out);

// "2026-10-01", nothing else. nullopt for anything that is no date of the years 1…9999.
std::optional<int32_t> ParseDate(std::string_view text);
// A date, or a date and "12:30:00" with up to nine digits of fraction, separated by a blank or T.
std::optional<WallTime> ParseTimestamp(std::string_view text);

}  // namespace skep::format
