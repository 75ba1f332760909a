#include "storage/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skep {
namespace {

using ::testing::ElementsAre;

TEST(ParseInt64, TakesWholeDecimalNumbersOnly) {
  EXPECT_EQ(ParseInt64("17"), 17);
  EXPECT_EQ(ParseInt64("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(ParseInt64("0000026"), 26);
  for (const char* bad : {"", " 1", "1 ", "+1", "1x", "9223372036854775808", "0x10", "1.0"}) {
    SCOPED_TRACE(bad);
    EXPECT_EQ(ParseInt64(bad), std::nullopt);
  }
}

TEST(SplitText, KeepsEmptyParts) {
  EXPECT_THAT(SplitText("a::b:", ':'), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(SplitText("", ':'), ElementsAre(""));
}

TEST(IsValidUtf8, RefusesOverlongSurrogatesAndTruncated) {
  EXPECT_TRUE(IsValidUtf8("plain, Grüße, 表, \xF0\x9F\x90\x9D"));
  for (const char* bad :
       {"\xC0\x80", "\xED\xA0\x80", "\xE8\xA1", "\xFF", "\xF4\x90\x80\x80", "\x80"}) {
    SCOPED_TRACE(BytesToHex(bad));
    EXPECT_FALSE(IsValidUtf8(bad));
  }
}

TEST(Printable, CannotForgeALine) {
  EXPECT_EQ(Printable("a\nlevel=error"), "a\\x0alevel=error");
  EXPECT_EQ(Printable("x\xFFy\x1B[31m"), "x\xEF\xBF\xBDy\\x1b[31m");
}

TEST(Base64Encode, PadsAsRfc4648Shows) {
  EXPECT_EQ(Base64Encode(""), "");
  EXPECT_EQ(Base64Encode("f"), "Zg==");
  EXPECT_EQ(Base64Encode("fo"), "Zm8=");
  EXPECT_EQ(Base64Encode("foobar"), "Zm9vYmFy");
}

TEST(TrimBlanks, LeavesTheInside) {
  EXPECT_EQ(TrimBlanks(" \ta b\n"), "a b");
  EXPECT_EQ(TrimBlanks("  "), "");
}

}  // namespace
}  // namespace skep
