#include "storage/format/vocabulary.h"

#include <limits>
#include <optional>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/util/decimal.h>

#include "storage/format/calendar.h"
#include "storage/format/temporal.h"
#include "storage/format/timestamp_type.h"
#include "tests/testing/status_matchers.h"

namespace skep::format {
namespace {

using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::skep::testing::IsOkAndHolds;
using ::testing::HasSubstr;

HiveType Type(std::string_view text) { return *ParseHiveType(text); }

std::shared_ptr<arrow::Array> Finish(arrow::ArrayBuilder&& builder) { return *builder.Finish(); }

template <class Builder, class Value>
std::shared_ptr<arrow::Array> Values(Builder builder,
                                     const std::vector<std::optional<Value>>& values) {
  for (const auto& value : values) {
    EXPECT_TRUE((value ? builder.Append(*value) : builder.AppendNull()).ok());
  }
  return Finish(std::move(builder));
}

// One table batch of one column, converted on the way in.
absl::StatusOr<std::shared_ptr<arrow::Array>> In(std::shared_ptr<arrow::Array> array,
                                                 const char* type) {
  const auto batch = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("C", array->type())}), array->length(), {array});
  const auto out = ToVocabulary(*batch, {{"c", Type(type), ""}});
  if (!out.ok()) return out.status();
  return (*out)->column(0);
}

std::string Json(const arrow::Array& array, int64_t index, const char* type) {
  std::string out;
  AppendJson(array, index, Type(type), &out);
  return out;
}

std::shared_ptr<arrow::Array> Timestamps(arrow::TimeUnit::type unit,
                                         const std::vector<std::optional<int64_t>>& values,
                                         const std::string& zone = "") {
  return Values(arrow::TimestampBuilder(arrow::timestamp(unit, zone), arrow::default_memory_pool()),
                values);
}

TEST(ArrowTypes, ComeBackAsTheHiveTypeTheyAre) {
  for (const char* text : {"boolean",
                           "tinyint",
                           "smallint",
                           "int",
                           "bigint",
                           "float",
                           "double",
                           "string",
                           "binary",
                           "date",
                           "timestamp",
                           "timestamp with local time zone",
                           "decimal(12,2)",
                           "array<int>",
                           "map<string,array<timestamp>>",
                           "struct<a:int,b:struct<c:date>>",
                           "uniontype<int,string>"}) {
    SCOPED_TRACE(text);
    const auto arrow_type = ArrowTypeOf(Type(text));
    SKEP_ASSERT_OK_AND_ASSIGN(const HiveType back, HiveTypeOf(*arrow_type));
    EXPECT_EQ(back.ToString(), Type(text).ToString());
  }
  EXPECT_THAT(HiveTypeOf(*arrow::duration(arrow::TimeUnit::SECOND)),
              HasReason(ErrorReason::kNotSupported));
  EXPECT_EQ(ArrowTypeOf(Type("timestamp"))->ToString(), "extension<skep.timestamp>");
}

struct JsonCase {
  const char* type;
  std::shared_ptr<arrow::Array> array;
  std::vector<std::string> texts;
};

TEST(AppendJson, WritesValuesAsTheFixturesDo) {
  const float inf = std::numeric_limits<float>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const JsonCase kCases[] = {
      {"boolean",
       Values<arrow::BooleanBuilder, bool>(arrow::BooleanBuilder(), {true, false, std::nullopt}),
       {"true", "false", "null"}},
      {"bigint",
       Values<arrow::Int64Builder, int64_t>(arrow::Int64Builder(), {INT64_MIN, 0, INT64_MAX}),
       {"-9223372036854775808", "0", "9223372036854775807"}},
      {"float",
       Values<arrow::FloatBuilder, float>(arrow::FloatBuilder(), {1.1F, 1.0F, inf, -inf}),
       {"1.1", "1.0", "\"Infinity\"", "\"-Infinity\""}},
      {"double",
       Values<arrow::DoubleBuilder, double>(arrow::DoubleBuilder(),
                                            {nan, 2.718281828459045, 1e300}),
       {"\"NaN\"", "2.718281828459045", "1e+300"}},
      {"string",
       Values<arrow::StringBuilder, std::string>(arrow::StringBuilder(),
                                                 {"q\"\\\n\x01",
                                                  "日é",
                                                  "\xff"
                                                  "a\xe6\x97",
                                                  ""}),
       {"\"q\\\"\\\\\\n\\u0001\"",
        "\"日é\"",
        "\"\xEF\xBF\xBD"
        "a\xEF\xBF\xBD\xEF\xBF\xBD\"",
        "\"\""}},
      {"binary",
       Values<arrow::BinaryBuilder, std::string>(arrow::BinaryBuilder(),
                                                 {std::string("\0\xff\x10", 3)}),
       {"\"base64:AP8Q\""}},
      {"date",
       Values<arrow::Date32Builder, int32_t>(arrow::Date32Builder(),
                                             {-719162, 0, 2932896, -719163}),
       {"\"0001-01-01\"", "\"1970-01-01\"", "\"9999-12-31\"", "\"0000-12-31\""}},
      {"decimal(12,2)",
       Values<arrow::Decimal128Builder, arrow::Decimal128>(
           arrow::Decimal128Builder(arrow::decimal128(12, 2)),
           {arrow::Decimal128(1234),
            arrow::Decimal128(-1),
            arrow::Decimal128(150),
            arrow::Decimal128(0),
            arrow::Decimal128(-12300)}),
       {"\"12.34\"", "\"-0.01\"", "\"1.5\"", "\"0\"", "\"-123\""}},
  };
  for (const JsonCase& c : kCases) {
    SCOPED_TRACE(c.type);
    for (size_t i = 0; i < c.texts.size(); ++i)
      EXPECT_EQ(Json(*c.array, static_cast<int64_t>(i), c.type), c.texts[i]);
  }
}

TEST(AppendJson, WritesTimestampsWithoutTrailingZeros) {
  SKEP_ASSERT_OK_AND_ASSIGN(
      const auto nanos,
      In(Timestamps(arrow::TimeUnit::NANO, {0, 1, -1, 1'500'000'000, std::nullopt}), "timestamp"));
  EXPECT_EQ(Json(*nanos, 0, "timestamp"), "\"1970-01-01 00:00:00\"");
  EXPECT_EQ(Json(*nanos, 1, "timestamp"), "\"1970-01-01 00:00:00.000000001\"");
  EXPECT_EQ(Json(*nanos, 2, "timestamp"), "\"1969-12-31 23:59:59.999999999\"");
  EXPECT_EQ(Json(*nanos, 3, "timestamp"), "\"1970-01-01 00:00:01.5\"");
  EXPECT_EQ(Json(*nanos, 4, "timestamp"), "null");
}

TEST(AppendJson, WritesNestedValues) {
  arrow::MapBuilder map(arrow::default_memory_pool(),
                        std::make_shared<arrow::Int32Builder>(),
                        std::make_shared<arrow::StringBuilder>());
  auto* keys = static_cast<arrow::Int32Builder*>(map.key_builder());
  auto* items = static_cast<arrow::StringBuilder*>(map.item_builder());
  ASSERT_TRUE(map.Append().ok() && keys->Append(7).ok() && items->Append("x").ok() &&
              keys->Append(8).ok() && items->AppendNull().ok());
  EXPECT_EQ(Json(*Finish(std::move(map)), 0, "map<int,string>"), "{\"7\":\"x\",\"8\":null}");

  const auto fields = arrow::StructArray::Make(
      {Values<arrow::Int8Builder, int8_t>(arrow::Int8Builder(), {1, 0}),
       Values<arrow::Int32Builder, int32_t>(arrow::Int32Builder(), {5, 6}),
       Values<arrow::StringBuilder, std::string>(arrow::StringBuilder(), {"five", "six"})},
      std::vector<std::string>{"tag", "f0", "f1"});
  ASSERT_TRUE(fields.ok());
  EXPECT_EQ(Json(**fields, 0, "uniontype<int,string>"), "{\"1\":\"five\"}");
  EXPECT_EQ(Json(**fields, 1, "uniontype<int,string>"), "{\"0\":6}");
  EXPECT_EQ(Json(**fields, 1, "struct<a:tinyint,b:int,c:string>"),
            "{\"a\":0,\"b\":6,\"c\":\"six\"}");
}

struct PartitionCase {
  const char* type;
  std::optional<std::string> value;
  const char* json;  // nullptr: refused
};

TEST(PartitionValueJson, ShowsDirectoriesAsHiveDoes) {
  const PartitionCase kCases[] = {
      {"int", std::nullopt, "null"},
      {"int", "-5", "-5"},
      {"int", "2147483648", nullptr},
      {"bigint", "10000000000", "10000000000"},
      {"boolean", "true", "true"},
      {"string", "a b", "\"a b\""},
      {"string", "1", "\"1\""},
      {"char(4)", "ab  ", "\"ab  \""},
      {"char(4)", "ab", "\"ab  \""},
      {"varchar(3)", "abc", "\"abc\""},
      {"date", "2024-02-29", "\"2024-02-29\""},
      {"date", "2023-02-29", nullptr},
      {"timestamp", "2024-01-02 03:04:05", "\"2024-01-02 03:04:05\""},
      {"timestamp", "2024-01-02 03:04:05.500", "\"2024-01-02 03:04:05.5\""},
      {"decimal(10,2)", "0", "\"0\""},
      {"decimal(10,2)", "0.5", "\"0.5\""},
      {"decimal(10,2)", "1.25", "\"1.25\""},
      {"decimal(10,2)", "1.255", nullptr},
      {"double", "1.5", "1.5"},
      {"int", "x", nullptr},
      {"array<int>", "1", nullptr},
  };
  for (const PartitionCase& c : kCases) {
    SCOPED_TRACE(std::string(c.type) + " " + c.value.value_or("NULL"));
    const auto json = PartitionValueJson(c.value, Type(c.type));
    if (c.json != nullptr) {
      EXPECT_THAT(json, IsOkAndHolds(std::string(c.json)));
    } else {
      EXPECT_THAT(json, HasReason(ErrorReason::kInvalidRequest));
    }
  }
}

TEST(ToVocabulary, TakesEveryUnitOfTimestamps) {
  const int64_t kSecond = 1709251199;  // 2024-02-29 23:59:59
  for (const auto& [unit, factor] : std::vector<std::pair<arrow::TimeUnit::type, int64_t>>{
           {arrow::TimeUnit::SECOND, 1},
           {arrow::TimeUnit::MILLI, 1000},
           {arrow::TimeUnit::MICRO, 1000000},
           {arrow::TimeUnit::NANO, 1000000000}}) {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto out,
                              In(Timestamps(unit, {kSecond * factor}), "timestamp"));
    EXPECT_EQ(Json(*out, 0, "timestamp"), "\"2024-02-29 23:59:59\"");
    SKEP_ASSERT_OK_AND_ASSIGN(
        const auto utc,
        In(Timestamps(unit, {kSecond * factor}, "Europe/Paris"), "timestamp with local time zone"));
    EXPECT_EQ(Json(*utc, 0, "timestamp with local time zone"), "\"2024-02-29 23:59:59\"");
  }
  EXPECT_THAT(In(Timestamps(arrow::TimeUnit::SECOND, {0, 253402300800}), "timestamp"),
              HasReason(ErrorReason::kValueOutOfRange));
  EXPECT_THAT(In(Timestamps(arrow::TimeUnit::SECOND, {0, 253402300800}), "timestamp"),
              HasMessage(HasSubstr("column c, row 1")));
  EXPECT_THAT(In(Timestamps(arrow::TimeUnit::SECOND, {0}, "UTC"), "timestamp"),
              HasReason(ErrorReason::kInvalidRequest));
}

TEST(ToVocabulary, TakesIntegersOfAnyWidthThatFit) {
  SKEP_ASSERT_OK_AND_ASSIGN(
      const auto out,
      In(Values<arrow::UInt64Builder, uint64_t>(arrow::UInt64Builder(), {7, std::nullopt}),
         "tinyint"));
  EXPECT_EQ(out->type()->id(), arrow::Type::INT8);
  EXPECT_EQ(Json(*out, 0, "tinyint"), "7");
  EXPECT_EQ(Json(*out, 1, "tinyint"), "null");
  const auto refused =
      In(Values<arrow::Int64Builder, int64_t>(arrow::Int64Builder(), {1, 2, 300}), "tinyint");
  EXPECT_THAT(refused, HasReason(ErrorReason::kValueOutOfRange));
  EXPECT_EQ(MetadataOf(refused.status()).at("row"), "2");
  EXPECT_THAT(In(Values<arrow::StringBuilder, std::string>(arrow::StringBuilder(), {"1"}), "int"),
              HasReason(ErrorReason::kInvalidRequest));
}

TEST(ToVocabulary, ShapesTextAndDecimals) {
  SKEP_ASSERT_OK_AND_ASSIGN(
      const auto padded,
      In(Values<arrow::StringBuilder, std::string>(arrow::StringBuilder(), {"日", "abcdef"}),
         "char(3)"));
  EXPECT_EQ(Json(*padded, 0, "char(3)"), "\"日  \"");
  EXPECT_EQ(Json(*padded, 1, "char(3)"), "\"abc\"");
  SKEP_ASSERT_OK_AND_ASSIGN(
      const auto cut,
      In(Values<arrow::LargeStringBuilder, std::string>(arrow::LargeStringBuilder(), {"日本語x"}),
         "varchar(3)"));
  EXPECT_EQ(Json(*cut, 0, "varchar(3)"), "\"日本語\"");
  const auto cents = Values<arrow::Decimal128Builder, arrow::Decimal128>(
      arrow::Decimal128Builder(arrow::decimal128(10, 2)), {arrow::Decimal128(1050)});
  SKEP_ASSERT_OK_AND_ASSIGN(const auto tenths, In(cents, "decimal(5,1)"));
  EXPECT_EQ(Json(*tenths, 0, "decimal(5,1)"), "\"10.5\"");
  EXPECT_THAT(In(cents, "decimal(5,0)"), HasReason(ErrorReason::kValueOutOfRange));
}

TEST(ToVocabulary, DecodesDictionariesAndOrdersFields) {
  arrow::StringDictionaryBuilder dictionary;
  for (const char* text : {"a", "b", "a"}) ASSERT_TRUE(dictionary.Append(text).ok());
  SKEP_ASSERT_OK_AND_ASSIGN(const auto plain, In(Finish(std::move(dictionary)), "string"));
  EXPECT_EQ(Json(*plain, 2, "string"), "\"a\"");

  const auto fields = arrow::StructArray::Make(
      {Values<arrow::Int64Builder, int64_t>(arrow::Int64Builder(), {5, 6})},
      std::vector<std::string>{"B"});
  SKEP_ASSERT_OK_AND_ASSIGN(const auto out, In((*fields)->Slice(1), "struct<a:string,b:int>"));
  EXPECT_EQ(Json(*out, 0, "struct<a:string,b:int>"), "{\"a\":null,\"b\":6}");
  EXPECT_THAT(In(*fields, "struct<a:string>"), HasReason(ErrorReason::kInvalidRequest));
}

TEST(ToVocabulary, NamesTheRowOfANestedFailure) {
  arrow::ListBuilder lists(arrow::default_memory_pool(), std::make_shared<arrow::Int64Builder>());
  auto* numbers = static_cast<arrow::Int64Builder*>(lists.value_builder());
  for (const auto& row : std::vector<std::vector<int64_t>>{{1, 2}, {}, {3, 999}}) {
    ASSERT_TRUE(lists.Append().ok() && numbers->AppendValues(row).ok());
  }
  EXPECT_THAT(In(Finish(std::move(lists)), "array<tinyint>"),
              HasMessage(HasSubstr("column c, row 2: 999 does not fit tinyint")));
}

TEST(ToVocabulary, FillsAbsentColumnsAndRefusesUnknownOnes) {
  const auto batch = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("a", arrow::int32())}),
      2,
      {Values<arrow::Int32Builder, int32_t>(arrow::Int32Builder(), {1, 2})});
  SKEP_ASSERT_OK_AND_ASSIGN(
      const auto out, ToVocabulary(*batch, {{"b", Type("timestamp"), ""}, {"a", Type("int"), ""}}));
  EXPECT_EQ(out->column(0)->null_count(), 2);
  EXPECT_EQ(out->schema()->field(0)->name(), "b");
  EXPECT_THAT(ToVocabulary(*batch, {{"b", Type("int"), ""}}), HasMessage(HasSubstr("no column a")));
}

TEST(FromVocabulary, GivesTimestampsBackAndRefusesWhatIsLost) {
  SKEP_ASSERT_OK_AND_ASSIGN(
      const auto times,
      In(Timestamps(arrow::TimeUnit::NANO, {1'000, std::nullopt, 1'001}), "timestamp"));
  const auto batch = [&](int64_t rows) {
    return arrow::RecordBatch::Make(
        arrow::schema({arrow::field("t", times->type())}), rows, {times->Slice(0, rows)});
  };
  SKEP_ASSERT_OK_AND_ASSIGN(const auto micros, FromVocabulary(*batch(2), TimestampUnit::kMicro));
  EXPECT_TRUE(micros->column(0)->type()->Equals(arrow::timestamp(arrow::TimeUnit::MICRO)));
  EXPECT_EQ(std::static_pointer_cast<arrow::TimestampArray>(micros->column(0))->Value(0), 1);
  EXPECT_TRUE(micros->column(0)->IsNull(1));
  EXPECT_THAT(FromVocabulary(*batch(3), TimestampUnit::kMicro),
              HasMessage(HasSubstr("column t, row 2")));
  SKEP_ASSERT_OK_AND_ASSIGN(const auto nanos, FromVocabulary(*batch(3), TimestampUnit::kNano));
  EXPECT_EQ(std::static_pointer_cast<arrow::TimestampArray>(nanos->column(0))->Value(2), 1'001);
  SKEP_ASSERT_OK_AND_ASSIGN(const auto far,
                            In(Timestamps(arrow::TimeUnit::SECOND, {253402214400}), "timestamp"));
  const auto year9999 =
      arrow::RecordBatch::Make(arrow::schema({arrow::field("t", far->type())}), 1, {far});
  EXPECT_THAT(FromVocabulary(*year9999, TimestampUnit::kMicro), IsOk());
  EXPECT_THAT(FromVocabulary(*year9999, TimestampUnit::kNano),
              HasReason(ErrorReason::kValueOutOfRange));
}

TEST(Calendar, AgreesWithKnownDays) {
  EXPECT_EQ(JulianDaysOf({1500, 1, 1}), -171655);
  EXPECT_EQ(DaysOf({1500, 1, 1}), -171664);
  EXPECT_EQ(DaysOf({1582, 10, 15}), kGregorianStart);
  EXPECT_EQ(JulianDateOf(kGregorianStart - 1), (CivilDate{1582, 10, 4}));
  EXPECT_EQ(DaysOf({1, 1, 1}), kMinDay);
  EXPECT_EQ(DaysOf({9999, 12, 31}), kMaxDay);
}

TEST(Calendar, ConvertsByLabelThereAndBack) {
  size_t only_julian = 0;
  for (int64_t day = kMinDay - 800; day < kGregorianStart + 10; ++day) {
    const std::optional<int64_t> proleptic = HybridToProleptic(day);
    if (!proleptic) {
      EXPECT_EQ(JulianDateOf(day).day, 29);
      ++only_julian;
      continue;
    }
    ASSERT_EQ(ProlepticToHybrid(*proleptic), day) << day;
  }
  EXPECT_EQ(only_julian, 12U);  // 29 February of 100, 200, 300, 500, … 1500
  for (int64_t day = DaysOf({1582, 10, 5}); day <= DaysOf({1582, 10, 14}); ++day) {
    EXPECT_EQ(ProlepticToHybrid(day), std::nullopt);
  }
}

TEST(ParseTimestamp, TakesHiveFormsAndNothingElse) {
  EXPECT_EQ(ParseTimestamp("1970-01-01 00:00:01.5"), (WallTime{1'500'000, 0}));
  EXPECT_EQ(ParseTimestamp("1969-12-31 23:59:59.999999999"), (WallTime{-1, 999}));
  EXPECT_EQ(ParseTimestamp("1970-01-02"), (WallTime{kMicrosPerDay, 0}));
  EXPECT_EQ(ParseTimestamp("0001-01-01T00:00:00"), (WallTime{kMinWallMicros, 0}));
  for (const char* bad : {"",
                          "1970",
                          "1970-1-1",
                          "1970-13-01",
                          "1970-02-30",
                          "1970-01-01 24:00:00",
                          "1970-01-01 00:00:00.",
                          "1970-01-01 00:00:00.1234567890",
                          "1970-01-01 00:00",
                          "0000-01-01",
                          "x"}) {
    EXPECT_EQ(ParseTimestamp(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace skep::format
