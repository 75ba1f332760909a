// Compaction of directories that Hive wrote. The cases are copied: fixtures stay as they are.

#include <stdlib.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/compact/clean.h"
#include "storage/compact/job.h"
#include "storage/fs/posix_file_system.h"
#include "tests/storage/compact/acid_files.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::compact {
namespace {

using testing::AllVisible;
using ::testing::ElementsAre;
using testing::HasReason;
using ::testing::SizeIs;
using testing::WriteIds;

constexpr auto kMajor = CompactionType::kMajor;
constexpr auto kMinor = CompactionType::kMinor;

class FixtureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* set = ::getenv("SKEP_FIXTURES");
    fixtures_ = set != nullptr ? set : "../shared/fixtures";
    if (!std::filesystem::exists(fixtures_ / "README.md")) {
      GTEST_SKIP() << "no fixtures at " << fixtures_ << ": set SKEP_FIXTURES";
    }
  }

  std::string Copy(const std::string& relative) {
    std::filesystem::copy(
        fixtures_ / relative, root_ / "t", std::filesystem::copy_options::recursive);
    return root_ / "t";
  }

  CompactionRequest Request(const std::string& dir,
                            CompactionType type,
                            int64_t txn,
                            const std::string& write_ids,
                            const std::string& columns) {
    CompactionRequest request = RequestFor(dir, type, txn, write_ids);
    request.columns = *ParseColumns(columns);
    return request;
  }

  std::filesystem::path fixtures_;
  testing::TempDir root_;
  fs::PosixFileSystem posix_;
};

constexpr char kNationColumns[] =
    "n_nationkey int, n_name string, n_regionkey int, n_comment string";

TEST_F(FixtureTest, MajorOfNationLeavesTheVisibleRowsWithTheirIds) {
  const std::string dir = Copy("acid/nation-25k-deletes");
  const std::vector<std::string> before = ScanRows(posix_, dir, WriteIds("4:::"), AllVisible());
  ASSERT_THAT(before, SizeIs(23000));
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult result,
                            RunCompaction(posix_, Request(dir, kMajor, 9, "4:::", kNationColumns)));
  EXPECT_THAT(result.outputs, ElementsAre("base_0000004_v0000009"));
  EXPECT_EQ(result.totals.rows_read, 25000);
  EXPECT_EQ(result.totals.rows_deleted, 2000);
  EXPECT_EQ(result.totals.rows_written, 23000);
  ASSERT_EQ(result.plan.buckets.size(), 1U);
  EXPECT_THAT(result.plan.buckets[0].files[0].stripes, SizeIs(5));
  EXPECT_EQ(ScanRows(posix_, dir, WriteIds("4:::"), AllVisible()), before);

  SKEP_ASSERT_OK_AND_ASSIGN(
      const CleanReport cleaned,
      Clean(posix_,
            {.directory = dir,
             .obsolete = ObsoleteScope{WriteIds("4:::"), AllVisible(), WriteId(4)}}));
  EXPECT_TRUE(cleaned.IsDone());
  EXPECT_THAT(NamesIn(dir), ElementsAre("base_0000004_v0000009"));
  EXPECT_EQ(ScanRows(posix_, dir, WriteIds("4:::"), AllVisible()), before);
  const std::vector<std::string> events =
      FileEvents(posix_, dir + "/base_0000004_v0000009/bucket_00000");
  EXPECT_THAT(events, SizeIs(23000));
  EXPECT_EQ(events.front(), "0 (2,536870912,0) 2");
  EXPECT_EQ(events[5000], "0 (2,536870912,6000) 2");
  EXPECT_EQ(events.back(), "0 (2,536870912,24999) 2");
}

TEST_F(FixtureTest, MinorOfNationLeavesAllEvents) {
  const std::string dir = Copy("acid/nation-25k-deletes");
  const std::vector<std::string> snapshots = {"2:::", "3:::", "4:::", "4:::3"};
  std::vector<std::vector<std::string>> before;
  for (const std::string& s : snapshots)
    before.push_back(ScanRows(posix_, dir, WriteIds(s), AllVisible()));
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult result,
                            RunCompaction(posix_, Request(dir, kMinor, 9, "4:::", kNationColumns)));
  EXPECT_THAT(
      result.outputs,
      ElementsAre("delete_delta_0000002_0000004_v0000009", "delta_0000002_0000004_v0000009"));
  EXPECT_EQ(result.totals.rows_written, 25000);
  EXPECT_EQ(result.totals.deletes_written, 2000);
  const auto deletes =
      FileEvents(posix_, dir + "/delete_delta_0000002_0000004_v0000009/bucket_00000");
  ASSERT_THAT(deletes, SizeIs(2000));
  EXPECT_EQ(deletes.front(), "2 (2,536870912,5000) 3");
  EXPECT_EQ(deletes.back(), "2 (2,536870912,19999) 4");
  for (size_t i = 0; i < snapshots.size(); ++i) {
    SCOPED_TRACE(snapshots[i]);
    EXPECT_EQ(ScanRows(posix_, dir, WriteIds(snapshots[i]), AllVisible()), before[i]);
  }
}

TEST_F(FixtureTest, MajorOfOriginalsMaterialisesTheirIds) {  // OUT-11, O-2, O-3
  const std::string dir = Copy("acid/originals-with-copies");
  const std::string list = "10000001:::";
  const std::vector<std::string> before = ScanRows(posix_, dir, WriteIds(list), AllVisible());
  ASSERT_FALSE(before.empty());
  EXPECT_TRUE(before.front().starts_with("(0,")) << before.front();
  SKEP_ASSERT_OK_AND_ASSIGN(
      const CompactionResult result,
      RunCompaction(posix_, Request(dir, kMajor, 9, list, "id int, data string, comment string")));
  EXPECT_THAT(result.outputs, ElementsAre("base_10000001_v0000009"));
  EXPECT_EQ(ScanRows(posix_, dir, WriteIds(list), AllVisible()), before);
  SKEP_ASSERT_OK_AND_ASSIGN(
      const CleanReport cleaned,
      Clean(posix_,
            {.directory = dir,
             .obsolete = ObsoleteScope{WriteIds(list), AllVisible(), WriteId(10000001)}}));
  EXPECT_TRUE(cleaned.IsDone());
  EXPECT_THAT(NamesIn(dir), ElementsAre("base_10000001_v0000009"));
  EXPECT_EQ(ScanRows(posix_, dir, WriteIds(list), AllVisible()), before);
}

TEST_F(FixtureTest, RefusesHiveTwosEvents) {  // RW-3
  const std::string dir = Copy("acid/legacy-v1-table/continent=Asia/country=India");
  const std::vector<std::string> before = NamesIn(dir);
  for (const CompactionType type : {kMajor, kMinor}) {
    EXPECT_THAT(RunCompaction(posix_, Request(dir, type, 9, "10:::", "id int")),
                HasReason(ErrorReason::kLegacyLayout));
    EXPECT_EQ(NamesIn(dir), before);
  }
}

TEST_F(FixtureTest, MajorOfAStreamingBatchKeepsWhatItsListSays) {
  const std::string dir = Copy("acid/streaming-two-txns");
  SKEP_ASSERT_OK_AND_ASSIGN(const Plan plan,
                            PlanCompaction(posix_, Request(dir, kMajor, 9, "2:2:2:", "a int")));
  EXPECT_EQ(plan.outcome, PlanOutcome::kNothing);
  EXPECT_THAT(plan.left_out, ElementsAre("delta_0000001_0000002"));
}

}  // namespace
}  // namespace skep::compact
