#include <string>

#include "client/ddl/create_table.h"
#include "tests/testing/status_matchers.h"

namespace skep::ddl {
namespace {

using ::skep::testing::HasReason;

TEST(ParseCreateTableErrors, ShowThePlace) {
  struct Case {
    std::string name;
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {"empty", "", "line 1, column 1: expected CREATE, found the end of the text\n\n^"},
      {"not a table", "SELECT 1", "line 1, column 1: expected CREATE, found SELECT\nSELECT 1\n^"},
      {"type missing",
       "CREATE TABLE t (\n  `id` ,\n  b int)",
       "line 2, column 8: expected a type, found ','\n  `id` ,\n       ^"},
      {"comma missing",
       "CREATE TABLE t (\r\n  a int\r\n  b int)",
       "line 3, column 3: expected ',' or ')' behind the column, found b\n  b int)\n  ^"},
      {"columns after a letter of two bytes",
       "CREATE TABLE t (a int) COMMENT '\xC3\xA9' 7",
       "line 1, column 36: expected a clause of CREATE TABLE or its end, found 7\n"
       "CREATE TABLE t (a int) COMMENT '\xC3\xA9' 7\n"
       "                                   ^"},
      {"tab kept",
       "CREATE TABLE t (\n\ta int,)",
       "line 2, column 8: expected a column name, found ')'\n\ta int,)\n\t      ^"},
      {"open string",
       "CREATE TABLE t (a int) COMMENT 'x",
       "line 1, column 32: the string that begins here has no closing '\n"
       "CREATE TABLE t (a int) COMMENT 'x\n"
       "                               ^"},
      {"open name",
       "CREATE TABLE `t",
       "line 1, column 14: the name that begins here has no closing `\nCREATE TABLE `t\n           "
       "  ^"},
      {"name twice",
       "CREATE TABLE t (a int, `A` int)",
       "line 1, column 24: column `A` occurs twice\n"
       "CREATE TABLE t (a int, `A` int)\n"
       "                       ^"},
      {"property without value",
       "CREATE TABLE t (a int) TBLPROPERTIES ('k')",
       "line 1, column 42: expected '=', found ')'\n"
       "CREATE TABLE t (a int) TBLPROPERTIES ('k')\n"
       "                                         ^"},
      {"no buckets",
       "CREATE TABLE t (a int) CLUSTERED BY (a) INTO 0 BUCKETS",
       "line 1, column 46: a table has at least one bucket\n"
       "CREATE TABLE t (a int) CLUSTERED BY (a) INTO 0 BUCKETS\n"
       "                                             ^"},
      {"second statement",
       "CREATE TABLE t (a int);\nDROP TABLE t;",
       "line 2, column 1: expected a clause of CREATE TABLE or its end, found DROP\nDROP TABLE "
       "t;\n^"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    absl::StatusOr<CreateTable> table = ParseCreateTable(c.text);
    EXPECT_THAT(table, HasReason(ErrorReason::kInvalidRequest));
    EXPECT_EQ(MessageOf(table.status()), c.message);
  }
}

TEST(ParseCreateTableErrors, CarryLineAndColumn) {
  absl::StatusOr<CreateTable> table = ParseCreateTable("CREATE TABLE t (\n  a decimal(50,2))");
  ASSERT_THAT(table, HasReason(ErrorReason::kInvalidRequest));
  ErrorMetadata metadata = MetadataOf(table.status());
  EXPECT_EQ(metadata["line"], "2");
  EXPECT_EQ(metadata["column"], "5");
}

TEST(ParseCreateTableErrors, SayWhatIsNotSupported) {
  const std::string cases[] = {
      "CREATE TABLE t (a int) STORED BY 'org.apache.iceberg.mr.hive.HiveIcebergStorageHandler'",
      "CREATE TABLE t (a int) PARTITIONED BY SPEC (bucket(16, a))",
      "CREATE VIEW v AS SELECT 1",
      "CREATE MATERIALIZED VIEW v AS SELECT 1",
  };
  for (const std::string& text : cases) {
    SCOPED_TRACE(text);
    EXPECT_THAT(ParseCreateTable(text), HasReason(ErrorReason::kNotSupported));
  }
}

TEST(ParseCreateTableErrors, RefusesAPartitionColumnThatIsAColumn) {
  EXPECT_THAT(ParseCreateTable("CREATE TABLE t (a int) PARTITIONED BY (A string)"),
              HasReason(ErrorReason::kInvalidRequest));
}

TEST(ParseCreateTableErrors, RefusesBytesThatAreNotText) {
  EXPECT_THAT(ParseCreateTable("CREATE TABLE t (a int) COMMENT '\xFF'"),
              HasReason(ErrorReason::kInvalidRequest));
}

TEST(ParseCreateTableErrors, RefusesTypesThatNestTooDeep) {
  std::string open;
  std::string close;
  for (int i = 0; i < 100000; ++i) {
    open += "array<";
    close += ">";
  }
  EXPECT_THAT(ParseCreateTable("CREATE TABLE t (a " + open + "int" + close + ")"),
              HasReason(ErrorReason::kInvalidRequest));
}

// Cutting a good statement anywhere gives an error or a shorter statement, never a crash.
TEST(ParseCreateTableErrors, SurvivesEveryCut) {
  const std::string text =
      "CREATE EXTERNAL TABLE `d`.`t`(`a` struct<x:int,y:map<string,decimal(3,1)>> COMMENT "
      "'c\\u00e9', b int "
      "DEFAULT (1)) PARTITIONED BY (p date) CLUSTERED BY (b) SORTED BY (b DESC) INTO 3 BUCKETS "
      "SKEWED BY (b) "
      "ON ((1)) STORED AS DIRECTORIES ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS "
      "INPUTFORMAT 'i' "
      "OUTPUTFORMAT 'o' LOCATION 'l' TBLPROPERTIES ('a'='b');";
  ASSERT_THAT(ParseCreateTable(text), testing::IsOk());
  for (size_t cut = 0; cut < text.find(") PARTITIONED"); ++cut) {
    SCOPED_TRACE(cut);
    EXPECT_FALSE(ParseCreateTable(text.substr(0, cut)).ok());
  }
  for (size_t cut = 0; cut < text.size(); ++cut) {
    absl::StatusOr<CreateTable> table = ParseCreateTable(text.substr(0, cut));
    EXPECT_TRUE(table.ok() || ReasonOf(table.status()) != ErrorReason::kUnspecified);
  }
}

}  // namespace
}  // namespace skep::ddl
