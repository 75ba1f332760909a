#include "storage/format/orc/bloom_probe.h"

#include <string>
#include <string_view>
#include <variant>

#include "storage/format/calendar.h"
#include "storage/format/json_text.h"
#include "storage/format/orc/decimal_text.h"
#include "storage/format/orc/tail_writer.h"

namespace skep::orc {

namespace {

constexpr uint32_t kJava = 0, kCpp = 1;

// RI-13: filters of these releases lack values.
bool WroteBadFilters(const Tail& tail) {
  if (tail.writer != kCpp) return false;
  const std::string_view release =
      std::string_view(tail.software_version).substr(0, tail.software_version.find('-'));
  return release.empty() || release == "1.7.0" || release == "1.6" || release.starts_with("1.6.");
}

bool InUtc(const std::string& zone) { return zone == "UTC" || zone == "GMT"; }

// As long as the type allows: perhaps what is left of a longer one.
bool MayBeCut(std::string_view text, const HiveType& type) {
  return type.kind == TypeKind::kVarchar &&
         format::CharacterPrefix(text, type.length - 1).size() < text.size();
}

bool MayHoldTime(const BloomFilter& filter, const format::WallTime& time) {
  constexpr int64_t kMicrosPerMilli = 1000, kMicrosPerSecond = 1'000'000;
  // TY-17, TY-19: before and just after 1970 writers disagree.
  return time.us < kMicrosPerSecond || filter.MayContainInteger(time.us / kMicrosPerMilli);
}

}  // namespace

bool BloomFilterCounts(const StripeSource& source,
                       uint32_t column,
                       const HiveType& type,
                       bool bounded) {
  const Tail& tail = source.tail();
  if (WroteBadFilters(tail)) return false;
  switch (type.kind) {
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
      return bounded;  // RL-8: a wider value is read narrowed
    case TypeKind::kBigint:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kString:
    case TypeKind::kVarchar:
      return true;
    case TypeKind::kDate:
      return bounded;  // TY-12
    case TypeKind::kTimestamp:
      return source.encoding(column).bloom_in_utc && InUtc(source.layout().writer_zone);
    case TypeKind::kTimestampLocalTz:
      return source.encoding(column).bloom_in_utc;
    case TypeKind::kDecimal:
      return tail.writer == kJava || tail.writer == kSkepWriter;
    default:
      return false;  // CHAR: padded by some, not by others
  }
}

bool MayHold(const BloomFilter& filter,
             const format::Literal& literal,
             const HiveType& type,
             Calendar calendar) {
  if (const auto* number = std::get_if<int64_t>(&literal)) {
    return filter.MayContainInteger(*number);
  }
  if (const auto* number = std::get_if<double>(&literal)) {
    if (*number == 0) return filter.MayContainDouble(0.0) || filter.MayContainDouble(-0.0);
    return filter.MayContainDouble(*number);
  }
  if (const auto* text = std::get_if<std::string>(&literal)) {
    return MayBeCut(*text, type) || filter.MayContainBytes(*text);
  }
  if (const auto* date = std::get_if<format::DateLiteral>(&literal)) {
    // Days move where the calendar is another: not worth following.
    if (calendar == Calendar::kJulianGregorian && date->days < format::kGregorianStart) return true;
    return filter.MayContainInteger(date->days);
  }
  if (const auto* time = std::get_if<format::WallTime>(&literal)) return MayHoldTime(filter, *time);
  if (const auto* decimal = std::get_if<format::DecimalLiteral>(&literal)) {
    const auto unscaled = static_cast<int128_t>(
        static_cast<uint128_t>(static_cast<uint64_t>(decimal->floor.high_bits())) << 64 |
        decimal->floor.low_bits());
    return decimal->above || filter.MayContainBytes(DecimalText(unscaled, type.scale));
  }
  return true;
}

}  // namespace skep::orc
