#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/acid/names.h"
#include "tests/testing/status_matchers.h"

namespace skep::acid {
namespace {

using testing::HasReason;

TEST(BucketCodec, HasTheWorkedValues) {  // B-3, B-4
  struct Case {
    int32_t bucket;
    int32_t statement;
    int32_t property;
    uint32_t bits;
  };
  const std::vector<Case> cases = {
      {0, 0, 536870912, 0x20000000},
      {0, 1, 536870913, 0x20000001},
      {0, 2, 536870914, 0x20000002},
      {0, 4095, 536875007, 0x20000FFF},
      {1, 0, 536936448, 0x20010000},
      {1, 1, 536936449, 0x20010001},
      {1, 2, 536936450, 0x20010002},
      {2, 0, 537001984, 0x20020000},
      {3, 0, 537067520, 0x20030000},
      {4095, 4095, 805244927, 0x2FFF0FFF},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.property);
    EXPECT_EQ(static_cast<uint32_t>(c.property), c.bits);
    EXPECT_EQ(EncodeBucket(c.bucket, c.statement), c.property);
    SKEP_ASSERT_OK_AND_ASSIGN(const BucketProperty decoded, DecodeBucket(c.property));
    EXPECT_EQ(decoded.bucket, c.bucket);
    EXPECT_EQ(decoded.statement, c.statement);
  }
}

TEST(BucketCodec, ReadsHiveTwosForm) {  // B-2
  for (const int32_t property : {0, 1, 4095, 4096, 65536, 536870911}) {
    SCOPED_TRACE(property);
    SKEP_ASSERT_OK_AND_ASSIGN(const BucketProperty decoded, DecodeBucket(property));
    EXPECT_EQ(decoded.bucket, property);
    EXPECT_EQ(decoded.statement, 0);
  }
}

TEST(BucketCodec, RefusesUnknownVersions) {  // B-1
  for (const uint32_t version : {2U, 3U, 4U, 5U, 6U, 7U}) {
    SCOPED_TRACE(version);
    EXPECT_THAT(DecodeBucket(static_cast<int32_t>(version << 29)),
                HasReason(ErrorReason::kCorruptFile));
  }
  EXPECT_THAT(DecodeBucket(-1), HasReason(ErrorReason::kCorruptFile));
}

TEST(BucketCodec, TwoStatementsShareABucketFile) {  // B-5
  EXPECT_EQ(DecodeBucket(536870912)->bucket, DecodeBucket(536870913)->bucket);
}

TEST(BucketCodec, KnowsItsLimits) {  // N-7, N-8
  EXPECT_TRUE(IsEncodableBucket(0, 0));
  EXPECT_TRUE(IsEncodableBucket(4095, 4095));
  EXPECT_FALSE(IsEncodableBucket(4096, 0));
  EXPECT_FALSE(IsEncodableBucket(0, 4096));
  EXPECT_FALSE(IsEncodableBucket(-1, 0));
  EXPECT_FALSE(IsEncodableBucket(0, -1));
}

TEST(BucketCodecDeathTest, WillNotWrapABucketAround) {
  EXPECT_DEATH(EncodeBucket(4096, 0), "IsEncodableBucket");
}

}  // namespace
}  // namespace skep::acid
