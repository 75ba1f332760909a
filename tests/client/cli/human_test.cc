#include "client/cli/human.h"

#include <stdlib.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skep::cli {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

Timestamp At(int64_t millis) { return Timestamp(milliseconds(millis)); }

TEST(ParseRfc3339, ReadsWhatProtobufWrites) {
  struct Case {
    std::string text;
    std::optional<int64_t> millis;
  };
  const Case cases[] = {
      {"1970-01-01T00:00:00Z", 0},
      {"2026-10-01T12:34:56Z", 1790858096000},
      {"2026-10-01T12:34:56.7Z", 1790858096700},
      {"2026-10-01T12:34:56.123456789Z", 1790858096123},
      {"2026-10-01T12:34:56.000Z", 1790858096000},
      {"1969-12-31T23:59:59.500Z", -500},
      {"2026-02-29T00:00:00Z", std::nullopt},
      {"2026-13-01T00:00:00Z", std::nullopt},
      {"2026-10-01T24:00:00Z", std::nullopt},
      {"2026-10-01 12:34:56Z", std::nullopt},
      {"2026-10-01T12:34:56", std::nullopt},
      {"2026-10-01T12:34:56.Z", std::nullopt},
      {"2026-10-01T12:34:56.1234567890Z", std::nullopt},
      {"2026-10-01T1-:34:56Z", std::nullopt},
      {"", std::nullopt},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    std::optional<Timestamp> time = ParseRfc3339(c.text);
    ASSERT_EQ(time.has_value(), c.millis.has_value());
    if (time.has_value()) {
      EXPECT_EQ(time->time_since_epoch().count(), *c.millis);
    }
  }
}

TEST(FormatTime, ShowsTheZone) {
  ::setenv("TZ", "Asia/Kolkata", 1);
  ::tzset();
  EXPECT_EQ(FormatTime(At(1790858096123), Zone::kUtc), "2026-10-01 12:34:56Z");
  EXPECT_EQ(FormatTime(At(1790858096123), Zone::kLocal), "2026-10-01 18:04:56+05:30");
  EXPECT_EQ(FormatTime(At(-500), Zone::kUtc), "1969-12-31 23:59:59Z");
  ::unsetenv("TZ");
  ::tzset();
}

TEST(FormatAge, CountsInTheUnitThatFits) {
  struct Case {
    milliseconds age;
    std::string text;
  };
  const Case cases[] = {
      {milliseconds(-5'000), "now"},
      {milliseconds(999), "now"},
      {seconds(1), "1s ago"},
      {milliseconds(59'999), "59s ago"},
      {minutes(1), "1m ago"},
      {minutes(59) + seconds(59), "59m ago"},
      {hours(1), "1h ago"},
      {hours(47) + minutes(59), "47h ago"},
      {hours(48), "2d ago"},
      {hours(24 * 400), "400d ago"},
  };
  for (const Case& c : cases) EXPECT_EQ(FormatAge(At(0), At(0) + c.age), c.text);
}

TEST(FormatDue, CountsDown) {
  EXPECT_EQ(FormatDue(At(0) + seconds(29), At(0)), "in 29s");
  EXPECT_EQ(FormatDue(At(0) + minutes(5), At(0)), "in 5m00s");
  EXPECT_EQ(FormatDue(At(0) + milliseconds(999), At(0)), "now");
  EXPECT_EQ(FormatDue(At(0), At(0) + hours(1)), "now");
}

TEST(FormatSpan, ShowsTwoUnits) {
  struct Case {
    milliseconds span;
    std::string text;
  };
  const Case cases[] = {
      {milliseconds(0), "0ms"},
      {milliseconds(250), "250ms"},
      {milliseconds(1'500), "1.5s"},
      {milliseconds(1'050), "1s"},
      {milliseconds(9'999), "9.9s"},
      {milliseconds(10'700), "10s"},
      {minutes(3) + seconds(5), "3m05s"},
      {hours(5) + minutes(3), "5h03m"},
      {hours(76), "3d04h"},
      {milliseconds(-1'500), "-1.5s"},
  };
  for (const Case& c : cases) EXPECT_EQ(FormatSpan(c.span), c.text);
}

TEST(FormatBytes, CountsInThousands) {
  struct Case {
    int64_t bytes;
    std::string text;
  };
  const Case cases[] = {{0, "0 B"},
                        {999, "999 B"},
                        {1000, "1.0 KB"},
                        {1550, "1.6 KB"},
                        {999'949, "999.9 KB"},
                        {999'950, "1.0 MB"},
                        {3'300'000'000, "3.3 GB"},
                        {INT64_MAX, "9.2 EB"}};
  for (const Case& c : cases) EXPECT_EQ(FormatBytes(c.bytes), c.text);
}

TEST(ParseSpan, ReadsWhatPeopleWrite) {
  struct Case {
    std::string text;
    std::optional<milliseconds> span;
  };
  const Case cases[] = {
      {"90", seconds(90)},
      {"500ms", milliseconds(500)},
      {"30s", seconds(30)},
      {"15m", minutes(15)},
      {"2h", hours(2)},
      {"3d", hours(72)},
      {"1h30m", minutes(90)},
      {"0", seconds(0)},
      {"", std::nullopt},
      {"h", std::nullopt},
      {"0s", std::nullopt},
      {"-5s", std::nullopt},
      {"5w", std::nullopt},
      {"1h30x", std::nullopt},
      {"99999999999999999999s", std::nullopt},
      {"1000000001d", std::nullopt},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(ParseSpan(c.text), c.span);
  }
}

TEST(ParseProtoSpan, ReadsWhatProtobufWrites) {
  EXPECT_EQ(ParseProtoSpan("30s"), seconds(30));
  EXPECT_EQ(ParseProtoSpan("1.500s"), milliseconds(1'500));
  EXPECT_EQ(ParseProtoSpan("-1.500s"), milliseconds(-1'500));
  EXPECT_EQ(ParseProtoSpan("0s"), milliseconds(0));
  EXPECT_EQ(ParseProtoSpan("30"), std::nullopt);
  EXPECT_EQ(ParseProtoSpan("s"), std::nullopt);
  EXPECT_EQ(ParseProtoSpan("9223372036854775807s"), std::nullopt);
}

}  // namespace
}  // namespace skep::cli
