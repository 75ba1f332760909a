#include "storage/model/partition_value.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep {
namespace {

template <class Number>
bool IsInteger(std::string_view value) {
  const std::optional<int64_t> number = ParseInt64(value);
  return number && *number >= std::numeric_limits<Number>::min() &&
         *number <= std::numeric_limits<Number>::max();
}

bool IsFloating(std::string_view value) {
  for (const std::string_view word : {"nan", "infinity", "-infinity"}) {
    if (AsciiEqualsIgnoreCase(value, word)) return true;
  }
  return ParseDouble(value).has_value();
}

// "-12.50"
bool IsDecimal(std::string_view value, int32_t precision, int32_t scale) {
  if (value.starts_with('-')) value.remove_prefix(1);
  const size_t point = value.find('.');
  std::string_view whole = value.substr(0, point);
  std::string_view fraction = point == value.npos ? "" : value.substr(point + 1);
  const auto digits = [](std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (whole.empty() && fraction.empty()) return false;
  if (!digits(whole) || !digits(fraction)) return false;
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
  fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
  return std::ssize(whole) <= precision - scale && std::ssize(fraction) <= scale;
}

// Digits in the places of `form`'s digits, its other characters as they are.
bool HasForm(std::string_view text, std::string_view form) {
  return std::equal(text.begin(), text.end(), form.begin(), form.end(), [](char c, char f) {
    return f == '0' ? c >= '0' && c <= '9' : c == f;
  });
}

// "2026-10-01", of the years 1 to 9999.
bool IsDate(std::string_view value) {
  if (!HasForm(value, "0000-00-00")) return false;
  const auto number = [value](size_t at, size_t width) {
    return static_cast<int>(*ParseInt64(value.substr(at, width)));
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  return number(0, 4) > 0 && date.ok();
}

// A date, or a date and "12:30:00" with up to nine digits of fraction.
bool IsTimestamp(std::string_view value) {
  if (!IsDate(value.substr(0, 10))) return false;
  value.remove_prefix(10);
  if (value.empty()) return true;
  if (value.front() != ' ' && value.front() != 'T') return false;
  const std::string_view time = value.substr(1, 8);
  if (!HasForm(time, "00:00:00")) return false;
  if (time.substr(0, 2) > "23" || time.substr(3, 2) > "59" || time.substr(6, 2) > "59")
    return false;
  const std::string_view rest = value.substr(9);
  return rest.empty() || (rest.size() >= 2 && rest.size() <= 10 &&
                          HasForm(rest, std::string(".000000000").substr(0, rest.size())));
}

int64_t CharactersOf(std::string_view utf8) {
  return std::count_if(utf8.begin(), utf8.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
}

}  // namespace

bool FitsType(std::string_view value, const HiveType& type) {
  switch (type.kind) {
    case TypeKind::kBoolean:
      return AsciiEqualsIgnoreCase(value, "true") || AsciiEqualsIgnoreCase(value, "false");
    case TypeKind::kTinyint:
      return IsInteger<int8_t>(value);
    case TypeKind::kSmallint:
      return IsInteger<int16_t>(value);
    case TypeKind::kInt:
      return IsInteger<int32_t>(value);
    case TypeKind::kBigint:
      return IsInteger<int64_t>(value);
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return IsFloating(value);
    case TypeKind::kDecimal:
      return IsDecimal(value, type.precision, type.scale);
    case TypeKind::kDate:
      return IsDate(value);
    case TypeKind::kTimestamp:
      return IsTimestamp(value);
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return CharactersOf(value) <= type.length;
    default:
      return true;
  }
}

absl::Status CheckPartitionValues(const PartitionSpec& spec, const std::vector<Column>& columns) {
  for (size_t i = 0; i < spec.values.size() && i < columns.size(); ++i) {
    const auto& value = spec.values[i].second;
    if (!value || FitsType(*value, columns[i].type)) continue;
    return MakeError(
        ErrorReason::kInvalidRequest,
        fmt::format("\"{}\": the value \"{}\" is no {}, which partition column {} holds",
                    Printable(FormatPartition(spec)),
                    Printable(*value),
                    columns[i].type.ToString(),
                    columns[i].name),
        {{"field", "partition"}, {"column", columns[i].name}});
  }
  return absl::OkStatus();
}

}  // namespace skep
