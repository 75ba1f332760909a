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

TEST(NewlyVisible, IsWhatOneListShowsAndTheOtherDoesNot) {
  using Ranges = std::vector<std::pair<int64_t, int64_t>>;
  struct Case {
    const char* name;
    WriteIdSnapshot before;
    ValidIds now;
    Ranges visible;
  };
  const auto list = [](ValidIds ids, std::vector<int64_t> own = {}) {
    WriteIdSnapshot snapshot;
    snapshot.ids = std::move(ids);
    snapshot.own = std::move(own);
    return snapshot;
  };
  const std::vector<Case> cases = {
      {"nothing happened", list({10, {3}, {5}}), {10, {3}, {5}}, {}},
      {"of an empty table", list({}), {}, {}},
      {"the first write", list({}), {1, {}, {}}, {{1, 1}}},
      {"one that was open was committed", list({10, {3, 7}, {5}}), {10, {7}, {5}}, {{3, 3}}},
      {"one that was open was aborted", list({10, {3}, {5}}), {10, {}, {3, 5}}, {}},
      {"the mark of an aborted one is gone (R-14)", list({10, {}, {5}}), {10, {}, {}}, {}},
      {"open, aborted and committed ones above",
       list({10, {}, {}}),
       {20, {12}, {15, 16}},
       {{11, 11}, {13, 14}, {17, 20}}},
      {"neighbours make one range", list({10, {9, 10}, {}}), {12, {}, {}}, {{9, 12}}},
      {"the last ones are open", list({10, {}, {}}), {12, {11, 12}, {}}, {}},
      {"own ids were visible", list({10, {}, {}}, {11}), {12, {}, {}}, {{12, 12}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(NewlyVisible(c.before, c.now), c.visible);
  }
}

TEST(NewlyVisible, AsksEachIdInAnyHistory) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    WriteIdSnapshot before;
    ValidIds now{std::uniform_int_distribution<int64_t>(0, 30)(random), {}, {}};
    before.ids.high = std::uniform_int_distribution<int64_t>(0, now.high)(random);
    for (int64_t id = 1; id <= now.high; ++id) {
      // 0 open, 1 aborted, 2 committed; what ended stays as it ended.
      int then = static_cast<int>(random() % 3);
      const int later = then == 0 ? static_cast<int>(random() % 3) : then;
      if (id <= before.ids.high && then == 0) before.ids.open.push_back(id);
      if (id <= before.ids.high && then == 1) before.ids.aborted.push_back(id);
      if (later == 0) now.open.push_back(id);
      if (later == 1) now.aborted.push_back(id);
    }
    std::vector<int64_t> expected, found;
    for (int64_t id = 1; id <= now.high; ++id) {
      if (now.IsValid(id) && !before.ids.IsValid(id)) expected.push_back(id);
    }
    for (const auto& [first, last] : NewlyVisible(before, now)) {
      for (int64_t id = first; id <= last; ++id) found.push_back(id);
    }
    EXPECT_EQ(found, expected);
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
