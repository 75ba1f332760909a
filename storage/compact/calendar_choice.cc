#include "storage/compact/calendar_choice.h"

#include <set>
#include <string>

#include <fmt/format.h>

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::compact {

namespace {

// The first day of the Gregorian calendar, and a day more: a timestamp's statistics are in another
// zone.
constexpr int64_t kSafeDay = -141427 + 1;  // 1582-10-16
constexpr int64_t kMillisPerDay = 86'400'000;

bool HasNoValues(const orc::ColumnStatistics& statistics) {
  return statistics.values.has_value() && *statistics.values == 0;
}

bool CalendarMatters(const orc::Tail& tail) {
  const bool trusted = tail.StatisticsTrusted() && tail.file_statistics.size() == tail.types.size();
  for (size_t id = 0; id < tail.types.size(); ++id) {
    const TypeKind kind = tail.types[id].type.kind;
    if (kind != TypeKind::kDate && kind != TypeKind::kTimestamp) continue;
    if (!trusted) return true;
    const orc::ColumnStatistics& statistics = tail.file_statistics[id];
    if (HasNoValues(statistics)) continue;
    const bool late = kind == TypeKind::kDate
                          ? statistics.date_min && *statistics.date_min >= kSafeDay
                          : statistics.timestamp_min_utc_ms &&
                                *statistics.timestamp_min_utc_ms >= kSafeDay * kMillisPerDay;
    if (!late) return true;
  }
  return false;
}

std::string_view CalendarName(orc::Calendar calendar) {
  return calendar == orc::Calendar::kJulianGregorian ? "hybrid Julian/Gregorian"
                                                     : "proleptic Gregorian";
}

absl::Status Differ(const table::SourceFile& a,
                    orc::Calendar calendar_of_a,
                    const table::SourceFile& b,
                    orc::Calendar calendar_of_b) {
  return MakeError(
      ErrorReason::kNotSupported,
      fmt::format("{} counts days in the {} calendar and {} in the {} one, and both may hold dates "
                  "before 1582-10-15: merging them needs dates to be rewritten, which comes with a "
                  "later release",
                  Printable(a.path),
                  CalendarName(calendar_of_a),
                  Printable(b.path),
                  CalendarName(calendar_of_b)),
      {{"path", b.path}, {"what", "files of two calendars"}});
}

}  // namespace

absl::StatusOr<orc::Calendar> ChooseCalendar(const std::map<int32_t, table::BucketSources>& sources,
                                             std::optional<orc::Calendar> override) {
  std::set<orc::Calendar> seen;
  const table::SourceFile* decisive = nullptr;
  orc::Calendar decided = orc::Calendar::kProleptic;
  for (const auto& [bucket, files] : sources) {
    for (const table::SourceFile& file : files.inserts) {
      if (file.tail == nullptr || file.tail->rows == 0) continue;
      const orc::Calendar calendar = override.value_or(file.tail->EffectiveCalendar());
      seen.insert(calendar);
      if (!CalendarMatters(*file.tail)) continue;
      if (decisive != nullptr && calendar != decided) {
        return Differ(*decisive, decided, file, calendar);
      }
      decisive = &file;
      decided = calendar;
    }
  }
  if (decisive != nullptr) return decided;
  return seen.size() == 1 ? *seen.begin() : orc::Calendar::kProleptic;
}

}  // namespace skep::compact
