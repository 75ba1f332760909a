// What transactions promise each other, each promise as a story of several clients (ISO-1 … ISO-6),
// and the lock matrix at every pair of levels.

#include <array>

#include <gmock/gmock.h>

#include "tests/conformance/txn/world.h"

namespace skep::conformance {
namespace {

using ::testing::ElementsAre;
using testing::HasReason;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;

class Isolation : public World {
 protected:
  Isolation() {
    Table("db.t", true);
    Table("db.u", true);
    Table("db.plain");
    Table("db2.t", true);
  }
  int64_t Begin() { return Open(); }
  std::vector<std::string> PartitionsOf(int64_t txn, const std::string& table) {
    v1::ListPartitionsRequest request;
    *request.mutable_table() = NameOf(table);
    request.set_txn_id(txn);
    const auto answer =
        Ask<v1::ListPartitionsResponse>("/skep.v1.TableService/ListPartitions", request);
    EXPECT_THAT(answer, IsOk());
    return {answer->partitions().begin(), answer->partitions().end()};
  }
  absl::Status Drop(int64_t txn, const std::string& table) {
    v1::DropTableRequest drop;
    drop.set_txn_id(txn);
    *drop.mutable_name() = NameOf(table);
    return Ask<v1::DropTableResponse>("/skep.v1.TableService/DropTable", drop).status();
  }
};

// -- the matrix

constexpr std::array<const char*, 4> kKinds = {"SR", "SW", "EW", "EX"};
constexpr std::array<const char*, 6> kScopes = {
    "db", "db.t", "db.t/p=1", "db.t/p=2", "db.u", "db2.t"};

// The rules as they are written (LCM-2, LCM-4, LCM-6), apart from the code's tables.
bool KindsConflict(size_t a, size_t b) {
  static constexpr bool kWaits[4][4] = {
      {false, false, false, true},  // SHARED_READ
      {false, false, true, true},   // SHARED_WRITE
      {false, true, true, true},    // EXCL_WRITE
      {true, true, true, true},     // EXCLUSIVE
  };
  return kWaits[a][b];
}
bool ScopesOverlap(const std::string& a, const std::string& b) {
  return a == b || a.rfind(b + ".", 0) == 0 || b.rfind(a + ".", 0) == 0 ||
         a.rfind(b + "/", 0) == 0 || b.rfind(a + "/", 0) == 0;
}
bool Waits(size_t asked, const std::string& where, size_t held, const std::string& held_where) {
  if (!ScopesOverlap(where, held_where) || !KindsConflict(asked, held)) return false;
  const auto is_read_of_database = [](size_t kind, const std::string& scope) {
    return kind == 0 && scope == "db";
  };
  const auto is_exclusive_below = [](size_t kind, const std::string& scope) {
    return kind == 3 && scope != "db";
  };
  return !(is_read_of_database(asked, where) && is_exclusive_below(held, held_where)) &&
         !(is_read_of_database(held, held_where) && is_exclusive_below(asked, where));
}

TEST_F(Isolation, EveryPairOfLocksDoesWhatTheMatrixSays) {  // LCM-2, LCM-4, LCM-6, LCM-5
  for (size_t held = 0; held < kKinds.size(); ++held) {
    for (size_t asked = 0; asked < kKinds.size(); ++asked) {
      for (const std::string held_where : kScopes) {
        for (const std::string where : kScopes) {
          const std::string first = std::string(kKinds[held]) + " " + held_where;
          const std::string second = std::string(kKinds[asked]) + " " + where;
          SCOPED_TRACE(first + ", then " + second);
          const int64_t a = Begin();
          const int64_t b = Begin();
          ASSERT_EQ(LockState(a, first), kAcquired);
          const Locked lock = Lock(b, {second});
          const bool waits = Waits(asked, where, held, held_where);
          EXPECT_EQ(lock.state, waits ? kWaiting : kAcquired);
          ASSERT_THAT(Abort(a), IsOk());
          EXPECT_THAT(Check(lock.id), IsOkAndHolds(kAcquired)) << "wakes at the release";
          ASSERT_THAT(Abort(b), IsOk());
        }
      }
    }
  }
  EXPECT_THAT(Locks(), IsEmpty());
}

TEST_F(Isolation, EveryWaitingLockBlocksWhatComesLater) {  // LCM-1
  for (size_t waiting = 0; waiting < kKinds.size(); ++waiting) {
    for (size_t asked = 0; asked < kKinds.size(); ++asked) {
      SCOPED_TRACE(std::string(kKinds[waiting]) + " waits, then " + kKinds[asked]);
      const int64_t holder = Begin();
      ASSERT_EQ(LockState(holder, "EX db.t/p=1"), kAcquired);
      const int64_t waiter = Begin();
      ASSERT_EQ(LockState(waiter, std::string(kKinds[waiting]) + " db.t"), kWaiting);
      // Another partition: only the waiting one can be in its way.
      const int64_t last = Begin();
      EXPECT_EQ(LockState(last, std::string(kKinds[asked]) + " db.t/p=2"),
                KindsConflict(asked, waiting) ? kWaiting : kAcquired);
      for (const int64_t txn : {last, waiter, holder}) ASSERT_THAT(Abort(txn), IsOk());
    }
  }
}

// -- the promises

TEST_F(Isolation, ReadsRepeat) {  // ISO-1
  Write("db.plain:I");
  const int64_t reader = Begin();
  const List first = ListOf(reader, "db.plain");
  Write("db.plain:U");
  const int64_t aborted = Begin();
  ASSERT_THAT(Allocate(aborted, "db.plain"), IsOk());
  ASSERT_THAT(Abort(aborted), IsOk());
  Restart();
  const List second = ListOf(reader, "db.plain");
  EXPECT_EQ(first.high, second.high);
  EXPECT_EQ(first.open, second.open);
  EXPECT_EQ(first.aborted, second.aborted);
}

TEST_F(Isolation, NothingUncommittedIsRead) {  // ISO-3
  const int64_t writer = Begin();
  ASSERT_THAT(Allocate(writer, "db.plain"), IsOkAndHolds(1));
  EXPECT_FALSE(ListOf(Begin(), "db.plain").Sees(1));
  ASSERT_THAT(Commit(writer, {"db.plain:I"}), IsOk());
  EXPECT_TRUE(ListOf(Begin(), "db.plain").Sees(1));
}

TEST_F(Isolation, AnUpdateIsNeverLost) {  // ISO-3, CON-7
  const int64_t a = Begin();
  const int64_t b = Begin();
  for (const int64_t txn : {a, b}) ASSERT_THAT(Allocate(txn, "db.t"), IsOk());
  ASSERT_THAT(Commit(a, {"db.t/p=1:U"}), IsOk());
  EXPECT_THAT(Commit(b, {"db.t/p=1:U"}), HasReason(ErrorReason::kWriteConflict));
}

TEST_F(Isolation, WriteSkewIsPossibleAndALockExcludesIt) {  // ISO-4
  const int64_t a = Begin();
  const int64_t b = Begin();
  for (const int64_t txn : {a, b}) {
    ASSERT_THAT(Allocate(txn, "db.t"), IsOk());
    ListOf(txn, "db.t");
  }
  EXPECT_THAT(Commit(a, {"db.t/p=1:U"}), IsOk()) << "read p=2, writes p=1";
  EXPECT_THAT(Commit(b, {"db.t/p=2:U"}), IsOk()) << "read p=1, writes p=2";
  const int64_t c = Begin();
  const int64_t d = Begin();
  EXPECT_EQ(LockState(c, "EW db.t"), kAcquired);
  EXPECT_EQ(LockState(d, "EW db.t"), kWaiting);
}

TEST_F(Isolation, InsertsRunSideBySideWithEverythingButAnOverwrite) {  // ISO-5, CON-6, R-5
  struct Case {
    const char* name;
    std::string first, second;
    bool conflict;
  };
  const std::vector<Case> cases = {
      {"insert, insert", "db.t/p=1:I", "db.t/p=1:I", false},
      {"update, insert", "db.t/p=1:U", "db.t/p=1:I", false},
      {"insert, update", "db.t/p=1:I", "db.t/p=1:U", false},
      {"insert, delete", "db.t/p=1:I", "db.t/p=1:D", false},
      {"overwrite, insert", "db.t/p=1:O", "db.t/p=1:I", true},
      {"insert, overwrite", "db.t/p=1:I", "db.t/p=1:O", true},
      {"update, delete", "db.t/p=1:U", "db.t/p=1:D", true},
      {"delete, delete", "db.t/p=1:D", "db.t/p=1:D", true},
      {"overwrite, overwrite", "db.t/p=1:O", "db.t/p=1:O", true},
      {"update of the table, delete", "db.t:U", "db.t/p=2:D", true},
      {"update elsewhere", "db.t/p=1:U", "db.t/p=2:U", false},
      {"update of another table", "db.t/p=1:U", "db.u/p=1:U", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const int64_t a = Begin();
    const int64_t b = Begin();
    ASSERT_THAT(Commit(a, {c.first}), IsOk());
    const absl::Status second = Commit(b, {c.second});
    if (c.conflict) {
      EXPECT_THAT(second, HasReason(ErrorReason::kWriteConflict));
      EXPECT_EQ(MetadataOf(second)["winnerTxnId"], std::to_string(a));
    } else {
      EXPECT_THAT(second, IsOk());
    }
  }
}

TEST_F(Isolation, ANewPartitionIsNoPhantom) {
  const int64_t reader = Begin();
  Write("db.t/p=new:I");
  EXPECT_THAT(PartitionsOf(reader, "db.t"), IsEmpty());
  Restart();
  EXPECT_THAT(PartitionsOf(reader, "db.t"), IsEmpty());
  EXPECT_THAT(PartitionsOf(Begin(), "db.t"), ElementsAre("p=new"));
}

TEST_F(Isolation, ASnapshotAfterALockWaitContainsWhoWasWaitedFor) {
  const int64_t holder = Begin();
  ASSERT_EQ(LockState(holder, "EW db.plain"), kAcquired);
  const int64_t waiter = Begin();
  const Locked lock = Lock(waiter, {"EW db.plain"});
  ASSERT_EQ(lock.state, kWaiting);
  ASSERT_THAT(Allocate(holder, "db.plain"), IsOkAndHolds(1));
  ASSERT_THAT(Commit(holder, {"db.plain:U"}), IsOk());
  v1::GetSnapshotRequest refresh;
  refresh.set_txn_id(waiter);
  refresh.set_refresh(true);
  const auto fresh =
      Ask<v1::GetSnapshotResponse>("/skep.v1.TransactionService/GetSnapshot", refresh);
  ASSERT_THAT(fresh, IsOk());
  EXPECT_TRUE(ListOf(waiter, "db.plain").Sees(1));
  EXPECT_THAT(Commit(waiter, {"db.plain:U"}), IsOk());
}

TEST_F(Isolation, ACommitAfterTheLeaseIsRefused) {
  const int64_t txn = Begin();
  ASSERT_EQ(LockState(txn, "EW db.t"), kAcquired);
  ASSERT_THAT(Allocate(txn, "db.t"), IsOkAndHolds(1));
  Pass(kLease + milliseconds(1));
  EXPECT_THAT(Commit(txn, {"db.t/p=1:U"}), HasReason(ErrorReason::kTxnAborted));
  EXPECT_THAT(Locks(), IsEmpty());
  EXPECT_THAT(ListOf(Begin(), "db.t").aborted, ElementsAre(1));
}

TEST_F(Isolation, AnAbortDuringALockWaitEndsTheWait) {
  const int64_t holder = Begin();
  ASSERT_EQ(LockState(holder, "EX db.t"), kAcquired);
  const int64_t waiter = Begin();
  v1::AcquireLocksRequest request;
  request.set_txn_id(waiter);
  auto* component = request.add_components();
  *component->mutable_resource() = ResourceOf("db.t");
  component->set_kind(v1::LOCK_KIND_SHARED_READ);
  const WireCall& call = Send("/skep.v1.LockService/AcquireLocks", request, seconds(60));
  ASSERT_FALSE(call.answered());
  ASSERT_THAT(Abort(waiter), IsOk());
  ASSERT_TRUE(call.answered()) << "told at once";
  const auto answer = AnswerOf<v1::AcquireLocksResponse>(call);
  if (answer.ok()) {
    EXPECT_EQ(answer->state(), v1::LOCK_STATE_ABORTED);
  } else {
    EXPECT_THAT(answer.status(), HasReason(ErrorReason::kTxnAborted));
  }
  EXPECT_THAT(Locks(), ::testing::SizeIs(1));
}

TEST_F(Isolation, AGrantIsPushedToTheWaitingCall) {
  const int64_t holder = Begin();
  ASSERT_EQ(LockState(holder, "EX db.t"), kAcquired);
  v1::AcquireLocksRequest request;
  request.set_txn_id(Begin());
  auto* component = request.add_components();
  *component->mutable_resource() = ResourceOf("db.t");
  component->set_kind(v1::LOCK_KIND_EXCLUSIVE);
  const WireCall& call = Send("/skep.v1.LockService/AcquireLocks", request, seconds(60));
  ASSERT_FALSE(call.answered());
  ASSERT_THAT(Commit(holder), IsOk());
  const auto answer = AnswerOf<v1::AcquireLocksResponse>(call);
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->state(), kAcquired);
}

TEST_F(Isolation, ATransactionStrengthensItsLock) {  // LCK-14, R-20
  const int64_t a = Begin();
  const int64_t b = Begin();
  ASSERT_EQ(LockState(a, "SR db.t"), kAcquired);
  ASSERT_EQ(LockState(b, "SR db.t"), kAcquired);
  EXPECT_EQ(LockState(a, "EW db.t"), kAcquired) << "beside the reader";
  const Locked exclusive = Lock(a, {"EX db.t"});
  EXPECT_EQ(exclusive.state, kWaiting) << "for the reader";
  ASSERT_THAT(Commit(b), IsOk());
  EXPECT_THAT(Check(exclusive.id), IsOkAndHolds(kAcquired));
}

TEST_F(Isolation, TwoThatStrengthenTheSameLockAreADeadlock) {  // LCQ-8, R-21
  const int64_t a = Begin();
  const int64_t b = Begin();
  ASSERT_EQ(LockState(a, "SR db.t"), kAcquired);
  ASSERT_EQ(LockState(b, "SR db.t"), kAcquired);
  const Locked first = Lock(a, {"EX db.t"});
  ASSERT_EQ(first.state, kWaiting);
  const auto second = TryLock(b, {"EX db.t"});
  EXPECT_THAT(second, HasReason(ErrorReason::kTxnAborted)) << "the youngest goes";
  EXPECT_EQ(CauseOf(b), v1::ABORT_CAUSE_DEADLOCK);
  EXPECT_THAT(Check(first.id), IsOkAndHolds(kAcquired));
}

TEST_F(Isolation, ADropWaitsForReadersAndBlocksNewOnes) {  // ISO-6
  const int64_t reader = Begin();
  ASSERT_EQ(LockState(reader, "SR db.plain"), kAcquired);
  const int64_t dropper = Begin();
  const Locked drop = Lock(dropper, {"EX db.plain"});
  EXPECT_EQ(drop.state, kWaiting);
  const int64_t late = Begin();
  const Locked late_lock = Lock(late, {"SR db.plain"});
  EXPECT_EQ(late_lock.state, kWaiting);
  EXPECT_THAT(Drop(dropper, "db.plain"), HasReason(ErrorReason::kOperationNotAllowed));
  ASSERT_THAT(Commit(reader), IsOk());
  EXPECT_THAT(Check(drop.id), IsOkAndHolds(kAcquired));
  ASSERT_THAT(Drop(dropper, "db.plain"), IsOk());
  ASSERT_THAT(Commit(dropper), IsOk());
  EXPECT_THAT(Check(late_lock.id), HasReason(ErrorReason::kNoSuchLock))
      << "what it waited for is no more";
  EXPECT_THAT(TryLock(late, {"SR db.plain"}), ::testing::Not(IsOk()));
}

TEST_F(Isolation, AWriterOfADroppedTableCannotCommit) {
  const int64_t writer = Begin();
  ASSERT_THAT(Allocate(writer, "db.plain"), IsOk());
  const int64_t dropper = Begin();
  ASSERT_EQ(LockState(dropper, "EX db.plain"), kAcquired);
  ASSERT_THAT(Drop(dropper, "db.plain"), IsOk());
  ASSERT_THAT(Commit(dropper), IsOk());
  EXPECT_THAT(Commit(writer, {"db.plain:I"}), HasReason(ErrorReason::kWriteConflict));
}

TEST_F(Isolation, ABatchWithGapsIsSeenWhereItCommitted) {  // STR-5, R-11
  const std::vector<int64_t> txns = OpenMany(5);
  for (size_t i = 0; i < txns.size(); ++i) {
    ASSERT_THAT(Allocate(txns[i], "db.plain"), IsOkAndHolds(static_cast<int64_t>(i) + 1));
  }
  ASSERT_THAT(Commit(txns[0], {"db.plain:I"}), IsOk());
  ASSERT_THAT(Abort(txns[1]), IsOk());
  ASSERT_THAT(Commit(txns[2], {"db.plain:I"}), IsOk());
  const List list = ListOf(Begin(), "db.plain");
  EXPECT_EQ(list.high, 5);
  EXPECT_THAT(list.aborted, ElementsAre(2));
  EXPECT_THAT(list.open, ElementsAre(4, 5));
}

TEST_F(Isolation, AWriteThatIsNotDeclaredCountsAsOneOfTheWholeTable) {
  const int64_t a = Begin();
  const int64_t b = Begin();
  ASSERT_THAT(Allocate(a, "db.t"), IsOk());
  ASSERT_THAT(Commit(a), IsOk()) << "no lock, no declaration";
  EXPECT_THAT(Commit(b, {"db.t/p=1:U"}), HasReason(ErrorReason::kWriteConflict));
}

}  // namespace
}  // namespace skep::conformance
