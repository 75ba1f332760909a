#include <filesystem>
#include <random>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>

#include "storage/base/status_macros.h"
#include "storage/format/orc/writer.h"
#include "storage/format/vocabulary.h"
#include "storage/fs/posix_file_system.h"
#include "tests/storage/format/fixtures.h"
#include "tests/storage/format/random_rows.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::orc {
namespace {

using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::skep::testing::OpenOrc;
using ::skep::testing::RandomBatch;
using ::skep::testing::TempDir;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Rows as insert events of write id 7, row ids from `first`.
Batch Inserts(std::shared_ptr<arrow::RecordBatch> rows, int64_t first) {
  Batch batch;
  batch.length = rows->num_rows();
  const auto length = static_cast<size_t>(batch.length);
  batch.operation.assign(length, 0);
  batch.original_write_id.assign(length, 7);
  batch.bucket.assign(length, 536870912);
  batch.current_write_id.assign(length, 7);
  for (int64_t i = 0; i < batch.length; ++i) batch.row_id.push_back(first + i);
  batch.rows = std::move(rows);
  return batch;
}

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
    options.row_index_stride = 1000;
    RoundTrip(skep::testing::AllKinds(), random, options, 3000);
  }
}

TEST(AcidWriter, KeepsRandomRowsOfRandomTypes) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
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
              static_cast<int64_t>(random() % 6000));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace skep::orc
