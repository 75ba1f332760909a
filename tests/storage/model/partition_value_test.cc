#include "storage/model/partition_value.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/testing/status_matchers.h"

namespace skep {
namespace {

using testing::HasMessage;
using testing::HasReason;
using testing::IsOk;

TEST(PartitionValues, AreOfTheirColumnsType) {
  struct Case {
    const char* type;
    std::vector<const char*> good;
    std::vector<const char*> bad;
  };
  const Case cases[] = {
      {"string", {"", "abc", "12", " "}, {}},
      {"boolean", {"true", "FALSE"}, {"1", "", "yes"}},
      {"tinyint", {"-128", "127", "007"}, {"128", "-129", "", "1.0", "abc", " 1"}},
      {"smallint", {"32767"}, {"32768"}},
      {"int", {"2147483647", "-2147483648"}, {"2147483648", "1e3", "0x10"}},
      {"bigint", {"9223372036854775807"}, {"9223372036854775808"}},
      {"double", {"1.5", "-1e300", "NaN", "Infinity", "-infinity"}, {"", "one", "1.5x"}},
      {"decimal(5,2)",
       {"123.45", "-123.4", "000123.450", "0", ".5", "7."},
       {"1234.5", "1.234", "", ".", "-", "1e2", "1.2.3", "+1"}},
      {"decimal(3,3)", {"0.125", ".999"}, {"1.0"}},
      {"date",
       {"2026-10-01", "2024-02-29", "0001-01-01", "9999-12-31"},
       {"2026-02-29",
        "2026-13-01",
        "2026-00-10",
        "0000-01-01",
        "2026-1-1",
        "26-10-01",
        "2026-10-01 00:00:00",
        "yesterday",
        ""}},
      {"timestamp",
       {"2026-10-01",
        "2026-10-01 12:30:00",
        "2026-10-01T23:59:59.123456789",
        "2026-10-01 00:00:00.5"},
       {"2026-10-01 24:00:00",
        "2026-10-01 12:60:00",
        "2026-10-01 12:30",
        "2026-10-01 ",
        "2026-10-01 12:30:00.",
        "2026-10-01 12:30:00.1234567890",
        "2026-10-01 12:30:0a",
        "2026-10-01 12:30:00.x",
        "1"}},
      {"varchar(3)", {"", "abc", "\xc3\xa4\xc3\xb6\xc3\xbc"}, {"abcd"}},
      {"char(2)", {"ab"}, {"abc"}},
  };
  for (const Case& c : cases) {
    const HiveType type = *ParseHiveType(c.type);
    for (const char* value : c.good) EXPECT_TRUE(FitsType(value, type)) << c.type << ": " << value;
    for (const char* value : c.bad) EXPECT_FALSE(FitsType(value, type)) << c.type << ": " << value;
  }
}

TEST(PartitionValues, ARefusalNamesValueColumnAndType) {
  const std::vector<Column> columns = *ParseColumns("day date, hour int");
  const auto check = [&columns](std::string_view name) {
    return CheckPartitionValues(*ParsePartition(name), columns);
  };
  EXPECT_THAT(check("day=2026-10-01/hour=7"), IsOk());
  EXPECT_THAT(check("day=__HIVE_DEFAULT_PARTITION__/hour=__HIVE_DEFAULT_PARTITION__"), IsOk());
  const absl::Status status = check("day=2026-10-01/hour=noon");
  EXPECT_THAT(status, HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(status,
              HasMessage("\"day=2026-10-01/hour=noon\": the value \"noon\" is no int, which "
                         "partition column hour holds"));
  EXPECT_EQ(MetadataOf(status)["column"], "hour");
}

}  // namespace
}  // namespace skep
