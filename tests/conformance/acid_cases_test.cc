// Every case under fixtures/acid, with every snapshot that its README names.

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "tests/conformance/fixtures.h"
#include "tests/conformance/reading.h"
#include "tests/testing/status_matchers.h"

namespace skep::testing {
namespace {

using ::testing::HasSubstr;

// What must be seen of one case under one list. `expected` is a file of acid-expected, "" where
// rows are counted only; `partition` cuts the reading down to one partition.
struct Snapshot {
  std::string directory;
  std::string fields;  // "HIGH:MIN_OPEN:OPEN:ABORTED"; "" for no list at all
  int64_t rows;
  std::string expected;
  std::string partition;
};

const std::vector<Snapshot>& Snapshots() {
  static const std::vector<Snapshot> snapshots = {
      {"nation-25k-deletes", "1:::", 0, "", ""},
      {"nation-25k-deletes", "2:::", 25000, "nation-25k-deletes.hwm2.jsonl.gz", ""},
      {"nation-25k-deletes", "3:::", 24000, "nation-25k-deletes.hwm3.jsonl.gz", ""},
      {"nation-25k-deletes", "4:::3", 24000, "nation-25k-deletes.hwm4-aborted3.jsonl.gz", ""},
      {"nation-25k-deletes", "4:::", 23000, "nation-25k-deletes.hwm4.jsonl.gz", ""},
      {"nation-25k-deletes", "", 23000, "nation-25k-deletes.hwm4.jsonl.gz", ""},
      {"delete-deltas-only", "3:::", 0, "", ""},
      {"delete-deltas-only", "6:::", 0, "", ""},
      {"delete-deltas-only", "7:::", 0, "", ""},
      {"originals-with-copies", "10000000:::", 20, "originals-with-copies.hwm10000000.jsonl", ""},
      {"originals-with-copies", "10000001:::", 19, "originals-with-copies.hwm10000001.jsonl", ""},
      {"originals-with-copies", "", 19, "originals-with-copies.hwm10000001.jsonl", ""},
      {"alltypes-original", "0:::", 7300, "alltypes-original.jsonl.gz", ""},
      {"alltypes-original", "5:::", 7300, "alltypes-original.jsonl.gz", ""},
      {"streaming-two-txns", "0:::", 0, "streaming-two-txns.hwm0.jsonl", ""},
      {"streaming-two-txns", "1:::", 2, "streaming-two-txns.hwm1.jsonl", ""},
      {"streaming-two-txns", "2:::", 4, "streaming-two-txns.hwm2.jsonl", ""},
      {"streaming-two-txns", "2:::1", 2, "streaming-two-txns.hwm2-aborted1.jsonl", ""},
      {"streaming-two-txns", "2:1:1:", 2, "streaming-two-txns.hwm2-aborted1.jsonl", ""},
      {"three-inserts", "1:::", 1, "three-inserts.hwm1.jsonl", ""},
      {"three-inserts", "2:::", 2, "three-inserts.hwm2.jsonl", ""},
      {"three-inserts", "3:::", 3, "three-inserts.hwm3.jsonl", ""},
      {"partitioned", "0:::", 0, "", ""},
      {"partitioned", "1:::", 1, "partitioned.fld1=1.hwm1.jsonl", "fld1=1"},
      {"partitioned", "1:::", 1, "partitioned.fld1=2.hwm1.jsonl", "fld1=2"},
      {"partitioned/fld1=1", "1:::", 1, "partitioned.fld1=1.hwm1.jsonl", ""},
      {"acid-version-check/acid_version_hive_3", "1:::", 1, "", ""},
      {"acid-version-check/no_orc_acid_version_in_metadata", "1:::", 4, "", ""},
  };
  return snapshots;
}

// The expectation of this case was printed with fewer digits than a double has.
std::map<std::string, HiveType> TypesOf(const std::string& directory) {
  if (directory != "alltypes-original") return {};
  return {{"timestamp_col", HiveType{.kind = TypeKind::kTimestamp}},
          {"float_col", HiveType{.kind = TypeKind::kFloat}},
          {"double_col", HiveType{.kind = TypeKind::kDouble}}};
}

class AcidCases : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto root = FixtureRoot();
    if (!root) GTEST_SKIP() << "no fixtures: set SKEP_FIXTURES";
    root_ = *root;
  }
  Reading Read(const std::string& directory, const std::string& fields) {
    return DumpOf({.directory = root_ + "/acid/" + directory,
                   .write_ids = fields.empty() ? "" : "any.name:" + fields,
                   .txns = "",
                   .ddl = ""});
  }

  std::string root_;
};

TEST_F(AcidCases, ShowTheRowsOfEverySnapshot) {
  for (const Snapshot& s : Snapshots()) {
    SCOPED_TRACE(s.directory + " under " + s.fields);
    const Reading reading = Read(s.directory, s.fields);
    ASSERT_THAT(reading.status, IsOk());
    RowMap rows = RowsOfDump(reading.lines);
    if (!s.partition.empty()) {
      RowMap cut;
      for (const auto& [key, row] : rows) {
        if (std::get<0>(key) != s.partition) continue;
        cut[{"", std::get<1>(key), std::get<2>(key), std::get<3>(key)}] = row;
      }
      rows = std::move(cut);
    }
    EXPECT_EQ(static_cast<int64_t>(rows.size()), s.rows);
    std::string difference;
    if (!s.expected.empty()) {
      difference = Difference(RowsOfExpected(ReadJsonLines(root_ + "/acid-expected/" + s.expected)),
                              rows,
                              TypesOf(s.directory));
      EXPECT_TRUE(difference.empty()) << difference;
    }
    RecordResult("acid/" + s.directory + (s.partition.empty() ? "" : " " + s.partition),
                 s.fields.empty() ? "(no list)" : s.fields,
                 std::to_string(rows.size()),
                 difference.empty() ? "right" : "WRONG");
  }
}

TEST_F(AcidCases, HaveASnapshotEach) {
  std::set<std::string> tested = {"legacy-v1-table"};
  for (const Snapshot& s : Snapshots()) tested.insert(s.directory.substr(0, s.directory.find('/')));
  std::set<std::string> there;
  for (const auto& entry : std::filesystem::directory_iterator(root_ + "/acid")) {
    there.insert(entry.path().filename().string());
  }
  EXPECT_EQ(tested, there);
}

TEST_F(AcidCases, PrintInTheOrderOfRowIds) {
  const Reading reading = Read("originals-with-copies", "");
  std::vector<RowKey> keys;
  for (const std::string& line : reading.lines) keys.push_back(RowsOfDump({line}).begin()->first);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_EQ(reading.report.rows, 19);
}

TEST_F(AcidCases, TakeTheBucketOfAFileWithoutOneFromItsRow) {
  const Reading reading = Read("acid-version-check/acid_version_hive_3", "1:::");
  ASSERT_THAT(reading.lines, ::testing::SizeIs(1));
  EXPECT_EQ(reading.lines[0], R"({"writeid":1,"bucket":537001984,"rowid":0,"row":{"a":10}})");
}

TEST_F(AcidCases, ReadOnlyOneOfTwoDirectoriesWithOneEvent) {
  const Reading reading = Read("delete-deltas-only", "7:::");
  ASSERT_THAT(reading.report.directories, ::testing::SizeIs(1));
  std::map<std::string, acid::Verdict> verdicts;
  for (const acid::Judged& judged : reading.report.directories[0].judged) {
    verdicts[judged.name] = judged.verdict;
  }
  EXPECT_EQ(verdicts["delete_delta_0000004_0000004"], acid::Verdict::kChosen);
  EXPECT_EQ(verdicts["delete_delta_0000004_0000004_0000"], acid::Verdict::kObsolete);
  EXPECT_EQ(verdicts["delete_delta_0000007_0000007_0000"], acid::Verdict::kChosen);
}

TEST_F(AcidCases, TheLayoutBeforeHive3IsRefused) {
  for (const std::string directory :
       {"legacy-v1-table", "legacy-v1-table/continent=Asia/country=India"}) {
    for (const std::string fields : {"", "7:::", "10:::"}) {
      SCOPED_TRACE(directory + " under " + fields);
      const Reading reading = Read(directory, fields);
      EXPECT_THAT(reading.status, HasReason(ErrorReason::kLegacyLayout));
      EXPECT_THAT(reading.status, HasMessage(HasSubstr("base_0000006/bucket_00000")));
      EXPECT_THAT(reading.status, HasMessage(HasSubstr("before Hive 3")));
      EXPECT_TRUE(reading.lines.empty());
      RecordResult("acid/" + directory,
                   fields.empty() ? "(no list)" : fields,
                   "-",
                   "refused: LEGACY_LAYOUT");
    }
  }
}

}  // namespace
}  // namespace skep::testing
