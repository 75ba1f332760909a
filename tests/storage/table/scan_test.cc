#include "storage/table/scan.h"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "tests/storage/table/acid_files.h"
#include "tests/testing/fault_fs.h"
#include "tests/testing/listings.h"
#include "tests/testing/status_matchers.h"

namespace skep::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// The worked example: two orders, one of them paid by write id 2, the other deleted by 3.
void MakeOrders(TestTable& table) {
  table.AcidFile("delta_0000001_0000001_0000/bucket_00000", {Insert(1, 0, 1), Insert(1, 1, 2)});
  table.AcidFile("delete_delta_0000002_0000002_0000/bucket_00000", {Delete(1, 0, 2)});
  table.AcidFile("delta_0000002_0000002_0000/bucket_00000", {Insert(2, 0, 100)});
  table.AcidFile("delete_delta_0000003_0000003_0000/bucket_00000", {Delete(1, 1, 3)});
}

TEST(Scan, ShowsTheWorkedExampleUnderEverySnapshot) {
  struct Case {
    std::string write_ids;
    std::vector<std::string> rows;
  };
  const std::vector<Case> cases = {
      {"1:::", {"1/536870912/0=1", "1/536870912/1=2"}},
      {"2:::", {"1/536870912/1=2", "2/536870912/0=100"}},
      {"3:::", {"2/536870912/0=100"}},
      {"3:2:2:", {"1/536870912/0=1"}},
      {"3:9223372036854775807::2", {"1/536870912/0=1"}},
      {"3:3:3:", {"1/536870912/1=2", "2/536870912/0=100"}},
      {"0:::", {}},
  };
  TestTable table;
  MakeOrders(table);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.write_ids);
    EXPECT_THAT(table.Rows(c.write_ids), IsOkAndHolds(::testing::ElementsAreArray(c.rows)));
  }
}

TEST(Scan, ShowsTheSameRowsAfterAMinorCompaction) {
  TestTable table;
  MakeOrders(table);
  table.AcidFile("delta_0000001_0000003_v0000007/bucket_00000",
                 {Insert(1, 0, 1), Insert(1, 1, 2), Insert(2, 0, 100)});
  table.AcidFile("delete_delta_0000001_0000003_v0000007/bucket_00000",
                 {Delete(1, 0, 2), Delete(1, 1, 3)});
  for (const std::string list : {"1:::", "2:::", "3:::", "3:2:2:", "3:3:3:", "3:::2"}) {
    SCOPED_TRACE(list);
    TestTable before;
    MakeOrders(before);
    SKEP_ASSERT_OK_AND_ASSIGN(const auto expected, before.Rows(list));
    EXPECT_THAT(table.Rows(list, "7:::"), IsOkAndHolds(expected));
    // Not yet committed for the snapshot: the old directories.
    EXPECT_THAT(table.Rows(list, "6:::"), IsOkAndHolds(expected));
  }
}

TEST(Scan, CountsADeleteByItsOwnWriteIdOnly) {
  // D-3: the victim's write id is not asked; here it is aborted in the list, but compacted into a
  // base (V-5).
  TestTable table;
  table.AcidFile("base_0000003_v0000005/bucket_00000", {Insert(1, 0, 1), Insert(2, 0, 2)});
  table.AcidFile("delete_delta_0000004_0000004_0000/bucket_00000", {Delete(2, 0, 4)});
  EXPECT_THAT(table.Rows("4:::2"), IsOkAndHolds(ElementsAre("1/536870912/0=1")));
  EXPECT_THAT(table.Rows("4:4:4:"),
              IsOkAndHolds(ElementsAre("1/536870912/0=1", "2/536870912/0=2")));
}

TEST(Scan, FiltersTheRowsOfADeltaThatMixesWriteIds) {
  // D-2, D-4 on a streaming batch: 5 is aborted, 6 open.
  TestTable table;
  table.AcidFile("delta_0000004_0000006/bucket_00000",
                 {Insert(4, 0, 1), Insert(4, 1, 2), Insert(5, 0, 3), Insert(6, 0, 4)});
  table.AcidFile("delete_delta_0000007_0000009/bucket_00000", {Delete(4, 0, 7), Delete(4, 1, 8)});
  EXPECT_THAT(table.Rows("9:6:6,8:5"), IsOkAndHolds(ElementsAre("4/536870912/1=2")));
  EXPECT_THAT(table.Rows("9:::5"), IsOkAndHolds(ElementsAre("6/536870912/0=4")));
  EXPECT_THAT(table.Rows("6:::"),
              IsOkAndHolds(ElementsAre(
                  "4/536870912/0=1", "4/536870912/1=2", "5/536870912/0=3", "6/536870912/0=4")));
}

TEST(Scan, ReadsAllOfABatchThatStraddlesABase) {
  // S-10: the base holds nothing of the batch, not even of the ids below its own.
  TestTable table;
  table.AcidFile("base_0000005_v0000009/bucket_00000", {Insert(1, 0, 1)});
  table.AcidFile("delta_0000004_0000007/bucket_00000", {Insert(4, 0, 2), Insert(6, 0, 3)});
  EXPECT_THAT(table.Rows("7:::"),
              IsOkAndHolds(ElementsAre("1/536870912/0=1", "4/536870912/0=2", "6/536870912/0=3")));
}

TEST(Scan, AppliesDeletesOfOneTransactionAfterItsMinorCompaction) {
  // D-6: Hive compares statement ids that are not there and loses these deletes.
  TestTable table;
  table.AcidFile("delta_0000007_0000007_v0000019/bucket_00000", {Insert(7, 0, 1), Insert(7, 1, 2)});
  table.AcidFile("delete_delta_0000007_0000007_v0000019/bucket_00000", {Delete(7, 0, 7)});
  EXPECT_THAT(table.Rows("7:::"), IsOkAndHolds(ElementsAre("7/536870912/1=2")));
}

TEST(Scan, AppliesDeletesOfALaterStatementOfTheSameTransaction) {
  // The multi-statement example: two inserts (one raw), then a delete.
  TestTable table;
  table.AcidFile("delta_0000006_0000006_0000/bucket_00000", {Insert(6, 0, 1), Insert(6, 1, 2)});
  table.PlainFile("delta_0000006_0000006_0001/000000_0", {3});
  table.AcidFile("delete_delta_0000006_0000006_0002/bucket_00000", {Delete(6, 0, 6)});
  EXPECT_THAT(table.Rows("6:::"), IsOkAndHolds(ElementsAre("6/536870912/1=2", "6/536870913/0=3")));
}

TEST(Scan, DeletesRowsOfOriginalsByTheirSyntheticIds) {
  // O-10, O-11.
  TestTable table;
  table.PlainFile("000002_0", {1, 2});
  table.PlainFile("000002_0_copy_1", {3});
  table.AcidFile("delta_10000001_10000001_0000/bucket_00002", {Insert(10000001, 0, 4, 2)});
  table.AcidFile("delete_delta_10000002_10000002_0000/bucket_00002", {Delete(0, 2, 10000002, 2)});
  EXPECT_THAT(
      table.Rows("10000001:::"),
      IsOkAndHolds(ElementsAre(
          "0/537001984/0=1", "0/537001984/1=2", "0/537001984/2=3", "10000001/537001984/0=4")));
  EXPECT_THAT(
      table.Rows("10000002:::"),
      IsOkAndHolds(ElementsAre("0/537001984/0=1", "0/537001984/1=2", "10000001/537001984/0=4")));
}

TEST(Scan, AppliesDeletesWithinTheirBucketOnly) {
  // D-5: the same write id and row id in another bucket is another row.
  TestTable table;
  table.AcidFile("delta_0000001_0000001_0000/bucket_00000", {Insert(1, 0, 1)});
  table.AcidFile("delta_0000001_0000001_0000/bucket_00001", {Insert(1, 0, 2, 1)});
  table.AcidFile("delete_delta_0000002_0000002_0000/bucket_00001", {Delete(1, 0, 2, 1)});
  EXPECT_THAT(table.Rows("2:::"), IsOkAndHolds(ElementsAre("1/536870912/0=1")));

  table.AcidFile("delete_delta_0000003_0000003_0000/bucket_00000", {Delete(1, 0, 3, 1)});
  EXPECT_THAT(table.Rows("3:::"), HasReason(ErrorReason::kCorruptFile));
}

TEST(Scan, AnOldSnapshotWithoutHistoryIsAnError) {
  TestTable table;
  table.AcidFile("delta_0000001_0000001_0000/bucket_00000", {Insert(1, 0, 1)});
  table.AcidFile("base_0000002_v0000007/bucket_00000", {Insert(1, 0, 1)});
  EXPECT_THAT(table.Rows("2:1:1:"), HasReason(ErrorReason::kNotEnoughHistory));
}

TEST(Scan, RefusesAShortSideFileAndReadsACompleteOne) {
  // H-9. The whole file is one stripe: its length is the only flush that can be read.
  TestTable table;
  table.AcidFile("delta_0000001_0000002/bucket_00000", {Insert(1, 0, 1)});
  const int64_t size =
      static_cast<int64_t>(table.Bytes("delta_0000001_0000002/bucket_00000").size());
  const auto length = [](int64_t value) {
    std::string bytes;
    for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
    return bytes;
  };
  const std::string side = "delta_0000001_0000002/bucket_00000_flush_length";

  table.Text(side, "1234567");
  EXPECT_THAT(table.Rows("2:::"), HasReason(ErrorReason::kCorruptFile));
  table.Text(side, length(0));
  EXPECT_THAT(table.Rows("2:::"), IsOkAndHolds(IsEmpty()));
  table.Text(side, length(0) + length(size) + "123");  // a torn last record is ignored
  EXPECT_THAT(table.Rows("2:::"), IsOkAndHolds(ElementsAre("1/536870912/0=1")));
  table.Text(side, length(size + 1));
  EXPECT_THAT(table.Rows("2:::"), HasReason(ErrorReason::kCorruptFile));
  table.Text(side, length(size - 1));
  EXPECT_THAT(table.Rows("2:::"), HasReason(ErrorReason::kCorruptFile));
}

TEST(Scan, SaysWhatWasChosenAndWhy) {
  TestTable table;
  MakeOrders(table);
  table.AcidFile("base_0000003_v0000007/bucket_00000", {Insert(2, 0, 100)});
  SKEP_ASSERT_OK_AND_ASSIGN(const auto scan, table.Open("3:::"));
  std::map<std::string, acid::Verdict> verdicts;
  for (const acid::Judged& judged : scan->selection().judged) {
    verdicts[judged.name] = judged.verdict;
    EXPECT_FALSE(judged.because.empty()) << judged.name;
  }
  EXPECT_EQ(verdicts.at("base_0000003_v0000007"), acid::Verdict::kChosen);
  EXPECT_EQ(verdicts.at("delta_0000002_0000002_0000"), acid::Verdict::kObsolete);
  EXPECT_THAT(verdicts, SizeIs(5));
  EXPECT_THAT(AllRows(*scan), IsOkAndHolds(ElementsAre("2/536870912/0=100")));
  EXPECT_EQ(scan->stats().files_read, 1);
  EXPECT_EQ(scan->stats().rows_returned, 1);
}

TEST(Scan, AFileThatGoesWhileItIsReadIsAnError) {
  // D-14: also a whole directory between selection and reading.
  TestTable table;
  MakeOrders(table);
  SKEP_ASSERT_OK_AND_ASSIGN(const auto scan, table.Open("3:::"));
  ASSERT_THAT(table.fs().RemoveTree(table.Path("delta_0000002_0000002_0000")), IsOk());
  EXPECT_THAT(AllRows(*scan), HasReason(ErrorReason::kNotEnoughHistory));
}

TEST(Scan, StopsWhenTheReaderMayHaveLostItsPins) {
  // asked after the listing and after each open, never later than the first row of a file.
  TestTable table;
  MakeOrders(table);
  int asked = 0;
  int allowed = 0;
  table::ScanOptions options;
  options.check_alive = [&]() -> absl::Status {
    return ++asked <= allowed ? absl::OkStatus()
                              : MakeError(ErrorReason::kTxnAborted, "the lease is over");
  };
  EXPECT_THAT(table.Rows("3:::", "9:::", options), HasReason(ErrorReason::kTxnAborted));
  EXPECT_EQ(asked, 1);

  for (allowed = 1; allowed < 100; ++allowed) {
    asked = 0;
    const auto rows = table.Rows("3:::", "9:::", options);
    if (rows.ok()) break;
    EXPECT_THAT(rows, HasReason(ErrorReason::kTxnAborted));
    EXPECT_EQ(asked, allowed + 1);
  }
  // Listing, sources, two delete files, two insert files.
  EXPECT_EQ(allowed, 6);
}

TEST(Scan, AFailingFilesystemIsNeverFewerRows) {
  TestTable table;
  MakeOrders(table);
  TempDir attic;
  FaultFs faults(table.fs(), attic.path());
  bool finished = false;
  for (int nth = 1; nth < 1000 && !finished; ++nth) {
    SCOPED_TRACE(nth);
    faults.FailAnyCall(nth, MakeError(ErrorReason::kInternal, "Input/output error"));
    auto scan = table::Scan::Open(faults, table.dir(), WriteIds("2:::"), AllVisible(), {});
    const absl::StatusOr<std::vector<std::string>> rows =
        scan.ok() ? AllRows(**scan) : absl::StatusOr<std::vector<std::string>>(scan.status());
    finished = !faults.Fired();
    if (finished) {
      EXPECT_THAT(rows, IsOkAndHolds(SizeIs(2)));
    } else {
      EXPECT_FALSE(rows.ok());
    }
  }
  EXPECT_TRUE(finished);
}

TEST(Scan, LimitsTheMemoryOfDeletes) {
  TestTable table;
  MakeOrders(table);
  table::ScanOptions options;
  options.delete_limit = 1;
  const auto rows = table.Rows("3:::", "9:::", options);
  EXPECT_THAT(rows, HasReason(ErrorReason::kOverloaded));
  EXPECT_THAT(rows, HasMessage(HasSubstr("major compaction")));
  options.delete_limit = 2;
  EXPECT_THAT(table.Rows("3:::", "9:::", options), IsOkAndHolds(SizeIs(1)));
}

TEST(Scan, ProjectsAndFilters) {
  TestTable table;
  MakeOrders(table);
  table::ScanOptions options;
  options.columns = std::vector<std::string>{};
  EXPECT_THAT(table.Rows("1:::", "9:::", options),
              IsOkAndHolds(ElementsAre("1/536870912/0=", "1/536870912/1=")));

  options = {};
  options.predicate = format::Predicate{
      .op = format::PredicateOp::kGt, .column = "id", .literals = {"1"}, .children = {}};
  EXPECT_THAT(table.Rows("1:::", "9:::", options), IsOkAndHolds(ElementsAre("1/536870912/1=2")));
  options.columns = std::vector<std::string>{};
  EXPECT_THAT(table.Rows("1:::", "9:::", options), IsOkAndHolds(ElementsAre("1/536870912/1=")));

  options = {};
  options.columns = std::vector<std::string>{"nope"};
  EXPECT_THAT(table.Rows("1:::", "9:::", options), HasReason(ErrorReason::kInvalidRequest));
}

TEST(Scan, AddsPartitionColumnsAndFiltersByThem) {
  TestTable table;
  table.AcidFile("delta_0000001_0000001_0000/bucket_00000", {Insert(1, 0, 1)});
  const auto column = [](const std::string& name, const std::string& type) {
    return Column{.name = name, .type = *ParseHiveType(type), .comment = ""};
  };
  table::ScanOptions options;
  options.partition = {{column("d", "date"), "2026-10-01"},
                       {column("n", "decimal(10,2)"), "0.5"},
                       {column("s", "string"), std::nullopt},
                       {column("t", "timestamp"), "2024-01-02 03:04:05.25"},
                       {column("c", "char(4)"), "ab"},
                       {column("b", "boolean"), "true"}};
  SKEP_ASSERT_OK_AND_ASSIGN(const auto rows, table.Rows("1:::", "9:::", options));
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_THAT(rows[0], HasSubstr("=1,\"2026-10-01\",\"0.5"));
  EXPECT_THAT(rows[0], HasSubstr(",null,\"2024-01-02 03:04:05.25\",\"ab  \",true"));

  options.predicate = format::Predicate{
      .op = format::PredicateOp::kLt, .column = "d", .literals = {"2026-10-01"}, .children = {}};
  EXPECT_THAT(table.Rows("1:::", "9:::", options), IsOkAndHolds(IsEmpty()));

  options = {};
  options.partition = {{column("d", "date"), "2026-13-01"}};
  EXPECT_THAT(table.Rows("1:::", "9:::", options), HasReason(ErrorReason::kInvalidRequest));
}

TEST(Scan, ReadsColumnsThatCameLaterAsNullAndRefusesOtherChanges) {
  TestTable table;
  table.AcidFile("delta_0000001_0000001_0000/bucket_00000", {Insert(1, 0, 1)});
  const auto rows = [&](const std::string& columns) {
    table::ScanOptions options;
    options.table_columns = *ParseColumns(columns);
    return table.Rows("1:::", "9:::", options);
  };
  EXPECT_THAT(rows("id int, extra timestamp, tags array<string>"),
              IsOkAndHolds(ElementsAre("1/536870912/0=1,null,null")));
  struct Case {
    std::string columns;
    std::string named;
  };
  for (const Case& c : {Case{"id bigint", "`id` is int in the file and bigint"},
                        Case{"ident int", "`ident` is not in the file, which has `id`"}}) {
    SCOPED_TRACE(c.columns);
    EXPECT_THAT(rows(c.columns), HasReason(ErrorReason::kNotSupported));
    EXPECT_THAT(rows(c.columns), HasMessage(HasSubstr(c.named)));
    EXPECT_THAT(rows(c.columns), HasMessage(HasSubstr("bucket_00000")));
  }
}

TEST(Scan, AnEmptyDirectoryHasNoRows) {
  TestTable table;
  EXPECT_THAT(table.Rows("1:::"), IsOkAndHolds(IsEmpty()));
  table.Directory("base_0000007");  // H-8: an empty overwrite hides what is below it
  table.AcidFile("delta_0000001_0000001_0000/bucket_00000", {Insert(1, 0, 1)});
  EXPECT_THAT(table.Rows("7:::"), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(table.Rows("6:::"), IsOkAndHolds(SizeIs(1)));
}

}  // namespace
}  // namespace skep::testing
