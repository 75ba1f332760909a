#include "server/duties/adopted_lists.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "tests/testing/listings.h"
#include "tests/testing/status_matchers.h"

namespace skep::duties {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::skep::testing::MakeListing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TableListings Unpartitioned(const std::vector<std::string>& names) {
  return {{"", MakeListing(names)}};
}

// ---- write ids ----

TEST(AdoptWriteIds, TakesTheHighestOnDiskWithoutAList) {
  const TableListings listings = {
      {"p=1", MakeListing({"delta_0000003_0000003_0000", "base_0000002"})},
      {"p=2", MakeListing({"delete_delta_0000007_0000007_0001", "000000_0"})},
      {"p=3", MakeListing({"delta_0000004_0000009"})}};
  const auto adopted = AdoptWriteIds(listings, "");
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(adopted->ids.high, 9);
  EXPECT_THAT(adopted->ids.aborted, IsEmpty());
  EXPECT_FALSE(adopted->from_list);
}

TEST(AdoptWriteIds, OfOriginalsOnlyAreNone) {
  const auto adopted = AdoptWriteIds(Unpartitioned({"000000_0", "base_-9223372036854775808"}), "");
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(adopted->ids.high, 0);
}

TEST(AdoptWriteIds, TakesHighAndAbortedIdsOfTheList) {
  const auto adopted = AdoptWriteIds(Unpartitioned({"delta_0000006_0000006_0000"}),
                                     "x.y:9:9223372036854775807::4,7");
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(adopted->ids.high, 9) << "max(disk, HIGH)";
  EXPECT_THAT(adopted->ids.aborted, ElementsAre(4, 7));
  EXPECT_TRUE(adopted->from_list);
}

TEST(AdoptWriteIds, RefusesNamesThatLeaveNoRoomToCountOn) {
  for (const char* name : {"delta_9223372036854775807_9223372036854775807_0000",
                           "base_9223372036854775807",
                           "base_0000003_v9223372036854775807"}) {
    SCOPED_TRACE(name);
    const auto adopted = AdoptWriteIds(Unpartitioned({name}), "");
    EXPECT_THAT(adopted, HasReason(ErrorReason::kMalformedDirectory));
    EXPECT_THAT(MessageOf(adopted.status()), HasSubstr(name));
  }
}

TEST(AdoptWriteIds, RefusesByName) {
  struct Case {
    const char* name;
    std::vector<std::string> disk;
    const char* list;
    const char* says;
  };
  const Case cases[] = {
      {"above HIGH",
       {"delta_0000010_0000010_0000"},
       "t.t:9:9223372036854775807::",
       "delta_0000010_0000010_0000"},
      {"range beyond HIGH",
       {"delta_0000008_0000010"},
       "t.t:9:9223372036854775807::",
       "delta_0000008_0000010"},
      {"base above HIGH",
       {"base_0000010_v0000020"},
       "t.t:9:9223372036854775807::",
       "base_0000010_v0000020"},
      {"open ids", {"delta_0000003_0000003_0000"}, "t.t:3:2:2,3:", "open ones (2, 3)"},
      {"not a list", {}, "everything", ""},
      {"contradiction", {}, "t.t:3:9223372036854775807::5", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto adopted = AdoptWriteIds(Unpartitioned(c.disk), c.list);
    EXPECT_THAT(adopted, HasReason(ErrorReason::kInvalidRequest));
    EXPECT_EQ(MetadataOf(adopted.status())["field"], "valid_write_ids");
    EXPECT_THAT(MessageOf(adopted.status()), HasSubstr(c.says));
  }
}

// ---- visibility transactions (R-16) ----

ValidIds High(int64_t high) { return {.high = high, .open = {}, .aborted = {}}; }

TEST(AdoptTxns, HasNoBoundWithoutVisibilitySuffixes) {
  const auto adopted =
      AdoptTxns(Unpartitioned({"base_0000005", "delta_0000006_0000006_0000"}), "", High(6));
  ASSERT_THAT(adopted, IsOk());
  EXPECT_TRUE(adopted->bound.is_none());
  EXPECT_THAT(adopted->committed, IsEmpty());
}

TEST(AdoptTxns, CountsWhatHasNoInputsLeftAsCommitted) {
  const TableListings listings = {
      {"p=1", MakeListing({"base_0000005_v0000040", "delta_0000006_0000006_0000"})},
      {"p=2",
       MakeListing({"delta_0000002_0000006_v0000080", "delete_delta_0000002_0000006_v0000080"})}};
  const auto adopted = AdoptTxns(listings, "", High(6));
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(adopted->bound, TxnId(80));
  EXPECT_THAT(adopted->committed,
              ElementsAre("p=1/base_0000005_v0000040",
                          "p=2/delta_0000002_0000006_v0000080",
                          "p=2/delete_delta_0000002_0000006_v0000080"));
  EXPECT_THAT(adopted->aborted, IsEmpty());
}

struct InputCase {
  const char* name;
  std::vector<std::string> disk;
  const char* output;
  const char* input;  // empty: none
};

TEST(AdoptTxns, IsAmbiguousWhileAnInputIsThere) {
  const InputCase cases[] = {
      {"delta under a base",
       {"delta_0000003_0000003_0000"},
       "base_0000005_v0000040",
       "delta_0000003_0000003_0000"},
      {"delete delta",
       {"delete_delta_0000005_0000005_0000"},
       "base_0000005_v0000040",
       "delete_delta_0000005_0000005_0000"},
      {"older base", {"base_0000002"}, "base_0000005_v0000040", "base_0000002"},
      {"overwrite of the same id", {"base_0000005"}, "base_0000005_v0000040", "base_0000005"},
      {"two compactions",
       {"base_0000005_v0000030"},
       "base_0000005_v0000040",
       "base_0000005_v0000030"},
      {"original", {"000000_0"}, "base_0000005_v0000040", "000000_0"},
      {"minor within a major",
       {"delta_0000001_0000004_v0000030"},
       "base_0000005_v0000040",
       "delta_0000001_0000004_v0000030"},
      {"delta in a minor",
       {"delta_0000003_0000003_0000"},
       "delta_0000002_0000006_v0000040",
       "delta_0000003_0000003_0000"},
      {"later", {"delta_0000006_0000006_0000"}, "base_0000005_v0000040", ""},
      {"straddling batch", {"delta_0000004_0000009"}, "base_0000005_v0000040", ""},
      {"base under a minor", {"base_0000001"}, "delta_0000002_0000006_v0000040", ""},
      {"before a minor", {"delta_0000001_0000001_0000"}, "delta_0000002_0000006_v0000040", ""},
      {"aborted", {"delta_0000004_0000004_0000"}, "base_0000005_v0000040", ""},
  };
  ValidIds write_ids = High(9);
  write_ids.aborted = {4};
  for (const InputCase& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<std::string> disk = c.disk;
    disk.push_back(c.output);
    const TableListings listings = Unpartitioned(disk);
    const acid::AcidDir& output = listings[0].second.dirs.back();
    EXPECT_EQ(InputOf(output, listings[0].second, write_ids).value_or(""), c.input);
    const auto adopted = AdoptTxns(listings, "", write_ids);
    if (*c.input == '\0') {
      EXPECT_THAT(adopted, IsOk());
      continue;
    }
    EXPECT_THAT(adopted, HasReason(ErrorReason::kInvalidRequest));
    EXPECT_THAT(MessageOf(adopted.status()), HasSubstr(c.input));
    EXPECT_THAT(MessageOf(adopted.status()), HasSubstr("SHOW TRANSACTIONS"));
    EXPECT_EQ(MetadataOf(adopted.status())["field"], "valid_txns");
    EXPECT_THAT(AdoptTxns(listings, "all", write_ids), IsOk());
    EXPECT_THAT(AdoptTxns(listings, "50:9223372036854775807::", write_ids), IsOk());
  }
}

TEST(AdoptTxns, TakesTheListsWord) {
  const TableListings listings = Unpartitioned(
      {"base_0000005_v0000040", "base_0000003_v0000030", "delta_0000003_0000003_0000"});
  const auto adopted = AdoptTxns(listings, "90:9223372036854775807::7,40,85", High(5));
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(adopted->bound, TxnId(40));
  EXPECT_THAT(adopted->aborted, ElementsAre(7, 40)) << "at or below the bound";
  EXPECT_THAT(adopted->committed, ElementsAre("base_0000003_v0000030"));
}

TEST(AdoptTxns, RefusesWhatTheListDoesNotDecide) {
  const TableListings listings = Unpartitioned({"base_0000005_v0000040"});
  for (const char* list : {"50:40:40:", "39:9223372036854775807::", "nonsense"}) {
    SCOPED_TRACE(list);
    const auto adopted = AdoptTxns(listings, list, High(5));
    EXPECT_THAT(adopted, HasReason(ErrorReason::kInvalidRequest));
    EXPECT_EQ(MetadataOf(adopted.status())["field"], "valid_txns");
  }
  EXPECT_THAT(MessageOf(AdoptTxns(listings, "50:40:40:", High(5)).status()),
              HasSubstr("base_0000005_v0000040"));
}

}  // namespace
}  // namespace skep::duties
