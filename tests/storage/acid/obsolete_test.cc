#include "storage/acid/obsolete.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/listings.h"

namespace skep::acid {
namespace {

using testing::AllVisible;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::MakeListing;
using testing::Txns;
using testing::WriteIds;

std::vector<std::string> NamesOf(const std::vector<Removal>& removals) {
  std::vector<std::string> names;
  for (const Removal& removal : removals) names.push_back(removal.name);
  return names;
}

struct Case {
  std::string name;
  std::vector<std::string> listing;
  std::string write_ids;  // of the compaction's own sequence
  std::string txns;       // likewise
  int64_t highest = 0;
  std::vector<std::string> removable;
};

TEST(SelectObsolete, StaysInTheScopeOfItsCompaction) {  // CL-8, CL-9, CL-10, lesson of scopes
  const std::vector<Case> cases = {
      {.name = "inputs of a major",
       .listing = {"base_1", "delta_2_2_0", "delete_delta_3_3_0", "base_3_v7", "delta_4_4_0"},
       .write_ids = "4:::",
       .txns = "7:::",
       .highest = 3,
       .removable = {"base_1", "delete_delta_3_3_0", "delta_2_2_0"}},
      {.name = "inputs of a minor, the base stays",
       .listing = {"base_1",
                   "delta_2_2_0",
                   "delta_3_3_0",
                   "delta_2_3_v7",
                   "delete_delta_2_3_v7",
                   "delete_delta_3_3_1"},
       .write_ids = "3:::",
       .txns = "7:::",
       .highest = 3,
       .removable = {"delete_delta_3_3_1", "delta_2_2_0", "delta_3_3_0"}},
      {.name = "a later compaction's victims wait for its own entry",
       .listing = {"delta_1_1_0", "delta_2_2_0", "base_2_v7", "delta_3_3_0", "base_3_v9"},
       .write_ids = "3:::",
       .txns = "8:::",  // what transaction 7 saw when it committed: 9 was not there
       .highest = 2,
       .removable = {"delta_1_1_0", "delta_2_2_0"}},
      {.name = "that entry takes the earlier output too",
       .listing = {"base_2_v7", "delta_3_3_0", "base_3_v9"},
       .write_ids = "3:::",
       .txns = "9:::",
       .highest = 3,
       .removable = {"base_2_v7", "delta_3_3_0"}},
      {.name = "nothing above the highest write id, whatever covers it",
       .listing = {"base_2_v7", "base_9", "delta_5_5_0", "delta_1_1_0"},
       .write_ids = "9:::",
       .txns = "7:::",
       .highest = 2,
       .removable = {"delta_1_1_0"}},
      {.name = "the output of an open compaction is neither proof nor victim",
       .listing = {"delta_1_1_0", "base_1_v7", "base_1_v8"},
       .write_ids = "1:::",
       .txns = "8:8:8:",
       .highest = 1,
       .removable = {"delta_1_1_0"}},
      {.name = "without the output nothing is proven",
       .listing = {"delta_1_1_0", "delta_2_2_0"},
       .write_ids = "2:::",
       .txns = "7:::",
       .highest = 2,
       .removable = {}},
      {.name = "an aborted compaction proves nothing",
       .listing = {"delta_1_1_0", "delta_2_2_0", "base_2_v7"},
       .write_ids = "2:::",
       .txns = "7:::7",
       .highest = 2,
       .removable = {}},
      {.name = "aborted directories are not obsolete",
       .listing = {"delta_1_1_0", "delta_2_2_0", "base_2_v7"},
       .write_ids = "2:::2",
       .txns = "7:::",
       .highest = 2,
       .removable = {"delta_1_1_0"}},
      {.name = "a straddling batch stays",  // S-10: the base has none of its rows
       .listing = {"base_40", "delta_41_42", "delta_44_47", "base_44_v60"},
       .write_ids = "47:45:45:",
       .txns = "60:::",
       .highest = 44,
       .removable = {"base_40", "delta_41_42"}},
      {.name = "a newer base without suffix is no obstacle",
       .listing = {"delta_1_1_0", "delta_2_2_0", "delta_1_2_v7", "base_6:compacted"},
       .write_ids = "2:::",
       .txns = "7:::",
       .highest = 2,
       .removable = {"delta_1_1_0", "delta_2_2_0"}},
      {.name = "an overwrite replaces too",
       .listing = {"base_1", "delta_2_2_0", "base_3"},
       .write_ids = "3:::",
       .txns = "7:::",
       .highest = 3,
       .removable = {"base_1", "delta_2_2_0"}},
      {.name = "originals by their pattern, union legs whole, nothing else",
       .listing = {"000000_0",
                   "000000_0_copy_1",
                   "notes.txt",
                   "HIVE_UNION_SUBDIR_1/",
                   "HIVE_UNION_SUBDIR_1/000000_0",
                   "HIVE_UNION_SUBDIR_1/readme",
                   "other/",
                   "other/000000_0",
                   "other/readme",
                   "p=1/",
                   "000001_0#0",
                   "base_10000001_v5",
                   "delta_10000001_10000001_0"},
       .write_ids = "10000001:::",
       .txns = "5:::",
       .highest = 10000001,
       .removable = {"000000_0",
                     "000000_0_copy_1",
                     "000001_0",
                     "HIVE_UNION_SUBDIR_1",
                     "delta_10000001_10000001_0",
                     "other/000000_0"}},
      {.name = "nothing listed, nothing to do", .write_ids = "2:::", .txns = "7:::", .highest = 2},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::vector<Removal> removals = SelectObsolete(
        MakeListing(c.listing), WriteIds(c.write_ids), Txns(c.txns), WriteId(c.highest));
    EXPECT_EQ(NamesOf(removals), c.removable);
    for (const Removal& removal : removals) EXPECT_FALSE(removal.because.empty());
  }
}

TEST(SelectObsolete, GivesTheProof) {
  EXPECT_THAT(SelectObsolete(MakeListing({"delta_1_1_0", "000000_0", "base_1_v7"}),
                             WriteIds("1:::"),
                             Txns("7:::"),
                             WriteId(1)),
              ElementsAre(Removal{"000000_0", RemovalKind::kFile, "covered by base_1_v7"},
                          Removal{"delta_1_1_0", RemovalKind::kDirectory, "covered by base_1_v7"}));
}

TEST(SelectObsolete, IsEmptyOnceItsAnswerIsGone) {  // CL-12
  const auto left = SelectObsolete(
      MakeListing({"base_3_v7", "delta_4_4_0"}), WriteIds("4:::"), Txns("7:::"), WriteId(3));
  EXPECT_THAT(left, IsEmpty());
}

TEST(SelectAborted, TakesWhatHoldsNothingElse) {  // CL-10, S-4
  const AbortedSelection aborted = SelectAborted(MakeListing({"base_3_v7",
                                                              "delta_5_5_0",
                                                              "delete_delta_5_5_0",
                                                              "delta_6_9",
                                                              "delta_10_12",
                                                              "base_13",
                                                              "delta_1_2_v6",
                                                              "delta_14_14_0"}),
                                                 WriteIds("14:14:14:5,7,10,11,12,13"),
                                                 Txns("7:::6"));
  EXPECT_THAT(
      NamesOf(aborted.removals),
      ElementsAre("base_13", "delete_delta_5_5_0", "delta_10_12", "delta_1_2_v6", "delta_5_5_0"));
  EXPECT_THAT(aborted.write_ids, ElementsAre(5, 10, 11, 12, 13));
  EXPECT_TRUE(aborted.mixed);
}

TEST(SelectAborted, LeavesLiveDirectoriesAlone) {
  const AbortedSelection aborted = SelectAborted(
      MakeListing(
          {"base_3_v7", "delta_4_4_0", "delta_5_5_0", "delta_1_1_0", "base_9_v20", "000000_0"}),
      WriteIds("5:5:5:"),
      Txns("7:::"));
  EXPECT_THAT(aborted.removals, IsEmpty());
  EXPECT_FALSE(aborted.mixed);
}

TEST(SelectAborted, JudgesAdoptedDirectoriesByTheTablesOwnList) {
  Visibility visibility = Txns("200:::80");
  visibility.adopted_bound = TxnId(100);
  visibility.adopted_aborted = {77};
  const AbortedSelection aborted =
      SelectAborted(MakeListing({"base_10_v80", "base_10_v77"}), WriteIds("10:::"), visibility);
  EXPECT_THAT(NamesOf(aborted.removals), ElementsAre("base_10_v77"));
}

TEST(WriteIdsOnDisk, GoesByRangeAndExceptsCompactedBases) {
  const std::vector<int64_t> ids = {2, 5, 6, 9, 12};
  EXPECT_THAT(
      WriteIdsOnDisk(MakeListing({"base_4_v7", "delta_5_7_v9", "delta_8_8_0", "base_9"}), ids),
      ElementsAre(5, 6, 9));
  EXPECT_THAT(WriteIdsOnDisk(MakeListing({"delete_delta_12_12_0", "base_2:compacted"}), ids),
              ElementsAre(12));
  EXPECT_THAT(WriteIdsOnDisk(MakeListing({"base_12_v7", "000000_0"}), ids), IsEmpty());
}

}  // namespace
}  // namespace skep::acid
