#include "storage/compact/policy.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/listings.h"
#include "tests/testing/status_matchers.h"

namespace skep::compact {
namespace {

using testing::HasReason;
using ::testing::HasSubstr;

constexpr int64_t kMb = 1'000'000;

struct Case {
  std::string name;
  ObjectFacts facts;
  Thresholds thresholds = {};
  std::optional<CompactionType> type;
  std::string reason;  // a part of it
};

void ExpectDecisions(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Decision decision = Decide(c.facts, c.thresholds);
    EXPECT_EQ(decision.type, c.type);
    EXPECT_THAT(decision.reason, HasSubstr(c.reason));
  }
}

TEST(Decide, HasTheWorkedDecisions) {  // IN-13…IN-15
  ExpectDecisions({
      {.name = "deltas of more than a tenth of the base",
       .facts = {.base_bytes = 1000 * kMb, .delta_bytes = 101 * kMb, .delta_count = 2},
       .type = CompactionType::kMajor,
       .reason = "0.101"},
      {.name = "exactly a tenth",
       .facts = {.base_bytes = 1000 * kMb, .delta_bytes = 100 * kMb, .delta_count = 2},
       .reason = "not more than 10"},
      {.name = "many small deltas",
       .facts = {.base_bytes = 1000 * kMb, .delta_bytes = 50 * kMb, .delta_count = 11},
       .type = CompactionType::kMinor,
       .reason = "11 delta directories"},
      {.name = "one fewer",
       .facts = {.base_bytes = 1000 * kMb, .delta_bytes = 50 * kMb, .delta_count = 10}},
      {.name = "size before number",
       .facts = {.base_bytes = 1000 * kMb, .delta_bytes = 200 * kMb, .delta_count = 11},
       .type = CompactionType::kMajor},
      {.name = "no base, eleven deltas",
       .facts = {.delta_bytes = kMb, .delta_count = 11},
       .type = CompactionType::kMajor,
       .reason = "no base"},
      {.name = "no base, ten deltas", .facts = {.delta_bytes = kMb, .delta_count = 10}},
      {.name = "originals are the base",
       .facts = {.base_bytes = 500 * kMb, .delta_bytes = 60 * kMb, .delta_count = 1},
       .type = CompactionType::kMajor,
       .reason = "0.12"},
      {.name = "an older base on disk, no deltas",
       .facts = {.base_bytes = kMb, .has_obsolete_base = true},
       .type = CompactionType::kMajor,
       .reason = "older base"},
      {.name = "six updates",
       .facts = {.base_bytes = 1000 * kMb, .delta_bytes = kMb, .delta_count = 12},
       .type = CompactionType::kMinor},
      {.name = "a threshold of the table's own",
       .facts = {.base_bytes = 1000 * kMb, .delta_bytes = kMb, .delta_count = 3},
       .thresholds = {.delta_num = 2},
       .type = CompactionType::kMinor},
  });
}

TEST(Decide, KnowsTheEdges) {
  ExpectDecisions({
      {.name = "nothing at all", .facts = {}},  // IN-14
      {.name = "an empty base and an obsolete one",
       .facts = {.has_obsolete_base = true},
       .type = CompactionType::kMajor},
      {.name = "an obsolete base with deltas is no reason",
       .facts = {.base_bytes = 1000 * kMb,
                 .delta_bytes = 1,
                 .delta_count = 1,
                 .has_obsolete_base = true}},
      {.name = "empty deltas on a base",
       .facts = {.base_bytes = kMb, .delta_count = 11},
       .type = CompactionType::kMinor},
      {.name = "too many aborts come first",
       .facts = {.too_many_aborts = true, .old_abort = true},
       .type = CompactionType::kMajor,
       .reason = "aborted"},
      {.name = "an old abort",
       .facts = {.old_abort = true},
       .type = CompactionType::kMinor,
       .reason = "aborted"},
      {.name = "a threshold of zero",
       .facts = {.base_bytes = kMb, .delta_bytes = 1, .delta_count = 1},
       .thresholds = {.delta_pct = 0, .delta_num = 10},
       .type = CompactionType::kMajor},
  });
}

TEST(ThresholdsOf, LetsTheTableOverride) {
  SKEP_ASSERT_OK_AND_ASSIGN(const Thresholds defaults,
                            ThresholdsOf({}, {.delta_pct = 0.5, .delta_num = 7}));
  EXPECT_EQ(defaults.delta_pct, 0.5);
  EXPECT_EQ(defaults.delta_num, 7);
  SKEP_ASSERT_OK_AND_ASSIGN(
      const Thresholds own,
      ThresholdsOf({{"compactorthreshold.hive.compactor.delta.pct.threshold", "0.25"},
                    {"compactorthreshold.hive.compactor.delta.num.threshold", " 2 "}},
                   {}));
  EXPECT_EQ(own.delta_pct, 0.25);
  EXPECT_EQ(own.delta_num, 2);
}

TEST(ThresholdsOf, RefusesWhatIsNoThreshold) {
  for (const std::string value : {"x", "-1", "1.5", "nan", "99999999999999999999"}) {
    SCOPED_TRACE(value);
    EXPECT_THAT(
        ThresholdsOf({{"compactorthreshold.hive.compactor.delta.num.threshold", value}}, {}),
        HasReason(ErrorReason::kInvalidRequest));
  }
  for (const std::string value : {"x", "-0.1", "nan"}) {
    SCOPED_TRACE(value);
    EXPECT_THAT(
        ThresholdsOf({{"compactorthreshold.hive.compactor.delta.pct.threshold", value}}, {}),
        HasReason(ErrorReason::kInvalidRequest));
  }
}

TEST(AutoCompaction, IsTurnedOffInAnySpelling) {  // IN-9
  EXPECT_TRUE(AutoCompactionIsOff({{"NO_AUTO_COMPACTION", "true"}}));
  EXPECT_TRUE(AutoCompactionIsOff({{"no_auto_compaction", "TRUE"}}));
  EXPECT_FALSE(AutoCompactionIsOff({{"no_auto_compaction", "false"}}));
  EXPECT_FALSE(AutoCompactionIsOff({}));
}

TEST(FactsOf, CountsWhatWasChosen) {
  const auto selection = acid::SelectDirectories(
      testing::MakeListing(
          {"base_2", "base_5_v9", "delta_6_6_0", "delete_delta_6_6_0", "delta_3_3_0"}),
      testing::WriteIds("6:::").ForCompactor(),
      testing::AllVisible());
  ASSERT_TRUE(selection.ok());
  const ObjectFacts facts = FactsOf(
      *selection,
      {.directories = {{"base_5_v9", 100}, {"delta_6_6_0", 20}, {"delete_delta_6_6_0", 3}}});
  EXPECT_EQ(facts.base_bytes, 100);
  EXPECT_EQ(facts.delta_bytes, 23);
  EXPECT_EQ(facts.delta_count, 2);
  EXPECT_TRUE(facts.has_obsolete_base);

  const auto originals = acid::SelectDirectories(testing::MakeListing({"000000_0", "delta_6_6_0"}),
                                                 testing::WriteIds("6:::"),
                                                 testing::AllVisible());
  ASSERT_TRUE(originals.ok());
  const ObjectFacts converted =
      FactsOf(*originals, {.directories = {{"delta_6_6_0", 20}}, .originals = 500});
  EXPECT_EQ(converted.base_bytes, 500);
  EXPECT_FALSE(converted.has_obsolete_base);
}

}  // namespace
}  // namespace skep::compact
