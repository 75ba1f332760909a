#include "storage/table/delete_set.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "tests/storage/table/acid_files.h"
#include "tests/testing/listings.h"
#include "tests/testing/status_matchers.h"

namespace skep::testing {
namespace {

using ::testing::ElementsAre;

class DeleteSetTest : public ::testing::Test {
 protected:
  table::SourceFile File(const std::string& dir, const std::vector<Event>& events) {
    table_.AcidFile(dir + "/bucket_00000", events);
    auto parsed = acid::ParseDirName(dir);
    return {.path = table_.Path(dir + "/bucket_00000"), .dir = **parsed};
  }
  absl::StatusOr<table::DeleteSet> Load(const std::vector<table::SourceFile>& files,
                                        const std::string& write_ids,
                                        int64_t limit = table::kDefaultDeleteLimit) {
    return table::DeleteSet::Load(
        table_.fs(), files, WriteIds(write_ids), {.limit = limit, .check_alive = {}});
  }

  TestTable table_;
};

TEST_F(DeleteSetTest, HoldsEachVictimOnce) {
  const auto first = File("delete_delta_2_2_0", {Delete(1, 3, 2), Delete(1, 9, 2)});
  const auto second =
      File("delete_delta_1_4_v9", {Delete(1, 3, 4), Delete(1, 3, 2), Delete(2, 3, 3)});
  SKEP_ASSERT_OK_AND_ASSIGN(const auto set, Load({first, second}, "4:::"));
  EXPECT_EQ(set.size(), 3);
  EXPECT_TRUE(set.Contains({1, 536870912, 3}));
  EXPECT_TRUE(set.Contains({1, 536870912, 9}));
  EXPECT_TRUE(set.Contains({2, 536870912, 3}));
  EXPECT_FALSE(set.Contains({1, 536870912, 4}));
  EXPECT_FALSE(set.Contains({1, 536870913, 3}));
  EXPECT_FALSE(set.Contains({3, 536870912, 3}));
}

TEST_F(DeleteSetTest, KeepsOnlyWhatTheSnapshotSees) {
  const auto file = File("delete_delta_2_5",
                         {Delete(1, 0, 2), Delete(1, 1, 3), Delete(1, 2, 4), Delete(1, 3, 5)});
  SKEP_ASSERT_OK_AND_ASSIGN(const auto set, Load({file}, "4:3:3:"));
  EXPECT_EQ(set.size(), 2);
  EXPECT_TRUE(set.Contains({1, 536870912, 0}));
  EXPECT_FALSE(set.Contains({1, 536870912, 1}));
  EXPECT_TRUE(set.Contains({1, 536870912, 2}));
  EXPECT_FALSE(set.Contains({1, 536870912, 3}));
}

TEST_F(DeleteSetTest, HitsRowsInAnyOrder) {
  const auto file = File("delete_delta_9_9_0", {Delete(1, 2, 9), Delete(1, 5, 9), Delete(3, 0, 9)});
  SKEP_ASSERT_OK_AND_ASSIGN(const auto set, Load({file}, "9:::"));
  orc::Batch batch;
  batch.original_write_id = {1, 1, 1, 1, 2, 3, 3};
  batch.bucket.assign(7, 536870912);
  batch.row_id = {0, 2, 4, 5, 2, 0, 1};
  EXPECT_THAT(set.Hits(batch), ElementsAre(false, true, false, true, false, true, false));
  batch.row_id = {5, 5, 2, 0, 5, 1, 0};
  EXPECT_THAT(set.Hits(batch), ElementsAre(true, true, true, false, false, false, true));
}

TEST_F(DeleteSetTest, CountsEventsAgainstTheLimitAndNamesIt) {
  const auto file = File("delete_delta_9_9_0", {Delete(1, 2, 9), Delete(1, 5, 9)});
  EXPECT_THAT(Load({file}, "9:::", 2), IsOk());
  const auto refused = Load({file}, "9:::", 1);
  EXPECT_THAT(refused, HasReason(ErrorReason::kOverloaded));
  EXPECT_EQ(MetadataOf(refused.status()).at("limit"), "1");
  // Events that the snapshot does not see cost nothing.
  EXPECT_THAT(Load({file}, "8:::", 0), IsOk());
}

}  // namespace
}  // namespace skep::testing
