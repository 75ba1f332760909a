#include "storage/format/calendar.h"

namespace skep::format {

namespace {

// Both calendars are counted in years that begin on 1 March, so that a leap day is a year's last.
constexpr int64_t kDaysBeforeEpochGregorian = 719468;  // 0000-03-01 → 1970-01-01
constexpr int64_t kDaysBeforeEpochJulian = 719470;
constexpr int64_t kDaysPerEra = 146097;  // 400 Gregorian years
constexpr int64_t kDaysPerCycle = 1461;  // 4 Julian years

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

int64_t DayOfYear(const CivilDate& date) {
  return (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
}

CivilDate FromYearDay(int64_t year, int64_t day_of_year) {
  const int64_t month = (5 * day_of_year + 2) / 153;
  CivilDate date;
  date.day = static_cast<int32_t>(day_of_year - (153 * month + 2) / 5 + 1);
  date.month = static_cast<int32_t>(month < 10 ? month + 3 : month - 9);
  date.year = year + (date.month <= 2 ? 1 : 0);
  return date;
}

bool IsLeapYear(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

}  // namespace

bool IsValidDate(const CivilDate& date) {
  if (date.month < 1 || date.month > 12 || date.day < 1) return false;
  constexpr int32_t kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const int32_t days = kDays[date.month - 1] + (date.month == 2 && IsLeapYear(date.year) ? 1 : 0);
  return date.day <= days;
}

int64_t DaysOf(const CivilDate& date) {
  const int64_t year = date.year - (date.month <= 2 ? 1 : 0);
  const int64_t era = FloorDiv(year, 400);
  const int64_t of_era = year - era * 400;
  return era * kDaysPerEra + of_era * 365 + of_era / 4 - of_era / 100 + DayOfYear(date) -
         kDaysBeforeEpochGregorian;
}

CivilDate DateOf(int64_t days) {
  days += kDaysBeforeEpochGregorian;
  const int64_t era = FloorDiv(days, kDaysPerEra);
  const int64_t day = days - era * kDaysPerEra;
  const int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
  return FromYearDay(year + era * 400, day - (365 * year + year / 4 - year / 100));
}

int64_t JulianDaysOf(const CivilDate& date) {
  const int64_t year = date.year - (date.month <= 2 ? 1 : 0);
  const int64_t cycle = FloorDiv(year, 4);
  return cycle * kDaysPerCycle + (year - cycle * 4) * 365 + DayOfYear(date) -
         kDaysBeforeEpochJulian;
}

CivilDate JulianDateOf(int64_t days) {
  days += kDaysBeforeEpochJulian;
  const int64_t cycle = FloorDiv(days, kDaysPerCycle);
  const int64_t day = days - cycle * kDaysPerCycle;
  const int64_t year = (day - day / 1460) / 365;
  return FromYearDay(year + cycle * 4, day - 365 * year);
}

std::optional<int64_t> HybridToProleptic(int64_t days) {
  if (days >= kGregorianStart) return days;
  const CivilDate date = JulianDateOf(days);
  if (!IsValidDate(date)) return std::nullopt;
  return DaysOf(date);
}

std::optional<int64_t> ProlepticToHybrid(int64_t days) {
  if (days >= kGregorianStart) return days;
  const int64_t hybrid = JulianDaysOf(DateOf(days));
  if (hybrid >= kGregorianStart) return std::nullopt;
  return hybrid;
}

}  // namespace skep::format
