// Every fixture in every mode of reading: whatever part of a file is asked for, and in whatever
// pieces, its rows are those of the whole.

#include <algorithm>
#include <random>

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "storage/base/status_macros.h"
#include "storage/format/orc/reader.h"
#include "storage/format/vocabulary.h"
#include "tests/storage/format/fixtures.h"
#include "tests/testing/status_matchers.h"

namespace skep::orc {
namespace {

using ::skep::testing::FilesBelow;
using ::skep::testing::Fixture;
using ::skep::testing::IsOk;
using ::skep::testing::OpenOrc;

constexpr int64_t kMostRows = 12000;

struct TextRow {
  int64_t position = 0;
  std::vector<std::string> columns;
  AcidRun keys;
  bool row_is_null = false;
  friend bool operator==(const TextRow&, const TextRow&) = default;
};

HiveType TypeOf(const Reader& reader, const std::string& name) {
  for (const Column& column : reader.columns()) {
    if (column.name == name) return column.type;
  }
  return {};
}

void AppendKeys(const Batch& batch, std::vector<AcidRun>* keys) {
  for (const AcidRun& run : batch.runs) {
    for (int64_t i = 0; i < run.length; ++i) {
      AcidRun one = run;
      one.length = i + 1;
      one.row_id = one.LastRowId();
      one.length = 1;
      one.row_id_step = 0;
      keys->push_back(one);
    }
  }
  for (size_t i = 0; i < batch.operation.size(); ++i) {
    keys->push_back({1,
                     batch.operation[i],
                     batch.original_write_id[i],
                     batch.bucket[i],
                     batch.row_id[i],
                     0,
                     batch.current_write_id[i]});
  }
}

absl::StatusOr<std::vector<TextRow>> ReadTexts(Reader& reader, const ReadOptions& options) {
  SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<BatchStream> stream, reader.Read(options));
  std::vector<TextRow> rows;
  Batch batch;  // used again and again
  while (true) {
    SKEP_ASSIGN_OR_RETURN(const bool more, stream->Next(&batch));
    if (!more) return rows;
    EXPECT_TRUE(batch.rows->ValidateFull().ok()) << batch.rows->ValidateFull().ToString();
    EXPECT_EQ(batch.rows->num_rows(), batch.length);
    std::vector<AcidRun> keys;
    AppendKeys(batch, &keys);
    EXPECT_EQ(static_cast<int64_t>(keys.size()), reader.is_acid() ? batch.length : 0);
    for (int64_t i = 0; i < batch.length; ++i) {
      TextRow& row = rows.emplace_back();
      row.position = batch.first_row + i;
      if (reader.is_acid()) {
        row.keys = keys[static_cast<size_t>(i)];
        row.row_is_null = batch.row_struct_validity->IsNull(i);
      }
      for (int c = 0; c < batch.rows->num_columns(); ++c) {
        format::AppendJson(*batch.rows->column(c),
                           i,
                           TypeOf(reader, batch.rows->schema()->field(c)->name()),
                           &row.columns.emplace_back());
      }
    }
  }
}

// The file's rows as one reading gave them, and all the other ways to get at them.
class Modes {
 public:
  Modes(Reader& reader, std::vector<TextRow> whole, uint64_t seed)
      : reader_(reader), whole_(std::move(whole)), random_(seed) {}

  void CheckAll() {
    ReadOptions pieces;
    pieces.rows = RowRange{0, kMostRows};
    pieces.batch_rows = 1 + static_cast<int64_t>(random_() % 700);
    ExpectRange(pieces, 0, kMostRows);
    if (reader_.is_acid()) {
      pieces.acid_runs = true;
      ExpectRange(pieces, 0, kMostRows);
      CheckSelect();
    }
    for (int i = 0; i < 8; ++i) CheckRange();
    for (size_t i = 0; i < std::min<size_t>(3, reader_.tail().stripes.size()); ++i) CheckStripe();
    for (size_t i = 0; i < std::min<size_t>(6, reader_.columns().size()); ++i) CheckColumns();
  }

 private:
  size_t Below(size_t bound) { return random_() % std::max<size_t>(1, bound); }

  void ExpectRange(const ReadOptions& options, int64_t begin, int64_t end) {
    SKEP_ASSERT_OK_AND_ASSIGN(const std::vector<TextRow> rows, ReadTexts(reader_, options));
    end = std::min<int64_t>(end, static_cast<int64_t>(whole_.size()));
    begin = std::min(begin, end);
    ASSERT_EQ(static_cast<int64_t>(rows.size()), end - begin);
    for (size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(rows[i], whole_[static_cast<size_t>(begin) + i]) << begin << " + " << i;
    }
  }

  // Often from the edge of a row group, and often into the next one.
  void CheckRange() {
    const auto stride = static_cast<int64_t>(reader_.tail().row_index_stride.value_or(0));
    auto begin = static_cast<int64_t>(Below(whole_.size()));
    if (stride > 0 && Below(2) == 0) begin = begin / stride * stride;
    const int64_t end = begin + 1 + static_cast<int64_t>(Below(3) == 0 ? 2 * stride : Below(300));
    ReadOptions options;
    options.rows = RowRange{begin, std::min(end, kMostRows)};
    options.batch_rows = 1 + static_cast<int64_t>(Below(400));
    options.acid_runs = Below(2) == 0;
    ExpectRange(options, begin, options.rows->end);
  }

  void CheckStripe() {
    const size_t stripe = Below(reader_.tail().stripes.size());
    int64_t begin = 0;
    for (size_t i = 0; i < stripe; ++i) {
      begin += static_cast<int64_t>(reader_.tail().stripes[i].rows);
    }
    ReadOptions options;
    options.stripes = {stripe};
    options.rows = RowRange{0, kMostRows};
    ExpectRange(
        options,
        begin,
        std::min(kMostRows, begin + static_cast<int64_t>(reader_.tail().stripes[stripe].rows)));
  }

  void CheckColumns() {
    std::vector<size_t> chosen;
    for (size_t i = 0; i < reader_.columns().size(); ++i) {
      if (Below(3) == 0) chosen.push_back(i);
    }
    std::shuffle(chosen.begin(), chosen.end(), random_);
    ReadOptions options;
    options.rows = RowRange{0, kMostRows};
    options.columns.emplace();
    for (const size_t column : chosen) options.columns->push_back(reader_.columns()[column].name);
    SKEP_ASSERT_OK_AND_ASSIGN(const std::vector<TextRow> rows, ReadTexts(reader_, options));
    ASSERT_EQ(rows.size(), whole_.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      for (size_t c = 0; c < chosen.size(); ++c) {
        ASSERT_EQ(rows[i].columns[c], whole_[i].columns[chosen[c]]) << i;
      }
    }
  }

  // Late: what is wanted is all there, nothing else is made up.
  void CheckSelect() {
    std::vector<bool> wanted(whole_.size());
    ReadOptions options;
    options.rows = RowRange{0, kMostRows};
    options.batch_rows = 900;
    options.acid_runs = Below(2) == 0;
    options.select = [&](const Batch& keys, std::vector<RowRange>* ranges) {
      EXPECT_EQ(keys.rows, nullptr);
      for (int64_t at = static_cast<int64_t>(Below(200)); at < keys.length && Below(6) != 0;) {
        const int64_t end =
            std::min<int64_t>(keys.length, at + 1 + static_cast<int64_t>(Below(90)));
        ranges->push_back({at, end});
        for (int64_t i = at; i < end; ++i) wanted[static_cast<size_t>(keys.first_row + i)] = true;
        at = end + static_cast<int64_t>(Below(2) * Below(400));
      }
      return absl::OkStatus();
    };
    SKEP_ASSERT_OK_AND_ASSIGN(const std::vector<TextRow> rows, ReadTexts(reader_, options));
    size_t next = 0;
    for (const TextRow& row : rows) {
      const auto at = static_cast<size_t>(row.position);
      for (; next < at; ++next) ASSERT_FALSE(wanted[next]) << next;
      next = at + 1;
      ASSERT_EQ(row, whole_[at]) << at;
    }
    for (; next < wanted.size(); ++next) ASSERT_FALSE(wanted[next]) << next;
  }

  Reader& reader_;
  const std::vector<TextRow> whole_;
  std::mt19937_64 random_;
};

TEST(ReadingModes, GiveTheRowsOfTheWhole) {
  SKEP_REQUIRE_FIXTURES();
  std::vector<std::string> files;
  for (const char* dir : {"orc", "acid"}) {
    for (std::string& file : FilesBelow(Fixture(dir))) files.push_back(std::move(file));
  }
  // Of Hive's own tables one in five: they are many, and alike.
  size_t n = 0;
  for (std::string& file : FilesBelow(Fixture("hive-written"))) {
    if (file.find("/table/") != std::string::npos && n++ % 5 == 0) files.push_back(std::move(file));
  }
  size_t checked = 0;
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const auto reader = OpenOrc(file);
    if (!reader.ok() || (*reader)->tail().types.empty()) continue;  // other tests say which and why
    absl::StatusOr<std::vector<TextRow>> whole =
        ReadTexts(**reader, {.rows = RowRange{0, kMostRows}});
    if (!whole.ok()) continue;
    Modes(**reader, *std::move(whole), ++checked).CheckAll();
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(checked, 100U);
}

TEST(Reader, ReadsPathsIntoStructs) {
  SKEP_REQUIRE_FIXTURES();
  SKEP_ASSERT_OK_AND_ASSIGN(const auto reader,
                            OpenOrc(Fixture("orc/apache-orc/TestOrcFile.test1.orc")));
  SKEP_ASSERT_OK_AND_ASSIGN(const auto all, ReadTexts(*reader, {}));
  const auto read = [&](const std::vector<std::string>& names) {
    ReadOptions options;
    options.columns = names;
    return reader->Read(options);
  };
  SKEP_ASSERT_OK_AND_ASSIGN(const auto stream, read({"middle.list", "int1", "middle"}));
  SKEP_ASSERT_OK_AND_ASSIGN(const auto batch, stream->Next());
  EXPECT_EQ(batch->rows->num_columns(), 3);
  EXPECT_EQ(batch->rows->schema()->field(0)->name(), "middle");
  EXPECT_EQ(batch->length, static_cast<int64_t>(all.size()));
  for (const char* name :
       {"middle.nope", "int1.x", "nope", "middle.", ".middle", "middle.list.int1"}) {
    EXPECT_THAT(read({name}), ::skep::testing::HasReason(ErrorReason::kInvalidRequest)) << name;
  }
}

}  // namespace
}  // namespace skep::orc
