#include "storage/model/lock.h"

#include <gtest/gtest.h>

namespace skep {
namespace {

TEST(LocksConflict, IsTheMatrixAndSymmetric) {
  // LCM-6: what each kind is stopped by.
  const bool expected[4][4] = {{false, false, false, true},
                               {false, false, true, true},
                               {false, true, true, true},
                               {true, true, true, true}};
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) {
      EXPECT_EQ(LocksConflict(static_cast<LockKind>(a), static_cast<LockKind>(b)), expected[a][b]);
      EXPECT_EQ(LocksConflict(static_cast<LockKind>(b), static_cast<LockKind>(a)), expected[a][b]);
    }
  }
}

TEST(ResourcesOverlap, ComparesLevelByLevel) {
  const LockResource db{"d", "", ""};
  const LockResource table{"d", "t", ""};
  const LockResource p1{"d", "t", "k=1"};
  const LockResource p2{"d", "t", "k=2"};
  const LockResource other_table{"d", "u", "k=1"};
  EXPECT_TRUE(ResourcesOverlap(db, p1));
  EXPECT_TRUE(ResourcesOverlap(p1, table));
  EXPECT_TRUE(ResourcesOverlap(p1, p1));
  EXPECT_FALSE(ResourcesOverlap(p1, p2));
  EXPECT_FALSE(ResourcesOverlap(p1, other_table));
  EXPECT_FALSE(ResourcesOverlap(db, LockResource{"e", "", ""}));
}

TEST(ResourceCovers, WiderOrEqualOnly) {
  EXPECT_TRUE(ResourceCovers({"d", "", ""}, {"d", "t", "k=1"}));
  EXPECT_TRUE(ResourceCovers({"d", "t", "k=1"}, {"d", "t", "k=1"}));
  EXPECT_FALSE(ResourceCovers({"d", "t", "k=1"}, {"d", "t", ""}));
  EXPECT_FALSE(ResourceCovers({"d", "t", ""}, {"d", "", ""}));
}

}  // namespace
}  // namespace skep
