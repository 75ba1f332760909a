// The rules beside selection that look at names and snapshots: the V example, visibility, D-6, O-8,
// H-7.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/acid/selection.h"
#include "tests/testing/listings.h"
#include "tests/testing/status_matchers.h"

namespace skep::acid {
namespace {

using testing::MakeListing;
using testing::Txns;
using testing::WriteIds;

AcidDirName NameOf(const std::string& name) { return MakeListing({name}).dirs.at(0).name; }

RangeAnswer Range(const WriteIdSnapshot& list, int64_t first, int64_t last) {
  return list.RangeValidity(WriteId(first), WriteId(last));
}

TEST(WriteIdList, AnswersTheExampleLineByLine) {  // V-1…V-5
  const WriteIdSnapshot list = WriteIds("10:4:4,7:6");
  for (int64_t id = 1; id <= 12; ++id) {
    const bool valid = id <= 10 && id != 4 && id != 6 && id != 7;
    EXPECT_EQ(list.IsValid(WriteId(id)), valid) << id;
    EXPECT_EQ(list.IsAborted(WriteId(id)), id == 6) << id;
  }
  EXPECT_EQ(Range(list, 1, 3), RangeAnswer::kAll);
  EXPECT_EQ(Range(list, 4, 4), RangeAnswer::kNone);
  EXPECT_EQ(Range(list, 2, 5), RangeAnswer::kSome);
  EXPECT_EQ(Range(list, 9, 12), RangeAnswer::kSome);
  EXPECT_EQ(Range(list, 11, 12), RangeAnswer::kNone);
  EXPECT_EQ(Range(list, 6, 7), RangeAnswer::kNone);
  EXPECT_TRUE(list.IsValidBase(WriteId(3)));
  EXPECT_FALSE(list.IsValidBase(WriteId(4)));
  EXPECT_FALSE(list.IsValidBase(WriteId(5)));
  EXPECT_TRUE(list.IsValid(WriteId(0)));  // rows from before the table was transactional
}

TEST(WriteIdList, IsReadOtherwiseByCompactorAndCleaner) {  // V-8, V-9
  const WriteIdSnapshot compactor = WriteIds("10:7:7:3,8").ForCompactor();
  EXPECT_EQ(compactor.ids.high, 6);
  EXPECT_EQ(Range(compactor, 1, 6), RangeAnswer::kAll);
  EXPECT_EQ(Range(compactor, 3, 3), RangeAnswer::kAll);
  EXPECT_EQ(Range(compactor, 5, 7), RangeAnswer::kNone);
  EXPECT_TRUE(compactor.IsAborted(WriteId(3)));
  EXPECT_FALSE(compactor.IsAborted(WriteId(8)));

  WriteIdSnapshot cleaner = WriteIds("10:4:4,7:6");
  cleaner.role = SnapshotRole::kCleaner;
  EXPECT_EQ(Range(cleaner, 9, 10), RangeAnswer::kAll);
  EXPECT_EQ(Range(cleaner, 9, 11), RangeAnswer::kNone);
  EXPECT_EQ(Range(cleaner, 2, 5), RangeAnswer::kSome);
}

TEST(Visibility, JudgesByTheServersTransactions) {  // V-4, S-2
  const Visibility visibility = Txns("20:15:15:12");
  EXPECT_EQ(visibility.Judge(TxnId(0)), Visibility::Answer::kVisible);
  EXPECT_EQ(visibility.Judge(TxnId(11)), Visibility::Answer::kVisible);
  EXPECT_EQ(visibility.Judge(TxnId(12)), Visibility::Answer::kAborted);
  EXPECT_EQ(visibility.Judge(TxnId(15)), Visibility::Answer::kInvisible);
  EXPECT_EQ(visibility.Judge(TxnId(20)), Visibility::Answer::kVisible);
  EXPECT_EQ(visibility.Judge(TxnId(21)), Visibility::Answer::kInvisible);
}

TEST(Visibility, JudgesAdoptedDirectoriesByTheTablesOwnList) {
  Visibility visibility = Txns("120:90:90:80,110");
  visibility.adopted_bound = TxnId(100);
  visibility.adopted_aborted = {7, 77};
  // At or below the bound the server's own list does not count: its 80 is another transaction.
  EXPECT_EQ(visibility.Judge(TxnId(80)), Visibility::Answer::kVisible);
  EXPECT_EQ(visibility.Judge(TxnId(90)), Visibility::Answer::kVisible);
  EXPECT_EQ(visibility.Judge(TxnId(100)), Visibility::Answer::kVisible);
  EXPECT_EQ(visibility.Judge(TxnId(7)), Visibility::Answer::kAborted);
  EXPECT_EQ(visibility.Judge(TxnId(77)), Visibility::Answer::kAborted);
  EXPECT_EQ(visibility.Judge(TxnId(101)), Visibility::Answer::kVisible);
  EXPECT_EQ(visibility.Judge(TxnId(110)), Visibility::Answer::kAborted);
  EXPECT_EQ(visibility.Judge(TxnId(121)), Visibility::Answer::kInvisible);
}

TEST(DeleteDeltaApplies, FollowsSkepsForm) {  // D-6
  struct Case {
    std::string dir;
    std::string delete_delta;
    bool applies;
  };
  const std::vector<Case> cases = {
      {"delta_8_8_0", "delete_delta_6_6_0", false},
      {"delta_8_8_0", "delete_delta_8_8_0", false},
      {"delta_8_8_0", "delete_delta_8_8_3", true},
      {"delta_8_8_3", "delete_delta_8_8_1", false},
      {"delta_8_8", "delete_delta_9_9_0", true},
      {"delta_4_8_v19", "delete_delta_4_8_v19", true},
      {"delta_7_7_v19", "delete_delta_7_7_v19", true},  // Hive loses these deletes
      {"base_9", "delete_delta_11_11_0", true},
      // Beyond the table.
      {"base_9", "delete_delta_3_3_0", true},
      {"delta_5_9", "delete_delta_4_4_0", false},
      {"delta_5_9", "delete_delta_5_5_0", true},
      {"delta_5_9", "delete_delta_6_6_0", true},
      {"delta_8_8_0", "delete_delta_5_8_v19", true},
      {"delta_8_8", "delete_delta_8_8_0", true},
      {"delta_8_8_0", "delete_delta_8_8", true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.delete_delta + " on " + c.dir);
    EXPECT_EQ(DeleteDeltaApplies(NameOf(c.delete_delta), NameOf(c.dir)), c.applies);
  }
}

TEST(CompactedBase, IsKnownByItsNameOrItsMetadata) {  // H-7
  const auto compacted = [](const std::string& spec) {
    return MakeListing({spec}).dirs.at(0).IsCompactedBase();
  };
  EXPECT_TRUE(compacted("base_5_v1"));
  EXPECT_TRUE(compacted("base_5:compacted"));
  EXPECT_FALSE(compacted("base_5"));
  EXPECT_FALSE(compacted("base_5_v0"));
  EXPECT_FALSE(compacted("base_5:truncated"));
  EXPECT_FALSE(compacted("base_5:dropped"));
  EXPECT_FALSE(compacted("delta_1_5_v3"));
}

TEST(AcidFormat, IsDecidedByNameWhereTheNameSaysIt) {  // O-8
  const auto decided = [](const std::string& spec) {
    return IsAcidFormatByName(MakeListing({spec}).dirs.at(0));
  };
  EXPECT_TRUE(decided("delete_delta_5_5_0"));
  EXPECT_TRUE(decided("delta_5_9"));
  EXPECT_TRUE(decided("base_5_v7"));
  EXPECT_TRUE(decided("base_5:compacted"));
  EXPECT_FALSE(decided("delta_5_5_0"));
  EXPECT_FALSE(decided("base_5"));
  EXPECT_FALSE(decided("base_5:truncated"));
}

}  // namespace
}  // namespace skep::acid
