#include "storage/model/quote.h"

#include <gtest/gtest.h>

#include "storage/base/text.h"
#include "storage/model/names.h"
#include "tests/testing/status_matchers.h"

namespace skep {
namespace {

TEST(Quoted, CutsBetweenCharactersAndShowsIt) {
  EXPECT_EQ(Quoted("abc", 3), "abc");
  EXPECT_EQ(Quoted("abcd", 3), "abc…");
  EXPECT_EQ(Quoted("abü", 3), "ab…");
  EXPECT_EQ(Quoted("ab😀", 5), "ab…");
  EXPECT_EQ(Quoted("ab😀", 6), "ab😀");
  EXPECT_EQ(Quoted("a\nb", 9), "a\\x0ab");
  EXPECT_EQ(Quoted("\x80\x80\x80", 2), "…") << "no text at all still ends";
}

TEST(Quoted, AWholeCharacter) {
  EXPECT_EQ(QuotedCharacter("aüb", 1), "ü");
  EXPECT_EQ(QuotedCharacter("a😀", 1), "😀");
  EXPECT_EQ(QuotedCharacter("a b", 1), " ");
}

TEST(Quoted, RefusalsOfNamesStayText) {
  const absl::Status one = MakeTableName("db", "münchen").status();
  EXPECT_NE(MessageOf(one).find("has the character 'ü'"), std::string::npos) << one;
  std::string longer(255, 'a');
  longer += "üüü";
  for (const absl::Status& refused :
       {MakeTableName("db", longer).status(), ParseTableName(longer).status()}) {
    EXPECT_EQ(MessageOf(refused).find("\xEF\xBF\xBD"), std::string::npos) << refused;
    EXPECT_NE(MessageOf(refused).find("a…'"), std::string::npos) << refused;
  }
}

TEST(OwnerText, LeavesOutAHostThatIsNotKnown) {
  EXPECT_EQ(OwnerText("bob", "h1"), "bob@h1");
  EXPECT_EQ(OwnerText("bob", ""), "bob");
}

}  // namespace
}  // namespace skep
