#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "storage/fs/file_system.h"
#include "tests/testing/status_matchers.h"

namespace skep::fs {
namespace {

using skep::testing::HasMessage;
using skep::testing::HasReason;
using skep::testing::IsOkAndHolds;
using ::testing::HasSubstr;

TEST(JoinPath, PutsExactlyOneSlashBetween) {
  struct Case {
    std::string dir, name, joined;
  };
  const std::vector<Case> cases = {
      {"/w", "a", "/w/a"},
      {"/w/", "a", "/w/a"},
      {"/w", "/a", "/w/a"},
      {"/", "a", "/a"},
      {"/w", "a/b", "/w/a/b"},
      {"/w", "", "/w"},
      {"", "a", "a"},
      {"/", "", "/"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.dir + " + " + c.name);
    EXPECT_EQ(JoinPath(c.dir, c.name), c.joined);
  }
}

TEST(ParentPath, AndBaseNameTakeAPathApart) {
  struct Case {
    std::string path, parent, base;
  };
  const std::vector<Case> cases = {
      {"/w/sales.db/orders", "/w/sales.db", "orders"},
      {"/w/sales.db/", "/w", "sales.db"},
      {"/w", "/", "w"},
      {"/", "/", ""},
      {"//a//b", "//a", "b"},
      {"alone", "", "alone"},
      {"", "", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.path);
    EXPECT_EQ(ParentPath(c.path), c.parent);
    EXPECT_EQ(BaseName(c.path), c.base);
  }
}

TEST(NormalizePath, GivesOneFormToOnePlace) {
  struct Case {
    std::string path, normal;
  };
  const std::vector<Case> cases = {
      {"/w/a", "/w/a"},
      {"/w/a/", "/w/a"},
      {"//w///a//", "/w/a"},
      {"/./w/./a/.", "/w/a"},
      {"/", "/"},
      {"///", "/"},
      {"/w/..a/b..", "/w/..a/b.."},
      {"/w/order_date=2026-10-01", "/w/order_date=2026-10-01"},
      {"/w/sch\xc3\xb6n", "/w/sch\xc3\xb6n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.path);
    EXPECT_THAT(NormalizePath(c.path), IsOkAndHolds(c.normal));
  }
}

TEST(NormalizePath, RefusesWhatDoesNotNameAPlaceForSure) {
  struct Case {
    std::string path, says;
  };
  const std::vector<Case> cases = {
      {"", "not absolute"},
      {"w/a", "not absolute"},
      {"./w", "not absolute"},
      {"/w/../etc", "'..'"},
      {"/..", "'..'"},
      {"/w/a/..", "'..'"},
      {"/w/\xff", "UTF-8"},
      {"/w/\xc3", "UTF-8"},
      {"/w/a\nb", "control character"},
      {"/w/\x7f", "control character"},
      {std::string("/w/a\0b", 6), "control character"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.path);
    const absl::StatusOr<std::string> result = NormalizePath(c.path);
    EXPECT_THAT(result, HasReason(ErrorReason::kLocationNotAllowed));
    EXPECT_THAT(result, HasMessage(HasSubstr(c.says)));
  }
}

TEST(IsInside, ComparesWholeComponents) {
  struct Case {
    std::string root, path;
    bool inside;
  };
  const std::vector<Case> cases = {
      {"/w", "/w", true},
      {"/w", "/w/", true},
      {"/w/", "/w", true},
      {"/w", "/w/a/b", true},
      {"/w", "/wa", false},
      {"/w", "/", false},
      {"/w/a", "/w", false},
      {"/", "/anything", true},
      {"/", "/", true},
      {"/", "relative", false},
      {"", "/w", false},
      {"/w", "", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.root + " | " + c.path);
    EXPECT_EQ(IsInside(c.root, c.path), c.inside);
  }
}

}  // namespace
}  // namespace skep::fs
