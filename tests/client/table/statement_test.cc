#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/table/orders.h"
#include "tests/testing/fault_fs.h"

namespace skep::testing {
namespace {

using client::WriteKind;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kDay[] = "order_date=2026-10-01";
const client::RowIds kFirstRow{{1}, {536870912}, {0}};

TEST_F(OrdersTest, TheLifeOfTwoOrders) {
  MakeTable(Partitioned::kYes);
  ASSERT_THAT(Insert({{1, "NEW", "2026-10-01"}, {2, "NEW", "2026-10-01"}}), IsOk());
  EXPECT_THAT(txn_->calls, ElementsAre("begin INSERT", std::string("declare ") + kDay, "end rows"));
  txn_->Next();
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto update, Open(WriteKind::kUpdate));
    ASSERT_THAT(update->Update(kDay, kFirstRow, *Batch({{1, "PAID", std::nullopt}})), IsOk());
    SKEP_ASSERT_OK_AND_ASSIGN(const auto result, update->Finish());
    EXPECT_EQ(result.inserted, 1);
    EXPECT_EQ(result.deleted, 1);
    EXPECT_THAT(result.partitions, ElementsAre(kDay));
  }
  txn_->Next();
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto remove, Open(WriteKind::kDelete));
    ASSERT_THAT(remove->Delete(kDay, {{1}, {536870912}, {1}}), IsOk());
    ASSERT_THAT(remove->Finish(), IsOk());
  }
  txn_->Next();

  EXPECT_THAT(
      Read({}, true),
      IsOkAndHolds(ElementsAre(
          R"({"partition":"order_date=2026-10-01","writeid":2,"bucket":536870912,"rowid":0,"row":{"order_id":1,"status":"PAID","order_date":"2026-10-01"}})")));
  txn_->write_ids.ids.high = 1;
  EXPECT_THAT(
      Read(),
      IsOkAndHolds(ElementsAre(R"({"order_id":1,"status":"NEW","order_date":"2026-10-01"})",
                               R"({"order_id":2,"status":"NEW","order_date":"2026-10-01"})")));
}

TEST_F(OrdersTest, ATransactionReadsItsOwnWrites) {
  MakeTable(Partitioned::kNo);
  ASSERT_THAT(Insert({{1, "NEW", {}}, {2, "NEW", {}}}), IsOk());
  EXPECT_THAT(Read(), IsOkAndHolds(ElementsAre()));
  txn_->write_ids.own = {1};
  EXPECT_THAT(Read(), IsOkAndHolds(::testing::SizeIs(2)));
  SKEP_ASSERT_OK_AND_ASSIGN(const auto remove, Open(WriteKind::kDelete));
  ASSERT_THAT(remove->Delete("", kFirstRow), IsOk());
  ASSERT_THAT(remove->Finish(), IsOk());
  EXPECT_THAT(
      Read({}, true),
      IsOkAndHolds(ElementsAre(
          R"({"writeid":1,"bucket":536870912,"rowid":1,"row":{"order_id":2,"status":"NEW"}})")));
}

TEST_F(OrdersTest, AStatementWithoutRowsWritesNothing) {
  MakeTable(Partitioned::kNo);
  ASSERT_THAT(Insert({}), IsOk());
  EXPECT_THAT(txn_->calls, ElementsAre("begin INSERT", "end nothing"));
  EXPECT_THAT(fs_.List(dir_.path()), IsOkAndHolds(ElementsAre()));
}

TEST_F(OrdersTest, AStatementThatIsDroppedFailsItsTransaction) {
  MakeTable(Partitioned::kNo);
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto statement, Open(WriteKind::kInsert));
    ASSERT_THAT(statement->Insert(*Batch({{1, "NEW", {}}})), IsOk());
  }
  EXPECT_THAT(txn_->calls, ElementsAre("begin INSERT", "fail OPERATION_NOT_ALLOWED"));
  EXPECT_THAT(fs_.List(dir_.path()), IsOkAndHolds(ElementsAre()));
}

TEST_F(OrdersTest, TheFirstErrorFailsTheStatementForGood) {
  MakeTable(Partitioned::kYes);
  SKEP_ASSERT_OK_AND_ASSIGN(const auto statement, Open(WriteKind::kInsert));
  ASSERT_THAT(statement->Insert(*Batch({{1, "NEW", "2026-10-01"}})), IsOk());
  const absl::Status refused = statement->Insert(*Batch({{2, "NEW", std::nullopt}}));
  EXPECT_THAT(refused, HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(refused, HasMessage(HasSubstr("order_date")));
  EXPECT_EQ(statement->Insert(*Batch({{3, "NEW", "2026-10-01"}})), refused);
  EXPECT_EQ(statement->Finish().status(), refused);
  EXPECT_THAT(txn_->calls,
              ElementsAre("begin INSERT", std::string("declare ") + kDay, "fail INVALID_REQUEST"));
  EXPECT_THAT(fs_.List(dir_ / kDay), IsOkAndHolds(ElementsAre()));
}

TEST_F(OrdersTest, AKindOfStatementDoesWhatItLocked) {
  MakeTable(Partitioned::kNo);
  SKEP_ASSERT_OK_AND_ASSIGN(const auto insert, Open(WriteKind::kInsert));
  EXPECT_THAT(insert->Delete("", kFirstRow), HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(insert->Update("", kFirstRow, *Batch({{1, "x", {}}})),
              HasReason(ErrorReason::kOperationNotAllowed));
  // A call of the wrong kind changes nothing.
  EXPECT_THAT(insert->Insert(*Batch({{1, "NEW", {}}})), IsOk());
  EXPECT_THAT(insert->Finish(), IsOk());
  EXPECT_THAT(insert->Insert(*Batch({{1, "NEW", {}}})),
              HasReason(ErrorReason::kOperationNotAllowed));

  SKEP_ASSERT_OK_AND_ASSIGN(const auto remove, Open(WriteKind::kDelete));
  EXPECT_THAT(remove->Insert(*Batch({{1, "NEW", {}}})),
              HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(remove->Finish(), IsOk());

  SKEP_ASSERT_OK_AND_ASSIGN(const auto merge, Open(WriteKind::kUpdate));
  EXPECT_THAT(merge->Insert(*Batch({{5, "NEW", {}}})), IsOk());
  EXPECT_THAT(merge->Delete("", kFirstRow), IsOk());
  EXPECT_THAT(merge->Finish(), IsOk());
}

TEST_F(OrdersTest, AnUpdateKeepsItsPartition) {
  MakeTable(Partitioned::kYes);
  ASSERT_THAT(Insert({{1, "NEW", "2026-10-01"}}), IsOk());
  txn_->Next();
  {
    // A reader's batch has the partition column: it may stay.
    SKEP_ASSERT_OK_AND_ASSIGN(const auto same, Open(WriteKind::kUpdate));
    EXPECT_THAT(same->Update(kDay, kFirstRow, *Batch({{1, "PAID", "2026-10-01"}})), IsOk());
    EXPECT_THAT(same->Finish(), IsOk());
  }
  SKEP_ASSERT_OK_AND_ASSIGN(const auto moved, Open(WriteKind::kUpdate));
  const absl::Status refused = moved->Update(kDay, kFirstRow, *Batch({{1, "PAID", "2026-10-02"}}));
  EXPECT_THAT(refused, HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(refused, HasMessage(HasSubstr("delete and insert")));
}

TEST_F(OrdersTest, UnknownColumnsAndTablesAreRefused) {
  MakeTable(Partitioned::kNo);
  EXPECT_THAT(client::Statement::Open(txn_, fs_, TableName{"sales", "none"}, WriteKind::kInsert),
              HasReason(ErrorReason::kNoSuchTable));
  // The batch has a column that the table lacks.
  EXPECT_THAT(Insert({{1, "NEW", "2026-10-01"}}), HasReason(ErrorReason::kInvalidRequest));
  txn_->table.kind = TableKind::kInsertOnly;
  txn_->calls.clear();
  EXPECT_THAT(Insert({{1, "NEW", {}}}), HasReason(ErrorReason::kNotSupported));
  EXPECT_THAT(txn_->calls, ElementsAre("begin INSERT", "fail NOT_SUPPORTED"));
}

TEST_F(OrdersTest, AFullDiskFailsTheStatementAndIsReported) {
  MakeTable(Partitioned::kNo);
  TempDir attic;
  FaultFs faults(fs_, attic.path());
  faults.FailCall(FsCall::kAppend,
                  1,
                  MakeError(ErrorReason::kStorageUnwritable, "No space left on device"),
                  FaultSpan::kFromThere);
  SKEP_ASSERT_OK_AND_ASSIGN(const auto statement,
                            client::Statement::Open(txn_, faults, kOrders, WriteKind::kInsert));
  absl::Status status = statement->Insert(*Batch({{1, "NEW", {}}}));
  if (status.ok()) status = statement->Finish().status();
  EXPECT_THAT(status, HasReason(ErrorReason::kStorageUnwritable));
  EXPECT_THAT(txn_->calls, Contains("fail STORAGE_UNWRITABLE"));
  EXPECT_THAT(txn_->calls, Not(Contains("end rows")));
  EXPECT_THAT(fs_.List(dir_.path()), IsOkAndHolds(ElementsAre()));
}

}  // namespace
}  // namespace skep::testing
