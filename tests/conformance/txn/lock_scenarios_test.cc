// Locks: scenarios S049 to S107.

#include <set>

#include <gmock/gmock.h>

#include "tests/conformance/txn/world.h"

namespace skep::conformance {
namespace {

using ::testing::ElementsAre;
using testing::HasReason;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;
using ::testing::SizeIs;

constexpr char kP[] = "mydb.mytable/p=1";

class LockScenarios : public World {
 protected:
  LockScenarios() {
    for (const char* table : {"mydb.mytable", "mydb.other", "yourdb.yourtable"}) Table(table, true);
    Table("temp.t6");
    Table("temp.t7", true);
  }
  // Each by a request of its own outside transactions, as the scenarios have it.
  std::vector<v1::LockState> StatesOf(const std::vector<std::string>& locks) {
    std::vector<v1::LockState> states;
    for (const std::string& lock : locks) states.push_back(LockState(0, lock));
    return states;
  }
  std::string On(const std::string& kind, const std::string& resource) {
    return kind + " " + resource;
  }
};

TEST_F(LockScenarios, S049To053ScopesOverlap) {
  struct Case {
    const char* name;
    std::string held, asked;
    v1::LockState state;
  };
  const std::vector<Case> cases = {
      {"S049: a database twice", "EX mydb", "EX mydb", kWaiting},
      {"S050: a database and a table of it", "EX mydb", "EX mydb.mytable", kWaiting},
      {"S052: another table", "EX mydb.mytable", "EX mydb.other", kAcquired},
      {"S052: the same table", "EX mydb.mytable", "EX mydb.mytable", kWaiting},
      {"S053: a partition of it", "EX mydb.mytable", "EX mydb.mytable/p=1", kWaiting},
      {"S053: of another table", "EX mydb.mytable", "EX mydb.other/p=1", kAcquired},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Locked held = Lock(0, {c.held});
    ASSERT_EQ(held.state, kAcquired);
    const Locked asked = Lock(0, {c.asked});
    EXPECT_EQ(asked.state, c.state);
    ASSERT_THAT(Release(asked.id), IsOk());
    ASSERT_THAT(Release(held.id), IsOk());
  }
}

TEST_F(LockScenarios, S055ReadersShare) {
  EXPECT_THAT(StatesOf({On("SR", kP), On("SR", kP)}), ElementsAre(kAcquired, kAcquired));
}

TEST_F(LockScenarios, S056AnExclusiveStopsReaders) {
  EXPECT_THAT(StatesOf({On("EX", kP), On("SR", kP), On("SR", kP)}),
              ElementsAre(kAcquired, kWaiting, kWaiting));
}

TEST_F(LockScenarios, S058AnExclusiveStopsAReaderAndAWriter) {
  EXPECT_THAT(StatesOf({On("EX", kP), On("SR", kP)}), ElementsAre(kAcquired, kWaiting));
  EXPECT_EQ(LockState(Open(), On("SW", kP)), kWaiting);
}

TEST_F(LockScenarios, S059AReaderStopsAnExclusive) {
  EXPECT_THAT(StatesOf({On("SR", kP), On("EX", kP)}), ElementsAre(kAcquired, kWaiting));
}

TEST_F(LockScenarios, S061ASharedWriterLetsReadersIn) {
  EXPECT_EQ(LockState(Open(), On("SW", kP)), kAcquired);
  EXPECT_EQ(LockState(0, On("SR", kP)), kAcquired);
}

// Outside transactions a lock declares no write: the third asks without its INSERT.
TEST_F(LockScenarios, S062SharedWritersShare) {
  EXPECT_EQ(LockState(Open(), On("SW", kP)), kAcquired);
  EXPECT_EQ(LockState(Open(), On("SW", kP)), kAcquired);
  EXPECT_THAT(TryLock(0, {On("SW", kP) + ":I"}), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_EQ(LockState(0, On("SW", kP)), kAcquired);
}

TEST_F(LockScenarios, S064ExclusiveWritersQueue) {
  EXPECT_EQ(LockState(Open(), On("EW", kP)), kAcquired);
  EXPECT_EQ(LockState(Open(), On("EW", kP)), kWaiting);
  EXPECT_EQ(LockState(Open(), On("EW", kP)), kWaiting);
}

TEST_F(LockScenarios, S065AnExclusiveStopsEverybody) {
  EXPECT_THAT(StatesOf({On("EX", kP), On("EX", kP)}), ElementsAre(kAcquired, kWaiting));
  EXPECT_EQ(LockState(Open(), On("SW", kP)), kWaiting);
}

// The waiter would be told by itself; CheckLock is for clients that must poll.
TEST_F(LockScenarios, S067AnAbortLetsTheNextOneIn) {
  const int64_t a = Open();
  ASSERT_EQ(LockState(a, On("EW", kP)), kAcquired);
  const Locked b = Lock(Open(), {On("SW", kP)});
  ASSERT_EQ(b.state, kWaiting);
  ASSERT_THAT(Abort(a), IsOk());
  EXPECT_THAT(Check(b.id), IsOkAndHolds(kAcquired));
}

TEST_F(LockScenarios, S068AnUnknownLockIsRefused) {
  EXPECT_THAT(Check(23), HasReason(ErrorReason::kNoSuchLock));
}

TEST_F(LockScenarios, S070OneRequestHasManyComponents) {  // LCK-8, LCK-16
  const Locked lock = Lock(0, {"EX mydb.mytable/p=1", "EX mydb.mytable/p=2"});
  EXPECT_EQ(lock.state, kAcquired);
  EXPECT_THAT(Check(lock.id), IsOkAndHolds(kAcquired));
  EXPECT_THAT(Locks(), SizeIs(2));
  ASSERT_THAT(Release(lock.id), IsOk());
  EXPECT_THAT(Locks(), IsEmpty());
}

TEST_F(LockScenarios, S071ARequestIsGrantedAsAWhole) {  // LCK-10
  const Locked first = Lock(0, {"EX mydb.mytable/p=1", "EX mydb.mytable/p=2"});
  const Locked second = Lock(0, {"EX mydb.mytable/p=1", "EX mydb.mytable/p=2"});
  ASSERT_EQ(second.state, kWaiting);
  ASSERT_THAT(Release(first.id), IsOk());
  EXPECT_THAT(Check(second.id), IsOkAndHolds(kAcquired));
  for (const v1::Lock& component : Locks()) EXPECT_EQ(component.state(), kAcquired);
}

TEST_F(LockScenarios, S073AHeldLockOfATransactionStays) {  // LCU-2
  const Locked lock = Lock(Open(), {On("EX", kP)});
  EXPECT_THAT(Release(lock.id), HasReason(ErrorReason::kTxnOpen));
}

TEST_F(LockScenarios, S074ALockOutsideTransactionsHasALifeOfItsOwn) {  // LCU-1, LCU-5
  const Locked lock = Lock(0, {"EX mydb.mytable/p=1", "SW mydb.other", "SR yourdb"});
  EXPECT_EQ(lock.id, 1);
  EXPECT_EQ(lock.state, kAcquired);
  EXPECT_THAT(Check(1), IsOkAndHolds(kAcquired));
  EXPECT_THAT(Beat({}, {1}).locks_not_found(), IsEmpty());
  EXPECT_THAT(Release(1), IsOk());
}

TEST_F(LockScenarios, S076AReaderOfADatabaseIgnoresWhoEmptiesATable) {  // LCM-4
  ASSERT_EQ(LockState(Open(), "EX mydb.mytable"), kAcquired);
  EXPECT_EQ(LockState(Open(), "SR mydb"), kAcquired);
  ASSERT_EQ(LockState(Open(), "EX mydb.other/p=1"), kAcquired);
  EXPECT_EQ(LockState(Open(), "SR mydb"), kAcquired);
}

TEST_F(LockScenarios, S077AListShowsWhoHoldsAndWhoWaits) {  // LCK-9, LCK-12, LCK-13
  ASSERT_EQ(LockState(0, "EX mydb"), kAcquired);
  const int64_t txn = Open();
  ASSERT_EQ(LockState(txn, "SR mydb.mytable"), kWaiting);
  ASSERT_EQ(LockState(0, "SR yourdb.yourtable/p=1"), kAcquired);
  const std::vector<v1::Lock> locks = Locks();
  ASSERT_THAT(locks, SizeIs(3));
  EXPECT_EQ(locks[0].state(), kAcquired);
  EXPECT_EQ(locks[0].txn_id(), 0);
  EXPECT_TRUE(locks[0].has_acquire_time());
  EXPECT_EQ(locks[1].state(), kWaiting);
  EXPECT_EQ(locks[1].txn_id(), txn);
  EXPECT_FALSE(locks[1].has_acquire_time());
  EXPECT_EQ(locks[1].blocked_by_lock_id(), locks[0].lock_id());
  EXPECT_EQ(locks[2].state(), kAcquired);
  EXPECT_EQ(locks[2].user(), "me");
  EXPECT_EQ(locks[2].host(), "localhost");
}

// A filter shows what overlaps: what stands in the way of a table includes locks on its database.
TEST_F(LockScenarios, S079AListIsFiltered) {
  Table("db1.t14", true);
  for (const char* table : {"db2.t14", "db2.t15", "db2.t16"}) Table(table);
  ASSERT_EQ(Lock(0, {"SR db1.t14/p=today", "SR db1.t14/p=yesterday"}).state, kAcquired);
  for (const char* table : {"t14", "t15", "t16"}) {
    ASSERT_EQ(LockState(0, On("SR", std::string("db2.") + table)), kAcquired);
  }
  EXPECT_THAT(Locks("db2"), SizeIs(3));
  EXPECT_THAT(Locks("db1.t14"), SizeIs(2));
  EXPECT_THAT(Locks("db1.t14/p=today"), SizeIs(1));
  EXPECT_THAT(Locks("db2.t15"), SizeIs(1));
}

TEST_F(LockScenarios, S080ALockOutsideTransactionsSaysWhoseItIs) {  // LCK-1
  v1::AcquireLocksRequest request;
  auto* component = request.add_components();
  component->mutable_resource()->set_database("mydb");
  component->set_kind(v1::LOCK_KIND_SHARED_READ);
  EXPECT_THAT(Ask<v1::AcquireLocksResponse>("/skep.v1.LockService/AcquireLocks", request),
              HasReason(ErrorReason::kInvalidRequest));
}

// Components are not merged: own ones never block each other, so there is no need to (LCK-15).
TEST_F(LockScenarios, S082ARequestMayNameAThingAndWhatContainsIt) {
  for (const std::vector<std::string>& pair :
       {std::vector<std::string>{"EX mydb", "EX mydb.mytable"},
        {"EX mydb.mytable", "EX mydb.mytable/p=1"},
        {"SR mydb", "SR yourdb"},
        {"SR mydb.mytable", "SR mydb.other"}}) {
    const Locked lock = Lock(0, pair);
    EXPECT_EQ(lock.state, kAcquired) << pair[0];
    EXPECT_THAT(Locks(), SizeIs(2));
    ASSERT_THAT(Release(lock.id), IsOk());
  }
}

TEST_F(LockScenarios, S083AReaderQueuesBehindAWaitingDrop) {  // LCQ-1
  ASSERT_EQ(LockState(Open(), "SR temp.t6"), kAcquired);
  ASSERT_EQ(Lock(Open(), {"EX temp.t6", "SR temp"}).state, kWaiting);
  EXPECT_EQ(LockState(Open(), "SR temp.t6"), kWaiting);
  EXPECT_THAT(Locks(), SizeIs(4));
}

TEST_F(LockScenarios, S085AQueueIsServedInItsOrder) {
  const int64_t a = Open();
  ASSERT_EQ(Lock(a, {"SR temp.t7/p=1", "SR temp.t7/p=2"}).state, kAcquired);
  const int64_t b = Open();
  const Locked drop = Lock(b, {"EX temp.t7/p=1"});
  ASSERT_EQ(drop.state, kWaiting);
  const Locked c = Lock(Open(), {"SR temp.t7/p=1", "SR temp.t7/p=2"});
  ASSERT_EQ(c.state, kWaiting);
  ASSERT_THAT(Commit(a), IsOk());
  EXPECT_THAT(Check(drop.id), IsOkAndHolds(kAcquired));
  EXPECT_THAT(Check(c.id), IsOkAndHolds(kWaiting));
  ASSERT_THAT(Abort(b), IsOk());
  EXPECT_THAT(Check(c.id), IsOkAndHolds(kAcquired));
}

// No wait is for every kind here, and leaves nothing behind.
TEST_F(LockScenarios, S086ARequestThatMayNotWaitSaysWhoIsInItsWay) {
  ASSERT_EQ(Lock(Open(), {"SR temp.t7/p=1", "SR temp.t7/p=2"}).state, kAcquired);
  const int64_t dropper = Open();
  ASSERT_EQ(LockState(dropper, "EX temp.t7/p=1"), kWaiting);
  const auto refused = TryLock(Open(), {"SR temp.t7/p=1", "SR temp.t7/p=2"}, true);
  ASSERT_THAT(refused, IsOk());
  EXPECT_EQ(refused->state, kNotAcquired);
  EXPECT_THAT(refused->reason, ::testing::HasSubstr("temp.t7/p=1"));
  EXPECT_THAT(refused->reason, ::testing::HasSubstr("transaction " + std::to_string(dropper)));
  EXPECT_THAT(Locks(), SizeIs(3));
}

TEST_F(LockScenarios, S088ADropGetsItsTurn) {
  const int64_t a = Open();
  ASSERT_EQ(LockState(a, "SR temp.t6"), kAcquired);
  const int64_t b = Open();
  const Locked drop = Lock(b, {"EX temp.t6", "SR temp"});
  ASSERT_EQ(drop.state, kWaiting);
  ASSERT_THAT(Commit(a), IsOk());
  EXPECT_THAT(Check(drop.id), IsOkAndHolds(kAcquired));
  ASSERT_THAT(Abort(b), IsOk());
  EXPECT_THAT(Locks(), IsEmpty());
}

TEST_F(LockScenarios, S089ADropOfADatabaseWaitsForAWriterInIt) {
  const int64_t a = Open();
  ASSERT_EQ(LockState(a, "SW temp.t7:U*"), kAcquired);
  const Locked drop = Lock(Open(), {"EX temp"});
  EXPECT_EQ(drop.state, kWaiting);
  ASSERT_THAT(Commit(a, {"temp.t7"}), IsOk());
  EXPECT_THAT(Check(drop.id), IsOkAndHolds(kAcquired));
}

// A table has a lock from its creation on; the name is what two creators fight for.
TEST_F(LockScenarios, S091OfTwoCreatorsOneIsRefusedAtOnce) {
  EXPECT_THAT(TryLock(Open(), {"EW temp.new:I"}), HasReason(ErrorReason::kNoSuchTable));
  Table("temp.new");
  v1::CreateTableRequest request;
  *request.mutable_name() = NameOf("temp.new");
  auto* column = request.add_columns();
  column->set_name("a");
  column->set_type("bigint");
  EXPECT_THAT(Ask<v1::CreateTableResponse>("/skep.v1.TableService/CreateTable", request),
              HasReason(ErrorReason::kAlreadyExists));
}

// What a statement locks is its engine's to say: S092 to S107 ask for what Hive's planner asks for.
TEST_F(LockScenarios, S092AnAlterWaitsForAnInsert) {
  ASSERT_EQ(LockState(Open(), "SR temp.t6"), kAcquired);
  EXPECT_EQ(LockState(Open(), "EX temp.t6"), kWaiting);
}

TEST_F(LockScenarios, S094ACreateSharesItsDatabase) {
  EXPECT_EQ(LockState(Open(), "SR temp"), kAcquired);
  EXPECT_EQ(LockState(Open(), "SR temp"), kAcquired);
}

TEST_F(LockScenarios, S095AnOverwriteReadsItsSourceAndExcludesOthers) {
  EXPECT_EQ(Lock(Open(), {"SR temp.t6", "EX temp.t7:O*"}).state, kAcquired);
  EXPECT_EQ(LockState(Open(), "SR temp.t7"), kWaiting);
  EXPECT_EQ(Lock(Open(), {"SR mydb.mytable", "EW mydb.other:O*"}).state, kAcquired);
  EXPECT_EQ(LockState(Open(), "SR mydb.other"), kAcquired) << "readers go on under EXCL_WRITE";
}

TEST_F(LockScenarios, S097AReaderOfManyPartitionsStopsAnExclusive) {
  ASSERT_EQ(
      Lock(Open(), {"SR mydb.mytable", "SR mydb.mytable/p=1", "SR mydb.other", "SR mydb.other/p=1"})
          .state,
      kAcquired);
  EXPECT_EQ(LockState(Open(), "EX mydb.other/p=1"), kWaiting);
  EXPECT_EQ(LockState(Open(), "SR mydb.other/p=2"), kAcquired);
}

TEST_F(LockScenarios, S100ATruncateLetsReadersGoOnOrNot) {
  ASSERT_EQ(LockState(Open(), "EW temp.t6:O"), kAcquired);
  EXPECT_EQ(LockState(Open(), "SR temp.t6"), kAcquired);
  ASSERT_EQ(LockState(Open(), "EX temp.t7:O"), kAcquired);
  EXPECT_EQ(LockState(Open(), "SR temp.t7"), kWaiting);
}

TEST_F(LockScenarios, S103ASoftDropWaitsForNoReader) {
  const int64_t writer = Open();
  ASSERT_THAT(Allocate(writer, "temp.t6"), IsOk());
  ASSERT_THAT(Commit(writer, {"temp.t6:I"}), IsOk());
  const int64_t reader = Open();
  const List before = ListOf(reader, "temp.t6");
  EXPECT_TRUE(before.Sees(1)) << "a reader without a lock";
  const int64_t dropper = Open(v1::TRANSACTION_TYPE_SOFT_DELETE);
  ASSERT_EQ(Lock(dropper, {"EW temp.t6", "SR temp"}).state, kAcquired);
  v1::DropTableRequest drop;
  drop.set_txn_id(dropper);
  *drop.mutable_name() = NameOf("temp.t6");
  ASSERT_THAT(Ask<v1::DropTableResponse>("/skep.v1.TableService/DropTable", drop), IsOk());
  ASSERT_THAT(Commit(dropper), IsOk());
  EXPECT_EQ(StateOf(reader), v1::TRANSACTION_STATE_OPEN);
  EXPECT_EQ(stored().dropped_tables.size(), 1u) << "R-12: its place stays until the reader is over";
  ASSERT_THAT(Commit(reader), IsOk());
  Table("temp.t6");
  EXPECT_EQ(ListOf(Open(), "temp.t6").high, 0) << "the new table has nothing of the old one";
}

TEST_F(LockScenarios, S104ADropOfADatabaseTakesWhatItMust) {
  EXPECT_EQ(Lock(Open(), {"SR mydb", "EW mydb.mytable", "EX mydb.other"}).state, kAcquired);
  EXPECT_EQ(LockState(Open(), "EW yourdb"), kAcquired);
  EXPECT_EQ(LockState(Open(), "SR yourdb.yourtable"), kAcquired) << "readers pass a soft drop";
  EXPECT_EQ(LockState(Open(), "SW yourdb.yourtable"), kWaiting);
}

TEST_F(LockScenarios, S106AQuerysLocksGoWithItsCommit) {  // CMT-16, CMT-17, CMT-20
  const int64_t txn = Open();
  ASSERT_EQ(
      Lock(
          txn,
          {"SR mydb.mytable/p=1", "SR mydb.mytable/p=2", "SR mydb.mytable/p=3", "SR mydb.other:I*"})
          .state,
      kAcquired);
  std::set<int64_t> ids;
  for (const v1::Lock& lock : Locks()) ids.insert(lock.lock_id());
  EXPECT_THAT(ids, SizeIs(1));
  EXPECT_THAT(Locks(), SizeIs(4));
  ASSERT_THAT(Commit(txn, {"mydb.other"}), IsOk());
  EXPECT_THAT(Locks(), IsEmpty());
}

}  // namespace
}  // namespace skep::conformance
