// The worked example on real binaries: everything it prints, what lies on disk, what the rows are,
// who pinned what.

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/processes.h"
#include "tests/testing/temp_dir.h"

namespace skep::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Every number that follows `prefix`, as "N".
std::string WithoutNumbersAfter(std::string text, std::string_view prefix) {
  for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
    at += prefix.size();
    const size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    if (end > at) text.replace(at, end - at, "N");
  }
  return text;
}

// The transaction numbers depend on how many readers the example opened; everything else is exact.
std::string WithoutNumbers(std::string text, const std::string& location) {
  const size_t at = text.find(location);
  if (at != std::string::npos) text.replace(at, location.size(), "LOCATION");
  return WithoutNumbersAfter(WithoutNumbersAfter(std::move(text), "_v"), "transaction ");
}

constexpr char kExpected[] = R"(Created sales.orders, partitioned by order_date
  FULL_ACID at LOCATION, an empty directory

INSERT orders 1 and 2
  transaction N committed: 2 inserted, 0 deleted
  a delta directory of write id 1 holds the new rows; {write id, bucket, row} names each
  rows:
    {1,536870912,0} order 1: NEW 19.90
    {1,536870912,1} order 2: NEW 5.00
  files:
    order_date=2026-10-01/delta_0000001_0000001_0000/_orc_acid_version
    order_date=2026-10-01/delta_0000001_0000001_0000/bucket_00000

UPDATE order 1 SET status = 'PAID'
  transaction N committed: 1 inserted, 1 deleted
  a delete_delta names the old row, a delta holds the new one; no older file is touched
  rows:
    {1,536870912,1} order 2: NEW 5.00
    {2,536870912,0} order 1: PAID 19.90
  files:
    order_date=2026-10-01/delete_delta_0000002_0000002_0000/_orc_acid_version
    order_date=2026-10-01/delete_delta_0000002_0000002_0000/bucket_00000
    order_date=2026-10-01/delta_0000001_0000001_0000/_orc_acid_version
    order_date=2026-10-01/delta_0000001_0000001_0000/bucket_00000
    order_date=2026-10-01/delta_0000002_0000002_0000/_orc_acid_version
    order_date=2026-10-01/delta_0000002_0000002_0000/bucket_00000

DELETE order 2
  transaction N committed: 0 inserted, 1 deleted
  a delete_delta names the row; its data still lies in delta_0000001
  rows:
    {2,536870912,0} order 1: PAID 19.90
  files:
    order_date=2026-10-01/delete_delta_0000002_0000002_0000/_orc_acid_version
    order_date=2026-10-01/delete_delta_0000002_0000002_0000/bucket_00000
    order_date=2026-10-01/delete_delta_0000003_0000003_0000/_orc_acid_version
    order_date=2026-10-01/delete_delta_0000003_0000003_0000/bucket_00000
    order_date=2026-10-01/delta_0000001_0000001_0000/_orc_acid_version
    order_date=2026-10-01/delta_0000001_0000001_0000/bucket_00000
    order_date=2026-10-01/delta_0000002_0000002_0000/_orc_acid_version
    order_date=2026-10-01/delta_0000002_0000002_0000/bucket_00000

Major compaction, while a long reader looks at the old files
  a base directory holds what is left, row ids unchanged; new readers open only it,
  and what it replaced stays for the reader that began before
  rows:
    {2,536870912,0} order 1: PAID 19.90
  files:
    order_date=2026-10-01/base_0000003_vN/_orc_acid_version
    order_date=2026-10-01/base_0000003_vN/bucket_00000
    order_date=2026-10-01/delete_delta_0000002_0000002_0000/_orc_acid_version
    order_date=2026-10-01/delete_delta_0000002_0000002_0000/bucket_00000
    order_date=2026-10-01/delete_delta_0000003_0000003_0000/_orc_acid_version
    order_date=2026-10-01/delete_delta_0000003_0000003_0000/bucket_00000
    order_date=2026-10-01/delta_0000001_0000001_0000/_orc_acid_version
    order_date=2026-10-01/delta_0000001_0000001_0000/bucket_00000
    order_date=2026-10-01/delta_0000002_0000002_0000/_orc_acid_version
    order_date=2026-10-01/delta_0000002_0000002_0000/bucket_00000
  the long reader still sees the same rows: yes

The long reader has ended: the cleaner removed what the base replaced
  rows:
    {2,536870912,0} order 1: PAID 19.90
  files:
    order_date=2026-10-01/base_0000003_vN/_orc_acid_version
    order_date=2026-10-01/base_0000003_vN/bucket_00000
)";

class WorkedExample : public ::testing::Test {
 protected:
  testing::TempDir dir_;
  DaemonProcess daemon_{{.directory = dir_.path(), .args = {"--cleaner.interval", "100ms"}}};
};

TEST_F(WorkedExample, PrintsAndLeavesWhatTheLayoutSays) {
  ASSERT_TRUE(daemon_.Start()) << daemon_.Log();
  const Finished example = RunProgram(ExamplePath(), {daemon_.endpoint()});
  ASSERT_EQ(example.exit_code, 0) << example.out << example.err << daemon_.Log();
  EXPECT_EQ(WithoutNumbers(example.out, daemon_.warehouse() + "/sales.db/orders"), kExpected);

  const Finished rows = daemon_.Tool({"read", "sales.orders", "--row-ids", "-o", "jsonl"});
  EXPECT_EQ(rows.exit_code, 0) << rows.err;
  EXPECT_EQ(
      rows.out,
      R"({"partition":"order_date=2026-10-01","writeid":2,"bucket":536870912,"rowid":0,"row":{"order_id":1,)"
      R"("customer_id":100,"status":"PAID","amount":"19.9","updated_at":"2026-10-01 12:01:00",)"
      R"("order_date":"2026-10-01"}})"
      "\n");
  EXPECT_EQ(daemon_.Terminate(), 0) << daemon_.Log();
}

TEST_F(WorkedExample, SurvivesARestartOfTheDaemon) {
  ASSERT_TRUE(daemon_.Start()) << daemon_.Log();
  ASSERT_EQ(RunProgram(ExamplePath(), {daemon_.endpoint()}).exit_code, 0);
  const Finished before = daemon_.Tool({"read", "sales.orders", "--row-ids", "-o", "jsonl"});
  const Finished history = daemon_.Tool({"show", "compactions", "--json"});
  daemon_.Kill();
  ASSERT_TRUE(daemon_.Start()) << daemon_.Log();
  EXPECT_EQ(daemon_.Tool({"read", "sales.orders", "--row-ids", "-o", "jsonl"}).out, before.out);
  EXPECT_EQ(daemon_.Tool({"show", "compactions", "--json"}).out, history.out);
}

// Files stay after a drop: a new table of the name must not show them as its rows.
TEST_F(WorkedExample, ATableIsNotCreatedOverTheFilesOfAnother) {
  ASSERT_TRUE(daemon_.Start()) << daemon_.Log();
  ASSERT_EQ(RunProgram(ExamplePath(), {daemon_.endpoint()}).exit_code, 0);
  const Finished dropped = daemon_.Tool({"drop", "table", "sales.orders", "--yes"});
  ASSERT_EQ(dropped.exit_code, 0) << dropped.out << dropped.err;
  const Finished again =
      daemon_.Tool({"create", "table", "sales.orders", "--columns", "order_id bigint"});
  EXPECT_EQ(again.exit_code, 1) << again.out;
  EXPECT_THAT(again.err, HasSubstr("is not empty"));
}

}  // namespace
}  // namespace skep::e2e
