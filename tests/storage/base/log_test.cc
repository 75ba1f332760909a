#include "storage/base/log.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string ReadAll(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class LogTest : public ::testing::Test {
 protected:
  ~LogTest() override {
    ConfigureLogging({.level = LogLevel::kWarn});
    std::remove(path_.c_str());
  }
  const std::string path_ = ::testing::TempDir() + "skep_log_" + std::to_string(getpid());
};

TEST_F(LogTest, WritesOneLogfmtLinePerEvent) {
  ConfigureLogging({.level = LogLevel::kInfo, .file = path_});
  Log(LogLevel::kInfo,
      "txn.commit",
      {{"txn_id", 17}, {"table", "sales.orders"}, {"note", "two words"}});
  Log(LogLevel::kDebug, "txn.beat", {{"txn_id", 18}});
  FlushLog();
  const std::string text = ReadAll(path_);
  EXPECT_THAT(text,
              HasSubstr("info  txn.commit txn_id=17 table=sales.orders note=\"two words\"\n"));
  EXPECT_THAT(text, Not(HasSubstr("txn.beat")));
}

TEST_F(LogTest, AUsersStringCannotForgeALine) {
  ConfigureLogging({.level = LogLevel::kInfo, .file = path_});
  Log(LogLevel::kInfo, "txn.open", {{"user", "eve\n2026 error txn.lost txn_id=1"}});
  FlushLog();
  const std::string text = ReadAll(path_);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST_F(LogTest, JsonLinesAreObjects) {
  ConfigureLogging({.level = LogLevel::kInfo, .format = LogOptions::Format::kJson, .file = path_});
  Log(LogLevel::kWarn, "store.slow", {{"took_ms", 12}, {"path", "a\"b"}});
  FlushLog();
  const std::string text = ReadAll(path_);
  EXPECT_THAT(
      text,
      HasSubstr("\"level\":\"warn\",\"msg\":\"store.slow\",\"took_ms\":12,\"path\":\"a\\\"b\""));
}

}  // namespace
}  // namespace skep
