// acid-layout §16: orders 1 and 2 inserted, 1 updated, 2 deleted, as directories with their events.

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/acid/event_model.h"
#include "tests/testing/status_matchers.h"

namespace skep::acid {
namespace {

using testing::AllVisible;
using ::testing::ElementsAre;
using testing::Txns;
using testing::WriteIds;

constexpr int32_t kBucket = 536870912;
const RowKey kOrder1New{1, kBucket, 0};
const RowKey kOrder2New{1, kBucket, 1};
const RowKey kOrder1Paid{2, kBucket, 0};

Disk BeforeCompaction() {
  return {
      {"delta_0000001_0000001_0000", {{kOrder1New, 1, false}, {kOrder2New, 1, false}}},
      {"delete_delta_0000002_0000002_0000", {{kOrder1New, 2, true}}},
      {"delta_0000002_0000002_0000", {{kOrder1Paid, 2, false}}},
      {"delete_delta_0000003_0000003_0000", {{kOrder2New, 3, true}}},
  };
}

Disk WithMinor() {
  Disk disk = BeforeCompaction();
  disk["delta_0000001_0000003_v0000007"] = {
      {kOrder1New, 1, false}, {kOrder2New, 1, false}, {kOrder1Paid, 2, false}};
  disk["delete_delta_0000001_0000003_v0000007"] = {{kOrder1New, 2, true}, {kOrder2New, 3, true}};
  return disk;
}

Disk WithMajor() {
  Disk disk = BeforeCompaction();
  disk["base_0000003_v0000007"] = {{kOrder1Paid, 2, false}};
  return disk;
}

struct SnapshotCase {
  std::string write_ids;
  std::set<RowKey> rows;
};

const std::vector<SnapshotCase>& Snapshots() {
  static const std::vector<SnapshotCase> cases = {
      {"1:::", {kOrder1New, kOrder2New}},
      {"2:::", {kOrder2New, kOrder1Paid}},
      {"3:::", {kOrder1Paid}},
      {"3:2:2:", {kOrder1New}},
      {"3:9223372036854775807::2", {kOrder1New}},
      {"3:3:3:", {kOrder2New, kOrder1Paid}},
  };
  return cases;
}

void ExpectRows(const Disk& disk, const Visibility& visibility) {
  for (const SnapshotCase& c : Snapshots()) {
    SCOPED_TRACE(c.write_ids);
    const WriteIdSnapshot write_ids = WriteIds(c.write_ids);
    SKEP_ASSERT_OK_AND_ASSIGN(const Selection selection,
                              SelectDirectories(ListingOf(disk), write_ids, visibility));
    EXPECT_EQ(ReadRows(disk, selection, write_ids), c.rows);
  }
}

TEST(WorkedExample, IsSelectedInOrder) {
  SKEP_ASSERT_OK_AND_ASSIGN(
      const Selection selection,
      SelectDirectories(ListingOf(BeforeCompaction()), WriteIds("3:::"), AllVisible()));
  std::vector<std::string> names;
  for (const AcidDir& delta : selection.deltas) names.push_back(delta.name.name);
  EXPECT_THAT(names,
              ElementsAre("delta_0000001_0000001_0000",
                          "delete_delta_0000002_0000002_0000",
                          "delta_0000002_0000002_0000",
                          "delete_delta_0000003_0000003_0000"));
}

TEST(WorkedExample, HasTheRowsOfEverySnapshot) { ExpectRows(BeforeCompaction(), AllVisible()); }

TEST(WorkedExample, CallsTheDirectoriesOfAnAbortedWriteIdAborted) {
  SKEP_ASSERT_OK_AND_ASSIGN(
      const Selection selection,
      SelectDirectories(ListingOf(BeforeCompaction()), WriteIds("3:::2"), AllVisible()));
  EXPECT_THAT(selection.aborted,
              ElementsAre("delete_delta_0000002_0000002_0000", "delta_0000002_0000002_0000"));
  EXPECT_THAT(selection.aborted_write_ids, ElementsAre(2));
}

TEST(WorkedExample, HasTheSameRowsBehindAMinorCompaction) {
  ExpectRows(WithMinor(), Txns("7:::"));  // seen: through its output
  ExpectRows(WithMinor(), Txns("6:::"));  // not seen: through its inputs
}

TEST(WorkedExample, KeepsTheRowIdBehindAMajorCompaction) {
  const Disk disk = WithMajor();
  SKEP_ASSERT_OK_AND_ASSIGN(const Selection selection,
                            SelectDirectories(ListingOf(disk), WriteIds("3:::"), Txns("7:::")));
  EXPECT_EQ(ReadRows(disk, selection, WriteIds("3:::")), std::set<RowKey>{kOrder1Paid});
  EXPECT_THAT(selection.obsolete,
              ElementsAre("delete_delta_0000002_0000002_0000",
                          "delete_delta_0000003_0000003_0000",
                          "delta_0000001_0000001_0000",
                          "delta_0000002_0000002_0000"));
  // A snapshot that does not see transaction 7 reads on through the inputs.
  ExpectRows(disk, Txns("6:::"));
}

}  // namespace
}  // namespace skep::acid
