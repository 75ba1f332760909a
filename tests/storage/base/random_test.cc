#include "storage/base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skep {
namespace {

TEST(SeededRandom, RepeatsItselfForTheSameSeed) {
  SeededRandom a(7);
  SeededRandom b(7);
  SeededRandom c(8);
  const uint64_t first = a.NextUint64();
  EXPECT_EQ(first, b.NextUint64());
  EXPECT_NE(first, c.NextUint64());
}

TEST(MakeUuid, HasTheFormOfAVersionFourUuid) {
  SystemRandom random;
  const std::string text = FormatUuid(MakeUuid(random));
  ASSERT_EQ(text.size(), 36u);
  EXPECT_EQ(text[14], '4');
  EXPECT_THAT(std::string("89ab"), ::testing::HasSubstr(text.substr(19, 1)));
  EXPECT_NE(text, FormatUuid(MakeUuid(random)));
}

TEST(Jitter, StaysWithinItsFraction) {
  SeededRandom random(1);
  double least = 100;
  double most = 0;
  for (int i = 0; i < 1000; ++i) {
    const double value = Jitter(random, 10, 0.1);
    least = std::min(least, value);
    most = std::max(most, value);
  }
  EXPECT_GE(least, 9);
  EXPECT_LE(most, 11);
  EXPECT_LT(least, 9.2);
  EXPECT_GT(most, 10.8);
}

}  // namespace
}  // namespace skep
