#include "storage/compact/event_merge.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/fs/posix_file_system.h"
#include "tests/storage/compact/acid_files.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::compact {
namespace {

using ::testing::ElementsAre;
using testing::HasReason;

class EventMergeTest : public ::testing::Test {
 protected:
  std::vector<table::SourceFile> Sources(const std::string& write_ids, EventKind kind) {
    auto listing = table::ListDirectory(posix_, root_.path());
    EXPECT_TRUE(listing.ok()) << listing.status().ToString();
    auto selection =
        acid::SelectDirectories(*listing, testing::WriteIds(write_ids), testing::AllVisible());
    EXPECT_TRUE(selection.ok()) << selection.status().ToString();
    auto sources = table::CollectSources(posix_, root_.path(), *selection);
    EXPECT_TRUE(sources.ok()) << sources.status().ToString();
    table::BucketSources& bucket = (*sources)[0];
    return kind == EventKind::kInserts ? bucket.inserts : bucket.deletes;
  }

  // One line a run: first key … last key.
  absl::StatusOr<std::vector<std::string>> Runs(std::vector<table::SourceFile> files,
                                                EventKind kind) {
    EventMerge merge(posix_, std::move(files), {.kind = kind, .columns = OrderColumns()});
    std::vector<std::string> runs;
    while (true) {
      auto run = merge.Next();
      if (!run.ok()) return run.status();
      if (!run->has_value()) return runs;
      const orc::AcidKey first = (*run)->KeyAt((*run)->begin);
      const orc::AcidKey last = (*run)->KeyAt((*run)->end - 1);
      runs.push_back(std::to_string(first.original_write_id) + "/" + std::to_string(first.row_id) +
                     "-" + std::to_string(last.original_write_id) + "/" +
                     std::to_string(last.row_id));
    }
  }

  void Write(const std::string& name, const std::vector<TestEvent>& events) {
    WriteAcidFile(posix_, root_.path(), name, events);
  }

  testing::TempDir root_;
  fs::PosixFileSystem posix_;
};

TEST_F(EventMergeTest, PassesSourcesThatFollowOneAnotherInOneRunEach) {
  Write("delta_0000001_0000001_0000",
        {{.write_id = 1, .row_id = 0}, {.write_id = 1, .row_id = 1}, {.write_id = 1, .row_id = 2}});
  Write("delta_0000002_0000002_0000", {{.write_id = 2, .row_id = 0}, {.write_id = 2, .row_id = 1}});
  EXPECT_THAT(Runs(Sources("2:::", EventKind::kInserts), EventKind::kInserts),
              testing::IsOkAndHolds(ElementsAre("1/0-1/2", "2/0-2/1")));
}

TEST_F(EventMergeTest, CutsRunsWhereSourcesInterleave) {
  Write("delta_0000001_0000003",
        {{.write_id = 1, .row_id = 0}, {.write_id = 1, .row_id = 1}, {.write_id = 3, .row_id = 0}});
  Write("delta_0000002_0000004", {{.write_id = 2, .row_id = 0}, {.write_id = 4, .row_id = 0}});
  EXPECT_THAT(Runs(Sources("4:::", EventKind::kInserts), EventKind::kInserts),
              testing::IsOkAndHolds(ElementsAre("1/0-1/1", "2/0-2/0", "3/0-3/0", "4/0-4/0")));
}

TEST_F(EventMergeTest, OpensASourceOnlyWhenItsTurnComes) {
  Write("delta_0000001_0000001_0000", {{.write_id = 1, .row_id = 0}});
  Write("delta_0000002_0000002_0000", {{.write_id = 2, .row_id = 0}});
  std::vector<table::SourceFile> files = Sources("2:::", EventKind::kInserts);
  ASSERT_EQ(files.size(), 2U);
  ASSERT_THAT(posix_.RemoveTree(root_ / "delta_0000002_0000002_0000"), testing::IsOk());
  EventMerge merge(posix_, files, {.kind = EventKind::kInserts, .columns = OrderColumns()});
  SKEP_ASSERT_OK_AND_ASSIGN(const auto first, merge.Next());
  EXPECT_TRUE(first.has_value());
  EXPECT_THAT(merge.Next(), HasReason(ErrorReason::kNotEnoughHistory));  // D-14
}

TEST_F(EventMergeTest, StopsWhenTheCallbackSaysSo) {
  Write("delta_0000001_0000001_0000", {{.write_id = 1, .row_id = 0}});
  EventMerge merge(
      posix_,
      Sources("1:::", EventKind::kInserts),
      {.kind = EventKind::kInserts, .columns = OrderColumns(), .after_batch = [](int64_t read) {
         EXPECT_EQ(read, 1);
         return absl::CancelledError("enough");
       }});
  EXPECT_THAT(merge.Next(), testing::StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(EventMergeTest, RefusesAKeyBelowWhatTheNameAllows) {
  Write("delta_0000005_0000005_0000", {{.write_id = 1, .row_id = 0}});
  std::vector<table::SourceFile> files = Sources("5:::", EventKind::kInserts);
  files[0].tail = std::make_shared<orc::Tail>([&] {
    orc::Tail tail = *files[0].tail;
    tail.file_statistics.clear();
    return tail;
  }());
  EXPECT_THAT(Runs(files, EventKind::kInserts), HasReason(ErrorReason::kCorruptFile));
}

TEST(LowestPossibleKey, ComesFromIdentityStatisticsOrName) {
  table::SourceFile file;
  EXPECT_EQ(LowestPossibleKey(file).original_write_id, INT64_MIN);
  file.dir = testing::MakeListing({"delta_5_9"}).dirs[0].name;
  EXPECT_EQ(LowestPossibleKey(file), (orc::AcidKey{5, INT32_MIN, INT64_MIN}));
  file.dir = testing::MakeListing({"delete_delta_5_9"}).dirs[0].name;
  EXPECT_EQ(LowestPossibleKey(file).original_write_id, INT64_MIN);  // victims may be older

  auto tail = std::make_shared<orc::Tail>();
  tail->file_statistics.resize(8);
  tail->file_statistics[2].int_min = 3;
  file.tail = tail;
  EXPECT_EQ(LowestPossibleKey(file).original_write_id, INT64_MIN);  // M-4: stride 0
  tail->row_index_stride = 10000;
  EXPECT_EQ(LowestPossibleKey(file).original_write_id, 3);

  file.synthetic = {.write_id = 0, .bucket_property = 536870912, .first_row_id = 7};
  EXPECT_EQ(LowestPossibleKey(file), (orc::AcidKey{0, 536870912, 7}));
}

}  // namespace
}  // namespace skep::compact
