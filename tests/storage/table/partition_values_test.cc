#include "storage/table/partition_values.h"

#include <string>
#include <vector>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"

namespace skep::testing {
namespace {

using ::testing::Eq;

Column MakeColumn(const std::string& name, const std::string& type) {
  return {.name = name, .type = *ParseHiveType(type), .comment = ""};
}

TEST(PartitionValuesOf, ReadsNamesAsHiveWritesThem) {
  const std::vector<Column> columns = {MakeColumn("ts", "timestamp"), MakeColumn("p", "string")};
  SKEP_ASSERT_OK_AND_ASSIGN(
      const auto values,
      table::PartitionValuesOf("ts=2024-01-02 03%3A04%3A05/p=__HIVE_DEFAULT_PARTITION__", columns));
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].text, "2024-01-02 03:04:05");
  EXPECT_EQ(values[1].text, std::nullopt);
}

TEST(PartitionValuesOf, RefusesOtherColumnsThanTheTables) {
  const std::vector<Column> columns = {MakeColumn("p", "string")};
  for (const std::string name : {"q=1", "p=1/q=2", ""}) {
    SCOPED_TRACE(name);
    EXPECT_THAT(table::PartitionValuesOf(name, columns),
                HasReason(ErrorReason::kMalformedDirectory));
  }
}

TEST(PartitionText, ComesBackFromWhatItWasReadAs) {
  struct Case {
    std::string type;
    std::string text;
  };
  const std::vector<Case> cases = {
      {"string", "a b"},
      {"char(4)", "ab  "},
      {"varchar(9)", "日本"},
      {"boolean", "false"},
      {"tinyint", "-128"},
      {"smallint", "32767"},
      {"int", "-2147483648"},
      {"bigint", "9223372036854775807"},
      {"date", "0001-01-01"},
      {"date", "9999-12-31"},
      {"decimal(10,2)", "0.25"},
      {"timestamp", "2024-01-02 03:04:05"},
      {"timestamp", "1969-12-31 23:59:59.123456789"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.type + " " + c.text);
    const Column column = MakeColumn("p", c.type);
    SKEP_ASSERT_OK_AND_ASSIGN(const auto array, table::RepeatPartitionValue({column, c.text}, 3));
    ASSERT_EQ(array->length(), 3);
    EXPECT_THAT(table::PartitionText(*array, 2, column.type),
                IsOkAndHolds(Eq(std::optional(c.text))));
  }
  SKEP_ASSERT_OK_AND_ASSIGN(
      const auto null, table::RepeatPartitionValue({MakeColumn("p", "date"), std::nullopt}, 1));
  EXPECT_THAT(table::PartitionText(*null, 0, *ParseHiveType("date")),
              IsOkAndHolds(Eq(std::nullopt)));
}

TEST(RepeatPartitionValue, RefusesTextThatIsNoValue) {
  struct Case {
    std::string type;
    std::string text;
  };
  for (const Case& c : std::vector<Case>{{"int", "2147483648"},
                                         {"int", "1x"},
                                         {"boolean", "yes"},
                                         {"date", "2024-02-30"},
                                         {"timestamp", "2024-01-02 25:00:00"},
                                         {"decimal(4,2)", "123.45"},
                                         {"decimal(4,2)", "1.234"}}) {
    SCOPED_TRACE(c.type + " " + c.text);
    EXPECT_THAT(table::RepeatPartitionValue({MakeColumn("p", c.type), c.text}, 1),
                HasReason(ErrorReason::kInvalidRequest));
  }
  EXPECT_THAT(table::RepeatPartitionValue({MakeColumn("p", "array<int>"), "1"}, 1),
              HasReason(ErrorReason::kNotSupported));
}

}  // namespace
}  // namespace skep::testing
