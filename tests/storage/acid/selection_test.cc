#include "storage/acid/selection.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/listings.h"
#include "tests/testing/status_matchers.h"

namespace skep::acid {
namespace {

using testing::AllVisible;
using ::testing::ElementsAre;
using testing::HasReason;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeListing;
using testing::Txns;
using testing::WriteIds;

using Names = std::vector<std::string>;

Names WithVerdict(const Selection& selection, Verdict verdict) {
  Names names;
  for (const Judged& judged : selection.judged) {
    if (judged.verdict == verdict) names.push_back(judged.name);
  }
  return names;
}

// Base, deltas in order, originals in order.
Names ReadOf(const Selection& selection) {
  Names names;
  if (selection.base) names.push_back(selection.base->name.name);
  for (const AcidDir& delta : selection.deltas) names.push_back(delta.name.name);
  for (const OriginalFile& file : selection.originals) names.push_back(file.relative_path);
  return names;
}

struct Case {
  std::string name;
  Names listing;
  std::string write_ids;
  std::string txns;         // empty: all visible
  Names read;               // in order
  Names obsolete;           // sorted
  Names ignored;            // sorted
  Names aborted;            // sorted
  Names foreign;            // sorted
  std::string missed_base;  // S-8
};

Visibility VisibilityOf(const Case& c) { return c.txns.empty() ? AllVisible() : Txns(c.txns); }

void ExpectOutcome(const Case& c, const Listing& listing) {
  const auto selection = SelectDirectories(listing, WriteIds(c.write_ids), VisibilityOf(c));
  if (!c.missed_base.empty()) {
    ASSERT_THAT(selection, HasReason(ErrorReason::kNotEnoughHistory));
    EXPECT_EQ(MetadataOf(selection.status()).at("base"), c.missed_base);
    return;
  }
  ASSERT_TRUE(selection.ok()) << selection.status().ToString();
  EXPECT_EQ(ReadOf(*selection), c.read);
  EXPECT_EQ(selection->obsolete, c.obsolete);
  EXPECT_EQ(WithVerdict(*selection, Verdict::kObsolete), c.obsolete);
  EXPECT_EQ(selection->aborted, c.aborted);
  EXPECT_EQ(WithVerdict(*selection, Verdict::kAborted), c.aborted);
  EXPECT_EQ(WithVerdict(*selection, Verdict::kInvisible), c.ignored);
  EXPECT_EQ(WithVerdict(*selection, Verdict::kForeign), c.foreign);
  for (const Judged& judged : selection->judged)
    EXPECT_FALSE(judged.because.empty()) << judged.name;
}

// Every case, then the same listing in other orders: the answer must not change.
void ExpectOutcomes(const std::vector<Case>& cases) {
  std::mt19937 shuffler(20261130);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Listing listing = MakeListing(c.listing);
    ExpectOutcome(c, listing);
    for (int i = 0; i < 60 && !::testing::Test::HasFailure(); ++i) {
      std::ranges::shuffle(listing.dirs, shuffler);
      std::ranges::shuffle(listing.originals, shuffler);
      std::ranges::shuffle(listing.original_dirs, shuffler);
      ExpectOutcome(c, listing);
    }
  }
}

TEST(SelectDirectories, HasTheConsequencesOfItsRules) {
  ExpectOutcomes({
      {.name = "bases and covering deltas",
       .listing = {"base_7",
                   "base_12",
                   "base_60",
                   "delta_33_33",
                   "delta_41_41",
                   "delta_33_45",
                   "delta_61_118",
                   "delta_95_130"},
       .write_ids = "110:::",
       .read = {"base_60", "delta_61_118"},
       .obsolete = {"base_12", "base_7", "delta_33_33", "delta_33_45", "delta_41_41"},
       .ignored = {"delta_95_130"}},
      {.name = "originals without a base",
       .listing = {"000000_0",
                   "000001_0",
                   "delta_3_3",
                   "delta_6_6",
                   "delta_3_8",
                   "delta_20_40",
                   "delta_41_41"},
       .write_ids = "40:::",
       .read = {"delta_3_8", "delta_20_40", "000000_0", "000001_0"},
       .obsolete = {"delta_3_3", "delta_6_6"},
       .ignored = {"delta_41_41"}},
      {.name = "a delta that straddles the base covers what lies in it",
       .listing =
           {"base_15", "delta_10_20", "delta_16_18", "delta_20_20", "delta_21_21", "delta_22_22"},
       .write_ids = "30:::",
       .read = {"base_15", "delta_10_20", "delta_21_21", "delta_22_22"},
       .obsolete = {"delta_16_18", "delta_20_20"}},
      {.name = "statements of one write id are all read",
       .listing = {"base_15",
                   "delta_10_20",
                   "delta_20_20_0",
                   "delta_20_20_2",
                   "delta_22_22_0",
                   "delta_22_22_5",
                   "delta_23_23_0"},
       .write_ids = "30:::",
       .read = {"base_15", "delta_10_20", "delta_22_22_0", "delta_22_22_5", "delta_23_23_0"},
       .obsolete = {"delta_20_20_0", "delta_20_20_2"}},
      {.name = "an open id inside a range",
       .listing = {"delta_4_4", "delta_5_9"},
       .write_ids = "30:7:7:",
       .read = {"delta_4_4", "delta_5_9"}},
      {.name = "a delta of nothing but an open id",
       .listing = {"delta_4_4", "delta_5_9", "delta_7_7_0", "delta_7_7_2", "delta_31_31_0"},
       .write_ids = "30:7:7:",
       .read = {"delta_4_4", "delta_5_9"},
       .ignored = {"delta_31_31_0", "delta_7_7_0", "delta_7_7_2"}},
      {.name = "a delete delta below the current id",
       .listing = {"base_15", "delta_12_19", "delete_delta_15_15"},
       .write_ids = "30:::",
       .read = {"base_15", "delta_12_19"},
       .obsolete = {"delete_delta_15_15"}},
      {.name = "a minor-compacted pair",
       .listing = {"delta_3_7", "delete_delta_3_7", "delete_delta_5_5"},
       .write_ids = "30:::",
       .read = {"delete_delta_3_7", "delta_3_7"},
       .obsolete = {"delete_delta_5_5"}},
      {.name = "a minor compaction that is visible",
       .listing = {"delta_1_1_0", "delta_2_2_0", "delta_1_2_v9"},
       .write_ids = "2:::",
       .txns = "9:::",
       .read = {"delta_1_2_v9"},
       .obsolete = {"delta_1_1_0", "delta_2_2_0"}},
      {.name = "the same, not visible",
       .listing = {"delta_1_1_0", "delta_2_2_0", "delta_1_2_v9"},
       .write_ids = "2:::",
       .txns = "8:::",
       .read = {"delta_1_1_0", "delta_2_2_0"},
       .ignored = {"delta_1_2_v9"}},
      {.name = "a snapshot older than a visible compaction",
       .listing = {"delta_1_1_0", "delta_2_2_0", "base_2_v7"},
       .write_ids = "2:1:1:",
       .txns = "7:::",
       .missed_base = "base_2_v7"},
      {.name = "an overwrite that is open",  // Hive's shortcut would read base_2
       .listing = {"delta_1_1_0", "base_2"},
       .write_ids = "2:2:2:",
       .read = {"delta_1_1_0"},
       .ignored = {"base_2"}},
      {.name = "an overwrite that was aborted",
       .listing = {"delta_1_1_0", "base_2"},
       .write_ids = "2:::2",
       .read = {"delta_1_1_0"},
       .aborted = {"base_2"}},
      {.name = "an overwrite and its compaction",
       .listing = {"base_2", "base_2_v9"},
       .write_ids = "2:::",
       .txns = "9:::",
       .read = {"base_2_v9"},
       .obsolete = {"base_2"}},
  });
}

TEST(SelectDirectories, ChoosesAmongBases) {  // S-3, H-7
  ExpectOutcomes({
      {.name = "two compactions of one range: the later transaction wins",
       .listing = {"base_5_v8", "base_5_v10", "base_5_v9"},
       .write_ids = "5:::",
       .read = {"base_5_v10"},
       .obsolete = {"base_5_v8", "base_5_v9"}},
      {.name = "Hive 3's compacted base is known by its metadata file",
       .listing = {"base_2:compacted", "delta_1_1_0", "delta_2_2_0"},
       .write_ids = "2:1:1:",
       .missed_base = "base_2"},
      {.name = "without that file it is an overwrite, and valid if its own id is",
       .listing = {"base_2", "delta_1_1_0", "delta_2_2_0"},
       .write_ids = "2:1:1:",
       .read = {"base_2"},
       .obsolete = {"delta_2_2_0"},
       .ignored = {"delta_1_1_0"}},
      {.name = "a truncated base is an overwrite",
       .listing = {"base_2:truncated", "delta_1_1_0"},
       .write_ids = "2:1:1:",
       .read = {"base_2"},
       .ignored = {"delta_1_1_0"}},
      {.name = "a dropped base is an overwrite",
       .listing = {"base_2:dropped", "delta_1_1_0"},
       .write_ids = "2:2:2:",
       .read = {"delta_1_1_0"},
       .ignored = {"base_2"}},
      {.name = "aborted ids below a compacted base do not matter",  // V-5
       .listing = {"base_6_v9", "delta_3_3_0", "delta_7_7_0"},
       .write_ids = "7:::3",
       .read = {"base_6_v9", "delta_7_7_0"},
       .aborted = {"delta_3_3_0"}},
      {.name = "an open id below a compacted base hides it",
       .listing = {"base_6:compacted"},
       .write_ids = "6:3:3:",
       .missed_base = "base_6"},
      {.name = "a compacted base above the high mark",
       .listing = {"base_7_v9", "base_3_v4"},
       .write_ids = "5:::",
       .read = {"base_3_v4"},
       .ignored = {"base_7_v9"}},
      {.name =
           "the base of a converted table without deltas is the oldest and always valid",  // N-9
       .listing = {"base_-9223372036854775808_v9", "delta_1_1_0", "000000_0"},
       .write_ids = "1:1:1:",
       .read = {"base_-9223372036854775808_v9"},
       .obsolete = {"000000_0"},
       .ignored = {"delta_1_1_0"}},
      {.name = "it gives way to any other",
       .listing = {"base_-9223372036854775808", "base_0000000", "base_1_v7"},
       .write_ids = "1:::",
       .read = {"base_1_v7"},
       .obsolete = {"base_-9223372036854775808", "base_0000000"}},
      {.name = "one overwrite under two spellings is read once",  // N-3
       .listing = {"base_7", "base_0000007"},
       .write_ids = "7:::",
       .read = {"base_0000007"},
       .obsolete = {"base_7"}},
      {.name = "an invalid compaction beside a valid overwrite of the same id",
       .listing = {"base_4", "base_4_v9"},
       .write_ids = "4:2:2:",
       .read = {"base_4"},
       .ignored = {"base_4_v9"}},
  });
}

TEST(SelectDirectories, RefusesASnapshotWhoseHistoryIsGone) {  // S-8 in Skep's form
  ExpectOutcomes({
      {.name = "any compacted base counts, not only the oldest",
       .listing = {"base_1", "base_4_v9", "delta_2_2_0"},
       .write_ids = "4:2:2:1",
       .missed_base = "base_4_v9"},
      {.name = "an aborted overwrite does not hide it",
       .listing = {"base_1", "base_2_v7"},
       .write_ids = "1:::1",
       .missed_base = "base_2_v7"},
      {.name = "the high mark alone is reason enough",
       .listing = {"base_9_v20", "delta_10_10_0"},
       .write_ids = "5:::",
       .missed_base = "base_9_v20"},
      {.name = "a compaction that the snapshot does not see is no reason",
       .listing = {"base_9_v20", "delta_1_1_0"},
       .write_ids = "5:::",
       .txns = "19:::",
       .read = {"delta_1_1_0"},
       .ignored = {"base_9_v20"}},
      {.name = "an aborted compaction neither",
       .listing = {"base_9_v20", "delta_1_1_0"},
       .write_ids = "9:::",
       .txns = "30:::20",
       .read = {"delta_1_1_0"},
       .aborted = {"base_9_v20"}},
      {.name = "an overwrite that is not valid is simply invisible",  // S-9
       .listing = {"base_9", "delta_1_1_0"},
       .write_ids = "5:::",
       .read = {"delta_1_1_0"},
       .ignored = {"base_9"}},
  });
}

TEST(SelectDirectories, NamesTheMissingHistory) {
  const auto selection = SelectDirectories(
      MakeListing({"delta_1_1_0", "base_2_v7"}), WriteIds("2:1:1:"), Txns("7:::"));
  ASSERT_THAT(selection, HasReason(ErrorReason::kNotEnoughHistory));
  const ErrorMetadata metadata = MetadataOf(selection.status());
  EXPECT_EQ(metadata.at("highWatermark"), "2");
  EXPECT_EQ(metadata.at("minOpen"), "1");
  EXPECT_EQ(metadata.at("path"), "base_2_v7");
  EXPECT_THAT(MessageOf(selection.status()), HasSubstr("base_2_v7"));
}

TEST(SelectDirectories, WalksDeltas) {  // S-4, S-5, S-6
  ExpectOutcomes({
      {.name = "the later of two minor results of one range",
       .listing = {"delta_1_3_v7",
                   "delta_1_3_v9",
                   "delete_delta_1_3_v7",
                   "delete_delta_1_3_v9",
                   "delta_1_1_0",
                   "delta_4_4_0"},
       .write_ids = "4:::",
       .read = {"delete_delta_1_3_v9", "delta_1_3_v9", "delta_4_4_0"},
       .obsolete = {"delete_delta_1_3_v7", "delta_1_1_0", "delta_1_3_v7"}},
      {.name = "a minor result without deletes beside an older one with",
       .listing = {"delta_1_3_v9", "delete_delta_1_3_v7"},
       .write_ids = "3:::",
       .read = {"delta_1_3_v9"},
       .obsolete = {"delete_delta_1_3_v7"}},
      {.name = "a compacted single write id beside its statements",
       .listing = {"delta_7_7_v19", "delete_delta_7_7_v19", "delta_7_7_0", "delete_delta_7_7_1"},
       .write_ids = "7:::",
       .read = {"delete_delta_7_7_v19", "delta_7_7_v19"},
       .obsolete = {"delete_delta_7_7_1", "delta_7_7_0"}},
      {.name = "a streaming batch of one without statement id",
       .listing = {"delta_5_5", "delta_6_6"},
       .write_ids = "6:::",
       .read = {"delta_5_5", "delta_6_6"}},
      {.name = "a wholly aborted batch",
       .listing = {"delta_1_3", "delta_4_6", "delta_7_7_0"},
       .write_ids = "7:::4,5,6",
       .read = {"delta_1_3", "delta_7_7_0"},
       .aborted = {"delta_4_6"}},
      {.name = "a batch of open and aborted ids only",
       .listing = {"delta_4_6"},
       .write_ids = "7:5:5,6:4",
       .ignored = {"delta_4_6"}},
      {.name = "an aborted compaction's output goes with its transaction",
       .listing = {"delta_1_1_0", "delta_1_2_v9", "delta_2_2_0"},
       .write_ids = "2:::",
       .txns = "12:::9",
       .read = {"delta_1_1_0", "delta_2_2_0"},
       .aborted = {"delta_1_2_v9"}},
      {.name = "an open compaction's output is not there yet",
       .listing = {"delta_1_1_0", "delta_1_2_v9", "delta_2_2_0"},
       .write_ids = "2:::",
       .txns = "12:9:9:",
       .read = {"delta_1_1_0", "delta_2_2_0"},
       .ignored = {"delta_1_2_v9"}},
      {.name = "a straddling batch is read whole",  // S-10
       .listing = {"base_44_v60", "delta_41_42", "delta_44_47"},
       .write_ids = "47:::",
       .read = {"base_44_v60", "delta_44_47"},
       .obsolete = {"delta_41_42"}},
      {.name = "also while nothing of it above the base is valid",
       .listing = {"base_44_v60", "delta_44_47"},
       .write_ids = "47:45:45,46,47:",
       .read = {"base_44_v60", "delta_44_47"}},
      {.name = "or ever will be",
       .listing = {"delta_41_44_v60", "delta_44_47", "delta_48_48_0"},
       .write_ids = "48:::45,46,47",
       .read = {"delta_41_44_v60", "delta_44_47", "delta_48_48_0"}},
      {.name = "not so a batch of which nothing is valid",
       .listing = {"base_44_v60", "delta_44_47"},
       .write_ids = "47:45:45,46,47:44",
       .read = {"base_44_v60"},
       .ignored = {"delta_44_47"}},
      {.name = "deletes alone",
       .listing = {"delete_delta_0000004_0000004",
                   "delete_delta_0000004_0000004_0000",
                   "delete_delta_0000007_0000007_0000"},
       .write_ids = "7:::",
       .read = {"delete_delta_0000004_0000004", "delete_delta_0000007_0000007_0000"},
       .obsolete = {"delete_delta_0000004_0000004_0000"}},
      {.name = "nothing at all", .listing = {}, .write_ids = "7:::"},
  });
}

TEST(SelectDirectories, ReadsOriginalsOnlyWithoutABase) {  // S-7, O-3
  ExpectOutcomes({
      {.name = "sorted by the characters of the path",
       .listing = {"000000_0_copy_2",
                   "000000_0_copy_10",
                   "000000_0",
                   "HIVE_UNION_SUBDIR_15/000000_0",
                   "HIVE_UNION_SUBDIR_15/",
                   "000001_0#0"},
       .write_ids = "0:::",
       .read = {"000000_0", "000000_0_copy_10", "000000_0_copy_2", "HIVE_UNION_SUBDIR_15/000000_0"},
       .ignored = {"000001_0"}},
      {.name = "obsolete with a base, empty files too",
       .listing = {"000000_0",
                   "HIVE_UNION_SUBDIR_15/000000_0",
                   "HIVE_UNION_SUBDIR_15/",
                   "000001_0#0",
                   "base_10000001_v5"},
       .write_ids = "10000001:::",
       .read = {"base_10000001_v5"},
       .obsolete =
           {"000000_0", "000001_0", "HIVE_UNION_SUBDIR_15", "HIVE_UNION_SUBDIR_15/000000_0"}},
      {.name = "what Hive does not name so is foreign beside a base",
       .listing = {"000000_0",
                   "README.txt",
                   "part-00000.orc",
                   "bucket_00000",
                   "sub/",
                   "sub/000000_0",
                   "sub/notes",
                   "HIVE_UNION_SUBDIR_1/",
                   "HIVE_UNION_SUBDIR_1/readme",
                   "empty/",
                   "base_5_v5"},
       .write_ids = "5:::",
       .read = {"base_5_v5"},
       .obsolete = {"000000_0", "HIVE_UNION_SUBDIR_1", "sub/000000_0"},
       .foreign = {"HIVE_UNION_SUBDIR_1/readme",
                   "README.txt",
                   "bucket_00000",
                   "part-00000.orc",
                   "sub/notes"}},
      {.name = "without a base a file with bytes may be data, one without is none",
       .listing = {"000000_0", "part-00000.orc", "marker#0"},
       .write_ids = "5:::",
       .read = {"000000_0", "part-00000.orc"},
       .foreign = {"marker"}},
  });
}

TEST(SelectDirectories, SeesOwnWrites) {  // V-6
  WriteIdSnapshot write_ids = WriteIds("5:4:4:");
  write_ids.own = {9};
  const Listing listing = MakeListing(
      {"delta_4_4_0", "delta_5_5_0", "delta_9_9_0", "delete_delta_9_9_1", "delta_8_8_0"});
  SKEP_ASSERT_OK_AND_ASSIGN(const Selection selection,
                            SelectDirectories(listing, write_ids, AllVisible()));
  EXPECT_THAT(ReadOf(selection), ElementsAre("delta_5_5_0", "delta_9_9_0", "delete_delta_9_9_1"));
}

TEST(SelectDirectories, SeesItsOwnOverwrite) {
  WriteIdSnapshot write_ids = WriteIds("5:::");
  write_ids.own = {6};
  SKEP_ASSERT_OK_AND_ASSIGN(
      const Selection selection,
      SelectDirectories(MakeListing({"delta_5_5_0", "base_6"}), write_ids, AllVisible()));
  EXPECT_THAT(ReadOf(selection), ElementsAre("base_6"));
}

TEST(SelectDirectories, ReportsAbortedIdsAndMixtures) {  // S-4
  SKEP_ASSERT_OK_AND_ASSIGN(
      const Selection mixed,
      SelectDirectories(MakeListing({"delta_1_5", "delta_6_8", "base_9", "delta_10_10_0"}),
                        WriteIds("10:::2,6,7,8,9"),
                        AllVisible()));
  EXPECT_THAT(ReadOf(mixed), ElementsAre("delta_1_5", "delta_10_10_0"));
  EXPECT_THAT(mixed.aborted, ElementsAre("base_9", "delta_6_8"));
  EXPECT_THAT(mixed.aborted_write_ids, ElementsAre(6, 7, 8, 9));
  EXPECT_TRUE(mixed.mixes_aborted);

  SKEP_ASSERT_OK_AND_ASSIGN(
      const Selection plain,
      SelectDirectories(
          MakeListing({"delta_1_1_0", "delta_2_2_0"}), WriteIds("2:::2"), AllVisible()));
  EXPECT_FALSE(plain.mixes_aborted);
  EXPECT_THAT(plain.aborted_write_ids, ElementsAre(2));
}

TEST(SelectDirectories, ServesTheCompactorsView) {  // V-8: never part of a batch
  const Listing listing =
      MakeListing({"base_40", "delta_41_42", "delta_44_47", "delta_48_48_0", "delta_43_43_0"});
  const WriteIdSnapshot compactor = WriteIds("48:45:45:43").ForCompactor();
  SKEP_ASSERT_OK_AND_ASSIGN(const Selection selection,
                            SelectDirectories(listing, compactor, AllVisible()));
  EXPECT_THAT(ReadOf(selection), ElementsAre("base_40", "delta_41_42"));
  EXPECT_THAT(selection.aborted, ElementsAre("delta_43_43_0"));
}

TEST(SelectDirectories, SaysWhy) {
  SKEP_ASSERT_OK_AND_ASSIGN(const Selection selection,
                            SelectDirectories(MakeListing({"base_2_v7",
                                                           "delta_1_1_0",
                                                           "delta_3_3_0",
                                                           "delta_4_4_0",
                                                           "delta_9_9_0",
                                                           "base_2_v8"}),
                                              WriteIds("5:3:3:4"),
                                              Txns("7:::")));
  std::vector<std::string> lines;
  for (const Judged& judged : selection.judged)
    lines.push_back(judged.name + ": " + judged.because);
  EXPECT_THAT(
      lines,
      ElementsAre("base_2_v7: the newest visible base",
                  "base_2_v8: its compaction, transaction 8, is not committed in this snapshot",
                  "delta_1_1_0: covered by base_2_v7",
                  "delta_3_3_0: write id 3 not resolved in this snapshot",
                  "delta_4_4_0: write id 4 aborted",
                  "delta_9_9_0: write id 9 above the high mark 5"));
}

TEST(SelectDirectories, HoldsTheWidestRange) {
  SKEP_ASSERT_OK_AND_ASSIGN(
      const Selection selection,
      SelectDirectories(
          MakeListing({"delta_0_9223372036854775807"}), EverythingVisible(), AllVisible()));
  EXPECT_THAT(ReadOf(selection), ElementsAre("delta_0_9223372036854775807"));
  SKEP_ASSERT_OK_AND_ASSIGN(
      const Selection some,
      SelectDirectories(
          MakeListing({"delta_0_9223372036854775807"}), WriteIds("5:2:2:1"), AllVisible()));
  EXPECT_THAT(ReadOf(some), ElementsAre("delta_0_9223372036854775807"));
  EXPECT_THAT(some.aborted, IsEmpty());
}

}  // namespace
}  // namespace skep::acid
