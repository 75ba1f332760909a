#pragma once

// Days since 1970-01-01 and civil dates, in the two calendars that ORC files use below 1582-10-15.
// Pure.

#include <cstdint>
#include <optional>

namespace skep::format {

struct CivilDate {
  int64_t year = 1970;  // astronomical: 0 is 1 BC
  int32_t month = 1;
  int32_t day = 1;
  friend bool operator==(const CivilDate&, const CivilDate&) = default;
};

// 1582-10-15, the first day of the Gregorian calendar: from here on both calendars agree.
inline constexpr int64_t kGregorianStart = -141427;

bool IsValidDate(const CivilDate& date);  // proleptic Gregorian
int64_t DaysOf(const CivilDate& date);    // proleptic Gregorian
CivilDate DateOf(int64_t days);
int64_t JulianDaysOf(const CivilDate& date);
CivilDate JulianDateOf(int64_t days);

// The proleptic day with the same label (year, month, day) as hybrid day `days`. nullopt for a 29
// February that only the Julian calendar has.
std::optional<int64_t> HybridToProleptic(int64_t days);
// The inverse. nullopt for 1582-10-05 … 14, which the hybrid calendar does not have.
std::optional<int64_t> ProlepticToHybrid(int64_t days);

}  // namespace skep::format
