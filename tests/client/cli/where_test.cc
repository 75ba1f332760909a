#include "client/cli/where.h"

#include "storage/base/text.h"
#include "tests/testing/status_matchers.h"

namespace skep::cli {
namespace {

using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::testing::HasSubstr;

// "column comparison [values]" of each condition.
std::string Shown(std::string_view text) {
  absl::StatusOr<std::vector<client::Condition>> conditions = ParseWhere(text);
  if (!conditions.ok()) return conditions.status().ToString();
  static constexpr const char* kNames[] = {
      "=", "!=", "<", "<=", ">", ">=", "in", "between", "is null", "is not null"};
  std::string shown;
  for (const client::Condition& condition : *conditions) {
    if (!shown.empty()) shown += "; ";
    shown += condition.column + " " + kNames[static_cast<int>(condition.comparison)];
    for (const std::string& value : condition.values) shown += " [" + value + "]";
  }
  return shown;
}

TEST(ParseWhere, ReadsConditions) {
  struct Case {
    std::string text;
    std::string conditions;
  };
  const Case cases[] = {
      {"", ""},
      {"  ", ""},
      {"status = \"NEW\" AND amount > 10", "status = [NEW]; amount > [10]"},
      {"A==1 and B!=2 And c<>3", "a = [1]; b != [2]; c != [3]"},
      {"a<1 AND b<=2 AND c>3 AND d>=4", "a < [1]; b <= [2]; c > [3]; d >= [4]"},
      {"a BETWEEN 1 AND 5 AND b = 'x'", "a between [1] [5]; b = [x]"},
      {"a in ('x', \"y\",3)", "a in [x] [y] [3]"},
      {"a IS NULL AND b is not null", "a is null; b is not null"},
      {"a = -1.50 AND b > +2 AND c < .5 AND d = 1e5 AND e = -1.5E-3",
       "a = [-1.50]; b > [2]; c < [.5]; d = [1e5]; e = [-1.5E-3]"},
      {"d >= date '2026-10-01' AND t < timestamp '2026-10-01 12:00:00'",
       "d >= [2026-10-01]; t < [2026-10-01 12:00:00]"},
      {"flag = TRUE", "flag = [true]"},
      {"`odd name` = 'it\\'s'", "odd name = [it's]"},
      {"a = 12345678901234567890123456789012345678",
       "a = [12345678901234567890123456789012345678]"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(Shown(c.text), c.conditions);
  }
}

TEST(ParseWhere, ShowsThePlaceOfAnError) {
  struct Case {
    std::string text;
    std::string complaint;
  };
  const Case cases[] = {
      {"a", "expected a comparison, IN, BETWEEN or IS NULL, found the end of the text\na\n ^"},
      {"a = ", "expected a value"},
      {"= 1", "expected a column name"},
      {"a = b", "expected a value (a number, quoted text, true or false), found b\na = b\n    ^"},
      {"a = 1 OR b = 2",
       "only conditions joined by AND are understood; OR is not\na = 1 OR b = 2\n      ^"},
      {"NOT a = 1", "NOT is not"},
      {"a NOT IN (1)", "NOT is not"},
      {"(a = 1)", "'(' is not"},
      {"a = 1 b = 2", "expected AND or the end, found b"},
      {"a = NULL", "write IS NULL"},
      {"a IN ()", "expected a value"},
      {"a IN (1", "expected ')'"},
      {"a BETWEEN 1", "expected AND"},
      {"a ! 1", "expected '=' behind '!'"},
      {"a = 1x", "expected a value"},
      {"a = 1.2.3", "expected a value"},
      {"a = - 1", "expected a value"},
      {"a = 'x", "no closing '"},
      {"a IS 5", "expected NULL"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    absl::StatusOr<std::vector<client::Condition>> conditions = ParseWhere(c.text);
    EXPECT_THAT(conditions, HasReason(ErrorReason::kInvalidRequest));
    EXPECT_THAT(conditions, HasMessage(HasSubstr(c.complaint)));
    EXPECT_THAT(conditions, HasMessage(HasSubstr("--where: line 1, column ")));
  }
}

}  // namespace
}  // namespace skep::cli
