// Files of full-ACID tables and their originals, one by one: what Hive says lies in them.

#include <algorithm>
#include <filesystem>
#include <map>

#include "storage/base/text.h"
#include "tests/storage/format/fixtures.h"
#include "tests/testing/status_matchers.h"

namespace skep::orc {
namespace {

using nlohmann::json;
using ::skep::testing::Difference;
using ::skep::testing::FileRow;
using ::skep::testing::FilesBelow;
using ::skep::testing::Fixture;
using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::skep::testing::OpenOrc;
using ::skep::testing::ReadJsonLines;
using ::skep::testing::ReadRows;
using ::testing::HasSubstr;

HiveType RowType(const Reader& reader) {
  HiveType type;
  type.kind = TypeKind::kStruct;
  for (const Column& column : reader.columns()) {
    type.field_names.push_back(column.name);
    type.children.push_back(column.type);
  }
  return type;
}

struct FileOfCase {
  const char* name;
  const char* expected;  // rows whose order is the file's
  bool acid;
};

TEST(AcidFiles, HoldTheRowsOfTheirSnapshot) {
  SKEP_REQUIRE_FIXTURES();
  const FileOfCase kCases[] = {
      {"alltypes-original/000000_0", "alltypes-original.jsonl.gz", false},
      {"nation-25k-deletes/delta_0000002_0000002_0000/bucket_00000",
       "nation-25k-deletes.hwm2.jsonl.gz",
       true},
      {"streaming-two-txns/delta_0000001_0000002/bucket_00000",
       "streaming-two-txns.hwm2.jsonl",
       true},
      {"three-inserts/delta_0000001_0000001_0000/bucket_00000", "three-inserts.hwm1.jsonl", true},
      {"partitioned/fld1=1/delta_0000001_0000001_0000/bucket_00000",
       "partitioned.fld1=1.hwm1.jsonl",
       true},
  };
  for (const FileOfCase& c : kCases) {
    SCOPED_TRACE(c.name);
    SKEP_ASSERT_OK_AND_ASSIGN(const auto reader, OpenOrc(Fixture(std::string("acid/") + c.name)));
    EXPECT_EQ(reader->is_acid(), c.acid);
    SKEP_ASSERT_OK_AND_ASSIGN(const std::vector<FileRow> rows, ReadRows(*reader));
    const std::vector<json> expected =
        ReadJsonLines(Fixture(std::string("acid-expected/") + c.expected));
    ASSERT_EQ(rows.size(), expected.size());
    const HiveType type = RowType(*reader);
    for (size_t i = 0; i < rows.size(); ++i) {
      json want = expected[i]["row"];
      want.erase("fld1");  // the partition column is in the path
      ASSERT_EQ(Difference(want, rows[i].row, type), "") << "row " << i;
      if (!c.acid) continue;
      EXPECT_EQ(rows[i].operation, 0);
      EXPECT_EQ(rows[i].original, expected[i]["writeid"].get<int64_t>());
      EXPECT_EQ(rows[i].bucket, expected[i]["bucket"].get<int32_t>());
      EXPECT_EQ(rows[i].row_id, expected[i]["rowid"].get<int64_t>());
      EXPECT_EQ(rows[i].current, rows[i].original);
    }
  }
}

TEST(AcidFiles, ShowDeleteEventsWithANullRow) {
  SKEP_REQUIRE_FIXTURES();
  SKEP_ASSERT_OK_AND_ASSIGN(
      const auto reader,
      OpenOrc(Fixture("acid/nation-25k-deletes/delete_delta_0000003_0000003_0000/bucket_00000")));
  EXPECT_EQ(AcidStatsOf(reader->tail()), (AcidStats{0, 0, 1000}));
  EXPECT_EQ(KeyIndexOf(reader->tail()), (std::vector<AcidKey>{{2, 536870912, 5999}}));
  for (const auto& columns :
       {std::optional<std::vector<std::string>>(), std::optional(std::vector<std::string>())}) {
    SKEP_ASSERT_OK_AND_ASSIGN(const std::vector<FileRow> rows,
                              ReadRows(*reader, {.columns = columns}));
    ASSERT_EQ(rows.size(), 1000U);
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_TRUE(rows[i].row_is_null);
      EXPECT_EQ(rows[i].operation, 2);
      EXPECT_EQ(rows[i].row_id, static_cast<int64_t>(5000 + i));
      EXPECT_EQ(rows[i].current, 3);
    }
  }
}

TEST(AcidFiles, AreReadAtTheLengthOfEachFlush) {
  SKEP_REQUIRE_FIXTURES();
  const std::string path = Fixture("acid/streaming-two-txns/delta_0000001_0000002/bucket_00000");
  for (const auto& [length, rows] : std::map<int64_t, size_t>{{410, 2}, {831, 4}, {1137, 4}}) {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto reader, OpenOrc(path, {.logical_length = length}));
    EXPECT_THAT(ReadRows(*reader), ::skep::testing::IsOkAndHolds(::testing::SizeIs(rows)));
  }
  // Every other prefix is no file, and says so.
  for (int64_t length = 1; length < 1137; ++length) {
    if (length == 410 || length == 831) continue;
    const auto reader = OpenOrc(path, {.logical_length = length});
    ASSERT_THAT(reader, HasReason(ErrorReason::kCorruptFile)) << length;
    if (length > 3) {
      ASSERT_THAT(reader, HasMessage(HasSubstr("truncated"))) << length;
    }
  }
  EXPECT_THAT(OpenOrc(path, {.logical_length = 1138}), HasMessage(HasSubstr("truncated")));
}

TEST(AcidFiles, OfHive2StayReadable) {
  SKEP_REQUIRE_FIXTURES();
  const std::string root = Fixture("acid/legacy-v1-table/continent=Asia/country=India/");
  SKEP_ASSERT_OK_AND_ASSIGN(const auto update,
                            OpenOrc(root + "delta_0000009_0000009/bucket_00000"));
  EXPECT_EQ(AcidStatsOf(update->tail()), (AcidStats{0, 1, 0}));
  SKEP_ASSERT_OK_AND_ASSIGN(std::vector<FileRow> rows, ReadRows(*update));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].operation, 1);
  SKEP_ASSERT_OK_AND_ASSIGN(const auto erase, OpenOrc(root + "delta_0000010_0000010/bucket_00000"));
  EXPECT_TRUE(erase->columns().empty());
  SKEP_ASSERT_OK_AND_ASSIGN(rows, ReadRows(*erase));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_TRUE(rows[0].row_is_null);
  EXPECT_EQ(rows[0].current, 10);
}

TEST(Reader, ChoosesStripesAndColumns) {
  SKEP_REQUIRE_FIXTURES();
  SKEP_ASSERT_OK_AND_ASSIGN(
      const auto reader,
      OpenOrc(Fixture("acid/nation-25k-deletes/delta_0000002_0000002_0000/bucket_00000")));
  ReadOptions options;
  options.columns = {"n_comment", "n_nationkey"};
  options.stripes = {1, 4};
  SKEP_ASSERT_OK_AND_ASSIGN(const std::vector<FileRow> rows, ReadRows(*reader, options));
  ASSERT_EQ(rows.size(), 10000U);
  EXPECT_EQ(rows[0].row_id, 5000);
  EXPECT_EQ(rows[5000].row_id, 20000);
  EXPECT_EQ(rows[0].row["n_nationkey"], 5);
  EXPECT_EQ(rows[0].row.size(), 2U);
  SKEP_ASSERT_OK_AND_ASSIGN(const auto stream, reader->Read(options));
  SKEP_ASSERT_OK_AND_ASSIGN(const auto first, stream->Next());
  EXPECT_EQ(first->first_row, 5000);
  EXPECT_THAT(reader->Read({.columns = std::vector<std::string>{"nope"}}),
              HasReason(ErrorReason::kInvalidRequest));
}

// Each row of Hive's answer lies in the file Hive names, under its row id.
TEST(AcidFiles, OfHiveHoldWhatHiveReads) {
  SKEP_REQUIRE_FIXTURES();
  size_t compared = 0;
  for (const std::string& answer : FilesBelow(Fixture("hive-written"))) {
    if (!answer.ends_with("/expected.jsonl")) continue;
    const std::string dir = answer.substr(0, answer.size() - std::string("expected.jsonl").size());
    std::map<std::string, std::vector<json>> by_file;
    for (json& line : ReadJsonLines(answer)) {
      if (line.contains("row_id"))
        by_file[line["file"].get<std::string>()].push_back(std::move(line));
    }
    for (const auto& [file, lines] : by_file) {
      SCOPED_TRACE(dir + "table/" + file);
      std::string path = dir + "table/" + file;
      ReaderOptions reader_options;
      const std::string lengths = skep::testing::ReadFile(path + "_flush_length");
      if (lengths.size() >= 8) {
        uint64_t length = 0;
        for (size_t i = lengths.size() / 8 * 8 - 8; i < lengths.size() / 8 * 8; ++i) {
          length = length << 8 | static_cast<uint8_t>(lengths[i]);
        }
        reader_options.logical_length = static_cast<int64_t>(length);
      }
      SKEP_ASSERT_OK_AND_ASSIGN(const auto reader, OpenOrc(path, reader_options));
      if (!reader->is_acid()) continue;  // originals and loaded files: row ids come from elsewhere
      SKEP_ASSERT_OK_AND_ASSIGN(const std::vector<FileRow> rows, ReadRows(*reader));
      std::map<std::tuple<int64_t, int32_t, int64_t>, const FileRow*> by_id;
      for (const FileRow& row : rows) by_id[{row.original, row.bucket, row.row_id}] = &row;
      const HiveType type = RowType(*reader);
      for (const json& line : lines) {
        const json& id = line["row_id"];
        const auto at = by_id.find({id["writeid"].get<int64_t>(),
                                    id["bucketid"].get<int32_t>(),
                                    id["rowid"].get<int64_t>()});
        ASSERT_NE(at, by_id.end()) << id;
        json want = line["row"];
        json got = at->second->row;
        // Partition columns are not in the file; an evolved schema is the scan's business.
        for (const auto& item : line["row"].items()) {
          if (!got.contains(item.key())) want.erase(item.key());
        }
        for (const auto& item : at->second->row.items()) {
          if (!want.contains(item.key())) got.erase(item.key());
        }
        if (answer.find("/l-type-changes/") != std::string::npos) continue;
        if (answer.find("3.1.3/g-types") != std::string::npos)
          want.erase("bin"), got.erase("bin");  // no base64 there
        ASSERT_EQ(Difference(want, got, type), "") << id;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 1000U);
}

TEST(AcidFiles, OfHiveWithInstantsAreReadAsStored) {
  SKEP_REQUIRE_FIXTURES();
  // Hive 4.1.0 wrote the epoch for both rows, whatever was inserted: its own statistics say so.
  const std::map<int, std::string> kExpected{{1, "1970-01-01 00:00:00"},
                                             {2, "1970-01-01 00:00:00"}};
  std::map<int, std::string> found;
  for (const std::string& path : FilesBelow(Fixture("hive-written/4.1.0/g-tz/table"))) {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto reader, OpenOrc(path));
    EXPECT_EQ(reader->columns()[1].type.kind, TypeKind::kTimestampLocalTz);
    EXPECT_EQ(reader->tail().file_statistics[8].timestamp_max_utc_ms, 0);
    SKEP_ASSERT_OK_AND_ASSIGN(const std::vector<FileRow> rows, ReadRows(*reader));
    for (const FileRow& row : rows)
      found[row.row["k"].get<int>()] = row.row["tz"].get<std::string>();
  }
  EXPECT_EQ(found, kExpected);
}

}  // namespace
}  // namespace skep::orc
