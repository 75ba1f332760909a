#include "storage/format/orc/prune.h"

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "storage/format/calendar.h"
#include "storage/format/json_text.h"

namespace skep::orc {

namespace {

using format::ColumnRange;
using format::DateLiteral;
using format::DecimalLiteral;
using format::Literal;
using format::WallTime;

constexpr uint32_t kJava = 0;

class Bounds {
 public:
  Bounds(const ColumnStatistics& statistics,
         const HiveType& type,
         const Tail& tail,
         Calendar calendar,
         StatisticsLevel level)
      : statistics_(statistics), type_(type), tail_(tail), calendar_(calendar), level_(level) {}

  void Set(ColumnRange* range) const {
    switch (type_.kind) {
      case TypeKind::kBoolean:
        return SetBooleans(range);
      case TypeKind::kTinyint:
        return SetIntegers<int8_t>(range);
      case TypeKind::kSmallint:
        return SetIntegers<int16_t>(range);
      case TypeKind::kInt:
        return SetIntegers<int32_t>(range);
      case TypeKind::kBigint:
        return SetIntegers<int64_t>(range);
      case TypeKind::kFloat:
      case TypeKind::kDouble:
        return SetDoubles(range);
      case TypeKind::kString:
      case TypeKind::kVarchar:
      case TypeKind::kChar:
        return SetText(range);
      case TypeKind::kDate:
        return SetDates(range);
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampLocalTz:
        return SetTimestamps(range);
      case TypeKind::kDecimal:
        return SetDecimals(range);
      default:
        return;
    }
  }

 private:
  bool WrittenByJavaBefore(uint32_t version) const {
    return tail_.writer == kJava && tail_.writer_version < version;
  }
  // SG-4: merged wrongly by the first writer (HIVE-8732).
  bool MergedWrongly() const {
    return level_ != StatisticsLevel::kRowGroup && WrittenByJavaBefore(1);
  }

  void SetBooleans(ColumnRange* range) const {
    if (MergedWrongly() || !statistics_.true_count || !statistics_.values ||
        *statistics_.true_count > *statistics_.values) {
      return;
    }
    range->min = Literal(*statistics_.true_count == *statistics_.values);
    range->max = Literal(*statistics_.true_count > 0);
  }

  // RL-8: what does not fit the column is read narrowed, so it bounds nothing.
  template <class T>
  void SetIntegers(ColumnRange* range) const {
    using Limits = std::numeric_limits<T>;
    if (!statistics_.int_min || !statistics_.int_max || *statistics_.int_min < Limits::min() ||
        *statistics_.int_max > Limits::max()) {
      return;
    }
    range->min = Literal(*statistics_.int_min);
    range->max = Literal(*statistics_.int_max);
  }

  // SG-5: only where no NaN can have been seen.
  void SetDoubles(ColumnRange* range) const {
    const std::optional<double>&low = statistics_.double_min, &high = statistics_.double_max,
          &sum = statistics_.double_sum;
    if (!low || !high || !sum || std::isnan(*low) || std::isnan(*high) || std::isnan(*sum)) return;
    range->min = Literal(*low);
    range->max = Literal(*high);
  }

  // SG-4, SG-7. Bounds are bytes as stored; a value is cut to its length when it is read.
  void SetText(ColumnRange* range) const {
    if (WrittenByJavaBefore(1)) return;
    const auto has_zero = [](const std::optional<std::string>& bound) {
      return bound && bound->find('\0') != std::string::npos;
    };
    if (has_zero(statistics_.string_min) || has_zero(statistics_.string_max)) return;
    const auto trimmed = [](std::string_view text) {
      return text.substr(0, text.find_last_not_of(' ') + 1);
    };
    if (std::optional<std::string> low = statistics_.string_min) {
      if (type_.kind != TypeKind::kString) *low = format::CharacterPrefix(*low, type_.length);
      bool usable = true;
      if (type_.kind == TypeKind::kChar) {
        *low = trimmed(*low);
        // Below a blank, the order with padding and the one without part.
        for (const char c : *low) usable = usable && static_cast<uint8_t>(c) >= ' ';
      }
      if (usable) range->min = Literal(*std::move(low));
    }
    if (std::optional<std::string> high = statistics_.string_max) {
      // A blank more is behind every value that was less when it was padded.
      if (type_.kind == TypeKind::kChar) *high = std::string(trimmed(*high)) + ' ';
      range->max = Literal(*std::move(high));
    }
  }

  std::optional<int64_t> Day(int64_t stored) const {
    if (calendar_ != Calendar::kJulianGregorian) return stored;
    return format::HybridToProleptic(stored);
  }

  void SetDates(ColumnRange* range) const {
    if (MergedWrongly()) return;
    const auto literal = [&](const std::optional<int32_t>& stored) -> std::optional<Literal> {
      if (!stored) return std::nullopt;
      const std::optional<int64_t> day = Day(*stored);
      if (!day) return std::nullopt;
      return Literal(DateLiteral{static_cast<int32_t>(*day)});
    };
    range->min = literal(statistics_.date_min);
    range->max = literal(statistics_.date_max);
  }

  // SG-6.
  void SetTimestamps(ColumnRange* range) const {
    constexpr int64_t kSecond = 1000;               // ms
    constexpr int64_t kMost = 400'000'000'000'000;  // beyond year 9999, within 64 bits as µs
    constexpr int64_t kGregorian = format::kGregorianStart * 86'400 * kSecond;
    if (WrittenByJavaBefore(6) || !statistics_.timestamp_min_utc_ms ||
        !statistics_.timestamp_max_utc_ms) {
      return;
    }
    int64_t low = *statistics_.timestamp_min_utc_ms, high = *statistics_.timestamp_max_utc_ms;
    if (low > high || low < -kMost || high > kMost) return;
    // Days move where the calendar is another: not worth following.
    if (calendar_ == Calendar::kJulianGregorian && low < kGregorian) return;
    // TY-17, TY-22: instants of the last second before 1970 are read a second later.
    if (low < kSecond && high >= -kSecond) {
      low -= kSecond;
      high += kSecond;
    }
    range->min = Literal(WallTime{low * 1000, 0});
    range->max = Literal(WallTime{high * 1000 + 999, 999});
  }

  void SetDecimals(ColumnRange* range) const {
    constexpr int32_t kInLong = 18;
    if (MergedWrongly()) return;
    // ORC-517.
    if (tail_.writer == kJava && tail_.writer_version == 6 && type_.precision <= kInLong) return;
    const auto literal = [&](const std::optional<std::string>& text,
                             bool up) -> std::optional<Literal> {
      if (!text) return std::nullopt;
      std::optional<Literal> parsed = format::ParseLiteral(*text, type_);
      if (!parsed) return std::nullopt;
      auto decimal = std::get<DecimalLiteral>(*parsed);
      if (decimal.above && up) decimal.floor += 1;
      decimal.above = false;
      return Literal(decimal);
    };
    range->min = literal(statistics_.decimal_min, false);
    range->max = literal(statistics_.decimal_max, true);
  }

  const ColumnStatistics& statistics_;
  const HiveType& type_;
  const Tail& tail_;
  Calendar calendar_;
  StatisticsLevel level_;
};

}  // namespace

std::optional<ColumnRange> RangeOf(const ColumnStatistics& statistics,
                                   const HiveType& type,
                                   const Tail& tail,
                                   Calendar calendar,
                                   StatisticsLevel level,
                                   uint64_t rows) {
  // SG-3: without a count nothing says that the rest was collected. M-4: without a row index none
  // was.
  if (!tail.StatisticsTrusted() || !statistics.values || *statistics.values > rows) {
    return std::nullopt;
  }
  // SG-2: no values and no nulls among rows is what old compactions wrote (HIVE-20604).
  if (*statistics.values == 0 && !statistics.has_null) return std::nullopt;
  ColumnRange range;
  range.may_be_null = statistics.has_null || *statistics.values < rows;
  range.may_have_values = *statistics.values > 0;
  if (range.may_have_values) Bounds(statistics, type, tail, calendar, level).Set(&range);
  return range;
}

}  // namespace skep::orc
