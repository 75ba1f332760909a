#include "storage/model/id_set.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/random.h"

namespace skep {
namespace {

using ::testing::ElementsAre;

TEST(IdSet, MergesWhatTouches) {
  IdSet set;
  set.AddRange(1, 3);
  set.AddRange(7, 9);
  set.AddRange(4, 6);
  EXPECT_THAT(set.Intervals(), ElementsAre(IdSet::Interval{1, 9}));
}

TEST(IdSet, RemovingFromTheMiddleSplits) {
  IdSet set;
  set.AddRange(1, 9);
  set.RemoveRange(4, 5);
  EXPECT_THAT(set.Intervals(), ElementsAre(IdSet::Interval{1, 3}, IdSet::Interval{6, 9}));
  EXPECT_EQ(set.CountWithin(2, 7), 4);
}

TEST(IdSet, AgreesWithASetOfIds) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    IdSet set;
    std::set<int64_t> model;
    for (int step = 0; step < 60; ++step) {
      const auto first = static_cast<int64_t>(random.NextUint64() % 40);
      const int64_t last = first + static_cast<int64_t>(random.NextUint64() % 8);
      if (random.NextUint64() % 3 == 0) {
        set.RemoveRange(first, last);
        for (int64_t id = first; id <= last; ++id) model.erase(id);
      } else {
        set.AddRange(first, last);
        for (int64_t id = first; id <= last; ++id) model.insert(id);
      }
      ASSERT_EQ(set.Ids(), std::vector<int64_t>(model.begin(), model.end()));
      ASSERT_EQ(set.Count(), static_cast<int64_t>(model.size()));
      ASSERT_EQ(set.Contains(first), model.contains(first));
    }
  }
}

}  // namespace
}  // namespace skep
