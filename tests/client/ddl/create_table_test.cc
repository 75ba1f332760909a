#include "client/ddl/create_table.h"

#include <string>
#include <vector>

#include "tests/testing/status_matchers.h"

namespace skep::ddl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::vector<std::string> Shown(const std::vector<Column>& columns) {
  std::vector<std::string> shown;
  for (const Column& column : columns) shown.push_back(column.name + " " + column.type.ToString());
  return shown;
}

TEST(ParseCreateTable, ReadsWhatHivePrints) {
  SKEP_ASSERT_OK_AND_ASSIGN(CreateTable table, ParseCreateTable(R"(CREATE TABLE `sales`.`orders`(
  `order_id` bigint COMMENT 'the key', 
  `amount` decimal(12,2), 
  `st` struct<`a`:int, `b`:array<string>>)
COMMENT 'all orders'
PARTITIONED BY ( 
  `order_date` date)
CLUSTERED BY ( 
  order_id) 
SORTED BY ( 
  order_id ASC, amount DESC NULLS LAST) 
INTO 4 BUCKETS
ROW FORMAT SERDE 
  'org.apache.hadoop.hive.ql.io.orc.OrcSerde' 
WITH SERDEPROPERTIES ( 
  'serialization.format'='1') 
STORED AS INPUTFORMAT 
  'org.apache.hadoop.hive.ql.io.orc.OrcInputFormat' 
OUTPUTFORMAT 
  'org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat'
LOCATION
  'file:/warehouse/sales.db/orders'
TBLPROPERTIES (
  'transactional'='true', 
  'note'='it\'s; so'))"));
  EXPECT_EQ(table.database, "sales");
  EXPECT_EQ(table.table, "orders");
  EXPECT_FALSE(table.external);
  EXPECT_EQ(table.comment, "all orders");
  EXPECT_THAT(
      Shown(table.columns),
      ElementsAre("order_id bigint", "amount decimal(12,2)", "st struct<a:int,b:array<string>>"));
  EXPECT_EQ(table.columns[0].comment, "the key");
  EXPECT_THAT(Shown(table.partition_columns), ElementsAre("order_date date"));
  EXPECT_THAT(table.bucketing.columns, ElementsAre("order_id"));
  EXPECT_THAT(table.bucketing.sorted_by, ElementsAre("order_id", "amount"));
  EXPECT_EQ(table.bucketing.bucket_count, 4);
  EXPECT_EQ(table.format, FileFormat::kOrc);
  EXPECT_EQ(table.format_words, "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat");
  EXPECT_EQ(table.serde, "org.apache.hadoop.hive.ql.io.orc.OrcSerde");
  EXPECT_THAT(table.serde_properties, ElementsAre(Pair("serialization.format", "1")));
  EXPECT_EQ(table.location, "/warehouse/sales.db/orders");
  EXPECT_THAT(table.properties,
              UnorderedElementsAre(Pair("transactional", "true"), Pair("note", "it's; so")));
  EXPECT_TRUE(table.transactional());
  EXPECT_EQ(table.kind(), TableKind::kFullAcid);
}

TEST(ParseCreateTable, ReadsWhatPeopleWrite) {
  SKEP_ASSERT_OK_AND_ASSIGN(CreateTable table, ParseCreateTable(R"(-- events
create external table if not exists Logs.`Event ``Log``` (
  2nd_id integer not null default 7,   -- a comment
  Price numeric(8 , 2) constraint c1 check (Price > 0 and (Price < 100)) disable comment "net",
  ratio DOUBLE PRECISION,
  primary key (`2nd_id`) disable novalidate
)
row format delimited fields terminated by '\t' escaped by '\\' null defined as '\001'
lines terminated by '\n'
stored as textfile location "file:///data/logs" ;
)"));
  EXPECT_EQ(table.database, "logs");
  EXPECT_EQ(table.table, "event `log`");
  EXPECT_TRUE(table.external);
  EXPECT_THAT(Shown(table.columns),
              ElementsAre("2nd_id int", "price decimal(8,2)", "ratio double"));
  EXPECT_EQ(table.columns[1].comment, "net");
  EXPECT_EQ(table.location, "/data/logs");
  EXPECT_THAT(table.serde_properties,
              UnorderedElementsAre(Pair("field.delim", "\t"),
                                   Pair("escape.delim", "\\"),
                                   Pair("serialization.null.format", "\x01"),
                                   Pair("line.delim", "\n")));
  EXPECT_EQ(table.kind(), TableKind::kExternal);
  EXPECT_FALSE(table.transactional());
}

TEST(ParseCreateTable, PassesOverWhatBindsWritersOnly) {
  SKEP_ASSERT_OK_AND_ASSIGN(CreateTable table, ParseCreateTable(R"(CREATE TABLE `t`(
  `id` int)
SKEWED BY (`id`)
  ON (('1'),('2'))
  STORED AS DIRECTORIES
STORED AS ORC
ALTER TABLE `t` ADD CONSTRAINT `pk` PRIMARY KEY (`id`) DISABLE NOVALIDATE RELY;)"));
  EXPECT_THAT(Shown(table.columns), ElementsAre("id int"));
  EXPECT_EQ(table.format, FileFormat::kOrc);
  EXPECT_THAT(table.partition_columns, IsEmpty());
}

TEST(ParseCreateTable, KnowsTheFormats) {
  struct Case {
    std::string clause;
    FileFormat format;
    TableKind kind;
  };
  const std::string in = "STORED AS INPUTFORMAT 'org.apache.hadoop.";
  const Case cases[] = {
      {"", FileFormat::kText, TableKind::kInsertOnly},
      {"STORED AS ORC", FileFormat::kOrc, TableKind::kFullAcid},
      {"stored as orc TBLPROPERTIES ('TRANSACTIONAL_PROPERTIES'='INSERT_ONLY')",
       FileFormat::kOrc,
       TableKind::kInsertOnly},
      {"STORED AS PARQUET", FileFormat::kParquet, TableKind::kInsertOnly},
      {"STORED AS AVRO", FileFormat::kAvro, TableKind::kInsertOnly},
      {"STORED AS RCFILE", FileFormat::kOther, TableKind::kInsertOnly},
      {in + "mapred.TextInputFormat' OUTPUTFORMAT 'x'", FileFormat::kText, TableKind::kInsertOnly},
      {"ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.JsonSerDe' " + in +
           "mapred.TextInputFormat' OUTPUTFORMAT 'x'",
       FileFormat::kOther,
       TableKind::kInsertOnly},
      {in + "mapred.TextInputFormat' OUTPUTFORMAT 'x' ROW FORMAT SERDE 'org.apache.OpenCSVSerde'",
       FileFormat::kOther,
       TableKind::kInsertOnly},
      {in + "hive.ql.io.RCFileInputFormat' OUTPUTFORMAT 'x'",
       FileFormat::kOther,
       TableKind::kInsertOnly},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.clause);
    absl::StatusOr<CreateTable> table = ParseCreateTable("CREATE TABLE t (a int) " + c.clause);
    ASSERT_THAT(table, testing::IsOk());
    EXPECT_EQ(table->format, c.format);
    EXPECT_EQ(table->kind(), c.kind);
  }
}

TEST(ParseCreateTable, ReadsEveryType) {
  struct Case {
    std::string text;
    std::string type;
  };
  const Case cases[] = {
      {"TINYINT", "tinyint"},
      {"timestamp  with local\n time zone", "timestamp with local time zone"},
      {"timestamp", "timestamp"},
      {"decimal", "decimal(10,0)"},
      {"decimal( 38 , 18 )", "decimal(38,18)"},
      {"varchar(20)", "varchar(20)"},
      {"array<struct<`x`:int, `y`:map<string,int>>>", "array<struct<x:int,y:map<string,int>>>"},
      {"struct<A:int comment 'x', b:string>", "struct<a:int,b:string>"},
      {"uniontype<int,string>", "uniontype<int,string>"},
      {"map < string , array < array < int > > >", "map<string,array<array<int>>>"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    absl::StatusOr<CreateTable> table = ParseCreateTable("CREATE TABLE t (a " + c.text + ")");
    ASSERT_THAT(table, testing::IsOk());
    EXPECT_EQ(table->columns[0].type.ToString(), c.type);
  }
}

TEST(ParseCreateTable, ResolvesStringEscapes) {
  struct Case {
    std::string text;
    std::string value;
  };
  const Case cases[] = {
      {R"('a\'b')", "a'b"},
      {R"("a\"b'c")", "a\"b'c"},
      {R"('a\;b')", "a;b"},
      {R"('\\n')", "\\n"},
      {R"('\n\t\r\b\Z')", "\n\t\r\b\x1a"},
      {R"('\u00e9\u20ac')", "\xC3\xA9\xE2\x82\xAC"},
      {R"('\u12g4')", "u12g4"},
      {R"('\001\101')", std::string("\x01") + "A"},
      {R"('50\% a\_b')", "50\\% a\\_b"},
      {"'caf\xC3\xA9'", "caf\xC3\xA9"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    absl::StatusOr<CreateTable> table =
        ParseCreateTable("CREATE TABLE t (a int) TBLPROPERTIES ('k'=" + c.text + ")");
    ASSERT_THAT(table, testing::IsOk());
    EXPECT_EQ(table->properties.at("k"), c.value);
  }
}

TEST(ParseCreateTable, SplitsANameWithinOnePairOfQuotes) {
  SKEP_ASSERT_OK_AND_ASSIGN(CreateTable table, ParseCreateTable("CREATE TABLE `Db.T`(`a` int)"));
  EXPECT_EQ(table.database, "db");
  EXPECT_EQ(table.table, "t");
}

}  // namespace
}  // namespace skep::ddl
