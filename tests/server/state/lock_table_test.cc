#include "server/state/lock_table.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "tests/server/state/lock_builders.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using locktest::Database;
using locktest::Ids;
using locktest::kEW;
using locktest::kEX;
using locktest::kSR;
using locktest::kSW;
using locktest::Locks;
using locktest::Part;
using locktest::Table;
using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr LockState kAcquired = LockState::kAcquired;
constexpr LockState kWaiting = LockState::kWaiting;

// ---- who waits for whom ----

// LCM-6 as text, not by the function that the lock table uses: rows ask, columns are there earlier.
constexpr const char* kMatrix[4] = {
    "...W",  // SHARED_READ
    "..WW",  // SHARED_WRITE
    ".WWW",  // EXCL_WRITE
    "WWWW",  // EXCLUSIVE
};

struct Scope {
  const char* name;
  LockResource resource;
};

std::vector<Scope> Scopes() {
  return {{"db", Database()},
          {"t", Table("t")},
          {"t/p", Part("t", "p")},
          {"u", Table("u")},
          {"t/q", Part("t", "q")},
          {"other db", Database("other")}};
}

// LCM-2: which scopes overlap, rows ask, columns are there; in the order of Scopes().
constexpr const char* kOverlap[6] = {
    "xxxxx.",  // db
    "xxx.x.",  // t
    "xxx...",  // t/p
    "x..x..",  // u
    "xx..x.",  // t/q
    ".....x",  // other db
};

bool ExpectedToWait(size_t asked_scope, LockKind asked, size_t there_scope, LockKind there) {
  if (kOverlap[asked_scope][there_scope] != 'x') return false;
  const bool asked_is_db = asked_scope == 0 || asked_scope == 5;
  const bool there_is_db = there_scope == 0 || there_scope == 5;
  if (asked_is_db && !there_is_db && asked == kSR && there == kEX) return false;  // LCM-4
  if (!asked_is_db && there_is_db && asked == kEX && there == kSR) return false;  // LCM-4
  return kMatrix[static_cast<int>(asked)][static_cast<int>(there)] == 'W';
}

TEST(LockTable, FollowsTheMatrixAtEveryPairOfScopes) {
  const std::vector<Scope> scopes = Scopes();
  int checked = 0;
  for (size_t a = 0; a < scopes.size(); ++a) {
    for (size_t b = 0; b < scopes.size(); ++b) {
      for (int ka = 0; ka < 4; ++ka) {
        for (int kb = 0; kb < 4; ++kb) {
          const auto asked = static_cast<LockKind>(ka);
          const auto there = static_cast<LockKind>(kb);
          SCOPED_TRACE(std::string(LockKindName(asked)) + "(" + scopes[a].name + ") against " +
                       std::string(LockKindName(there)) + "(" + scopes[b].name + ")");
          const LockState expected = ExpectedToWait(a, asked, b, there) ? kWaiting : kAcquired;
          Locks granted;
          ASSERT_EQ(granted.StateAfter(1, there, scopes[b].resource), kAcquired);
          EXPECT_EQ(granted.StateAfter(2, asked, scopes[a].resource), expected) << "granted";

          // The same against an earlier request that waits, for something else (LCM-1).
          Locks waiting;
          const LockTarget elsewhere{Database("elsewhere"), kEX};
          waiting.Ask(LockOwner::OfTxn(TxnId(1)), {elsewhere});
          ASSERT_EQ(
              waiting.Ask(LockOwner::OfTxn(TxnId(2)), {{scopes[b].resource, there}, elsewhere})
                  .state,
              kWaiting);
          EXPECT_EQ(waiting.StateAfter(3, asked, scopes[a].resource), expected) << "waiting";
          ++checked;
        }
      }
    }
  }
  EXPECT_EQ(checked, 6 * 6 * 16);
}

TEST(LockTable, NeverBlocksATransactionByItself) {
  for (int first = 0; first < 4; ++first) {
    for (int second = 0; second < 4; ++second) {
      Locks locks;
      locks.Ask(1, static_cast<LockKind>(first), Table("t"));
      EXPECT_EQ(locks.StateAfter(1, static_cast<LockKind>(second), Table("t")), kAcquired);
    }
  }
}

TEST(LockTable, TakesRequestsOutsideTransactionsForStrangers) {  // LCM-3
  Locks locks;
  const LockOwner session = LockOwner::OfSession(7);
  EXPECT_EQ(locks.Ask(session, {{Table("t"), kEX}}).state, kAcquired);
  EXPECT_EQ(locks.Ask(session, {{Table("t"), kSR}}).state, kWaiting);
  EXPECT_EQ(locks.Ask(LockOwner::OfLock(LockId(3)), {{Table("t"), kSR}}).state, kWaiting);
}

TEST(LockTable, GrantsAllComponentsOrNone) {  // LCK-11
  Locks locks;
  locks.Ask(1, kEX, Table("a"));
  EXPECT_EQ(locks.Ask(LockOwner::OfTxn(TxnId(2)), {{Table("a"), kSR}, {Table("b"), kEX}}).state,
            kWaiting);
  EXPECT_FALSE(locks.table.Holds(LockOwner::OfTxn(TxnId(2)), {Table("b"), kSR}));
  EXPECT_THAT(locks.End(1), ElementsAre(LockId(2)));
  EXPECT_TRUE(locks.table.Holds(LockOwner::OfTxn(TxnId(2)), {Table("b"), kEX}));
}

TEST(LockTable, AcceptsRepeatedComponents) {
  Locks locks;
  const LockTarget target{Part("t", "p"), kEX};
  EXPECT_EQ(
      locks.Ask(LockOwner::OfTxn(TxnId(1)), {target, target, {Table("t"), kSR}, target}).state,
      kAcquired);
  EXPECT_EQ(locks.StateAfter(2, kSR, Part("t", "p")), kWaiting);
  EXPECT_THAT(locks.End(1), ElementsAre(LockId(2)));
  locks.End(2);
  EXPECT_EQ(locks.StateAfter(3, kEX, Database()), kAcquired);
}

// ---- the queue ----

TEST(LockTable, ReadersQueueBehindAWaitingExclusive) {  // LCQ-1
  Locks locks;
  EXPECT_EQ(locks.StateAfter(1, kSR, Table("t")), kAcquired);
  EXPECT_EQ(locks.StateAfter(2, kEX, Table("t")), kWaiting);
  EXPECT_EQ(locks.StateAfter(3, kSR, Table("t")), kWaiting);
  EXPECT_THAT(locks.End(1), ElementsAre(LockId(2)));
  EXPECT_THAT(locks.End(2), ElementsAre(LockId(3)));
}

TEST(LockTable, ReadersAndOneWriterShareATable) {  // LCQ-2
  Locks locks;
  EXPECT_EQ(locks.StateAfter(1, kSR, Table("t")), kAcquired);
  EXPECT_EQ(locks.StateAfter(2, kEW, Table("t")), kAcquired);
  EXPECT_EQ(locks.StateAfter(3, kSR, Table("t")), kAcquired);
  EXPECT_EQ(locks.StateAfter(4, kEW, Table("t")), kWaiting);
}

TEST(LockTable, GrantsInTheOrderOfTheQueue) {
  Locks locks;
  locks.Ask(1, kEX, Table("t"));
  locks.Ask(2, kSR, Table("t"));
  locks.Ask(3, kSR, Part("t", "p"));
  locks.Ask(4, kEW, Table("t"));
  locks.Ask(5, kEX, Table("t"));
  locks.Ask(6, kSR, Table("t"));
  EXPECT_THAT(locks.End(1), ElementsAre(LockId(2), LockId(3), LockId(4)));
  EXPECT_THAT(locks.End(2), IsEmpty());
  EXPECT_THAT(locks.End(3), IsEmpty());
  EXPECT_THAT(locks.End(4), ElementsAre(LockId(5)));
  EXPECT_THAT(locks.End(5), ElementsAre(LockId(6)));
}

TEST(LockTable, LetsThroughWhoWaitedOnlyForOneThatGaveUp) {
  Locks locks;
  locks.Ask(1, kSR, Table("t"));
  locks.Ask(2, kEX, Table("t"));
  locks.Ask(3, kSR, Table("t"));
  locks.Ask(4, kEW, Table("t"));
  EXPECT_THAT(locks.table.Release(LockId(2)), ElementsAre(LockId(3), LockId(4)));
  EXPECT_EQ(locks.State(2), LockState::kNotAcquired);
}

TEST(LockTable, RefusesWithoutATraceWhenAskedNotToWait) {
  Locks locks;
  locks.Ask(1, kEX, Table("t"));
  const LockAdded refused = locks.Ask(
      LockOwner::OfTxn(TxnId(2)), {{Table("t"), kSR}, {Table("u"), kEX}}, IfBlocked::kRefuse);
  EXPECT_EQ(refused.state, LockState::kNotAcquired);
  ASSERT_THAT(refused.blocked_by, SizeIs(1));
  EXPECT_EQ(refused.blocked_by[0].lock, LockId(1));
  EXPECT_EQ(locks.table.waiting_count(), 0);
  EXPECT_EQ(locks.table.StateOf(LockId(2)), std::nullopt);
  EXPECT_EQ(locks.StateAfter(3, kEX, Table("u")), kAcquired);
  EXPECT_EQ(locks.Ask(LockOwner::OfTxn(TxnId(2)), {{Table("v"), kSR}}, IfBlocked::kRefuse).state,
            kAcquired);
}

TEST(LockTable, IgnoresTheReleaseOfWhatIsNotThere) {  // LCU-3
  Locks locks;
  EXPECT_THAT(locks.table.Release(LockId(5)), IsEmpty());
  EXPECT_THAT(locks.End(5), IsEmpty());
}

// ---- what an own lock is good for ----

TEST(LockTable, GrantsWhatAnOwnLockCoversWhoeverWaits) {
  struct Case {
    const char* name;
    LockTarget own;
    LockTarget asked;
    bool covered;
  };
  const Case cases[] = {
      {"same", {Table("t"), kSW}, {Table("t"), kSW}, true},
      {"weaker", {Table("t"), kEX}, {Table("t"), kSR}, true},
      {"partition under table", {Table("t"), kSW}, {Part("t", "p"), kSR}, true},
      {"table under database", {Database(), kSW}, {Table("t"), kSR}, true},
      {"partition under database", {Database(), kEW}, {Part("t", "p"), kEW}, true},
      {"database under itself", {Database(), kSR}, {Database(), kSR}, true},
      {"stronger", {Table("t"), kSR}, {Table("t"), kSW}, false},
      {"wider", {Part("t", "p"), kEX}, {Table("t"), kSR}, false},
      {"other partition", {Part("t", "p"), kEX}, {Part("t", "q"), kSR}, false},
      {"below SHARED_READ of a database", {Database(), kSR}, {Table("t"), kSR}, false},
      {"far below it", {Database(), kSR}, {Part("t", "p"), kSR}, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Locks locks;
    locks.Ask(LockOwner::OfTxn(TxnId(1)), {c.own});
    EXPECT_EQ(locks.table.Holds(LockOwner::OfTxn(TxnId(1)), c.asked), c.covered);
    if (!c.covered) continue;
    // A stranger came in between who wants everything.
    ASSERT_EQ(locks.StateAfter(9, kEX, Database()), kWaiting);
    EXPECT_EQ(locks.Ask(LockOwner::OfTxn(TxnId(1)), {c.asked}).state, kAcquired);
  }
}

TEST(LockTable, SharedReadOnADatabaseCoversNothingBelowIt) {
  Locks locks;
  EXPECT_EQ(locks.StateAfter(1, kSR, Database()), kAcquired);
  EXPECT_EQ(locks.StateAfter(2, kEX, Table("t")), kAcquired);
  EXPECT_EQ(locks.StateAfter(1, kSR, Table("t")), kWaiting);
  EXPECT_THAT(locks.End(2), ElementsAre(LockId(3)));
}

TEST(LockTable, DoesNotLetReadersStarveAWriterByStrengthening) {  // R-20, first example
  Locks locks;
  EXPECT_EQ(locks.StateAfter(10, kSW, Table("a")), kAcquired);
  EXPECT_EQ(locks.StateAfter(12, kEW, Table("a")), kWaiting);
  for (int64_t txn = 13; txn < 20; ++txn) {
    EXPECT_EQ(locks.StateAfter(txn, kSR, Table("a")), kAcquired);
    EXPECT_EQ(locks.StateAfter(txn, kSW, Table("a")), kWaiting);
  }
  EXPECT_THAT(locks.End(10), ElementsAre(LockId(2)));
  EXPECT_THAT(locks.End(12), SizeIs(7));
}

TEST(LockTable, PassesAWaiterThatWaitsForOneself) {  // R-20, second example
  Locks locks;
  EXPECT_EQ(locks.StateAfter(1, kSR, Part("a", "p")), kAcquired);
  EXPECT_EQ(locks.StateAfter(2, kEX, Table("a")), kWaiting);
  EXPECT_EQ(locks.StateAfter(3, kSR, Part("a", "q")), kWaiting);
  EXPECT_EQ(locks.StateAfter(1, kSR, Part("a", "q")), kAcquired);
  EXPECT_EQ(locks.table.FindDeadlock(LockId(2)), std::nullopt);
  EXPECT_THAT(locks.End(1), ElementsAre(LockId(2)));
}

TEST(LockTable, StrengthensAnOwnLockPastThoseThatWaitForIt) {
  Locks locks;
  EXPECT_EQ(locks.StateAfter(1, kSR, Table("t")), kAcquired);
  EXPECT_EQ(locks.StateAfter(2, kEX, Table("t")), kWaiting);
  EXPECT_EQ(locks.StateAfter(1, kEX, Table("t")), kAcquired);
  EXPECT_THAT(locks.End(1), ElementsAre(LockId(2)));
}

TEST(LockTable, AGrantMayLetAnotherRequestOfTheSameTransactionPass) {
  Locks locks;
  locks.Ask(1, kEX, Table("a"));
  EXPECT_EQ(locks.StateAfter(2, kSR, Table("a")), kWaiting);      // lock 2
  EXPECT_EQ(locks.StateAfter(3, kEX, Table("a")), kWaiting);      // lock 3
  EXPECT_EQ(locks.StateAfter(2, kSR, Part("a", "p")), kWaiting);  // lock 4, behind lock 3
  EXPECT_THAT(locks.End(1), ElementsAre(LockId(2), LockId(4)));
  EXPECT_EQ(locks.State(3), kWaiting);
}

// ---- what people ask ----

TEST(LockTable, NamesWhoBlocksAndThePlaceInTheQueue) {
  Locks locks;
  locks.Ask(1, kSR, Part("t", "p"));
  locks.Ask(2, kSR, Part("t", "q"));
  locks.Ask(3, kEX, Table("t"));
  const LockAdded added = locks.Ask(4, kEX, Database());
  EXPECT_EQ(added.state, kWaiting);
  const std::vector<LockBlocker> blockers = locks.table.Blockers(LockId(4));
  ASSERT_THAT(blockers, SizeIs(3));
  EXPECT_EQ(blockers[0].lock, LockId(1));
  EXPECT_EQ(blockers[0].owner, LockOwner::OfTxn(TxnId(1)));
  EXPECT_EQ(blockers[0].state, kAcquired);
  EXPECT_EQ(blockers[0].held, (LockTarget{Part("t", "p"), kSR}));
  EXPECT_EQ(blockers[0].wanted, (LockTarget{Database(), kEX}));
  EXPECT_EQ(blockers[1].lock, LockId(2));
  EXPECT_EQ(blockers[2].lock, LockId(3));
  EXPECT_EQ(blockers[2].state, kWaiting);
  EXPECT_THAT(added.blocked_by, SizeIs(3));
  EXPECT_EQ(locks.table.Position(LockId(4)), 2);
  EXPECT_EQ(locks.table.Position(LockId(3)), 1);
  EXPECT_EQ(locks.table.Position(LockId(1)), 0);
  EXPECT_THAT(locks.table.Blockers(LockId(4), 2), SizeIs(2));
  EXPECT_THAT(locks.table.Blockers(LockId(1)), IsEmpty());
  EXPECT_THAT(locks.table.Blockers(LockId(99)), IsEmpty());
}

TEST(LockTable, ListsOverlappingRequestsOfAnyKind) {
  Locks locks;
  locks.Ask(1, kSR, Database());
  locks.Ask(2, kSR, Table("t"));
  locks.Ask(3, kSR, Part("t", "p"));
  locks.Ask(4, kSR, Table("u"));
  locks.Ask(5, kEX, Part("t", "p"));
  EXPECT_EQ(locks.table.Overlapping(Database()), Ids({1, 2, 3, 4, 5}));
  EXPECT_EQ(locks.table.Overlapping(Table("t")), Ids({1, 2, 3, 5}));
  EXPECT_EQ(locks.table.Overlapping(Part("t", "q")), Ids({1, 2}));
  EXPECT_EQ(locks.table.Overlapping(Database("other")), Ids({}));
  EXPECT_EQ(locks.table.LocksOf(LockOwner::OfTxn(TxnId(5))), Ids({5}));
  EXPECT_EQ(locks.table.WaitingOf(LockOwner::OfTxn(TxnId(5))), Ids({5}));
  EXPECT_EQ(locks.table.granted_count(), 4);
  EXPECT_EQ(locks.table.waiting_count(), 1);
}

// ---- load ----

LockRow Row(int64_t lock,
            int32_t component,
            int64_t txn,
            LockKind kind,
            LockResource resource,
            LockState state) {
  LockRow row;
  row.lock = LockId(lock);
  row.component = component;
  row.txn = TxnId(txn);
  row.kind = kind;
  row.resource = std::move(resource);
  row.state = state;
  return row;
}

TEST(LockTable, LoadsWhatWasStored) {
  const std::vector<LockRow> rows = {Row(3, 1, 1, kSR, Table("t"), kAcquired),
                                     Row(5, 1, 2, kSR, Table("u"), kWaiting),
                                     Row(5, 2, 2, kEX, Table("t"), kWaiting),
                                     Row(7, 1, 0, kSR, Table("t"), kWaiting),
                                     Row(8, 1, 1, kEW, Table("t"), kAcquired)};
  absl::StatusOr<LockTable::Loaded> loaded = LockTable::Load(rows);
  ASSERT_THAT(loaded.status(), IsOk());
  EXPECT_THAT(loaded->granted, IsEmpty());
  LockTable& table = loaded->table;
  EXPECT_EQ(table.StateOf(LockId(5)), kWaiting);
  EXPECT_EQ(table.OwnerOf(LockId(7)), LockOwner::OfLock(LockId(7)));
  EXPECT_EQ(table.ReleaseAll(LockOwner::OfTxn(TxnId(1))), Ids({5}));
  EXPECT_EQ(
      table.Add({LockId(9), LockOwner::OfTxn(TxnId(4)), {{Table("t"), kSR}}}, IfBlocked::kWait)
          .state,
      kWaiting);
}

TEST(LockTable, GrantsAtLoadWhatNothingBlocks) {
  absl::StatusOr<LockTable::Loaded> loaded = LockTable::Load(std::vector<LockRow>{
      Row(5, 1, 2, kEX, Table("t"), kWaiting), Row(7, 1, 3, kSR, Table("t"), kWaiting)});
  ASSERT_THAT(loaded.status(), IsOk());
  EXPECT_EQ(loaded->granted, Ids({5}));
}

TEST(LockTable, RefusesGrantedRowsThatExcludeEachOther) {
  EXPECT_THAT(LockTable::Load(std::vector<LockRow>{Row(5, 1, 2, kEX, Part("t", "p"), kAcquired),
                                                   Row(7, 1, 3, kSR, Table("t"), kAcquired)})
                  .status(),
              HasReason(ErrorReason::kCorruptStore));
}

// ---- cost ----

TEST(LockTable, LooksAtTheNextWaiterOnlyWhenALockGoes) {
  constexpr int64_t kWaiters = 5'000;
  Locks locks;
  for (int64_t txn = 1; txn <= kWaiters; ++txn) locks.Ask(txn, kEX, Table("hot"));
  const int64_t before = locks.table.looks();
  EXPECT_EQ(before, kWaiters);
  for (int64_t txn = 1; txn < kWaiters; ++txn)
    ASSERT_THAT(locks.End(txn), ElementsAre(LockId(txn + 1)));
  EXPECT_LE(locks.table.looks() - before, kWaiters);
}

TEST(LockTable, LooksAtNobodyWhenALockElsewhereComesAndGoes) {
  Locks locks;
  for (int64_t txn = 1; txn <= 1'000; ++txn) locks.Ask(txn, kEX, Table("hot"));
  const int64_t before = locks.table.looks();
  for (int64_t txn = 10'000; txn < 10'100; ++txn) {
    ASSERT_EQ(locks.StateAfter(txn, kEW, Table("cold")), kAcquired);
    locks.End(txn);
  }
  EXPECT_EQ(locks.table.looks() - before, 100);
}

TEST(LockTable, ReleasesReadersOneByOneInFrontOfAWriter) {
  Locks locks;
  for (int64_t txn = 1; txn <= 2'000; ++txn) locks.Ask(txn, kSR, Table("t"));
  for (int64_t txn = 3'001; txn <= 4'000; ++txn) locks.Ask(txn, kEX, Table("t"));
  const int64_t before = locks.table.looks();
  for (int64_t txn = 1; txn <= 2'000; ++txn) locks.End(txn);
  EXPECT_LE(locks.table.looks() - before, 2'000)
      << "one waiter is looked at for each reader that leaves";
  EXPECT_EQ(locks.State(2'001), kAcquired);
}

}  // namespace
}  // namespace skep::state
