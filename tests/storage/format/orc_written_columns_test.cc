// What the writer says of columns (statistics, encodings, positions, bloom filters) against the
// rows that it wrote.

#include <cmath>
#include <random>
#include <set>

#include <arrow/adapters/orc/adapter.h>
#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/util/decimal.h>

#include "storage/base/status_macros.h"
#include "storage/format/orc/bloom_filter.h"
#include "storage/format/orc/chunks.h"
#include "storage/format/orc/orc.pb.h"
#include "storage/format/orc/stripe.h"
#include "storage/format/orc/text_range.h"
#include "storage/format/orc/writer.h"
#include "storage/format/temporal.h"
#include "storage/format/timestamp_type.h"
#include "storage/fs/posix_file_system.h"
#include "tests/storage/format/fixtures.h"
#include "tests/storage/format/insert_events.h"
#include "tests/storage/format/random_rows.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::orc {
namespace {

using ::skep::testing::Inserts;
using ::skep::testing::IsOk;
using ::skep::testing::RandomBatch;
using ::skep::testing::TempDir;

constexpr uint32_t kFirstColumn = 7;

void Write(const std::string& path,
           const std::vector<Column>& columns,
           const WriterOptions& options,
           const std::shared_ptr<arrow::RecordBatch>& rows) {
  fs::PosixFileSystem fs;
  SKEP_ASSERT_OK_AND_ASSIGN(const auto writer, CreateAcidWriter(fs, path, columns, options));
  ASSERT_THAT(writer->Append(Inserts(rows)), IsOk());
  ASSERT_THAT(writer->Close(), IsOk());
}

// A file and a look at the streams of its stripes.
struct Written {
  std::unique_ptr<fs::RandomAccessFile> file;
  Tail tail;

  static absl::StatusOr<Written> Open(const std::string& path) {
    Written out;
    SKEP_ASSIGN_OR_RETURN(out.file, fs::PosixFileSystem().OpenForRead(path));
    SKEP_ASSIGN_OR_RETURN(out.tail, ReadTail(*out.file, out.file->size()));
    return out;
  }
  template <class Message>
  absl::StatusOr<Message> Index(size_t stripe, uint32_t column, StreamKind kind) const {
    SKEP_ASSIGN_OR_RETURN(const StripeLayout layout, ReadStripeLayout(*file, tail, stripe));
    const StreamRange* range = layout.Find(column, kind);
    if (range == nullptr) return absl::NotFoundError("no such stream");
    std::string bytes(range->length, '\0');
    SKEP_RETURN_IF_ERROR(file->ReadAt(
        static_cast<int64_t>(range->offset), static_cast<int64_t>(range->length), bytes.data()));
    SKEP_ASSIGN_OR_RETURN(bytes, DecodeSection(tail.compression, tail.block_size, bytes, 64 << 20));
    Message message;
    message.ParseFromString(bytes);
    return message;
  }
};

template <class ArrayType>
void ExpectIntegers(const proto::ColumnStatistics& found, const arrow::Array& values) {
  const auto& array = static_cast<const ArrayType&>(values);
  std::set<int64_t> all;
  __int128 sum = 0;
  for (int64_t i = 0; i < array.length(); ++i) {
    if (array.IsNull(i)) continue;
    all.insert(array.Value(i));
    sum += array.Value(i);
  }
  if (all.empty()) return;
  if (values.type_id() == arrow::Type::DATE32) {
    EXPECT_EQ(found.date_statistics().minimum(), *all.begin());
    EXPECT_EQ(found.date_statistics().maximum(), *all.rbegin());
    return;
  }
  EXPECT_EQ(found.int_statistics().minimum(), *all.begin());
  EXPECT_EQ(found.int_statistics().maximum(), *all.rbegin());
  if (found.int_statistics().has_sum()) {
    EXPECT_EQ(found.int_statistics().sum(), static_cast<int64_t>(sum));
  }
}

template <class ArrayType>
void ExpectDoubles(const proto::ColumnStatistics& found, const arrow::Array& values) {
  const auto& array = static_cast<const ArrayType&>(values);
  std::set<double> all;
  bool nan = false;
  for (int64_t i = 0; i < array.length(); ++i) {
    if (array.IsNull(i)) continue;
    const double value = array.Value(i);
    nan |= std::isnan(value);
    if (!std::isnan(value)) all.insert(value);
  }
  EXPECT_FALSE(nan && found.has_double_statistics());
  if (all.empty() || nan) return;
  ASSERT_TRUE(found.has_double_statistics());
  EXPECT_EQ(found.double_statistics().minimum(), *all.begin());
  EXPECT_EQ(found.double_statistics().maximum(), *all.rbegin());
}

void ExpectTexts(const proto::ColumnStatistics& found, const arrow::Array& values) {
  const auto& array = static_cast<const arrow::StringArray&>(values);
  std::set<std::string> all;
  int64_t bytes = 0;
  for (int64_t i = 0; i < array.length(); ++i) {
    if (array.IsNull(i)) continue;
    all.insert(array.GetString(i));
    bytes += array.value_length(i);
  }
  if (all.empty()) return;
  EXPECT_EQ(found.string_statistics().minimum(), *all.begin());
  EXPECT_EQ(found.string_statistics().maximum(), *all.rbegin());
  EXPECT_EQ(found.string_statistics().sum(), bytes);
}

void ExpectDecimals(const proto::ColumnStatistics& found, const arrow::Array& values) {
  const auto& array = static_cast<const arrow::Decimal128Array&>(values);
  const int32_t scale = static_cast<const arrow::Decimal128Type&>(*array.type()).scale();
  std::set<arrow::Decimal128> all;
  for (int64_t i = 0; i < array.length(); ++i) {
    if (array.IsValid(i)) all.insert(arrow::Decimal128(array.GetValue(i)));
  }
  if (all.empty()) return;
  const auto parsed = [&](const std::string& text) {
    arrow::Decimal128 value;
    int32_t precision = 0, found_scale = 0;
    EXPECT_TRUE(arrow::Decimal128::FromString(text, &value, &precision, &found_scale).ok()) << text;
    return *value.Rescale(found_scale, scale);
  };
  EXPECT_EQ(parsed(found.decimal_statistics().minimum()), *all.begin());
  EXPECT_EQ(parsed(found.decimal_statistics().maximum()), *all.rbegin());
}

void ExpectTimes(const proto::ColumnStatistics& found, const arrow::Array& values) {
  const format::TimestampReader reader(values);
  std::set<format::WallTime> all;
  for (int64_t i = 0; i < values.length(); ++i) {
    if (!reader.IsNull(i)) all.insert(reader.At(i));
  }
  if (all.empty()) return;
  const proto::TimestampStatistics& times = found.timestamp_statistics();
  const auto nanos = [](int64_t ms, int32_t more) {
    return static_cast<__int128>(ms) * 1'000'000 + more;
  };
  const auto of = [](const format::WallTime& time) {
    return static_cast<__int128>(time.us) * 1000 + time.sub;
  };
  EXPECT_TRUE(nanos(times.minimum_utc(),
                    times.has_minimum_nanos() ? times.minimum_nanos() - 1 : 0) == of(*all.begin()));
  EXPECT_TRUE(
      nanos(times.maximum_utc(), times.has_maximum_nanos() ? times.maximum_nanos() - 1 : 999'999) ==
      of(*all.rbegin()));
}

void ExpectStatistics(const proto::ColumnStatistics& found,
                      const HiveType& type,
                      const arrow::Array& values) {
  EXPECT_EQ(found.number_of_values(), static_cast<uint64_t>(values.length() - values.null_count()));
  EXPECT_EQ(found.has_null(), values.null_count() > 0);
  switch (type.kind) {
    case TypeKind::kTinyint:
      return ExpectIntegers<arrow::Int8Array>(found, values);
    case TypeKind::kSmallint:
      return ExpectIntegers<arrow::Int16Array>(found, values);
    case TypeKind::kInt:
      return ExpectIntegers<arrow::Int32Array>(found, values);
    case TypeKind::kBigint:
      return ExpectIntegers<arrow::Int64Array>(found, values);
    case TypeKind::kDate:
      return ExpectIntegers<arrow::Date32Array>(found, values);
    case TypeKind::kFloat:
      return ExpectDoubles<arrow::FloatArray>(found, values);
    case TypeKind::kDouble:
      return ExpectDoubles<arrow::DoubleArray>(found, values);
    case TypeKind::kString:
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return ExpectTexts(found, values);
    case TypeKind::kDecimal:
      return ExpectDecimals(found, values);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLocalTz:
      return ExpectTimes(found, values);
    default:
      break;
  }
}

TEST(WrittenStatistics, AreThoseOfTheRowsAtEveryLevel) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    TempDir dir;
    const std::vector<Column> columns = skep::testing::RandomColumns(random, 0);
    const int64_t rows = 1 + static_cast<int64_t>(random() % 1500);
    const auto batch = RandomBatch(random, columns, rows);
    WriterOptions options;
    options.stripe_size = 16 << 10;
    options.block_size = 1 << 10;
    options.compression = seed % 2 == 0 ? Compression::kNone : Compression::kZlib;
    options.row_index_stride = 100;
    Write(dir / "f", columns, options, batch);
    SKEP_ASSERT_OK_AND_ASSIGN(const Written written, Written::Open(dir / "f"));
    for (uint32_t c = 0; c < columns.size(); ++c) {
      SCOPED_TRACE(columns[c].type.ToString());
      const auto column = batch->column(static_cast<int>(c));
      const auto parse = [](const ColumnStatistics& statistics) {
        proto::ColumnStatistics message;
        message.ParseFromString(statistics.raw);
        return message;
      };
      const uint32_t id = kFirstColumn + c;
      ExpectStatistics(parse(written.tail.file_statistics[id]), columns[c].type, *column);
      int64_t row = 0;
      for (size_t s = 0; s < written.tail.stripes.size(); ++s) {
        const auto stripe_rows = static_cast<int64_t>(written.tail.stripes[s].rows);
        ExpectStatistics(parse(written.tail.stripe_statistics[s][id]),
                         columns[c].type,
                         *column->Slice(row, stripe_rows));
        SKEP_ASSERT_OK_AND_ASSIGN(const auto index,
                                  written.Index<proto::RowIndex>(s, id, StreamKind::kRowIndex));
        ASSERT_EQ(index.entry_size(), (stripe_rows + 99) / 100);
        for (int g = 0; g < index.entry_size(); ++g) {
          ExpectStatistics(
              index.entry(g).statistics(),
              columns[c].type,
              *column->Slice(row + g * 100, std::min<int64_t>(100, stripe_rows - g * 100)));
        }
        row += stripe_rows;
      }
    }
    if (HasFailure()) return;
  }
}

// Zeros of either sign lie within the bounds, in whichever order a reader has them.
TEST(WrittenStatistics, HoldBothZeros) {
  TempDir dir;
  arrow::DoubleBuilder values;
  ASSERT_TRUE(values.AppendValues({0.0, -0.0}).ok());
  const auto rows = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("d", arrow::float64())}), 2, {*values.Finish()});
  Write(dir / "f", *ParseColumns("d double"), {}, rows);
  SKEP_ASSERT_OK_AND_ASSIGN(const Written written, Written::Open(dir / "f"));
  const ColumnStatistics& found = written.tail.file_statistics[kFirstColumn];
  ASSERT_TRUE(found.double_min && found.double_max);
  EXPECT_TRUE(std::signbit(*found.double_min));
  EXPECT_FALSE(std::signbit(*found.double_max));
}

// Few different texts, many different ones, and none repeated until late; with nulls.
std::shared_ptr<arrow::RecordBatch> ThreeTexts(int64_t rows, std::mt19937_64& random) {
  arrow::StringBuilder few, many, late;
  for (int64_t i = 0; i < rows; ++i) {
    const auto append = [&](arrow::StringBuilder& to, const std::string& text) {
      EXPECT_TRUE((random() % 9 == 0 ? to.AppendNull() : to.Append(text)).ok());
    };
    append(few, "status " + std::to_string(random() % 7));
    append(many, std::to_string(random()) + "#" + std::to_string(random()));
    append(late, i < 6000 ? std::to_string(random()) : "the same text, again and again");
  }
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("few", arrow::utf8()),
                                                 arrow::field("many", arrow::utf8()),
                                                 arrow::field("late", arrow::utf8())}),
                                  rows,
                                  {*few.Finish(), *many.Finish(), *late.Finish()});
}

TEST(WrittenTexts, HaveADictionaryWhereItPaysAndAreFoundBySeeking) {
  for (const Compression compression : {Compression::kNone, Compression::kZlib}) {
    SCOPED_TRACE(CompressionName(compression));
    TempDir dir;
    std::mt19937_64 random(11);
    constexpr int64_t kRows = 20000;
    const auto rows = ThreeTexts(kRows, random);
    WriterOptions options;
    options.compression = compression;
    options.row_index_stride = 1000;
    options.block_size = 16 << 10;
    Write(dir / "f", *ParseColumns("few string, many string, late string"), options, rows);
    SKEP_ASSERT_OK_AND_ASSIGN(const Written written, Written::Open(dir / "f"));
    ASSERT_EQ(written.tail.stripes.size(), 1U);
    SKEP_ASSERT_OK_AND_ASSIGN(const StripeLayout layout,
                              ReadStripeLayout(*written.file, written.tail, 0));
    EXPECT_EQ(layout.encodings[kFirstColumn].kind, EncodingKind::kDictionaryV2);
    EXPECT_EQ(layout.encodings[kFirstColumn].dictionary_size, 7U);
    EXPECT_EQ(layout.encodings[kFirstColumn + 1].kind, EncodingKind::kDirectV2);

    const auto file = *arrow::io::ReadableFile::Open(dir / "f");
    const auto reader =
        *arrow::adapters::orc::ORCFileReader::Open(file, arrow::default_memory_pool());
    for (const int64_t from : {0, 1, 999, 1000, 4095, 4321, 8000, 15999, 19999}) {
      ASSERT_TRUE(reader->Seek(from).ok());
      const auto batch = *(*reader->NextStripeReader(500))->Next();
      const auto row = std::static_pointer_cast<arrow::StructArray>(batch->column(5));
      for (int c = 0; c < 3; ++c) {
        ASSERT_TRUE(row->field(c)->Equals(rows->column(c)->Slice(from, batch->num_rows())))
            << from << " " << c;
      }
    }
  }
}

TEST(WrittenTexts, GoIntoBloomFiltersOnRequest) {
  TempDir dir;
  std::mt19937_64 random(12);
  const auto rows = ThreeTexts(3000, random);
  WriterOptions options;
  options.row_index_stride = 1000;
  options.bloom_columns = {"many"};
  Write(dir / "f", *ParseColumns("few string, many string, late string"), options, rows);
  SKEP_ASSERT_OK_AND_ASSIGN(const Written written, Written::Open(dir / "f"));
  EXPECT_TRUE(absl::IsNotFound(
      written.Index<proto::BloomFilterIndex>(0, kFirstColumn, StreamKind::kBloomFilterUtf8)
          .status()));
  SKEP_ASSERT_OK_AND_ASSIGN(
      const auto index,
      written.Index<proto::BloomFilterIndex>(0, kFirstColumn + 1, StreamKind::kBloomFilterUtf8));
  ASSERT_EQ(index.bloom_filter_size(), 3);
  const BloomFilter shape(1000, options.bloom_false_positives);
  EXPECT_EQ(index.bloom_filter(1).hash_functions(), shape.hash_functions());
  const auto& many = static_cast<const arrow::StringArray&>(*rows->column(1));
  for (int g = 0; g < 3; ++g) {
    BloomFilter again(1000, options.bloom_false_positives);
    for (int64_t i = g * 1000; i < (g + 1) * 1000; ++i) {
      if (many.IsValid(i)) again.AddBytes(many.GetString(i));
    }
    EXPECT_EQ(index.bloom_filter(g).utf8_bitset(), again.bits());
  }
}

}  // namespace
}  // namespace skep::orc
