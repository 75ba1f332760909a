#include "client/cli/human.h"

#include <time.h>

#include <array>
#include <cstdio>
#include <limits>

#include <fmt/format.h>

#include "storage/base/text.h"

namespace skep::cli {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::optional<int64_t> Digits(std::string_view text, size_t begin, size_t count) {
  if (text.size() < begin + count) return std::nullopt;
  std::optional<int64_t> value = ParseInt64(text.substr(begin, count));
  return value.has_value() && *value >= 0 ? value : std::nullopt;
}

// ".123456789" → 123; the fraction may be absent.
std::optional<int64_t> Millis(std::string_view fraction) {
  if (fraction.empty()) return 0;
  if (fraction[0] != '.' || fraction.size() < 2 || fraction.size() > 10) return std::nullopt;
  std::string digits(fraction.substr(1));
  digits.resize(9, '0');
  std::optional<int64_t> nanos = Digits(digits, 0, 9);
  if (!nanos.has_value()) return std::nullopt;
  return *nanos / 1'000'000;
}

}  // namespace

std::optional<Timestamp> ParseRfc3339(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':' || text.back() != 'Z') {
    return std::nullopt;
  }
  const auto year = Digits(text, 0, 4);
  const auto month = Digits(text, 5, 2);
  const auto day = Digits(text, 8, 2);
  const auto hour = Digits(text, 11, 2);
  const auto minute = Digits(text, 14, 2);
  const auto second = Digits(text, 17, 2);
  const auto millis = Millis(text.substr(19, text.size() - 20));
  if (!year || !month || !day || !hour || !minute || !second || !millis) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return Timestamp(std::chrono::sys_days(date)) + hours(*hour) + minutes(*minute) +
         seconds(*second) + milliseconds(*millis);
}

std::string FormatTime(Timestamp time, Zone zone) {
  const time_t whole = std::chrono::floor<seconds>(time).time_since_epoch().count();
  tm parts{};
  if (zone == Zone::kUtc) {
    gmtime_r(&whole, &parts);
  } else {
    localtime_r(&whole, &parts);
  }
  std::string text = fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
                                 parts.tm_year + 1900,
                                 parts.tm_mon + 1,
                                 parts.tm_mday,
                                 parts.tm_hour,
                                 parts.tm_min,
                                 parts.tm_sec);
  if (zone == Zone::kUtc) return text + "Z";
  const long offset = parts.tm_gmtoff / 60;  // minutes
  return text +
         fmt::format(
             "{}{:02}:{:02}", offset < 0 ? '-' : '+', std::abs(offset) / 60, std::abs(offset) % 60);
}

std::string FormatAge(Timestamp time, Timestamp now) {
  const milliseconds age = now - time;
  if (age < seconds(1)) return "now";
  if (age < minutes(1)) return fmt::format("{}s ago", age / seconds(1));
  if (age < hours(1)) return fmt::format("{}m ago", age / minutes(1));
  if (age < hours(48)) return fmt::format("{}h ago", age / hours(1));
  return fmt::format("{}d ago", age / hours(24));
}

std::string FormatDue(Timestamp time, Timestamp now) {
  return time - now < seconds(1) ? "now" : "in " + FormatSpan(time - now);
}

std::string FormatSpan(milliseconds span) {
  if (span.count() < 0) return "-" + FormatSpan(-span);
  if (span < seconds(1)) return fmt::format("{}ms", span.count());
  if (span < seconds(10) && span % seconds(1) >= milliseconds(100)) {
    return fmt::format("{}.{}s", span / seconds(1), span % seconds(1) / milliseconds(100));
  }
  if (span < minutes(1)) return fmt::format("{}s", span / seconds(1));
  if (span < hours(1))
    return fmt::format("{}m{:02}s", span / minutes(1), span % minutes(1) / seconds(1));
  if (span < hours(48))
    return fmt::format("{}h{:02}m", span / hours(1), span % hours(1) / minutes(1));
  return fmt::format("{}d{:02}h", span / hours(24), span % hours(24) / hours(1));
}

std::string FormatBytes(int64_t bytes) {
  static constexpr std::array kUnits = {"KB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes > -1000 && bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  while ((value >= 999.95 || value <= -999.95) && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::optional<milliseconds> ParseProtoSpan(std::string_view text) {
  if (text.size() < 2 || text.back() != 's') return std::nullopt;
  text.remove_suffix(1);
  const bool negative = text[0] == '-';
  const size_t dot = std::min(text.find('.'), text.size());
  std::optional<int64_t> whole = ParseInt64(text.substr(0, dot));
  std::optional<int64_t> millis = Millis(text.substr(dot));
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 2000;
  if (!whole.has_value() || !millis.has_value() || *whole > kMost || *whole < -kMost)
    return std::nullopt;
  return seconds(*whole) + milliseconds(negative ? -*millis : *millis);
}

std::optional<milliseconds> ParseSpan(std::string_view text) {
  if (std::optional<int64_t> plain = ParseInt64(text)) {
    if (*plain < 0 || *plain > 1'000'000'000) return std::nullopt;
    return seconds(*plain);
  }
  milliseconds total{0};
  while (!text.empty()) {
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    std::optional<int64_t> number = ParseInt64(text.substr(0, digits));
    text.remove_prefix(digits);
    const size_t letters = std::min(text.find_first_of("0123456789"), text.size());
    const std::string_view unit = text.substr(0, letters);
    text.remove_prefix(letters);
    if (!number.has_value() || *number > 1'000'000'000) return std::nullopt;
    if (unit == "ms") {
      total += milliseconds(*number);
    } else if (unit == "s") {
      total += seconds(*number);
    } else if (unit == "m") {
      total += minutes(*number);
    } else if (unit == "h") {
      total += hours(*number);
    } else if (unit == "d") {
      total += hours(24 * *number);
    } else {
      return std::nullopt;
    }
  }
  return total.count() > 0 ? std::optional(total) : std::nullopt;
}

}  // namespace skep::cli
