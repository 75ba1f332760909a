// First committer wins: scenarios S109 to S134.

#include <gmock/gmock.h>

#include "tests/conformance/txn/world.h"

namespace skep::conformance {
namespace {

using testing::HasReason;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;
using ::testing::SizeIs;

constexpr v1::WriteOperation kInsert = v1::WRITE_OPERATION_INSERT;
constexpr v1::WriteOperation kUpdate = v1::WRITE_OPERATION_UPDATE;
constexpr v1::WriteOperation kDelete = v1::WRITE_OPERATION_DELETE;

class ConflictScenarios : public World {
 protected:
  ConflictScenarios() {
    Table("default.tab1", true);
    Table("default.tab2");
    Table("default.tab_part", true);
  }
  // A writer as Hive's: lock, write id, partitions, and no write set of its own at the commit.
  int64_t Writer(const std::string& lock) {
    const int64_t txn = Open();
    EXPECT_EQ(LockState(txn, lock), kAcquired);
    return txn;
  }
  size_t Marks() const { return stored().write_marks.size(); }
};

TEST_F(ConflictScenarios, S109AReaderThatIsOverConflictsWithNobody) {
  const int64_t a = Open();
  ASSERT_EQ(LockState(a, "SR default.tab2"), kAcquired);
  ASSERT_THAT(Commit(a), IsOk());
  const int64_t b = Writer("SW default.tab2:U");
  EXPECT_THAT(Commit(b), IsOk());
}

TEST_F(ConflictScenarios, S110DifferentTablesDoNotConflict) {
  const int64_t a = Writer("SW default.tab_part:U*");
  const int64_t b = Open();
  ASSERT_THAT(AddPartitions(a, "default.tab_part", {"p=1"}), IsOk());
  ASSERT_THAT(Commit(a, {"default.tab_part/p=1:U"}), IsOk());
  ASSERT_EQ(LockState(b, "SW default.tab2:U"), kAcquired);
  EXPECT_THAT(Commit(b), IsOk());
}

TEST_F(ConflictScenarios, S112AnUpdateThatTouchedNothingLeavesNothing) {  // DYN-4, CMT-14, CON-9
  Open();
  const int64_t txn = Writer("SW default.tab1:U*");
  ASSERT_THAT(AddPartitions(txn, "default.tab1", {}), IsOk());
  ASSERT_THAT(Commit(txn), IsOk());
  EXPECT_EQ(Marks(), 0u);
}

// Kept exactly as long as an older snapshot lives: no interval, no housekeeper.
TEST_F(ConflictScenarios, S113AWriteIsRememberedWhileAnOlderSnapshotLives) {  // CON-15
  const int64_t reader = Open();
  const int64_t writer = Writer("SW default.tab1:U*");
  ASSERT_THAT(AddPartitions(writer, "default.tab1", {"p=two"}), IsOk());
  ASSERT_THAT(Commit(writer, {"default.tab1/p=two:U"}), IsOk());
  EXPECT_EQ(Marks(), 1u);
  ASSERT_EQ(LockState(reader, "SW default.tab1:U*"), kAcquired);
  ASSERT_THAT(AddPartitions(reader, "default.tab1", {}), IsOk());
  EXPECT_THAT(Commit(reader), IsOk());
  Open();
  EXPECT_EQ(Marks(), 0u);
}

TEST_F(ConflictScenarios, S115AReaderDoesNotConflictWithAWriter) {
  const int64_t a = Open();
  ASSERT_EQ(LockState(a, "SR default.tab2"), kAcquired);
  const int64_t b = Writer("SW default.tab2:U");
  ASSERT_THAT(Commit(b), IsOk());
  EXPECT_EQ(Marks(), 1u);
  EXPECT_THAT(Commit(a), IsOk());
  Open();
  EXPECT_EQ(Marks(), 0u);
}

TEST_F(ConflictScenarios, S116DifferentPartitionsDoNotConflict) {  // CON-5
  const int64_t older = Open();
  const int64_t a = Writer("SW default.tab1:U*");
  const int64_t b = Writer("SW default.tab1:U*");
  ASSERT_THAT(AddPartitions(a, "default.tab1", {"p=two"}), IsOk());
  ASSERT_THAT(AddPartitions(b, "default.tab1", {"p=one"}), IsOk());
  EXPECT_THAT(Commit(a, {"default.tab1/p=two:U"}), IsOk());
  EXPECT_THAT(Commit(b, {"default.tab1/p=one:U"}), IsOk());
  EXPECT_EQ(Marks(), 2u);
  EXPECT_EQ(StateOf(older), v1::TRANSACTION_STATE_OPEN);
}

TEST_F(ConflictScenarios, S118AnUpdateAndADeleteElsewhereDoNotConflict) {
  const int64_t a = Writer("SW default.tab1:U*");
  const int64_t b = Writer("SW default.tab1:D*");
  ASSERT_THAT(AddPartitions(a, "default.tab1", {"p=one"}), IsOk());
  ASSERT_THAT(AddPartitions(b, "default.tab1", {"p=two"}, kDelete), IsOk());
  EXPECT_THAT(Commit(a, {"default.tab1/p=one:U"}), IsOk());
  EXPECT_THAT(Commit(b, {"default.tab1/p=two:D"}), IsOk());
}

TEST_F(ConflictScenarios, S119TheSecondOfTwoWritersLosesAndIsToldWho) {  // CON-7, CON-10, CON-12
  const int64_t a = Writer("SW default.tab1:U*");
  const int64_t b = Writer("SW default.tab1:D*");
  ASSERT_THAT(AddPartitions(a, "default.tab1", {"p=two"}), IsOk());
  ASSERT_THAT(AddPartitions(b, "default.tab1", {"p=two"}, kDelete), IsOk());
  ASSERT_THAT(Commit(a, {"default.tab1/p=two:U"}), IsOk());
  const absl::Status lost = Commit(b, {"default.tab1/p=two:D"});
  EXPECT_THAT(lost, HasReason(ErrorReason::kWriteConflict));
  EXPECT_EQ(MetadataOf(lost)["table"], "default.tab1");
  EXPECT_EQ(MetadataOf(lost)["partition"], "p=two");
  EXPECT_EQ(MetadataOf(lost)["winnerTxnId"], std::to_string(a));
  EXPECT_EQ(StateOf(b), v1::TRANSACTION_STATE_ABORTED);
  EXPECT_EQ(CauseOf(b), v1::ABORT_CAUSE_CONFLICT);
  EXPECT_THAT(Commit(b), HasReason(ErrorReason::kTxnAborted));
}

TEST_F(ConflictScenarios, S121AMergeReportsByOperation) {  // DYN-6, DYN-1
  const int64_t older = Open();
  const int64_t txn = Writer("SW default.tab1:U*");
  EXPECT_THAT(stored().components, SizeIs(1)) << "the placeholder";
  ASSERT_THAT(AddPartitions(txn, "default.tab1", {"p=1"}, kUpdate), IsOk());
  ASSERT_THAT(AddPartitions(txn, "default.tab1", {"p=2", "p=3"}, kDelete), IsOk());
  ASSERT_THAT(AddPartitions(txn, "default.tab1", {"p=1", "p=3", "p=4"}, kInsert), IsOk());
  EXPECT_THAT(stored().components, SizeIs(6));
  ASSERT_THAT(Commit(txn, {"default.tab1"}), IsOk());
  EXPECT_THAT(stored().components, IsEmpty());
  EXPECT_EQ(Marks(), 4u) << "one for each partition, by kind of write";
  EXPECT_EQ(StateOf(older), v1::TRANSACTION_STATE_OPEN);
}

TEST_F(ConflictScenarios, S122OfTwoMergesThatShareAPartitionOneLoses) {
  const int64_t a = Writer("SW default.tab1:U*");
  const int64_t b = Writer("SW default.tab1:U*");
  for (const int64_t txn : {a, b}) {
    ASSERT_THAT(AddPartitions(txn, "default.tab1", {"p=1"}, kUpdate), IsOk());
    ASSERT_THAT(AddPartitions(txn, "default.tab1", {"p=2"}, kDelete), IsOk());
  }
  ASSERT_THAT(Commit(a, {"default.tab1"}), IsOk());
  EXPECT_THAT(Commit(b, {"default.tab1"}), HasReason(ErrorReason::kWriteConflict));
  EXPECT_THAT(stored().components, IsEmpty());
  for (const auto& [key, mark] : stored().write_marks) EXPECT_EQ(mark.update_txn, TxnId(a));
}

// External tables have no transactions here: a write to one is refused, not ignored.
TEST_F(ConflictScenarios, S124OnlyTransactionalTablesAreWrittenInTransactions) {
  v1::CreateTableRequest request;
  *request.mutable_name() = NameOf("default.ext");
  request.set_external(true);
  auto* column = request.add_columns();
  column->set_name("a");
  column->set_type("bigint");
  ASSERT_THAT(Ask<v1::CreateTableResponse>("/skep.v1.TableService/CreateTable", request), IsOk());
  const int64_t txn = Writer("SR default.tab2:I");
  EXPECT_THAT(TryLock(txn, {"SR default.ext:I"}), HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(stored().components, SizeIs(1));
}

// Declared twice is declared once.
TEST_F(ConflictScenarios, S125ADynamicInsertIsDeclaredOnce) {
  const int64_t txn = Writer("SR default.tab1:I*");
  for (int i = 0; i < 2; ++i) {
    ASSERT_THAT(AddPartitions(txn, "default.tab1", {"p=1", "p=2"}, kInsert), IsOk());
  }
  EXPECT_THAT(stored().components, SizeIs(2));
}

TEST_F(ConflictScenarios, ADeclarationThatDoesNotSayHowCountsAsAnUpdate) {  // DYN-2
  const int64_t a = Open();
  const int64_t b = Open();
  for (const int64_t txn : {a, b}) {
    ASSERT_THAT(Allocate(txn, "default.tab_part"), IsOk());
    ASSERT_THAT(AddPartitions(txn, "default.tab_part", {"p=1"}, v1::WRITE_OPERATION_UNSPECIFIED),
                IsOk());
  }
  ASSERT_THAT(Commit(a, {"default.tab_part/p=2:I"}), IsOk());
  EXPECT_THAT(Commit(b), HasReason(ErrorReason::kWriteConflict));
}

// In exclusive-write mode Hive compiles again under a fresh snapshot. Here the grant says that the
// snapshot is stale, and the waiter takes a fresh one.
class FreshSnapshots : public ConflictScenarios {
 protected:
  absl::Status Refresh(int64_t txn) {
    v1::GetSnapshotRequest request;
    request.set_txn_id(txn);
    request.set_refresh(true);
    return Ask<v1::GetSnapshotResponse>("/skep.v1.TransactionService/GetSnapshot", request)
        .status();
  }
};

TEST_F(FreshSnapshots, S127TheSecondOfTwoUpdatesSeesTheFirst) {
  const int64_t a = Open();
  const int64_t b = Open();
  ASSERT_EQ(LockState(a, "EW default.tab2:U"), kAcquired);
  const Locked waiting = Lock(b, {"EW default.tab2:U"});
  ASSERT_EQ(waiting.state, kWaiting);
  ASSERT_THAT(Allocate(a, "default.tab2"), IsOkAndHolds(1));
  ASSERT_THAT(Commit(a, {"default.tab2:U"}), IsOk());
  v1::CheckLockRequest check;
  check.set_lock_id(waiting.id);
  const auto granted = Ask<v1::CheckLockResponse>("/skep.v1.LockService/CheckLock", check);
  ASSERT_THAT(granted, IsOk());
  EXPECT_EQ(granted->state(), kAcquired);
  EXPECT_TRUE(granted->snapshot_stale());
  ASSERT_THAT(Refresh(b), IsOk());
  EXPECT_TRUE(ListOf(b, "default.tab2").Sees(1)) << "R-2: it contains the commit that let it in";
  ASSERT_THAT(Allocate(b, "default.tab2"), IsOkAndHolds(2));
  EXPECT_THAT(Commit(b, {"default.tab2:U"}), IsOk());
}

// One refresh is enough: the lock keeps others out from there on.
TEST_F(FreshSnapshots, S128AFreshSnapshotUnderTheLockStaysGood) {
  const int64_t txn = Open();
  for (int i = 0; i < 2; ++i) Write("default.tab2:U");
  const Locked lock = Lock(txn, {"EW default.tab2:U"});
  EXPECT_TRUE(lock.snapshot_stale);
  ASSERT_THAT(Refresh(txn), IsOk());
  EXPECT_EQ(LockState(Open(), "EW default.tab2:U"), kWaiting);
  EXPECT_THAT(Commit(txn, {"default.tab2:U"}), IsOk());
}

TEST_F(FreshSnapshots, S130InsertsSideBySideMayDoubleAKey) {
  const int64_t a = Writer("SR default.tab2:I");
  const int64_t b = Writer("SR default.tab2:I");
  EXPECT_THAT(Commit(a, {"default.tab2:I"}), IsOk());
  EXPECT_THAT(Commit(b, {"default.tab2:I"}), IsOk());
}

TEST_F(FreshSnapshots, S131MergeInsertsThatExcludeEachOtherDoNot) {
  const int64_t a = Writer("EW default.tab2:U");
  const int64_t b = Open();
  ASSERT_EQ(ListOf(b, "default.tab2").high, 0);
  const Locked waiting = Lock(b, {"EW default.tab2:U"});
  ASSERT_THAT(Allocate(a, "default.tab2"), IsOk());
  ASSERT_THAT(Commit(a, {"default.tab2:U"}), IsOk());
  EXPECT_THAT(Check(waiting.id), IsOkAndHolds(kAcquired));
  EXPECT_THAT(Refresh(b), HasReason(ErrorReason::kOperationNotAllowed)) << "it was given a list";
  EXPECT_THAT(Commit(b, {"default.tab2:U"}), HasReason(ErrorReason::kWriteConflict));
}

TEST_F(FreshSnapshots, S133AFreshSnapshotHasNewPartitions) {
  const int64_t txn = Open();
  const int64_t other = Writer("SR default.tab1:I*");
  ASSERT_THAT(Allocate(other, "default.tab1"), IsOk());
  ASSERT_THAT(AddPartitions(other, "default.tab1", {"p=3"}, kInsert), IsOk());
  ASSERT_THAT(Commit(other, {"default.tab1/p=3:I"}), IsOk());
  const auto partitions = [&] {
    v1::ListPartitionsRequest request;
    *request.mutable_table() = NameOf("default.tab1");
    request.set_txn_id(txn);
    return Ask<v1::ListPartitionsResponse>("/skep.v1.TableService/ListPartitions", request)
        ->partitions_size();
  };
  EXPECT_EQ(partitions(), 0);
  ASSERT_EQ(LockState(txn, "EW default.tab1:U*"), kAcquired);
  ASSERT_THAT(Refresh(txn), IsOk());
  EXPECT_EQ(partitions(), 1);
}

TEST_F(FreshSnapshots, S134WithoutExclusionTheSecondMergeLoses) {
  const int64_t a = Writer("SW default.tab2:U");
  const int64_t b = Writer("SW default.tab2:U");
  ASSERT_THAT(Commit(a, {"default.tab2:U"}), IsOk());
  EXPECT_THAT(Commit(b, {"default.tab2:U"}), HasReason(ErrorReason::kWriteConflict));
}

}  // namespace
}  // namespace skep::conformance
