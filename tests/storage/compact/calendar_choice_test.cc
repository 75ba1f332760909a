#include "storage/compact/calendar_choice.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/status_matchers.h"

namespace skep::compact {
namespace {

using orc::Calendar;
using testing::HasReason;
using testing::IsOkAndHolds;

// A file with one column of the kind, whose lowest value is `min` days (dates) or milliseconds
// (timestamps).
table::SourceFile FileOf(const std::string& path,
                         Calendar calendar,
                         TypeKind kind,
                         std::optional<int64_t> min,
                         uint32_t stride = 10000) {
  auto tail = std::make_shared<orc::Tail>();
  tail->rows = 5;
  tail->row_index_stride = stride;
  tail->calendar = calendar;
  tail->types.resize(2);
  tail->types[0].type.kind = TypeKind::kStruct;
  tail->types[1].type.kind = kind;
  tail->file_statistics.resize(2);
  orc::ColumnStatistics& statistics = tail->file_statistics[1];
  statistics.values = 5;
  if (kind == TypeKind::kDate && min) statistics.date_min = static_cast<int32_t>(*min);
  if (kind == TypeKind::kTimestamp && min) statistics.timestamp_min_utc_ms = *min;
  table::SourceFile file{.path = path};
  file.tail = std::move(tail);
  return file;
}

std::map<int32_t, table::BucketSources> Sources(std::vector<table::SourceFile> files) {
  std::map<int32_t, table::BucketSources> sources;
  int32_t bucket = 0;
  for (table::SourceFile& file : files) sources[bucket++].inserts.push_back(std::move(file));
  return sources;
}

constexpr int64_t kToday = 20000;     // days
constexpr int64_t kOldDay = -200000;  // 1422
constexpr int64_t kOldInstant = -200000LL * 86400000;
constexpr auto kHybrid = Calendar::kJulianGregorian;
constexpr auto kProleptic = Calendar::kProleptic;

TEST(ChooseCalendar, CarriesTheSourcesCalendar) {
  for (const Calendar calendar : {kHybrid, kProleptic}) {
    EXPECT_THAT(ChooseCalendar(Sources({FileOf("a", calendar, TypeKind::kDate, kOldDay),
                                        FileOf("b", calendar, TypeKind::kDate, kToday)}),
                               std::nullopt),
                IsOkAndHolds(calendar));
    EXPECT_THAT(ChooseCalendar(Sources({FileOf("a", calendar, TypeKind::kInt, 0)}), std::nullopt),
                IsOkAndHolds(calendar));
  }
}

TEST(ChooseCalendar, JoinsCalendarsThatAgreeOnEveryValue) {
  EXPECT_THAT(ChooseCalendar(Sources({FileOf("a", kHybrid, TypeKind::kDate, kToday),
                                      FileOf("b", kProleptic, TypeKind::kDate, kToday)}),
                             std::nullopt),
              IsOkAndHolds(kProleptic));
  // One file's old dates decide; the other's values mean the same in both.
  EXPECT_THAT(ChooseCalendar(Sources({FileOf("a", kHybrid, TypeKind::kDate, kOldDay),
                                      FileOf("b", kProleptic, TypeKind::kDate, kToday)}),
                             std::nullopt),
              IsOkAndHolds(kHybrid));
  EXPECT_THAT(ChooseCalendar(Sources({FileOf("a", kHybrid, TypeKind::kString, 0),
                                      FileOf("b", kProleptic, TypeKind::kString, 0)}),
                             std::nullopt),
              IsOkAndHolds(kProleptic));
}

TEST(ChooseCalendar, RefusesCalendarsThatDisagree) {
  const auto refused =
      ChooseCalendar(Sources({FileOf("a", kHybrid, TypeKind::kDate, kOldDay),
                              FileOf("b", kProleptic, TypeKind::kTimestamp, kOldInstant)}),
                     std::nullopt);
  EXPECT_THAT(refused, HasReason(ErrorReason::kNotSupported));
  EXPECT_THAT(MessageOf(refused.status()), ::testing::HasSubstr("a counts days"));
  // Unknown or untrusted minima may be old.
  EXPECT_THAT(ChooseCalendar(Sources({FileOf("a", kHybrid, TypeKind::kDate, std::nullopt),
                                      FileOf("b", kProleptic, TypeKind::kDate, kOldDay)}),
                             std::nullopt),
              HasReason(ErrorReason::kNotSupported));
  EXPECT_THAT(ChooseCalendar(Sources({FileOf("a", kHybrid, TypeKind::kDate, kToday, /*stride=*/0),
                                      FileOf("b", kProleptic, TypeKind::kDate, kOldDay)}),
                             std::nullopt),
              HasReason(ErrorReason::kNotSupported));
}

TEST(ChooseCalendar, TakesATablesWord) {
  EXPECT_THAT(ChooseCalendar(Sources({FileOf("a", kHybrid, TypeKind::kDate, kOldDay),
                                      FileOf("b", kProleptic, TypeKind::kDate, kOldDay)}),
                             kHybrid),
              IsOkAndHolds(kHybrid));
}

TEST(ChooseCalendar, IsProlepticWithoutRows) {
  EXPECT_THAT(ChooseCalendar({}, std::nullopt), IsOkAndHolds(kProleptic));
}

}  // namespace
}  // namespace skep::compact
