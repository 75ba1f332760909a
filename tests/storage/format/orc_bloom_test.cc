// Bloom filters on reading: what they exclude, and what they must not.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <nlohmann/json.hpp>

#include "storage/format/orc/bloom_filter.h"
#include "storage/format/orc/bloom_probe.h"
#include "storage/format/orc/reader.h"
#include "storage/format/orc/stripe_source.h"
#include "storage/format/orc/tail_writer.h"
#include "storage/format/orc/writer.h"
#include "storage/format/predicate.h"
#include "storage/format/vocabulary.h"
#include "storage/fs/posix_file_system.h"
#include "tests/storage/format/bytes_file.h"
#include "tests/storage/format/fixtures.h"
#include "tests/storage/format/insert_events.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::orc {
namespace {

using format::BoundPredicate;
using format::Predicate;
using format::PredicateOp;
using ::skep::testing::BytesFile;
using ::skep::testing::Fixture;
using ::skep::testing::Inserts;
using ::skep::testing::IsOk;
using ::skep::testing::OpenOrc;
using ::skep::testing::TempDir;

constexpr int64_t kRows = 3000, kStride = 1000;
constexpr char kColumns[] =
    "i int, b bigint, f float, d double, s string, v varchar(12), day date, at timestamp, "
    "n decimal(12,2), big decimal(38,10)";

template <class Builder, class T>
std::shared_ptr<arrow::Array> ArrayOf(Builder builder, const std::vector<T>& values) {
  EXPECT_TRUE(builder.AppendValues(values).ok());
  return *builder.Finish();
}

std::shared_ptr<arrow::Array> Decimals(int precision, int scale, const std::vector<int64_t>& of) {
  arrow::Decimal128Builder builder(arrow::decimal128(precision, scale));
  for (const int64_t value : of) EXPECT_TRUE(builder.Append(arrow::Decimal128(value)).ok());
  return *builder.Finish();
}

// One row for each number, each column made of it.
std::shared_ptr<arrow::RecordBatch> RowsOf(const std::vector<int64_t>& numbers) {
  const auto pool = arrow::default_memory_pool();
  std::vector<int32_t> ints, days;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::string> texts;
  std::vector<int64_t> times;
  for (const int64_t number : numbers) {
    ints.push_back(static_cast<int32_t>(number));
    days.push_back(static_cast<int32_t>(number) - 2000);
    floats.push_back(static_cast<float>(number) / 2);
    doubles.push_back(static_cast<double>(number) / 10);
    texts.push_back("x" + std::to_string(number));
    times.push_back(1'700'000'000'000'000'000 + number * 1'000'000);
  }
  const arrow::ArrayVector arrays{
      ArrayOf(arrow::Int32Builder(), ints),
      ArrayOf(arrow::Int64Builder(), numbers),
      ArrayOf(arrow::FloatBuilder(), floats),
      ArrayOf(arrow::DoubleBuilder(), doubles),
      ArrayOf(arrow::StringBuilder(), texts),
      ArrayOf(arrow::StringBuilder(), texts),
      ArrayOf(arrow::Date32Builder(), days),
      ArrayOf(arrow::TimestampBuilder(arrow::timestamp(arrow::TimeUnit::NANO), pool), times),
      Decimals(12, 2, numbers),
      Decimals(38, 10, numbers)};
  const std::vector<Column> columns = *ParseColumns(kColumns);
  arrow::FieldVector fields;
  for (size_t i = 0; i < columns.size(); ++i)
    fields.push_back(arrow::field(columns[i].name, arrays[i]->type()));
  const auto raw =
      arrow::RecordBatch::Make(arrow::schema(fields), static_cast<int64_t>(numbers.size()), arrays);
  return *format::ToVocabulary(*raw, columns);
}

// A file whose row groups all reach from the lowest to the highest of the even numbers.
void WriteEvenNumbers(const std::string& path) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < kRows; ++i) {
    const int64_t at = i % kStride;
    numbers.push_back(at == 0 ? 0 : at == 1 ? kRows * 2 : (i * 1999 % kRows) * 2);
  }
  const std::vector<Column> columns = *ParseColumns(kColumns);
  WriterOptions options;
  options.row_index_stride = kStride;
  options.bloom_false_positives = 1e-7;
  for (const Column& column : columns) options.bloom_columns.push_back(column.name);
  fs::PosixFileSystem fs;
  SKEP_ASSERT_OK_AND_ASSIGN(const auto writer, CreateAcidWriter(fs, path, columns, options));
  ASSERT_THAT(writer->Append(Inserts(RowsOf(numbers))), IsOk());
  ASSERT_THAT(writer->Close(), IsOk());
}

std::string LiteralOf(const arrow::Array& array, const HiveType& type) {
  std::string text;
  format::AppendJson(array, 0, type, &text);
  const auto value = nlohmann::json::parse(text);
  return value.is_string() ? value.get<std::string>() : text;
}

// Rows read where `column` is compared with what it would be for `number`.
int64_t RowsRead(Reader& reader, size_t column, PredicateOp op, int64_t number) {
  const std::vector<Column>& columns = reader.columns();
  const auto row = RowsOf({number});
  const Predicate predicate{
      .op = op,
      .column = columns[column].name,
      .literals = {LiteralOf(*row->column(static_cast<int>(column)), columns[column].type)},
      .children = {}};
  const auto bound = BoundPredicate::Bind(predicate, columns);
  EXPECT_THAT(bound, IsOk());
  ReadOptions options;
  options.predicate = &*bound;
  const auto stream = reader.Read(options);
  EXPECT_THAT(stream, IsOk());
  while (true) {
    const auto batch = (*stream)->Next();
    EXPECT_THAT(batch, IsOk());
    if (!batch.ok() || *batch == nullptr) return (*stream)->counters().rows_read;
  }
}

TEST(BloomFilters, ExcludeWhatLiesBetweenTheBounds) {
  const TempDir dir;
  WriteEvenNumbers(dir / "f");
  SKEP_ASSERT_OK_AND_ASSIGN(const auto reader, OpenOrc(dir / "f"));
  for (size_t c = 0; c < reader->columns().size(); ++c) {
    SCOPED_TRACE(reader->columns()[c].name);
    // Text is in another order than numbers: only those between its bounds are a proof.
    EXPECT_EQ(RowsRead(*reader, c, PredicateOp::kEq, 2999), 0);
    EXPECT_EQ(RowsRead(*reader, c, PredicateOp::kIn, 1111), 0);
    EXPECT_EQ(RowsRead(*reader, c, PredicateOp::kEq, 1999 * 2 * 5 % (kRows * 2)), kStride);
    EXPECT_EQ(RowsRead(*reader, c, PredicateOp::kNotEq, 2999), kRows);
    EXPECT_EQ(RowsRead(*reader, c, PredicateOp::kLe, 2999), kRows);
  }
}

TEST(BloomFilters, AreAskedOnlyWhereTheWriterHashedAsTheReaderDoes) {
  const BytesFile file("");
  const struct {
    const char* name;
    const char* type;
    uint32_t writer;
    const char* software;
    const char* zone;
    bool in_utc, bounded, counts;
  } kCases[] = {
      {"text", "string", 0, "", "", false, false, true},
      {"early C++ without a release", "string", 1, "", "", true, true, false},
      {"C++ 1.6", "string", 1, "1.6.11", "", true, true, false},
      {"C++ 1.7.0", "string", 1, "1.7.0-SNAPSHOT", "", true, true, false},
      {"C++ 1.7.1", "string", 1, "1.7.1", "", true, true, true},
      {"Java 1.6", "string", 0, "1.6.11", "", true, true, true},
      {"char", "char(4)", 0, "", "", true, true, false},
      {"an int that may be cut", "int", 0, "", "", true, false, false},
      {"an int", "int", 0, "", "", true, true, true},
      {"a bigint", "bigint", 0, "", "", true, false, true},
      {"local times", "timestamp", 0, "", "Asia/Tokyo", true, true, false},
      {"times of an unknown kind", "timestamp", 0, "", "UTC", false, true, false},
      {"times", "timestamp", 0, "", "UTC", true, true, true},
      {"instants", "timestamp with local time zone", 0, "", "Asia/Tokyo", true, true, true},
      {"decimals of Java", "decimal(9,2)", 0, "", "", true, true, true},
      {"decimals of Trino", "decimal(9,2)", 4, "", "", true, true, false},
      {"decimals of ours", "decimal(9,2)", kSkepWriter, "", "", true, true, true},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.name);
    Tail tail;
    tail.writer = c.writer;
    tail.software_version = c.software;
    StripeLayout layout;
    layout.encodings.push_back({EncodingKind::kDirectV2, 0, c.in_utc});
    layout.writer_zone = c.zone;
    const StripeSource source(file, tail, std::move(layout), Calendar::kProleptic);
    EXPECT_EQ(BloomFilterCounts(source, 0, *ParseHiveType(c.type), c.bounded), c.counts);
  }
}

TEST(BloomFilters, SayNothingOfWhatIsReadOtherwiseThanStored) {
  BloomFilter filter(1000, 1e-7);
  const auto may_hold = [&](const char* type,
                            const format::Literal& literal,
                            Calendar calendar = Calendar::kProleptic) {
    return MayHold(filter, literal, *ParseHiveType(type), calendar);
  };
  EXPECT_FALSE(may_hold("double", 0.0));
  filter.AddDouble(-0.0);
  EXPECT_TRUE(may_hold("double", 0.0));
  // Perhaps cut to three characters when it was read.
  EXPECT_TRUE(may_hold("varchar(3)", std::string("äbc")));
  EXPECT_FALSE(may_hold("varchar(4)", std::string("äbc")));
  EXPECT_TRUE(may_hold("date", format::DateLiteral{-200'000}, Calendar::kJulianGregorian));
  EXPECT_FALSE(may_hold("date", format::DateLiteral{-200'000}));
  EXPECT_TRUE(may_hold("timestamp", format::WallTime{999'999, 0}));
  EXPECT_FALSE(may_hold("timestamp", format::WallTime{1'000'000, 0}));
  EXPECT_TRUE(may_hold("decimal(9,2)", format::DecimalLiteral{arrow::Decimal128(150), true}));
  EXPECT_FALSE(may_hold("decimal(9,2)", format::DecimalLiteral{arrow::Decimal128(150), false}));
  filter.AddBytes("1.5");
  EXPECT_TRUE(may_hold("decimal(9,2)", format::DecimalLiteral{arrow::Decimal128(150), false}));
}

TEST(BloomFilters, OfDamagedFilesAreNone) {
  EXPECT_FALSE(BloomFilter::Of(0, std::string(8, '\0')));
  EXPECT_FALSE(BloomFilter::Of(4'000'000'000, std::string(8, '\0')));
  EXPECT_FALSE(BloomFilter::Of(3, ""));
  EXPECT_FALSE(BloomFilter::Of(3, std::string(7, '\0')));
  const auto filter = BloomFilter::Of(3, std::string(8, '\xff'));
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter->MayContainInteger(5));
}

// Filters that were hashed wrongly, and filters of the old kind.
TEST(BloomFilters, OfNoFileHideAValue) {
  SKEP_REQUIRE_FIXTURES();
  for (const char* const file :
       {"orc/apache-orc/bad_bloom_filter_1.6.11.orc", "orc/apache-orc/over1k_bloom.orc"}) {
    SCOPED_TRACE(file);
    SKEP_ASSERT_OK_AND_ASSIGN(const auto reader, OpenOrc(Fixture(file)));
    const std::vector<Column>& columns = reader->columns();
    SKEP_ASSERT_OK_AND_ASSIGN(const auto all, reader->Read({}));
    SKEP_ASSERT_OK_AND_ASSIGN(const auto rows, all->Next());
    int tried = 0;
    for (size_t c = 0; c < columns.size(); ++c) {
      const arrow::Array& values = *rows->rows->column(static_cast<int>(c));
      for (int64_t i = 0; i < std::min<int64_t>(values.length(), 50); ++i) {
        if (values.IsNull(i)) continue;
        const Predicate predicate{.op = PredicateOp::kEq,
                                  .column = columns[c].name,
                                  .literals = {LiteralOf(*values.Slice(i, 1), columns[c].type)},
                                  .children = {}};
        const auto bound = BoundPredicate::Bind(predicate, columns);
        if (!bound.ok()) continue;  // binary
        ReadOptions options;
        options.predicate = &*bound;
        SKEP_ASSERT_OK_AND_ASSIGN(const auto stream, reader->Read(options));
        SKEP_ASSERT_OK_AND_ASSIGN(const auto batch, stream->Next());
        EXPECT_NE(batch, nullptr) << columns[c].name << " " << predicate.literals[0];
        ++tried;
      }
    }
    EXPECT_GT(tried, 4);
  }
}

}  // namespace
}  // namespace skep::orc
