#include "storage/model/hive_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"

namespace skep {
namespace {

using testing::HasReason;

TEST(ParseHiveType, PrintsBackInHivesWords) {
  const std::pair<const char*, const char*> cases[] = {
      {"BIGINT", "bigint"},
      {"decimal", "decimal(10,0)"},
      {"numeric( 12 , 2 )", "decimal(12,2)"},
      {"double precision", "double"},
      {"timestamp with local time zone", "timestamp with local time zone"},
      {"array < struct<a:int, B:map<string,varchar(7)>> >",
       "array<struct<a:int,b:map<string,varchar(7)>>>"},
      {"uniontype<int,string>", "uniontype<int,string>"},
      {"struct<>", "struct<>"},
      {"struct<`odd name`:int>", "struct<`odd name`:int>"},
      {"char(4)", "char(4)"},
  };
  for (const auto& [text, printed] : cases) {
    SCOPED_TRACE(text);
    SKEP_ASSERT_OK_AND_ASSIGN(const HiveType type, ParseHiveType(text));
    EXPECT_EQ(type.ToString(), printed);
    SKEP_ASSERT_OK_AND_ASSIGN(const HiveType again, ParseHiveType(type.ToString()));
    EXPECT_EQ(again, type);
  }
}

TEST(ParseHiveType, RefusesWithThePosition) {
  for (const char* bad : {"",
                          "integr",
                          "decimal(39,0)",
                          "decimal(5,6)",
                          "char(0)",
                          "varchar",
                          "array<>",
                          "map<int>",
                          "struct<a>",
                          "int x",
                          "array<int",
                          "decimal(1.5)"}) {
    SCOPED_TRACE(bad);
    EXPECT_THAT(ParseHiveType(bad), HasReason(ErrorReason::kInvalidRequest));
  }
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "array<";
  EXPECT_THAT(ParseHiveType(deep), HasReason(ErrorReason::kInvalidRequest));
}

TEST(ParseColumns, ReadsNamesTypesAndComments) {
  SKEP_ASSERT_OK_AND_ASSIGN(
      const std::vector<Column> columns,
      ParseColumns(
          "Order_ID bigint COMMENT 'the \\'key\\'', `select` string, amount decimal(12,2)"));
  ASSERT_EQ(columns.size(), 3u);
  EXPECT_EQ(columns[0].name, "order_id");
  EXPECT_EQ(columns[0].comment, "the 'key'");
  EXPECT_EQ(columns[1].name, "select");
  EXPECT_EQ(columns[2].type.scale, 2);
}

TEST(ParseColumns, RefusesTheSameNameTwice) {
  EXPECT_THAT(ParseColumns("a int, A string"), HasReason(ErrorReason::kInvalidRequest));
}

}  // namespace
}  // namespace skep
