#include "server/daemon/setting_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skep::daemon {
namespace {

using std::chrono::milliseconds;

TEST(Durations, HaveAUnit) {
  struct Case {
    const char* text;
    int64_t ms;
  };
  for (const Case& c : {Case{"200ms", 200},
                        {"0s", 0},
                        {"300s", 300'000},
                        {"5m", 300'000},
                        {"12h", 43'200'000},
                        {"7d", 604'800'000}}) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(ParseDuration(c.text), milliseconds(c.ms));
  }
  for (const char* bad : {"",
                          "300",
                          "s",
                          "-5s",
                          "5 s",
                          "1.5h",
                          "5sec",
                          "5S",
                          "99999999999999999999s",
                          "9223372036854775807d"}) {
    SCOPED_TRACE(bad);
    EXPECT_FALSE(ParseDuration(bad).has_value());
  }
}

TEST(Durations, PrintInTheLargestUnitThatFits) {
  for (const char* text : {"200ms", "0d", "90s", "5m", "12h", "7d"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(ParseDuration(FormatDuration(*ParseDuration(text))), ParseDuration(text));
  }
  EXPECT_EQ(FormatDuration(milliseconds(300'000)), "5m");
  EXPECT_EQ(FormatDuration(milliseconds(1'500)), "1500ms");
}

TEST(Sizes, HaveAUnit) {
  EXPECT_EQ(ParseSize("4MiB"), 4 << 20);
  EXPECT_EQ(ParseSize("512B"), 512);
  for (const char* bad : {"4", "4MB", "4mib", "-4MiB", "MiB"})
    EXPECT_FALSE(ParseSize(bad).has_value()) << bad;
  EXPECT_EQ(FormatSize(4 << 20), "4MiB");
  EXPECT_EQ(FormatSize(1000), "1000B");
}

TEST(NearestName, FindsATypingErrorAndNothingElse) {
  const std::vector<std::string> names{"txn.timeout", "txn.max_open", "log.level"};
  EXPECT_EQ(NearestName("txn.timeuot", names), "txn.timeout");
  EXPECT_EQ(NearestName("txn.max-open", names), "txn.max_open");
  EXPECT_EQ(NearestName("metrics.interval", names), "");
}

}  // namespace
}  // namespace skep::daemon
