#include <filesystem>
#include <random>

#include <arrow/adapters/orc/adapter.h>
#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>

#include "storage/base/status_macros.h"
#include "storage/format/orc/writer.h"
#include "storage/format/vocabulary.h"
#include "storage/fs/posix_file_system.h"
#include "tests/storage/format/fixtures.h"
#include "tests/storage/format/insert_events.h"
#include "tests/storage/format/random_rows.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::orc {
namespace {

using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::skep::testing::Inserts;
using ::skep::testing::IsOk;
using ::skep::testing::OpenOrc;
using ::skep::testing::RandomBatch;
using ::skep::testing::TempDir;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<std::string> Texts(const arrow::RecordBatch& rows, const std::vector<Column>& columns) {
  std::vector<std::string> out(static_cast<size_t>(rows.num_rows()));
  for (int64_t i = 0; i < rows.num_rows(); ++i) {
    for (size_t c = 0; c < columns.size(); ++c) {
      format::AppendJson(
          *rows.column(static_cast<int>(c)), i, columns[c].type, &out[static_cast<size_t>(i)]);
      out[static_cast<size_t>(i)] += ' ';
    }
  }
  return out;
}

absl::StatusOr<FileSummary> WriteBatches(
    const std::string& path,
    const std::vector<Column>& columns,
    const WriterOptions& options,
    const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches) {
  fs::PosixFileSystem fs;
  SKEP_ASSIGN_OR_RETURN(const auto writer, CreateAcidWriter(fs, path, columns, options));
  int64_t first = 0;
  for (const auto& rows : batches) {
    SKEP_RETURN_IF_ERROR(writer->Append(Inserts(rows, first)));
    first += rows->num_rows();
  }
  return writer->Close();
}

// Reads the file and compares each row's text; also what the tail says of the stripes.
void ExpectRows(const std::string& path,
                const std::vector<Column>& columns,
                const std::vector<std::string>& expected) {
  SKEP_ASSERT_OK_AND_ASSIGN(const auto reader, OpenOrc(path));
  ASSERT_TRUE(reader->is_acid());
  ASSERT_EQ(reader->columns(), columns);
  const std::optional<std::vector<AcidKey>> keys = KeyIndexOf(reader->tail());
  ASSERT_TRUE(keys.has_value());
  for (size_t s = 0, row = 0; s < keys->size(); ++s) {
    row += reader->tail().stripes[s].rows;
    EXPECT_EQ((*keys)[s], (AcidKey{7, 536870912, static_cast<int64_t>(row) - 1}));
  }
  SKEP_ASSERT_OK_AND_ASSIGN(const auto stream, reader->Read({.batch_rows = 777}));
  size_t at = 0;
  while (true) {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto batch, stream->Next());
    if (batch == nullptr) break;
    ASSERT_TRUE(batch->rows->ValidateFull().ok()) << batch->rows->ValidateFull().ToString();
    EXPECT_EQ(batch->first_row, static_cast<int64_t>(at));
    for (const std::string& text : Texts(*batch->rows, columns)) {
      ASSERT_LT(at, expected.size());
      ASSERT_EQ(text, expected[at]) << "row " << at;
      ASSERT_EQ(batch->row_id[at - static_cast<size_t>(batch->first_row)],
                static_cast<int64_t>(at));
      ++at;
    }
  }
  EXPECT_EQ(at, expected.size());
}

void RoundTrip(const std::vector<Column>& columns,
               std::mt19937_64& random,
               const WriterOptions& options,
               int64_t rows) {
  TempDir dir;
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  std::vector<std::string> expected;
  for (int64_t left = rows; left > 0;) {
    const int64_t now = std::min<int64_t>(left, 1 + static_cast<int64_t>(random() % 2500));
    batches.push_back(RandomBatch(random, columns, now));
    for (std::string& text : Texts(*batches.back(), columns)) expected.push_back(std::move(text));
    left -= now;
  }
  SKEP_ASSERT_OK_AND_ASSIGN(const FileSummary summary,
                            WriteBatches(dir / "bucket_00000", columns, options, batches));
  EXPECT_EQ(summary.rows, rows);
  EXPECT_EQ(summary.stats, (AcidStats{rows, 0, 0}));
  EXPECT_EQ(summary.bytes, static_cast<int64_t>(std::filesystem::file_size(dir / "bucket_00000")));
  ExpectRows(dir / "bucket_00000", columns, expected);
}

TEST(AcidWriter, KeepsEveryTypeAtEveryNesting) {
  std::mt19937_64 random(17);
  for (const Compression compression : {Compression::kNone,
                                        Compression::kZlib,
                                        Compression::kSnappy,
                                        Compression::kLz4,
                                        Compression::kZstd}) {
    SCOPED_TRACE(CompressionName(compression));
    WriterOptions options;
    options.compression = compression;
    options.row_index_stride = 200;
    RoundTrip(skep::testing::AllKinds(), random, options, 500);
  }
}

TEST(AcidWriter, KeepsRandomRowsOfRandomTypes) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    WriterOptions options;
    options.compression = seed % 2 == 0 ? Compression::kNone : Compression::kZlib;
    options.stripe_size = 64 << 10;
    options.block_size = 4 << 10;
    options.row_index_stride = seed % 3 == 0 ? 0 : 1000;
    RoundTrip(skep::testing::RandomColumns(random, 3),
              random,
              options,
              static_cast<int64_t>(random() % 4000));
    if (HasFatalFailure()) return;
  }
}

TEST(AcidWriter, KeepsManySmallFilesOfRandomTypes) {
  const Compression kAll[] = {Compression::kNone,
                              Compression::kZlib,
                              Compression::kSnappy,
                              Compression::kLz4,
                              Compression::kZstd};
  for (uint64_t seed = 1000; seed < 1300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    WriterOptions options;
    options.compression = kAll[seed % 5];
    options.block_size = 1 << 10;
    options.stripe_size = seed % 2 == 0 ? 8 << 10 : 1 << 20;
    options.row_index_stride = seed % 4 == 0 ? 0 : 10 + static_cast<uint32_t>(random() % 100);
    RoundTrip(skep::testing::RandomColumns(random, 2),
              random,
              options,
              static_cast<int64_t>(random() % 300));
    if (HasFatalFailure()) return;
  }
}

std::vector<Column> Of(const char* text) { return *ParseColumns(text); }

// Rows of (n int, t timestamp[ns], …) as users make them; nullopt is NULL.
std::shared_ptr<arrow::RecordBatch> Times(const std::vector<std::optional<int64_t>>& nanos) {
  arrow::Int32Builder numbers;
  arrow::TimestampBuilder times(arrow::timestamp(arrow::TimeUnit::NANO),
                                arrow::default_memory_pool());
  for (size_t i = 0; i < nanos.size(); ++i) {
    EXPECT_TRUE(numbers.Append(static_cast<int32_t>(i)).ok());
    EXPECT_TRUE((nanos[i] ? times.Append(*nanos[i]) : times.AppendNull()).ok());
  }
  const auto schema = arrow::schema({arrow::field("n", arrow::int32()),
                                     arrow::field("t", arrow::timestamp(arrow::TimeUnit::NANO))});
  return *format::ToVocabulary(
      *arrow::RecordBatch::Make(
          schema, static_cast<int64_t>(nanos.size()), {*numbers.Finish(), *times.Finish()}),
      Of("n int, t timestamp"));
}

std::shared_ptr<arrow::RecordBatch> Texts(const std::vector<std::string>& texts) {
  arrow::StringBuilder builder;
  for (const std::string& text : texts) EXPECT_TRUE(builder.Append(text).ok());
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("s", arrow::utf8())}),
                                  static_cast<int64_t>(texts.size()),
                                  {*builder.Finish()});
}

absl::StatusOr<Tail> TailOf(const std::string& path) {
  SKEP_ASSIGN_OR_RETURN(const auto file, fs::PosixFileSystem().OpenForRead(path));
  return ReadTail(*file, file->size());
}

TEST(AcidWriter, WritesHivesMetadataOnceEach) {
  TempDir dir;
  ASSERT_THAT(WriteBatches(dir / "bucket_00000", Of("s string"), {}, {Texts({"b", "a"})}), IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(const Tail tail, TailOf(dir / "bucket_00000"));
  EXPECT_EQ(tail.user_metadata,
            (std::map<std::string, std::string>{{"hive.acid.version", "2"},
                                                {"hive.acid.stats", "2,0,0"},
                                                {"hive.acid.key.index", "7,536870912,1;"}}));
  EXPECT_EQ(tail.root.ToString(),
            "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,"
            "currentTransaction:bigint,row:struct<s:string>>");
  EXPECT_EQ(tail.calendar, Calendar::kProleptic);
  EXPECT_EQ(tail.compression, Compression::kZlib);
  EXPECT_EQ(tail.writer_version, 6U);
  EXPECT_EQ(tail.row_index_stride, 10000U);
  ASSERT_EQ(tail.stripe_statistics.size(), 1U);
  for (const auto* columns : {&tail.file_statistics, &tail.stripe_statistics[0]}) {
    EXPECT_EQ((*columns)[4].int_min, 0);
    EXPECT_EQ((*columns)[4].int_max, 1);
    EXPECT_EQ((*columns)[7].string_min, "a");
    EXPECT_EQ((*columns)[7].string_max, "b");
    EXPECT_EQ((*columns)[7].values, 2U);
    EXPECT_FALSE((*columns)[7].has_null);
  }
}

TEST(AcidWriter, WritesDeleteEventsWithoutRows) {
  TempDir dir;
  fs::PosixFileSystem fs;
  SKEP_ASSERT_OK_AND_ASSIGN(
      const auto writer,
      CreateAcidWriter(fs, dir / "bucket_00000", Of("s string, t timestamp"), {}));
  Batch batch;
  batch.length = 3;
  batch.operation = {2, 2, 2};
  batch.original_write_id = {1, 1, 5};
  batch.bucket = {536870912, 536870913, 536870912};
  batch.row_id = {9, 0, 0};
  batch.current_write_id = {6, 7, 6};
  ASSERT_THAT(writer->Append(batch), IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(const FileSummary summary, writer->Close());
  EXPECT_EQ(summary.stats, (AcidStats{0, 0, 3}));
  SKEP_ASSERT_OK_AND_ASSIGN(const auto reader, OpenOrc(dir / "bucket_00000"));
  EXPECT_EQ(KeyIndexOf(reader->tail()), (std::vector<AcidKey>{{5, 536870912, 0}}));
  SKEP_ASSERT_OK_AND_ASSIGN(const auto rows, skep::testing::ReadRows(*reader));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_TRUE(rows[1].row_is_null);
  EXPECT_EQ(rows[1].bucket, 536870913);
  EXPECT_EQ(rows[1].current, 7);
}

TEST(AcidWriter, WritesAFileWithoutRows) {
  TempDir dir;
  SKEP_ASSERT_OK_AND_ASSIGN(const FileSummary summary,
                            WriteBatches(dir / "bucket_00000", Of("s string"), {}, {}));
  EXPECT_EQ(summary.rows, 0);
  ExpectRows(dir / "bucket_00000", Of("s string"), {});
}

TEST(AcidWriter, EndsAStripeOnDemand) {
  TempDir dir;
  fs::PosixFileSystem fs;
  SKEP_ASSERT_OK_AND_ASSIGN(const auto writer,
                            CreateAcidWriter(fs, dir / "bucket_00000", Of("s string"), {}));
  ASSERT_THAT(writer->EndStripe(), IsOk());  // nothing yet
  ASSERT_THAT(writer->Append(Inserts(Texts({"a", "b"}), 0)), IsOk());
  ASSERT_THAT(writer->EndStripe(), IsOk());
  ASSERT_THAT(writer->EndStripe(), IsOk());
  ASSERT_THAT(writer->Append(Inserts(Texts({"c"}), 2)), IsOk());
  ASSERT_THAT(writer->Close(), IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(const Tail tail, TailOf(dir / "bucket_00000"));
  ASSERT_EQ(tail.stripes.size(), 2U);
  EXPECT_EQ(tail.stripes[0].rows, 2U);
  EXPECT_EQ(KeyIndexOf(tail), (std::vector<AcidKey>{{7, 536870912, 1}, {7, 536870912, 2}}));
  ExpectRows(dir / "bucket_00000", Of("s string"), {"\"a\" ", "\"b\" ", "\"c\" "});
}

// Writers that share a budget end their stripes early, and at their full size when alone.
TEST(AcidWriter, KeepsWithinABudget) {
  TempDir dir;
  fs::PosixFileSystem fs;
  std::mt19937_64 random(9);
  const std::vector<Column> columns = Of("n bigint");
  MemoryBudget budget(1 << 20);
  WriterOptions options;
  options.compression = Compression::kNone;
  options.stripe_size = 1 << 20;
  options.budget = &budget;
  std::vector<std::unique_ptr<AcidWriter>> writers;
  for (int i = 0; i < 8; ++i) {
    SKEP_ASSERT_OK_AND_ASSIGN(
        auto writer, CreateAcidWriter(fs, dir / ("f" + std::to_string(i)), columns, options));
    writers.push_back(std::move(writer));
  }
  arrow::Int64Builder numbers;
  for (int i = 0; i < 100'000; ++i)
    ASSERT_TRUE(numbers.Append(static_cast<int64_t>(random())).ok());
  const auto rows = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("n", arrow::int64())}), 100'000, {*numbers.Finish()});
  ASSERT_THAT(writers[0]->Append(Inserts(rows, 0)), IsOk());
  ASSERT_THAT(writers[0]->Close(), IsOk());
  writers.clear();
  SKEP_ASSERT_OK_AND_ASSIGN(const Tail shared, TailOf(dir / "f0"));
  for (const Stripe& stripe : shared.stripes) EXPECT_LT(stripe.length(), 256U << 10);
  EXPECT_GT(shared.stripes.size(), 2U);
}

TEST(AcidWriter, RefusesAStepBack) {
  TempDir dir;
  fs::PosixFileSystem fs;
  SKEP_ASSERT_OK_AND_ASSIGN(const auto writer,
                            CreateAcidWriter(fs, dir / "bucket_00000", Of("s string"), {}));
  ASSERT_THAT(writer->Append(Inserts(Texts({"a", "b"}), 5)), IsOk());
  const absl::Status status = writer->Append(Inserts(Texts({"c"}), 5));
  EXPECT_THAT(status, HasReason(ErrorReason::kInternal));
  EXPECT_THAT(
      status,
      AllOf(HasMessage(HasSubstr("(7,536870912,5)")), HasMessage(HasSubstr("(7,536870912,6)"))));
  EXPECT_THAT(writer->Close(), HasReason(ErrorReason::kInternal));
}

struct InstantCase {
  const char* name;
  int64_t nanos;
  bool stored;
};

// TY-17: only the last second before 1970 has instants that ORC cannot hold.
TEST(AcidWriter, RefusesInstantsThatOrcCannotStore) {
  const InstantCase kCases[] = {{"half a second before", -500'000'000, false},
                                {"a nanosecond before", -1, false},
                                {"a millisecond after the last second began", -999'000'000, false},
                                {"less than that", -999'000'001, true},
                                {"the second itself", -1'000'000'000, true},
                                {"a fraction earlier", -1'500'000'000, true},
                                {"the epoch", 0, true},
                                {"a nanosecond after", 1, true}};
  for (const InstantCase& c : kCases) {
    SCOPED_TRACE(c.name);
    TempDir dir;
    const auto batch = Times({0, std::nullopt, c.nanos});
    const auto written =
        WriteBatches(dir / "bucket_00000", Of("n int, t timestamp"), {}, {Times({1, 2}), batch});
    if (c.stored) {
      ASSERT_THAT(written, IsOk());
      SKEP_ASSERT_OK_AND_ASSIGN(const auto reader, OpenOrc(dir / "bucket_00000"));
      SKEP_ASSERT_OK_AND_ASSIGN(const auto rows, skep::testing::ReadRows(*reader));
      std::string text;
      format::AppendJson(*batch->column(1), 2, Of("t timestamp")[0].type, &text);
      EXPECT_EQ(rows[4].row["t"].dump(), text);
    } else {
      EXPECT_THAT(written, HasReason(ErrorReason::kValueOutOfRange));
      EXPECT_THAT(written, HasMessage(HasSubstr("column t, row 4")));
    }
  }
}

TEST(AcidWriter, LeavesNothingUnlessClosed) {
  TempDir dir;
  fs::PosixFileSystem fs;
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto writer,
                              CreateAcidWriter(fs, dir / "bucket_00000", Of("s string"), {}));
    ASSERT_THAT(writer->Append(Inserts(Texts({"a"}), 0)), IsOk());
    EXPECT_FALSE(std::filesystem::exists(dir / "bucket_00000"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  // A file that is there stays as it is, and no temporary one is left.
  ASSERT_THAT(WriteBatches(dir / "bucket_00000", Of("s string"), {}, {Texts({"a"})}), IsOk());
  EXPECT_THAT(WriteBatches(dir / "bucket_00000", Of("s string"), {}, {Texts({"b"})}),
              HasReason(ErrorReason::kAlreadyExists));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
  SKEP_ASSERT_OK_AND_ASSIGN(const auto reader, OpenOrc(dir / "bucket_00000"));
  SKEP_ASSERT_OK_AND_ASSIGN(const auto rows, skep::testing::ReadRows(*reader));
  EXPECT_EQ(rows[0].row["s"], "a");
}

TEST(AcidWriter, GivesTheSameBytesForTheSameInput) {
  TempDir dir;
  std::string bytes;
  for (const char* name : {"a", "b"}) {
    std::mt19937_64 random(5);
    const std::vector<Column> columns = skep::testing::AllKinds();
    ASSERT_THAT(WriteBatches(dir / name, columns, {}, {RandomBatch(random, columns, 1500)}),
                IsOk());
    if (bytes.empty()) bytes = skep::testing::ReadFile(dir / name);
  }
  EXPECT_EQ(skep::testing::ReadFile(dir / "b"), bytes);
}

// A compaction carries its source's calendar: labels stay, and so do the stored numbers.
TEST(AcidWriter, StoresDaysInTheCalendarOfTheFooter) {
  TempDir dir;
  arrow::Date32Builder days;
  ASSERT_TRUE(days.AppendValues({-171664, 0}).ok());  // 1500-01-01, proleptic
  const auto rows = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("d", arrow::date32())}), 2, {*days.Finish()});
  ASSERT_THAT(
      WriteBatches(dir / "hybrid", Of("d date"), {.calendar = Calendar::kJulianGregorian}, {rows}),
      IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(const auto reader, OpenOrc(dir / "hybrid"));
  EXPECT_EQ(reader->tail().calendar, Calendar::kJulianGregorian);
  EXPECT_EQ(reader->tail().file_statistics[7].date_min, -171655);
  SKEP_ASSERT_OK_AND_ASSIGN(auto found, skep::testing::ReadRows(*reader));
  EXPECT_EQ(found[0].row["d"], "1500-01-01");
  // A table property can say that the footer is wrong.
  SKEP_ASSERT_OK_AND_ASSIGN(const auto overridden,
                            OpenOrc(dir / "hybrid", {.calendar = Calendar::kProleptic}));
  SKEP_ASSERT_OK_AND_ASSIGN(found, skep::testing::ReadRows(*overridden));
  EXPECT_EQ(found[0].row["d"], "1500-01-10");

  arrow::Date32Builder gap;
  ASSERT_TRUE(gap.Append(-141430).ok());  // 1582-10-12
  const auto nowhere = arrow::RecordBatch::Make(rows->schema(), 1, {*gap.Finish()});
  EXPECT_THAT(
      WriteBatches(dir / "gap", Of("d date"), {.calendar = Calendar::kJulianGregorian}, {nowhere}),
      HasReason(ErrorReason::kValueOutOfRange));
}

TEST(AcidWriter, KeepsOnlyBoundsThatHold) {
  TempDir dir;
  const std::string big(3000, 'z'), nul("a\0b", 3);
  ASSERT_THAT(WriteBatches(dir / "long", Of("s string"), {}, {Texts({"m", big, "a" + big})}),
              IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(const Tail cut, TailOf(dir / "long"));
  EXPECT_EQ(cut.file_statistics[7].string_max, std::string(1023, 'z') + "{");
  EXPECT_TRUE(cut.file_statistics[7].string_max_truncated);
  EXPECT_TRUE(cut.file_statistics[7].string_min_truncated);
  ASSERT_THAT(WriteBatches(dir / "nul", Of("s string"), {}, {Texts({"b", nul})}), IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(const Tail whole, TailOf(dir / "nul"));
  EXPECT_EQ(whole.file_statistics[7].string_min, nul);
  EXPECT_EQ(whole.file_statistics[7].string_max, "b");
  EXPECT_EQ(whole.file_statistics[7].values, 2U);
  const std::string broken = "b\xff";
  ASSERT_THAT(WriteBatches(dir / "broken", Of("s string"), {}, {Texts({"a", broken})}), IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(const Tail replaced, TailOf(dir / "broken"));
  EXPECT_EQ(replaced.file_statistics[7].string_min, "a");
  EXPECT_EQ(replaced.file_statistics[7].string_max, "c");
  EXPECT_TRUE(replaced.file_statistics[7].string_max_truncated);
  ASSERT_THAT(WriteBatches(
                  dir / "time", Of("n int, t timestamp"), {}, {Times({1'500'000, -2'000'000'001})}),
              IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(const Tail time, TailOf(dir / "time"));
  EXPECT_EQ(time.file_statistics[8].timestamp_min_utc_ms, -2001);
  EXPECT_EQ(time.file_statistics[8].timestamp_max_utc_ms, 1);
  EXPECT_EQ(time.file_statistics[8].int_min, std::nullopt);
}

// The adapter reads the whole file, our tail, row index and fractions included; a seek uses the
// positions.
TEST(AcidWriter, WritesFilesThatOrcsOwnReaderReadsAndSeeksIn) {
  for (const Compression compression : {Compression::kNone, Compression::kZlib}) {
    SCOPED_TRACE(CompressionName(compression));
    TempDir dir;
    std::vector<std::optional<int64_t>> nanos;
    std::mt19937_64 random(3);
    for (int64_t i = 0; i < 9000; ++i) {
      nanos.push_back(random() % 7 == 0
                          ? std::nullopt
                          : std::optional<int64_t>(i * 1'000'000'007'000 +
                                                   static_cast<int64_t>(random() % 3) * 123));
    }
    WriterOptions options;
    options.compression = compression;
    options.row_index_stride = 1000;
    ASSERT_THAT(
        WriteBatches(dir / "bucket_00000", Of("n int, t timestamp"), options, {Times(nanos)}),
        IsOk());
    const auto file = *arrow::io::ReadableFile::Open(dir / "bucket_00000");
    const auto reader =
        *arrow::adapters::orc::ORCFileReader::Open(file, arrow::default_memory_pool());
    EXPECT_EQ(reader->NumberOfRows(), 9000);
    for (const int64_t from : {0, 1, 999, 1000, 4321, 8000, 8999}) {
      ASSERT_TRUE(reader->Seek(from).ok());
      const auto batches = *reader->NextStripeReader(500);
      const auto batch = *batches->Next();
      const auto row = std::static_pointer_cast<arrow::StructArray>(batch->column(5));
      const auto numbers = std::static_pointer_cast<arrow::Int32Array>(row->field(0));
      const auto times = std::static_pointer_cast<arrow::TimestampArray>(row->field(1));
      for (int64_t i = 0; i < batch->num_rows(); ++i) {
        const auto& expected = nanos[static_cast<size_t>(from + i)];
        ASSERT_EQ(numbers->Value(i), from + i);
        ASSERT_EQ(times->IsNull(i), !expected.has_value());
        if (expected) {
          ASSERT_EQ(times->Value(i), *expected) << from + i;
        }
      }
    }
  }
}

TEST(AcidWriter, RewritesAFileOfHiveUnchanged) {
  SKEP_REQUIRE_FIXTURES();
  TempDir dir;
  fs::PosixFileSystem fs;
  SKEP_ASSERT_OK_AND_ASSIGN(
      const auto source,
      OpenOrc(skep::testing::Fixture(
          "acid/nation-25k-deletes/delta_0000002_0000002_0000/bucket_00000")));
  SKEP_ASSERT_OK_AND_ASSIGN(
      const auto writer,
      CreateAcidWriter(fs, dir / "bucket_00000", source->columns(), {.stripe_size = 64 << 10}));
  SKEP_ASSERT_OK_AND_ASSIGN(const auto stream, source->Read({.batch_rows = 3000}));
  while (true) {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto batch, stream->Next());
    if (batch == nullptr) break;
    ASSERT_THAT(writer->Append(*batch), IsOk());
  }
  SKEP_ASSERT_OK_AND_ASSIGN(const FileSummary summary, writer->Close());
  EXPECT_EQ(summary.stats, (AcidStats{25000, 0, 0}));
  SKEP_ASSERT_OK_AND_ASSIGN(const auto copy, OpenOrc(dir / "bucket_00000"));
  SKEP_ASSERT_OK_AND_ASSIGN(const auto before, skep::testing::ReadRows(*source));
  SKEP_ASSERT_OK_AND_ASSIGN(const auto after, skep::testing::ReadRows(*copy));
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    ASSERT_EQ(before[i].row, after[i].row);
    ASSERT_EQ(before[i].row_id, after[i].row_id);
  }
}

struct OptionCase {
  const char* key;
  const char* value;
  bool accepted;
};

TEST(WriterOptionsOf, TakesTablePropertiesAndNamesWrongOnes) {
  const OptionCase kCases[] = {{"orc.compress", "ZSTD", true},
                               {"orc.compress", "lzo", false},
                               {"orc.compress", "brotli", false},
                               {"orc.stripe.size", "67108864", true},
                               {"orc.stripe.size", "0", false},
                               {"orc.compress.size", "262144", true},
                               {"orc.compress.size", "16777216", false},
                               {"orc.row.index.stride", "5000", true},
                               {"ORC.ROW.INDEX.STRIDE", "x", false}};
  for (const OptionCase& c : kCases) {
    SCOPED_TRACE(std::string(c.key) + "=" + c.value);
    const auto options = WriterOptionsOf({{c.key, c.value}});
    if (c.accepted) {
      EXPECT_THAT(options, IsOk());
    } else {
      EXPECT_THAT(options, HasReason(ErrorReason::kInvalidRequest));
    }
  }
  EXPECT_EQ(WriterOptionsOf({{"orc.compress", "SNAPPY"}})->compression, Compression::kSnappy);
  EXPECT_EQ(WriterOptionsOf({})->compression, Compression::kZlib);
}

}  // namespace
}  // namespace skep::orc
