#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/table/conditions.h"
#include "tests/client/table/orders.h"

namespace skep::testing {
namespace {

using client::Comparison;
using client::Condition;
using client::ReadRowsOptions;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ReadRowsTest : public OrdersTest {
 protected:
  void SetUp() override {
    MakeTable(Partitioned::kYes);
    ASSERT_THAT(Insert({{1, "NEW", "2026-10-01"},
                        {2, "PAID", "2026-10-01"},
                        {3, "NEW", "2026-10-02"},
                        {4, "", "2026-10-03"}}),
                IsOk());
    txn_->Next();
    txn_->calls.clear();
  }
  // order_id of the rows.
  std::vector<std::string> Ids(ReadRowsOptions options) {
    options.columns = {"order_id"};
    const auto lines = Read(options);
    EXPECT_THAT(lines, IsOk());
    std::vector<std::string> ids;
    if (!lines.ok()) return ids;
    for (const std::string& line : *lines) ids.push_back(line.substr(12, line.size() - 13));
    return ids;
  }
};

TEST_F(ReadRowsTest, PinsTheTableBeforeItIsListed) {
  EXPECT_THAT(Ids({}), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(txn_->calls, ElementsAre("pin", "list partitions"));
}

TEST_F(ReadRowsTest, FiltersByColumnsOfTableAndPartition) {
  struct Case {
    std::string name;
    std::vector<Condition> where;
    std::vector<std::string> ids;
  };
  const std::vector<Case> cases = {
      {"equal", {{"status", Comparison::kEqual, {"NEW"}}}, {"1", "3"}},
      {"case of names", {{"STATUS", Comparison::kEqual, {"NEW"}}}, {"1", "3"}},
      {"not equal", {{"status", Comparison::kNotEqual, {"NEW"}}}, {"2", "4"}},
      {"less", {{"order_id", Comparison::kLess, {"2"}}}, {"1"}},
      {"less or equal", {{"order_id", Comparison::kLessOrEqual, {"2"}}}, {"1", "2"}},
      {"greater", {{"order_id", Comparison::kGreater, {"3"}}}, {"4"}},
      {"greater or equal", {{"order_id", Comparison::kGreaterOrEqual, {"3"}}}, {"3", "4"}},
      {"in", {{"order_id", Comparison::kIn, {"1", "4", "9"}}}, {"1", "4"}},
      {"between", {{"order_id", Comparison::kBetween, {"2", "3"}}}, {"2", "3"}},
      {"null", {{"status", Comparison::kIsNull, {}}}, {}},
      {"not null", {{"status", Comparison::kIsNotNull, {}}}, {"1", "2", "3", "4"}},
      {"partition", {{"order_date", Comparison::kGreater, {"2026-10-01"}}}, {"3", "4"}},
      {"both",
       {{"order_date", Comparison::kEqual, {"2026-10-01"}},
        {"status", Comparison::kEqual, {"PAID"}}},
       {"2"}},
      {"nothing",
       {{"order_id", Comparison::kEqual, {"1"}},
        {"order_date", Comparison::kEqual, {"2026-10-02"}}},
       {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(Ids({.where = c.where}), ::testing::ElementsAreArray(c.ids));
  }
}

TEST_F(ReadRowsTest, DoesNotListPartitionsThatCannotMatch) {
  // The directory is gone: only a read that needs it may notice.
  ASSERT_THAT(fs_.RemoveTree(dir_ / "order_date=2026-10-03"), IsOk());
  EXPECT_THAT(Ids({.where = {{"order_date", Comparison::kLess, {"2026-10-03"}}}}), SizeIs(3));
  EXPECT_THAT(Ids({.partition = "order_date=2026-10-01"}), SizeIs(2));
  EXPECT_THAT(Read(), HasReason(ErrorReason::kMalformedDirectory));
}

// No cleaner removes a directory, so another try would not help: the message says what does.
TEST_F(ReadRowsTest, SaysThatADirectoryIsMissing) {
  const std::string partition = dir_ / "order_date=2026-10-03";
  ASSERT_THAT(fs_.RemoveTree(partition), IsOk());
  const auto rows = Read();
  EXPECT_THAT(rows, HasReason(ErrorReason::kMalformedDirectory));
  EXPECT_EQ(MetadataOf(rows.status()), (ErrorMetadata{{"path", partition}}));
  EXPECT_THAT(rows,
              HasMessage(AllOf(HasSubstr(partition + " is missing"),
                               HasSubstr("removed outside Skep"),
                               HasSubstr("declared by a transaction that wrote nothing"),
                               HasSubstr("make it an empty directory to read it as empty"))));
  ASSERT_THAT(fs_.CreateDirectories(partition), IsOk());
  EXPECT_THAT(Ids({}), SizeIs(3));
  ASSERT_THAT(fs_.RemoveTree(dir_.path()), IsOk());
  EXPECT_THAT(Read(), HasReason(ErrorReason::kMalformedDirectory));
}

TEST_F(ReadRowsTest, TakesColumnsInTheOrderAskedForAndStopsAtTheLimit) {
  EXPECT_THAT(Read({.columns = {"order_date", "Order_Id"}, .limit = 2}),
              IsOkAndHolds(ElementsAre(R"({"order_date":"2026-10-01","order_id":1})",
                                       R"({"order_date":"2026-10-01","order_id":2})")));
  EXPECT_THAT(Read({.limit = 0}), IsOkAndHolds(ElementsAre()));
}

TEST_F(ReadRowsTest, RefusesWhatTheTableDoesNotHave) {
  struct Case {
    std::string name;
    ReadRowsOptions options;
  };
  const std::vector<Case> cases = {
      {"column", {.columns = {"nope"}}},
      {"partition", {.partition = "order_date=1999-01-01"}},
      {"condition on no column", {.where = {{"nope", Comparison::kEqual, {"1"}}}}},
      {"no number", {.where = {{"order_id", Comparison::kEqual, {"one"}}}}},
      {"no date", {.where = {{"order_date", Comparison::kEqual, {"tomorrow"}}}}},
      {"too few values", {.where = {{"order_id", Comparison::kBetween, {"1"}}}}},
      {"too many values", {.where = {{"order_id", Comparison::kIsNull, {"1"}}}}},
      {"no values", {.where = {{"order_id", Comparison::kIn, {}}}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(Read(c.options), HasReason(ErrorReason::kInvalidRequest));
  }
}

TEST_F(ReadRowsTest, FailsWhenTheLeaseRunsOutWhileItReads) {
  // R-10: rows of files that were opened while it held, then the error.
  txn_->leases_left = 0;
  EXPECT_THAT(Read(), HasReason(ErrorReason::kTxnAborted));
  int enough = 0;
  for (int leases = 1; leases < 100; ++leases) {
    txn_->leases_left = leases;
    const auto lines = Read();
    if (lines.ok()) {
      enough = leases;
      break;
    }
    EXPECT_THAT(lines, HasReason(ErrorReason::kTxnAborted));
  }
  // Per partition: the listing, the tails, one file.
  EXPECT_EQ(enough, 9);
}

TEST_F(ReadRowsTest, RefusesTablesThatItCannotRead) {
  txn_->table.kind = TableKind::kInsertOnly;
  txn_->table.format = FileFormat::kParquet;
  EXPECT_THAT(Read(), HasReason(ErrorReason::kNotSupported));
  EXPECT_THAT(Read(), HasMessage(HasSubstr("insert-only tables (parquet)")));
  txn_->table.kind = TableKind::kExternal;
  EXPECT_THAT(Read(), HasReason(ErrorReason::kNotSupported));
}

TEST_F(ReadRowsTest, AnErrorOfTheSinkEndsTheRead) {
  int rows = 0;
  const absl::Status stop = absl::CancelledError("the pipe is closed");
  EXPECT_EQ(
      client::ReadRows(
          txn_,
          fs_,
          kOrders,
          {},
          {.header = [](const auto&) { return absl::OkStatus(); },
           .row = [&](const client::TextRow&) { return ++rows == 2 ? stop : absl::OkStatus(); }}),
      stop);
  EXPECT_EQ(rows, 2);
}

TEST_F(ReadRowsTest, JudgesVisibilityTransactionsByTheTablesAdoptedBound) {
  // R-16: at or below the bound by the table's own list, above it by the server's.
  const std::string day = dir_ / "order_date=2026-10-01";
  ASSERT_THAT(fs_.RenameNoReplace(day + "/delta_0000001_0000001_0000",
                                  day + "/delta_0000001_0000001_v0000050"),
              IsOk());
  const ReadRowsOptions first{.partition = "order_date=2026-10-01"};
  txn_->txns.ids.high = 10;
  EXPECT_THAT(Ids(first), SizeIs(0));
  txn_->table.adopted_txn_bound = TxnId(50);
  EXPECT_THAT(Ids(first), SizeIs(2));
  txn_->table.adopted_aborted_txns = {50};
  EXPECT_THAT(Ids(first), SizeIs(0));
}

}  // namespace
}  // namespace skep::testing
