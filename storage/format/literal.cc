#include "storage/format/literal.h"

#include <limits>

#include "storage/base/text.h"

namespace skep::format {

namespace {

std::optional<Literal> IntegerLiteral(std::string_view text, int64_t low, int64_t high) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::optional<int64_t> value = ParseInt64(text);
  if (!value || *value < low || *value > high) return std::nullopt;
  return *value;
}

template <class T>
std::optional<Literal> Integer(std::string_view text) {
  return IntegerLiteral(text, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

std::optional<Literal> Boolean(std::string_view text) {
  if (AsciiEqualsIgnoreCase(text, "true")) return true;
  if (AsciiEqualsIgnoreCase(text, "false")) return false;
  return std::nullopt;
}

std::optional<Literal> Floating(std::string_view text, bool single) {
  double value = 0;
  if (AsciiEqualsIgnoreCase(text, "nan")) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (AsciiEqualsIgnoreCase(text, "infinity")) {
    value = std::numeric_limits<double>::infinity();
  } else if (AsciiEqualsIgnoreCase(text, "-infinity")) {
    value = -std::numeric_limits<double>::infinity();
  } else {
    const std::optional<double> parsed = ParseDouble(text);
    if (!parsed) return std::nullopt;
    value = *parsed;
  }
  return single ? static_cast<double>(static_cast<float>(value)) : value;
}

bool IsDecimalText(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  bool digit = false, point = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      digit = true;
    } else if (c == '.' && !point) {
      point = true;
    } else {
      return false;
    }
  }
  return digit;
}

std::optional<Literal> DecimalOf(std::string_view text, const HiveType& type) {
  if (!IsDecimalText(text)) return std::nullopt;
  std::string all(text);
  if (const size_t point = all.find('.'); point != std::string::npos) {
    all.erase(all.find_last_not_of('0') + 1);  // zeros of the fraction say nothing
    if (all.back() == '.') all.pop_back();
  }
  if (all.empty() || all == "-" || all == "+") all = "0";
  arrow::Decimal128 value;
  int32_t precision = 0, scale = 0;
  if (!arrow::Decimal128::FromString(all, &value, &precision, &scale).ok()) return std::nullopt;
  DecimalLiteral literal;
  if (scale <= type.scale) {
    const arrow::Result<arrow::Decimal128> scaled = value.Rescale(scale, type.scale);
    if (!scaled.ok()) return std::nullopt;
    literal.floor = *scaled;
  } else {
    literal.floor = value.ReduceScaleBy(scale - type.scale, /*round=*/false);  // toward zero
    literal.above = true;
    if (value < arrow::Decimal128(0)) literal.floor -= arrow::Decimal128(1);
  }
  return literal;
}

}  // namespace

std::optional<Literal> ParseLiteral(std::string_view text, const HiveType& type) {
  const std::string_view trimmed = TrimBlanks(text);
  switch (type.kind) {
    case TypeKind::kBoolean:
      return Boolean(trimmed);
    case TypeKind::kTinyint:
      return Integer<int8_t>(trimmed);
    case TypeKind::kSmallint:
      return Integer<int16_t>(trimmed);
    case TypeKind::kInt:
      return Integer<int32_t>(trimmed);
    case TypeKind::kBigint:
      return Integer<int64_t>(trimmed);
    case TypeKind::kFloat:
      return Floating(trimmed, true);
    case TypeKind::kDouble:
      return Floating(trimmed, false);
    case TypeKind::kChar:
      return std::string(text.substr(0, text.find_last_not_of(' ') + 1));
    case TypeKind::kString:
    case TypeKind::kVarchar:
    case TypeKind::kBinary:
      return std::string(text);
    case TypeKind::kDate: {
      const std::optional<int32_t> days = ParseDate(trimmed);
      if (!days) return std::nullopt;
      return DateLiteral{*days};
    }
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLocalTz: {
      const std::optional<WallTime> time = ParseTimestamp(trimmed);
      if (!time) return std::nullopt;
      return *time;
    }
    case TypeKind::kDecimal:
      return DecimalOf(trimmed, type);
    default:
      return std::nullopt;
  }
}

}  // namespace skep::format
