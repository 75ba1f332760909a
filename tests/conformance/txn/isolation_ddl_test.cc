// What drops and renames promise to those who read and write meanwhile. There is no call that drops
// a database or a partition, or that renames: they are what their locks make of them, with
// DropTable for each table of a database, and an overwrite for the rows of a partition.

#include <gmock/gmock.h>

#include "tests/conformance/txn/world.h"

namespace skep::conformance {
namespace {

using ::testing::ElementsAre;
using testing::HasReason;
using testing::IsOk;
using testing::IsOkAndHolds;

class IsolationOfDdl : public World {
 protected:
  IsolationOfDdl() {
    Table("db.t", true);
    Table("db.plain");
    Table("db2.t", true);
  }
  absl::Status Drop(int64_t txn, const std::string& table) {
    v1::DropTableRequest drop;
    drop.set_txn_id(txn);
    *drop.mutable_name() = NameOf(table);
    return Ask<v1::DropTableResponse>("/skep.v1.TableService/DropTable", drop).status();
  }
  absl::StatusOr<v1::GetValidWriteIdsResponse> AskLists(int64_t txn, const std::string& table) {
    v1::GetValidWriteIdsRequest request;
    request.set_txn_id(txn);
    *request.add_tables() = NameOf(table);
    return Ask<v1::GetValidWriteIdsResponse>("/skep.v1.TableService/GetValidWriteIds", request);
  }
  absl::StatusOr<v1::GetTableResponse> AskTable(int64_t txn, const std::string& table) {
    v1::GetTableRequest request;
    request.set_txn_id(txn);
    *request.mutable_name() = NameOf(table);
    return Ask<v1::GetTableResponse>("/skep.v1.TableService/GetTable", request);
  }
};

// -- drop of a table while it is read

TEST_F(IsolationOfDdl, AReaderOfADroppedTableGetsTheSameAnswer) {  // ISO-6
  struct Case {
    const char* name;
    v1::TransactionType type;
    const char* lock;
  };
  for (const Case& c : {Case{"a drop", v1::TRANSACTION_TYPE_DEFAULT, "EX db.plain"},
                        Case{"a soft one", v1::TRANSACTION_TYPE_SOFT_DELETE, "EW db.plain"}}) {
    SCOPED_TRACE(c.name);
    Write("db.plain:I");
    const int64_t reader = Open();
    const auto before = AskLists(reader, "db.plain");
    ASSERT_THAT(before, IsOk()) << "without a lock";
    const int64_t late = Open();
    const int64_t dropper = Open(c.type);
    ASSERT_EQ(LockState(dropper, c.lock), kAcquired);
    ASSERT_THAT(Drop(dropper, "db.plain"), IsOk());
    EXPECT_TRUE(ListOf(reader, "db.plain").Sees(1)) << "before the commit nothing has happened";
    ASSERT_THAT(Commit(dropper), IsOk());
    const auto again = AskLists(reader, "db.plain");
    ASSERT_THAT(again, IsOk());
    EXPECT_EQ(again->SerializeAsString(), before->SerializeAsString());
    EXPECT_TRUE(ListOf(late, "db.plain").Sees(1)) << "first asked for after the drop";
    EXPECT_THAT(AskTable(late, "db.plain"), IsOk());
    const int64_t after = Open();
    EXPECT_THAT(AskLists(after, "db.plain"), HasReason(ErrorReason::kNoSuchTable));
    const auto refused = Allocate(late, "db.plain").status();
    EXPECT_THAT(refused, HasReason(ErrorReason::kSnapshotTooOld)) << "nothing is written to it";
    EXPECT_EQ(MetadataOf(refused).at("table"), "db.plain");
    EXPECT_EQ(MetadataOf(refused).at("txnId"), std::to_string(late));
    EXPECT_EQ(StateOf(late), v1::TRANSACTION_STATE_OPEN) << "its other tables can be written";
    for (const int64_t open : {reader, late, after}) ASSERT_THAT(Commit(open), IsOk());
    Table("db.plain");
  }
}

TEST_F(IsolationOfDdl, ANamesakeIsNotTheTableThatWasRead) {
  Write("db.plain:I");
  const int64_t reader = Open();
  const int64_t dropper = Open();
  ASSERT_EQ(LockState(dropper, "EX db.plain"), kAcquired);
  ASSERT_THAT(Drop(dropper, "db.plain"), IsOk());
  ASSERT_THAT(Commit(dropper), IsOk());
  v1::CreateTableRequest again;
  *again.mutable_name() = NameOf("db.plain");
  again.add_columns()->set_name("id");
  again.mutable_columns(0)->set_type("bigint");
  EXPECT_THAT(Ask<v1::CreateTableResponse>("/skep.v1.TableService/CreateTable", again),
              ::testing::Not(IsOk()))
      << "its place is kept for the reader";
  ASSERT_THAT(Commit(reader), IsOk());
  Table("db.plain");
  Write("db.plain:I");
  EXPECT_TRUE(ListOf(Open(), "db.plain").Sees(1)) << "write ids begin anew with the new id";
}

TEST_F(IsolationOfDdl, ADropThatIsAbortedDropsNothing) {
  Write("db.plain:I");
  const int64_t dropper = Open();
  ASSERT_EQ(LockState(dropper, "EX db.plain"), kAcquired);
  ASSERT_THAT(Drop(dropper, "db.plain"), IsOk());
  const int64_t waiter = Open();
  const Locked waiting = Lock(waiter, {"SW db.plain:I"});
  EXPECT_EQ(waiting.state, kWaiting);
  ASSERT_THAT(Abort(dropper), IsOk());
  EXPECT_THAT(Check(waiting.id), IsOkAndHolds(kAcquired));
  EXPECT_THAT(Commit(waiter, {"db.plain:I"}), IsOk());
}

TEST_F(IsolationOfDdl, ADropLosesToAWriterThatCommittedFirst) {
  const int64_t dropper = Open(v1::TRANSACTION_TYPE_SOFT_DELETE);
  Write("db.plain:I");
  ASSERT_EQ(LockState(dropper, "EW db.plain"), kAcquired);
  ASSERT_THAT(Drop(dropper, "db.plain"), IsOk());
  EXPECT_THAT(Commit(dropper), HasReason(ErrorReason::kWriteConflict));
  EXPECT_THAT(AskTable(Open(), "db.plain"), IsOk());
}

// -- drop of a database: its lock, and each of its tables

TEST_F(IsolationOfDdl, ADropOfADatabaseWaitsForAllBelowAndGoesAsOne) {  // LCM-2, LCM-4, R-19
  const int64_t reader = Open();
  ASSERT_EQ(LockState(reader, "SR db.t/p=1"), kAcquired);
  const int64_t older = Open();
  const int64_t dropper = Open();
  const Locked lock = Lock(dropper, {"EX db"});
  EXPECT_EQ(lock.state, kWaiting) << "one partition is read";
  const int64_t late = Open();
  const Locked late_lock = Lock(late, {"SR db.plain"});
  EXPECT_EQ(late_lock.state, kWaiting) << "nobody overtakes";
  EXPECT_EQ(LockState(Open(), "EX db2.t"), kAcquired) << "another database";
  ASSERT_THAT(Commit(reader), IsOk());
  ASSERT_THAT(Check(lock.id), IsOkAndHolds(kAcquired));
  ASSERT_THAT(Drop(dropper, "db.t"), IsOk()) << "EXCLUSIVE on the database covers its tables";
  ASSERT_THAT(Drop(dropper, "db.plain"), IsOk());
  EXPECT_THAT(Drop(dropper, "db2.t"), HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(AskTable(older, "db.t"), IsOk()) << "not before the commit";
  ASSERT_THAT(Commit(dropper), IsOk());
  for (const char* table : {"db.t", "db.plain"}) {
    EXPECT_THAT(AskTable(Open(), table), HasReason(ErrorReason::kNoSuchTable)) << table;
    EXPECT_THAT(AskLists(older, table), IsOk()) << table << " is as it was for who was there";
  }
  EXPECT_THAT(AskTable(Open(), "db2.t"), IsOk());
  EXPECT_THAT(Check(late_lock.id), HasReason(ErrorReason::kNoSuchLock));
}

TEST_F(IsolationOfDdl, ASoftDropOfADatabaseLetsReadersPassAndHoldsBackWriters) {
  const int64_t dropper = Open(v1::TRANSACTION_TYPE_SOFT_DELETE);
  ASSERT_EQ(LockState(dropper, "EW db"), kAcquired);
  EXPECT_EQ(LockState(Open(), "SR db.t/p=1"), kAcquired);
  EXPECT_EQ(LockState(Open(), "SW db.t/p=1"), kWaiting);
  EXPECT_THAT(Drop(dropper, "db.t"), IsOk());
  EXPECT_THAT(Drop(dropper, "db.plain"), IsOk());
  EXPECT_THAT(Commit(dropper), IsOk());
  EXPECT_THAT(AskTable(Open(), "db.t"), HasReason(ErrorReason::kNoSuchTable));
}

// -- drop of a partition: its lock, and an overwrite that leaves no rows

TEST_F(IsolationOfDdl, ADropOfAPartitionLeavesOthersAlone) {
  Write("db.t/p=1:I");
  Write("db.t/p=2:I");
  const int64_t reader = Open();
  const List before = ListOf(reader, "db.t");
  ASSERT_EQ(LockState(Open(), "SR db.t/p=2"), kAcquired);
  const int64_t dropper = Open();
  ASSERT_EQ(LockState(dropper, "EX db.t/p=1:O"), kAcquired) << "p=2 is read beside it";
  EXPECT_EQ(LockState(Open(), "SR db.t/p=1"), kWaiting);
  EXPECT_EQ(LockState(Open(), "SR db.t"), kWaiting) << "all partitions means this one too";
  ASSERT_THAT(Allocate(dropper, "db.t"), IsOkAndHolds(3));
  ASSERT_THAT(Commit(dropper, {"db.t/p=1:O"}), IsOk());
  EXPECT_EQ(ListOf(reader, "db.t").high, before.high) << "ISO-1: an older reader sees the rows";
  EXPECT_TRUE(ListOf(Open(), "db.t").Sees(3));
}

TEST_F(IsolationOfDdl, ADropOfAPartitionConflictsBothWaysWithItsWriters) {
  const int64_t inserter = Open();
  const int64_t other = Open();
  const int64_t dropper = Open();
  for (const int64_t txn : {inserter, other, dropper}) {
    ASSERT_THAT(Allocate(txn, "db.t"), IsOk());
  }
  ASSERT_THAT(Commit(dropper, {"db.t/p=1:O"}), IsOk());
  EXPECT_THAT(Commit(inserter, {"db.t/p=1:I"}), HasReason(ErrorReason::kWriteConflict));
  EXPECT_THAT(Commit(other, {"db.t/p=2:I"}), IsOk());
  const int64_t second = Open();
  ASSERT_THAT(Allocate(second, "db.t"), IsOk());
  Write("db.t/p=2:I");
  EXPECT_THAT(Commit(second, {"db.t/p=2:O"}), HasReason(ErrorReason::kWriteConflict))
      << "rows that its snapshot never saw";
}

// -- rename: EXCLUSIVE on the table, whatever then changes its name

TEST_F(IsolationOfDdl, ARenameHasTheTableForItself) {
  const int64_t reader = Open();
  ASSERT_EQ(LockState(reader, "SR db.t/p=1"), kAcquired);
  const int64_t writer = Open();
  ASSERT_EQ(LockState(writer, "SW db.t/p=2:I"), kAcquired);
  const int64_t renamer = Open();
  const Locked lock = Lock(renamer, {"EX db.t", "SR db"});
  EXPECT_EQ(lock.state, kWaiting);
  EXPECT_EQ(LockState(Open(), "SR db.t/p=3"), kWaiting) << "nobody overtakes";
  EXPECT_EQ(LockState(Open(), "SR db.plain"), kAcquired);
  ASSERT_THAT(Commit(reader), IsOk());
  EXPECT_THAT(Check(lock.id), IsOkAndHolds(kWaiting)) << "all or nothing";
  ASSERT_THAT(Commit(writer, {"db.t/p=2:I"}), IsOk());
  EXPECT_THAT(Check(lock.id), IsOkAndHolds(kAcquired));
  EXPECT_EQ(LockState(Open(), "SW db.t/p=2:I"), kWaiting);
}

}  // namespace
}  // namespace skep::conformance
