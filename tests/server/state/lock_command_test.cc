// Locks in the state: rows, declared writes, notices, staleness, deadlocks; races.
// What blocks what is tested with the lock table.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr LockKind kSR = LockKind::kSharedRead, kSW = LockKind::kSharedWrite,
                   kEW = LockKind::kExclWrite, kEX = LockKind::kExclusive;

struct Locking {
  Locking() {
    for (const char* name : {"a", "b"}) server.MakeTable(name, true);
    server.Notices();
  }
  LockAnswer Ask(TxnId txn, LockComponent component, bool wait = true) {
    const auto answer = server.Lock(txn, {std::move(component)}, wait);
    EXPECT_THAT(answer, IsOk());
    return answer.ok() ? *answer : LockAnswer{};
  }
  Server server;
};

TEST(AcquireLocks, GrantsAtTheReleaseAndTellsTheWaiter) {
  Locking l;
  const TxnId holder = l.server.Open(), waiter = l.server.Open();
  const LockAnswer held = l.Ask(holder, OnTable("a", kEX));
  EXPECT_EQ(held.state, LockState::kAcquired);
  const LockAnswer waits = l.Ask(waiter, OnTable("a", kSR));
  ASSERT_EQ(waits.state, LockState::kWaiting);
  EXPECT_EQ(waits.position, 1);
  ASSERT_EQ(waits.blocked_by.size(), 1u);
  EXPECT_EQ(waits.blocked_by[0].txn, holder);
  EXPECT_EQ(waits.blocked_by[0].user, "ann");
  EXPECT_THAT(waits.reason, HasSubstr("transaction 1 of ann holds EXCLUSIVE on db.a"));
  EXPECT_THAT(l.server.Notices(), IsEmpty());
  l.server.Restart();  // the queue is durable
  ASSERT_THAT(l.server.Commit(holder), IsOk());
  const auto notices = l.server.Notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].lock, waits.lock);
  EXPECT_EQ(notices[0].answer.state, LockState::kAcquired);
  EXPECT_EQ(l.server.stored().locks.begin()->second.state, LockState::kAcquired);
}

TEST(AcquireLocks, RefusesWithoutATraceWhereItMustNotWait) {
  Locking l;
  const TxnId holder = l.server.Open(), other = l.server.Open();
  l.Ask(holder, OnTable("a", kEX));
  const StoredState before = l.server.stored();
  const LockAnswer refused = l.Ask(other, OnTable("a", kSR, WriteOp::kInsert), false);
  EXPECT_EQ(refused.state, LockState::kNotAcquired);
  EXPECT_EQ(refused.lock, LockId());
  EXPECT_THAT(refused.reason, HasSubstr("holds EXCLUSIVE"));
  EXPECT_EQ(l.server.stored() == before, true) << "not even the unit's number";
  EXPECT_THAT(l.server.stored().components, IsEmpty());
  EXPECT_EQ(l.Ask(holder, OnTable("b", kSR)).lock, LockId(2)) << "the id was not used up";
}

TEST(AcquireLocks, DeclaresWritesWhenGrantedOnly) {  // LCK-5, LCU-4
  Locking l;
  const TxnId holder = l.server.Open(), gives_up = l.server.Open(), gets = l.server.Open();
  l.Ask(holder, OnTable("a", kEX));
  const LockAnswer given_up = l.Ask(gives_up, OnTable("a", kSR, WriteOp::kUpdate, "p=1"));
  const LockAnswer granted = l.Ask(gets, OnTable("a", kSR, WriteOp::kInsert, "p=1"));
  EXPECT_THAT(l.server.stored().components, IsEmpty());
  ASSERT_THAT(l.server.Release(given_up.lock), IsOk());
  l.server.Restart();  // what a waiting request means to write survives
  ASSERT_THAT(l.server.Commit(holder), IsOk());
  ASSERT_EQ(l.server.stored().components.size(), 1u);
  const ComponentRow& row = l.server.stored().components.begin()->second;
  EXPECT_EQ(row.txn, gets);
  EXPECT_EQ(row.op, WriteOp::kInsert);
  EXPECT_EQ(row.partition, "p=1");
  EXPECT_EQ(l.server.state()
                .CheckLock(granted.lock, l.server.now(), *std::make_unique<Unit>(CommitSeq(99)))
                ->state,
            LockState::kAcquired);
}

TEST(AcquireLocks, SaysWhenTheSnapshotIsStale) {
  struct Case {
    const char* name;
    LockKind kind;
    WriteOp committed;
    bool stale;
  };
  for (const Case& c : {Case{"EXCL_WRITE over an update", kEW, WriteOp::kUpdate, true},
                        Case{"EXCL_WRITE over an overwrite", kEW, WriteOp::kOverwrite, true},
                        Case{"EXCL_WRITE over an insert", kEW, WriteOp::kInsert, false},
                        Case{"EXCLUSIVE over an insert", kEX, WriteOp::kInsert, true},
                        Case{"SHARED_WRITE over an update", kSW, WriteOp::kUpdate, false}}) {
    SCOPED_TRACE(c.name);
    Locking l;
    const TxnId txn = l.server.Open();
    l.server.Write("a", c.committed, "p=1");
    EXPECT_EQ(l.Ask(txn, OnTable("a", c.kind, std::nullopt, "p=1")).snapshot_stale, c.stale);
    EXPECT_FALSE(l.Ask(txn, OnTable("a", c.kind, std::nullopt, "p=2")).snapshot_stale);
    EXPECT_FALSE(l.Ask(l.server.Open(), OnTable("b", c.kind)).snapshot_stale);
  }
}

TEST(AcquireLocks, SaysSoInTheNoticeToo) {
  Locking l;
  const TxnId holder = l.server.Open(), waiter = l.server.Open();
  l.Ask(holder, OnTable("a", kEW, WriteOp::kUpdate));
  l.Ask(waiter, OnTable("a", kEW, WriteOp::kUpdate));
  ASSERT_THAT(l.server.Allocate(holder, T("a")), IsOk());
  ASSERT_THAT(l.server.Commit(holder, {{T("a"), {{"p=1", WriteOp::kUpdate}}}}), IsOk());
  const auto notices = l.server.Notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_TRUE(notices[0].answer.snapshot_stale);
  ASSERT_THAT(l.server.Refresh(waiter), IsOk());
  ASSERT_THAT(l.server.Allocate(waiter, T("a")), IsOk());
  EXPECT_THAT(l.server.Commit(waiter, {{T("a"), {{"p=1", WriteOp::kUpdate}}}}), IsOk())
      << "waiting politely did not lead to an abort";
}

TEST(AcquireLocks, IsRefusedForWhatMakesNoSense) {
  Locking l;
  const TxnId txn = l.server.Open(), reader = l.server.Open(TxnType::kReadOnly);
  struct Case {
    const char* name;
    TxnId txn;
    LockComponent component;
    ErrorReason reason;
  };
  const std::vector<Case> cases = {
      {"no database", txn, {{"", "", ""}, kSR, {}, false}, ErrorReason::kInvalidRequest},
      {"a partition of no table",
       txn,
       {{"db", "", "p=1"}, kSR, {}, false},
       ErrorReason::kInvalidRequest},
      {"a write to a database",
       txn,
       {{"db", "", ""}, kSR, WriteOp::kInsert, false},
       ErrorReason::kInvalidRequest},
      {"dynamic without operation",
       txn,
       {{"db", "a", ""}, kSR, {}, true},
       ErrorReason::kInvalidRequest},
      {"a write outside transactions",
       TxnId(),
       OnTable("a", kSR, WriteOp::kInsert),
       ErrorReason::kInvalidRequest},
      {"a drop by lock", txn, OnTable("a", kEX, WriteOp::kDrop), ErrorReason::kInvalidRequest},
      {"no such table", txn, OnTable("nowhere", kSR), ErrorReason::kNoSuchTable},
      {"no such table, outside", TxnId(), OnTable("nowhere", kSR), ErrorReason::kNoSuchTable},
      {"a strange partition", txn, OnTable("a", kSR, {}, "q=1"), ErrorReason::kInvalidRequest},
      {"TYP-3: a write of a read-only one",
       reader,
       OnTable("a", kSR, WriteOp::kInsert),
       ErrorReason::kOperationNotAllowed},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(l.server.Lock(c.txn, {c.component}), HasReason(c.reason));
  }
  EXPECT_THAT(l.server.Lock(txn, {}), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(l.server.stored().locks, IsEmpty());
}

TEST(AcquireLocks, OnADatabaseNeedsNoTable) {
  Server server;
  EXPECT_EQ(server.Lock(server.Open(), {{{"new", "", ""}, kSR, {}, false}})->state,
            LockState::kAcquired);
}

TEST(Deadlocks, CostTheYoungestAndNameTheCycle) {
  Locking l;
  const TxnId old = l.server.Open(), young = l.server.Open();
  l.Ask(old, OnTable("a", kEX));
  l.Ask(young, OnTable("b", kEX));
  const LockAnswer waits = l.Ask(old, OnTable("b", kSR));
  ASSERT_EQ(waits.state, LockState::kWaiting);
  const auto victim = l.server.Lock(young, {OnTable("a", kSR)});
  ASSERT_THAT(victim, HasReason(ErrorReason::kTxnAborted));
  EXPECT_EQ(MetadataOf(victim.status())["cause"], "deadlock");
  EXPECT_THAT(MessageOf(victim.status()), HasSubstr("transaction 1"));
  EXPECT_EQ(l.server.state().GetTxn(young, l.server.now())->cause, AbortCause::kDeadlock);
  const auto notices = l.server.Notices();
  ASSERT_FALSE(notices.empty());
  EXPECT_EQ(notices.back().lock, waits.lock);
  EXPECT_EQ(notices.back().answer.state, LockState::kAcquired) << "the survivor goes on at once";
}

TEST(Deadlocks, TellAVictimThatWaitsElsewhere) {
  Locking l;
  const TxnId old = l.server.Open(), young = l.server.Open();
  l.Ask(old, OnTable("a", kEX));
  l.Ask(young, OnTable("b", kEX));
  const LockAnswer of_victim = l.Ask(young, OnTable("a", kSR));
  EXPECT_EQ(l.Ask(old, OnTable("b", kSR)).state, LockState::kAcquired);
  const auto notices = l.server.Notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].lock, of_victim.lock);
  EXPECT_EQ(notices[0].answer.state, LockState::kAborted);
}

TEST(Deadlocks, SeeLocksOutsideTransactions) {
  Locking l;
  const LockAnswer outside = l.Ask(TxnId(), OnTable("a", kEX));
  const TxnId txn = l.server.Open();
  l.Ask(txn, OnTable("b", kEX));
  EXPECT_EQ(l.Ask(txn, OnTable("a", kSR)).state, LockState::kWaiting);
  const LockAnswer second = l.Ask(TxnId(), OnTable("b", kSR));
  EXPECT_EQ(second.state, LockState::kWaiting)
      << "two locks outside any transaction are two owners: no cycle";
  EXPECT_EQ(l.server.StateOf(txn), TxnState::kOpen);
  ASSERT_THAT(l.server.Release(outside.lock), IsOk());
}

TEST(OwnLocks, CoverExceptBelowASharedDatabase) {
  Locking l;
  const TxnId t1 = l.server.Open(), t2 = l.server.Open();
  l.Ask(t1, {{"db", "", ""}, kSR, {}, false});
  EXPECT_EQ(l.Ask(t2, OnTable("a", kEX)).state, LockState::kAcquired);
  EXPECT_EQ(l.Ask(t1, OnTable("a", kSR)).state, LockState::kWaiting);
}

TEST(OwnLocks, LetThroughWhatTheyBlock) {
  Locking l;
  const TxnId t1 = l.server.Open(), t2 = l.server.Open(), t3 = l.server.Open();
  l.Ask(t1, OnTable("a", kSR, {}, "p=1"));
  EXPECT_EQ(l.Ask(t2, OnTable("a", kEX)).state, LockState::kWaiting);
  EXPECT_EQ(l.Ask(t1, OnTable("a", kSR, {}, "p=2")).state, LockState::kAcquired)
      << "no false deadlock";
  EXPECT_EQ(l.Ask(t3, OnTable("a", kSR, {}, "p=2")).state, LockState::kWaiting) << "no starvation";
}

TEST(ReleaseLock, OfAnAcquiredOneOfAnOpenTransactionIsRefused) {
  Locking l;
  const TxnId txn = l.server.Open(), waiter = l.server.Open();
  const LockAnswer held = l.Ask(txn, OnTable("a", kEX));
  const LockAnswer waits = l.Ask(waiter, OnTable("a", kSR));
  const absl::Status refused = l.server.Release(held.lock);
  ASSERT_THAT(refused, HasReason(ErrorReason::kTxnOpen));
  EXPECT_EQ(MetadataOf(refused)["txnId"], txn.ToString());
  EXPECT_THAT(l.server.Commit(txn), IsOk()) << "the refusal changed nothing";
  EXPECT_EQ(l.server.Notices().at(0).lock, waits.lock);
}

TEST(ReleaseLock, ByForceMakesTheTransactionAbortOnly) {
  Locking l;
  const TxnId txn = l.server.Open(), waiter = l.server.Open();
  const LockAnswer held = l.Ask(txn, OnTable("a", kEX));
  const LockAnswer waits = l.Ask(waiter, OnTable("a", kSR));
  l.server.Notices();
  ASSERT_THAT(l.server.Release(held.lock, true), IsOk());
  const auto notices = l.server.Notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].lock, waits.lock);
  l.server.Restart();
  EXPECT_THAT(l.server.Commit(txn), HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_EQ(l.server.StateOf(txn), TxnState::kOpen);
  EXPECT_THAT(l.server.Abort(txn), IsOk());
}

TEST(ReleaseLock, OfAWaitingOneNeverAborts) {
  Locking l;
  const TxnId holder = l.server.Open(), waiter = l.server.Open();
  const LockAnswer held = l.Ask(holder, OnTable("a", kEX));
  const LockAnswer waits = l.Ask(waiter, OnTable("a", kSR));
  ASSERT_THAT(l.server.Release(waits.lock), IsOk());
  EXPECT_EQ(l.server.StateOf(waiter), TxnState::kOpen);
  EXPECT_EQ(l.server.Notices().at(0).answer.state, LockState::kNotAcquired);
  EXPECT_THAT(l.server.Release(waits.lock), IsOk()) << "LCU-3: absent";
  // It races its grant: by now it is acquired, and giving it up is refused, never an abort.
  const LockAnswer again = l.Ask(waiter, OnTable("a", kSR));
  ASSERT_THAT(l.server.Commit(holder), IsOk());
  EXPECT_THAT(l.server.Release(again.lock), HasReason(ErrorReason::kTxnOpen));
  EXPECT_EQ(l.server.StateOf(waiter), TxnState::kOpen);
  EXPECT_EQ(held.state, LockState::kAcquired);
}

TEST(LocksOutsideTransactions, LiveByTheirOwnHeartbeats) {  // TMO-1, LCQ-5
  Locking l;
  const LockAnswer held = l.Ask(TxnId(), OnTable("a", kEX));
  const LockAnswer silent = l.Ask(TxnId(), OnTable("b", kEX));
  const TxnId waiter = l.server.Open();
  l.Ask(waiter, OnTable("b", kSR));
  l.server.Pass(kLease - seconds(1));
  EXPECT_THAT(l.server.Beat({waiter}, {held.lock, LockId(99)}).locks_not_found,
              ElementsAre(LockId(99)));
  l.server.Pass(seconds(2));
  l.server.Reap();
  const auto notices = l.server.Notices();
  ASSERT_EQ(notices.size(), 1u) << "the waiter for the silent one";
  EXPECT_EQ(notices[0].answer.state, LockState::kAcquired);
  EXPECT_THAT(
      l.server.Do([&](State& s, Now now, Unit& u) { return s.CheckLock(held.lock, now, u); }),
      IsOk());
  EXPECT_THAT(
      l.server.Do([&](State& s, Now now, Unit& u) { return s.CheckLock(silent.lock, now, u); }),
      HasReason(ErrorReason::kNoSuchLock));
}

// Rows that no state machine of this kind leaves behind, an operator's hand maybe: what nothing
// blocks is granted by the first Reap, unless it is gone by then.
TEST(WaitingRows, ThatNothingBlocksMayEndBeforeTheyAreGranted) {
  Locking l;
  const TxnId holder = l.server.Open(), waiter = l.server.Open();
  const auto held = l.server.Lock(holder, {OnTable("a", LockKind::kExclusive)});
  ASSERT_EQ(l.server.Lock(waiter, {OnTable("a", LockKind::kSharedRead)})->state,
            LockState::kWaiting);
  StoredState left = l.server.stored();
  std::erase_if(left.locks, [&](const auto& row) { return row.first.first == held->lock; });
  for (const bool ends : {false, true}) {
    SCOPED_TRACE(ends);
    StoredState rows = left;
    const Now now = l.server.now();
    auto state = State::Load({}, rows, now);
    ASSERT_THAT(state, IsOk());
    Unit unit = (*state)->Begin();
    if (ends) {
      ASSERT_THAT((*state)->AbortOne(waiter, AbortCause::kUser, now, unit), IsOk());
    }
    (*state)->Reap(now, unit);
    (*state)->Seal(unit);
    ApplyEffects(rows, unit.effects());
    (*state)->Published(unit);
    EXPECT_EQ((*state)->ToStored() == rows, true);
    EXPECT_EQ(rows.locks.size(), ends ? 0u : 1u);
  }
}

TEST(CheckLock, FindsALeaseThatIsOver) {  // R-15, LCK-18
  Locking l;
  const LockAnswer outside = l.Ask(TxnId(), OnTable("a", kSR));
  const TxnId txn = l.server.Open();
  const LockAnswer inside = l.Ask(txn, OnTable("b", kSR));
  l.server.Pass(kLease + seconds(1));
  const auto check = [&](LockId id) {
    return l.server.Do([&](State& s, Now now, Unit& u) { return s.CheckLock(id, now, u); });
  };
  EXPECT_THAT(check(outside.lock), HasReason(ErrorReason::kNoSuchLock));
  EXPECT_THAT(check(inside.lock), HasReason(ErrorReason::kTxnAborted));
  EXPECT_THAT(check(inside.lock), HasReason(ErrorReason::kNoSuchLock));
}

TEST(EndOfATransaction, TellsItsWaitingRequests) {
  Locking l;
  const TxnId holder = l.server.Open(), txn = l.server.Open();
  l.Ask(holder, OnTable("a", kEX));
  const LockAnswer waits = l.Ask(txn, OnTable("a", kSR));
  ASSERT_THAT(l.server.Abort(txn, AbortCause::kOperator), IsOk());
  const auto notices = l.server.Notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].lock, waits.lock);
  EXPECT_EQ(notices[0].answer.state, LockState::kAborted);
  EXPECT_THAT(notices[0].answer.reason, HasSubstr("operator"));
}

TEST(ListLocks, FiltersAndPagesWithoutSplittingARequest) {
  Locking l;
  const TxnId t1 = l.server.Open(), t2 = l.server.Open();
  ASSERT_THAT(l.server.Lock(t1, {OnTable("a", kEX), OnTable("b", kSR)}), IsOk());
  ASSERT_THAT(l.server.Lock(t2, {OnTable("a", kSR, {}, "p=1")}), IsOk());
  const auto ids = [&](ListLocks command) {
    std::vector<std::pair<int64_t, int32_t>> found;
    for (const LockRow& row : l.server.state().Locks(command))
      found.emplace_back(row.lock.value(), row.component);
    return found;
  };
  using P = std::pair<int64_t, int32_t>;
  EXPECT_THAT(ids({}), ElementsAre(P(1, 1), P(1, 2), P(2, 1)));
  EXPECT_THAT(ids({.limit = 1}), ElementsAre(P(1, 1), P(1, 2)));
  EXPECT_THAT(ids({.after = LockId(1)}), ElementsAre(P(2, 1)));
  EXPECT_THAT(ids({.txn = t1}), ElementsAre(P(1, 1), P(1, 2)));
  EXPECT_THAT(ids({.waiting_only = true}), ElementsAre(P(2, 1)));
  EXPECT_THAT(ids({.resource = LockResource{"db", "a", ""}}), ElementsAre(P(1, 1), P(2, 1)));
  EXPECT_THAT(ids({.resource = LockResource{"db", "b", "p=7"}}), ElementsAre(P(1, 2)));
  EXPECT_THAT(l.server.state().ExplainLock(LockId(2), l.server.now())->position, 1);
  EXPECT_THAT(l.server.state().ExplainLock(LockId(9), l.server.now()),
              HasReason(ErrorReason::kNoSuchLock));
}

}  // namespace
}  // namespace skep::state
