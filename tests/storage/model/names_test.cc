#include "storage/model/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"

namespace skep {
namespace {

using testing::HasReason;
using testing::IsOkAndHolds;

TEST(ParseTableName, IsCaseInsensitive) {
  EXPECT_THAT(ParseTableName("Sales.ORDERS_2"), IsOkAndHolds(TableName{"sales", "orders_2"}));
}

TEST(ParseTableName, RefusesWhatCouldLeaveItsDirectory) {
  for (const char* bad :
       {"orders", "a.b.c", ".t", "d.", "d.t/x", "d...", "d.t t", "d.\xC3\xA4", "d.t\n"}) {
    SCOPED_TRACE(bad);
    EXPECT_THAT(ParseTableName(bad), HasReason(ErrorReason::kInvalidRequest));
  }
  EXPECT_THAT(ParseTableName("d." + std::string(129, 'x')),
              HasReason(ErrorReason::kInvalidRequest));
}

struct EscapeCase {
  const char* plain;
  const char* escaped;
};

TEST(EscapePathComponent, EscapesAsHiveDoes) {
  const EscapeCase cases[] = {
      {"plain", "plain"},
      {"%41", "%2541"},
      {"[z]{y}", "%5Bz%5D%7By}"},
      {"03:04:05", "03%3A04%3A05"},
      {"a=b/c", "a%3Db%2Fc"},
      {"sp + &", "sp + &"},
      {"\x01\x7F", "%01%7F"},
      {"Grüße", "Grüße"},
  };
  for (const EscapeCase& c : cases) {
    SCOPED_TRACE(c.plain);
    EXPECT_EQ(EscapePathComponent(c.plain), c.escaped);
    EXPECT_EQ(UnescapePathComponent(c.escaped), c.plain);
  }
  EXPECT_EQ(UnescapePathComponent("100%"), "100%");
  EXPECT_EQ(UnescapePathComponent("%zz"), "%zz");
}

TEST(ParsePartition, HasOneCanonicalForm) {
  SKEP_ASSERT_OK_AND_ASSIGN(const PartitionSpec spec, ParsePartition("DS=2008-01/Hr=A%3ab"));
  EXPECT_EQ(FormatPartition(spec), "ds=2008-01/hr=A%3Ab");
  SKEP_ASSERT_OK_AND_ASSIGN(const PartitionSpec null_spec,
                            ParsePartition("p=__HIVE_DEFAULT_PARTITION__"));
  EXPECT_EQ(null_spec.values[0].second, std::nullopt);
  EXPECT_EQ(FormatPartition(null_spec), "p=__HIVE_DEFAULT_PARTITION__");
}

TEST(ParsePartition, RefusesWhatIsNoPartition) {
  for (const char* bad : {"x", "=1", "a=1/b", "a=1/a=2", "a=1//b=2", "a=\xFF", "a=%00"}) {
    SCOPED_TRACE(bad);
    EXPECT_THAT(ParsePartition(bad), HasReason(ErrorReason::kInvalidRequest));
  }
}

}  // namespace
}  // namespace skep
