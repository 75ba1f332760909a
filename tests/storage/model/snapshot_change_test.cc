#include "storage/model/snapshot_change.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/status_matchers.h"

namespace skep {
namespace {

using testing::HasReason;
using testing::IsOkAndHolds;

TEST(ValidIdsChange, LeadsFromOneListToTheOther) {
  const ValidIds before{10, {3, 7}, {5}};
  struct Case {
    const char* name;
    ValidIds after;
    ValidIdsChange change;
  };
  const std::vector<Case> cases = {
      {"nothing happened", before, {{}, {}, {}}},
      {"3 committed", {10, {7}, {5}}, {{}, {3}, {}}},
      {"7 aborted", {10, {3}, {5, 7}}, {{}, {7}, {7}}},
      {"12 opened", {12, {3, 7, 12}, {5}}, {{12}, {}, {}}},
      {"11 came and went, 12 was aborted", {12, {3, 7}, {5, 12}}, {{}, {}, {12}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto change = ChangeBetween(before, c.after);
    ASSERT_TRUE(change.has_value());
    EXPECT_EQ(*change, c.change);
    EXPECT_THAT(ApplyChange(before, *change, c.after.high), IsOkAndHolds(c.after));
  }
}

TEST(ValidIdsChange, IsNoneWhereTheListWentBack) {
  const ValidIds before{10, {3}, {5}};
  EXPECT_FALSE(ChangeBetween(before, {9, {3}, {5}}).has_value());
  EXPECT_FALSE(ChangeBetween(before, {10, {3}, {}}).has_value()) << "R-14: the mark went";
}

TEST(ValidIdsChange, ThatFitsAnotherListIsRefused) {
  const ValidIds before{10, {3}, {5}};
  const std::vector<std::pair<ValidIdsChange, int64_t>> bad = {
      {{{}, {}, {}}, 9},       // the mark goes back
      {{{}, {4}, {}}, 10},     // 4 was not open
      {{{11}, {}, {}}, 10},    // beyond the mark
      {{{9, 8}, {}, {}}, 10},  // not ascending
      {{{}, {}, {0, 1}}, 10},  // no id
  };
  for (const auto& [change, high] : bad) {
    EXPECT_THAT(ApplyChange(before, change, high), HasReason(ErrorReason::kInvalidRequest));
  }
}

TEST(ValidIdsChange, LeadsThroughAnyHistory) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  ValidIds list;
  for (int step = 0; step < 2000; ++step) {
    ValidIds next = list;
    for (uint64_t n = random() % 4; n > 0; --n) {
      if (random() % 2 == 0 || next.open.empty()) {
        next.open.push_back(++next.high);
        continue;
      }
      const auto ended = next.open.begin() + random() % next.open.size();
      if (random() % 2 == 0) {
        next.aborted.insert(std::lower_bound(next.aborted.begin(), next.aborted.end(), *ended),
                            *ended);
      }
      next.open.erase(ended);
    }
    const auto change = ChangeBetween(list, next);
    ASSERT_TRUE(change.has_value());
    ASSERT_THAT(ApplyChange(list, *change, next.high), IsOkAndHolds(next));
    list = next;
  }
}

}  // namespace
}  // namespace skep
