#include "storage/compact/plan.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/listings.h"
#include "tests/testing/status_matchers.h"

namespace skep::compact {
namespace {

using testing::AllVisible;
using ::testing::ElementsAre;
using testing::HasReason;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeListing;
using testing::WriteIds;

absl::StatusOr<Plan> PlanOf(CompactionType type,
                            int64_t txn,
                            const std::vector<std::string>& names,
                            const std::string& write_ids) {
  const acid::Listing listing = MakeListing(names);
  const WriteIdSnapshot view = WriteIds(write_ids).ForCompactor();
  auto selection = acid::SelectDirectories(listing, view, AllVisible());
  if (!selection.ok()) return selection.status();
  return MakePlan(type, TxnId(txn), listing, *selection, view);
}

struct Case {
  std::string name;
  CompactionType type = CompactionType::kMajor;
  std::vector<std::string> listing;
  std::string write_ids;  // the server's list: the compactor's view is taken of it
  int64_t txn = 0;
  PlanOutcome outcome = PlanOutcome::kMerge;
  std::string base;
  std::string delta;
  std::string delete_delta;
  int64_t highest = 0;
  std::vector<std::string> inputs;
  std::vector<std::string> left_out;
};

void ExpectPlans(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    SKEP_ASSERT_OK_AND_ASSIGN(const Plan plan, PlanOf(c.type, c.txn, c.listing, c.write_ids));
    EXPECT_EQ(plan.outcome, c.outcome);
    EXPECT_EQ(plan.base, c.base);
    EXPECT_EQ(plan.delta, c.delta);
    EXPECT_EQ(plan.delete_delta, c.delete_delta);
    EXPECT_EQ(plan.highest_write_id, WriteId(c.highest));
    EXPECT_EQ(plan.inputs, c.inputs);
    EXPECT_EQ(plan.left_out, c.left_out);
    EXPECT_FALSE(plan.because.empty());
  }
}

TEST(MakePlan, HasTheWorkedCases) {  // compaction §7.3
  constexpr auto kMajor = CompactionType::kMajor;
  constexpr auto kMinor = CompactionType::kMinor;
  ExpectPlans({
      {.name = "minor over a base",
       .type = kMinor,
       .listing = {"base_40", "delta_41_43", "delta_44_45"},
       .write_ids = "45:::",
       .txn = 50,
       .delta = "delta_0000041_0000045_v0000050",
       .delete_delta = "delete_delta_0000041_0000045_v0000050",
       .highest = 45,
       .inputs = {"delta_41_43", "delta_44_45"}},
      {.name = "major over the same",
       .type = kMajor,
       .listing = {"base_40", "delta_41_43", "delta_44_45"},
       .write_ids = "45:::",
       .txn = 50,
       .base = "base_0000045_v0000050",
       .highest = 45,
       .inputs = {"base_40", "delta_41_43", "delta_44_45"}},
      {.name = "major below an open id",
       .type = kMajor,
       .listing = {"base_40", "delta_41_42", "delta_45_47", "delta_48_48"},
       .write_ids = "48:45:45:",
       .txn = 60,
       .base = "base_0000044_v0000060",
       .highest = 44,
       .inputs = {"base_40", "delta_41_42"}},
      {.name = "minor below an open id: one delta only",
       .type = kMinor,
       .listing = {"base_40", "delta_41_42", "delta_45_47", "delta_48_48"},
       .write_ids = "48:45:45:",
       .txn = 60,
       .outcome = PlanOutcome::kNothing,
       .highest = 44},
      {.name = "a straddling batch lowers the name",  // OUT-15
       .type = kMajor,
       .listing = {"base_40", "delta_41_42", "delta_44_47"},
       .write_ids = "47:45:45:",
       .txn = 60,
       .base = "base_0000043_v0000060",
       .highest = 43,
       .inputs = {"base_40", "delta_41_42"},
       .left_out = {"delta_44_47"}},
      {.name = "an aborted id inside",
       .type = kMajor,
       .listing = {"base_40", "delta_41_42", "delta_43_45"},
       .write_ids = "45:::44",
       .txn = 60,
       .base = "base_0000045_v0000060",
       .highest = 45,
       .inputs = {"base_40", "delta_41_42", "delta_43_45"}},
      {.name = "three deltas, no base",
       .type = kMajor,
       .listing = {"delta_1_1", "delta_2_2", "delta_3_3"},
       .write_ids = "3:::",
       .txn = 9,
       .base = "base_0000003_v0000009",
       .highest = 3,
       .inputs = {"delta_1_1", "delta_2_2", "delta_3_3"}},
      {.name = "streaming batches, the next one open",
       .type = kMinor,
       .listing = {"delta_1_10", "delta_11_20", "delta_21_30"},
       .write_ids = "30:21:21,22,23,24,25,26,27,28,29,30:",
       .txn = 40,
       .delta = "delta_0000001_0000020_v0000040",
       .delete_delta = "delete_delta_0000001_0000020_v0000040",
       .highest = 20,
       .inputs = {"delta_1_10", "delta_11_20"}},
      {.name = "streaming batches, the next one wholly aborted",
       .type = kMinor,
       .listing = {"delta_1_10", "delta_11_20", "delta_21_30"},
       .write_ids = "30:::21,22,23,24,25,26,27,28,29,30",
       .txn = 40,
       .delta = "delta_0000001_0000020_v0000040",
       .delete_delta = "delete_delta_0000001_0000020_v0000040",
       .highest = 30,
       .inputs = {"delta_1_10", "delta_11_20"}},
      {.name = "deletes only above an overwrite",  // OUT-2
       .type = kMinor,
       .listing = {"base_4", "delete_delta_5_5", "delete_delta_7_7"},
       .write_ids = "7:::",
       .txn = 12,
       .delta = "delta_0000005_0000007_v0000012",
       .delete_delta = "delete_delta_0000005_0000007_v0000012",
       .highest = 7,
       .inputs = {"delete_delta_5_5", "delete_delta_7_7"}},
      {.name = "both kinds get the range of both",  // OUT-1
       .type = kMinor,
       .listing = {"base_4", "delete_delta_5_5", "delta_6_6", "delta_8_8"},
       .write_ids = "8:::",
       .txn = 12,
       .delta = "delta_0000005_0000008_v0000012",
       .delete_delta = "delete_delta_0000005_0000008_v0000012",
       .highest = 8,
       .inputs = {"delete_delta_5_5", "delta_6_6", "delta_8_8"}},
  });
}

TEST(MakePlan, LowersTheNameOnlyWhereThatIsTrue) {  // OUT-15
  ExpectPlans({
      {.name = "not below the base: what Hive named so stays so",
       .listing = {"base_44_v60", "delta_44_47"},
       .write_ids = "47:46:46:",
       .txn = 70,
       .outcome = PlanOutcome::kNothing,
       .highest = 45,
       .left_out = {"delta_44_47"}},
      {.name = "down to nothing",
       .listing = {"delta_1_5"},
       .write_ids = "5:5:5:",
       .txn = 7,
       .outcome = PlanOutcome::kNothing,
       .highest = 0,
       .left_out = {"delta_1_5"}},
      {.name = "an aborted batch is no batch",
       .listing = {"delta_1_1", "delta_2_2", "delta_3_4"},
       .write_ids = "5:5:5:3,4",
       .txn = 7,
       .base = "base_0000004_v0000007",
       .highest = 4,
       .inputs = {"delta_1_1", "delta_2_2"}},
  });
}

TEST(MakePlan, AsksForEnough) {  // WK-8
  constexpr auto kMajor = CompactionType::kMajor;
  constexpr auto kMinor = CompactionType::kMinor;
  ExpectPlans({
      {.name = "an empty directory",
       .type = kMajor,
       .write_ids = "5:::",
       .txn = 7,
       .outcome = PlanOutcome::kNothing,
       .highest = 5},
      {.name = "a base alone",
       .type = kMajor,
       .listing = {"base_5_v6"},
       .write_ids = "5:::",
       .txn = 7,
       .outcome = PlanOutcome::kNothing,
       .highest = 5},
      {.name = "a base alone with an older one to clean",
       .type = kMajor,
       .listing = {"base_3", "base_5"},
       .write_ids = "5:::",
       .txn = 7,
       .outcome = PlanOutcome::kCleanOnly,
       .highest = 5},
      {.name = "one delta with an aborted one to clean",
       .type = kMajor,
       .listing = {"delta_1_1", "delta_2_2"},
       .write_ids = "2:::2",
       .txn = 7,
       .outcome = PlanOutcome::kCleanOnly,
       .highest = 2},
      {.name = "originals alone are enough",  // §7.1
       .type = kMajor,
       .listing = {"000000_0"},
       .write_ids = "0:::",
       .txn = 7,
       .base = "base_0000000_v0000007",
       .highest = 0,
       .inputs = {"000000_0"}},
      {.name = "a minor leaves originals alone",
       .type = kMinor,
       .listing = {"000000_0", "delta_1_1", "delta_2_2"},
       .write_ids = "2:::",
       .txn = 7,
       .delta = "delta_0000001_0000002_v0000007",
       .delete_delta = "delete_delta_0000001_0000002_v0000007",
       .highest = 2,
       .inputs = {"delta_1_1", "delta_2_2"}},
      {.name = "one delta and one delete delta are no minor",
       .type = kMinor,
       .listing = {"delta_1_1_0", "delete_delta_2_2_0"},
       .write_ids = "2:::",
       .txn = 7,
       .outcome = PlanOutcome::kNothing,
       .highest = 2},
      {.name = "they are a major",
       .type = kMajor,
       .listing = {"delta_1_1_0", "delete_delta_2_2_0"},
       .write_ids = "2:::",
       .txn = 7,
       .base = "base_0000002_v0000007",
       .highest = 2,
       .inputs = {"delta_1_1_0", "delete_delta_2_2_0"}},
      {.name = "two deltas and a delete delta are a minor",
       .type = kMinor,
       .listing = {"delta_1_1_0", "delete_delta_2_2_0", "delta_2_2_0"},
       .write_ids = "2:::",
       .txn = 7,
       .delta = "delta_0000001_0000002_v0000007",
       .delete_delta = "delete_delta_0000001_0000002_v0000007",
       .highest = 2,
       .inputs = {"delta_1_1_0", "delete_delta_2_2_0", "delta_2_2_0"}},
  });
}

TEST(MakePlan, RefusesARebalance) {
  EXPECT_THAT(PlanOf(CompactionType::kRebalance, 7, {"delta_1_1", "delta_2_2"}, "2:::"),
              HasReason(ErrorReason::kNotSupported));
}

table::SourceFile FileOf(const std::string& dir, const std::string& path, int stripes) {
  auto tail = std::make_shared<orc::Tail>();
  for (int i = 0; i < stripes; ++i) {
    tail->stripes.push_back(
        {.offset = 3, .index_length = 1, .data_length = 2, .footer_length = 3, .rows = 10});
  }
  table::SourceFile file{.path = path};
  const acid::Listing listing = MakeListing({dir});
  if (!listing.dirs.empty()) {
    file.dir = listing.dirs.front().name;
  } else {
    file.synthetic = table::SourceFile::Synthetic();
  }
  file.tail = std::move(tail);
  return file;
}

TEST(AddBuckets, NamesWhatBecomesOfEveryStripe) {
  SKEP_ASSERT_OK_AND_ASSIGN(
      Plan plan,
      PlanOf(CompactionType::kMajor, 7, {"000000_0", "delta_1_1_0", "delete_delta_2_2_0"}, "2:::"));
  std::map<int32_t, table::BucketSources> sources;
  sources[0].inserts = {FileOf("000000_0", "/t/000000_0", 1),
                        FileOf("delta_1_1_0", "/t/delta_1_1_0/bucket_00000", 2)};
  sources[1].deletes = {FileOf("delete_delta_2_2_0", "/t/delete_delta_2_2_0/bucket_00001", 1)};
  AddBuckets(sources, &plan);

  ASSERT_EQ(plan.buckets.size(), 2U);
  ASSERT_EQ(plan.buckets[0].files.size(), 2U);
  EXPECT_EQ(plan.buckets[0].files[1].stripes.size(), 2U);
  for (const BucketPlan& bucket : plan.buckets) {
    for (const InputFilePlan& file : bucket.files) {
      for (const StripePlan& stripe : file.stripes) {
        EXPECT_EQ(stripe.action, StripeAction::kMerge);
        EXPECT_EQ(stripe.rows, 10U);
        EXPECT_EQ(stripe.bytes, 6U);
        EXPECT_FALSE(stripe.because.empty());
      }
    }
  }
  EXPECT_TRUE(plan.buckets[1].files[0].holds_deletes);

  const std::string text = DescribePlan(plan);
  EXPECT_THAT(text, HasSubstr("MAJOR compaction by transaction 7, up to write id 2"));
  EXPECT_THAT(text, HasSubstr("output: base_0000002_v0000007"));
  EXPECT_THAT(text, HasSubstr("input: delete_delta_2_2_0"));
  EXPECT_THAT(text, HasSubstr("stripe 1: 10 rows, 6 bytes: merge"));
}

TEST(DescribePlan, SaysWhyThereIsNothingToDo) {
  SKEP_ASSERT_OK_AND_ASSIGN(const Plan plan,
                            PlanOf(CompactionType::kMajor, 7, {"delta_1_5"}, "5:5:5:"));
  EXPECT_THAT(DescribePlan(plan), HasSubstr("there is no data"));
  EXPECT_THAT(DescribePlan(plan), HasSubstr("left out: delta_1_5"));
}

TEST(InputsOf, LeavesBaseAndOriginalsToAMajor) {
  const auto selection = acid::SelectDirectories(
      MakeListing({"000000_0", "delta_1_1_0", "delta_2_2_0"}), WriteIds("2:::"), AllVisible());
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(InputsOf(CompactionType::kMajor, *selection).originals.size(), 1U);
  EXPECT_THAT(InputsOf(CompactionType::kMinor, *selection).originals, IsEmpty());
  EXPECT_EQ(InputsOf(CompactionType::kMinor, *selection).deltas.size(), 2U);
}

}  // namespace
}  // namespace skep::compact
