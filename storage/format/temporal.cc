#include "storage/format/temporal.h"

#include <array>
#include <charconv>

#include "storage/base/text.h"
#include "storage/format/calendar.h"

namespace skep::format {

namespace {

void AppendPadded(int64_t value, size_t width, std::string* out) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  const auto length = static_cast<size_t>(end - digits.data());
  if (length < width) out->append(width - length, '0');
  out->append(digits.data(), length);
}

// The next `width` digits of `text`, which they leave.
std::optional<int32_t> TakeDigits(std::string_view* text, size_t width) {
  if (text->size() < width) return std::nullopt;
  int32_t value = 0;
  for (const char digit : text->substr(0, width)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    value = value * 10 + (digit - '0');
  }
  text->remove_prefix(width);
  return value;
}

bool TakeChar(std::string_view* text, std::string_view any_of) {
  if (text->empty() || any_of.find(text->front()) == std::string_view::npos) return false;
  text->remove_prefix(1);
  return true;
}

std::optional<int32_t> TakeDate(std::string_view* text) {
  const std::optional<int32_t> year = TakeDigits(text, 4);
  if (!year || *year == 0 || !TakeChar(text, "-")) return std::nullopt;
  const std::optional<int32_t> month = TakeDigits(text, 2);
  if (!month || !TakeChar(text, "-")) return std::nullopt;
  const std::optional<int32_t> day = TakeDigits(text, 2);
  if (!day) return std::nullopt;
  const CivilDate date{*year, *month, *day};
  if (!IsValidDate(date)) return std::nullopt;
  return static_cast<int32_t>(DaysOf(date));
}

// "12:30:00[.digits]" as nanoseconds of the day.
std::optional<int64_t> TakeTime(std::string_view* text) {
  const std::optional<int32_t> hour = TakeDigits(text, 2);
  if (!hour || *hour > 23 || !TakeChar(text, ":")) return std::nullopt;
  const std::optional<int32_t> minute = TakeDigits(text, 2);
  if (!minute || *minute > 59 || !TakeChar(text, ":")) return std::nullopt;
  const std::optional<int32_t> second = TakeDigits(text, 2);
  if (!second || *second > 59) return std::nullopt;
  int64_t nanos = 0;
  if (TakeChar(text, ".")) {
    int64_t unit = 100'000'000;
    if (text->empty()) return std::nullopt;
    while (!text->empty() && unit > 0) {
      const std::optional<int32_t> digit = TakeDigits(text, 1);
      if (!digit) return std::nullopt;
      nanos += *digit * unit;
      unit /= 10;
    }
  }
  return ((static_cast<int64_t>(*hour) * 60 + *minute) * 60 + *second) * 1'000'000'000 + nanos;
}

}  // namespace

void AppendDate(int64_t days, std::string* out) {
  const CivilDate date = DateOf(days);
  if (date.year < 0) out->push_back('-');
  AppendPadded(date.year < 0 ? -date.year : date.year, 4, out);
  out->push_back('-');
  AppendPadded(date.month, 2, out);
  out->push_back('-');
  AppendPadded(date.day, 2, out);
}

void AppendTimestamp(WallTime time, std::string* out) {
  const int64_t day = FloorDivide(time.us, kMicrosPerDay);
  const int64_t of_day = time.us - day * kMicrosPerDay;
  const int64_t seconds = of_day / kMicrosPerSecond;
  AppendDate(day, out);
  out->push_back(' ');
  AppendPadded(seconds / 3600, 2, out);
  out->push_back(':');
  AppendPadded(seconds / 60 % 60, 2, out);
  out->push_back(':');
  AppendPadded(seconds % 60, 2, out);
  const int64_t nanos = of_day % kMicrosPerSecond * 1000 + time.sub;
  if (nanos == 0) return;
  out->push_back('.');
  AppendPadded(nanos, 9, out);
  out->erase(out->find_last_not_of('0') + 1);
}

std::optional<int32_t> ParseDate(std::string_view text) {
  text = TrimBlanks(text);
  const std::optional<int32_t> days = TakeDate(&text);
  return text.empty() ? days : std::nullopt;
}

std::optional<WallTime> ParseTimestamp(std::string_view text) {
  text = TrimBlanks(text);
  const std::optional<int32_t> days = TakeDate(&text);
  if (!days) return std::nullopt;
  WallTime time{*days * kMicrosPerDay, 0};
  if (text.empty()) return time;
  if (!TakeChar(&text, " T")) return std::nullopt;
  const std::optional<int64_t> nanos = TakeTime(&text);
  if (!nanos || !text.empty()) return std::nullopt;
  time.us += *nanos / 1000;
  time.sub = static_cast<int16_t>(*nanos % 1000);
  return time;
}

}  // namespace skep::format
