#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/state/lock_table.h"
#include "tests/server/state/lock_builders.h"

namespace skep::state {
namespace {

using locktest::kEW;
using locktest::kEX;
using locktest::kSR;
using locktest::kSW;
using locktest::Locks;
using locktest::Table;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

LockOwner Txn(int64_t id) { return LockOwner::OfTxn(TxnId(id)); }

TEST(LockDeadlock, FindsTwoThatWaitForEachOther) {
  Locks locks;
  locks.Ask(11, kEX, Table("a"));
  locks.Ask(12, kEX, Table("b"));
  locks.Ask(12, kSR, Table("a"));
  EXPECT_EQ(locks.table.FindDeadlock(LockId(3)), std::nullopt);
  locks.Ask(11, kSR, Table("b"));
  const std::optional<LockDeadlock> deadlock = locks.table.FindDeadlock(LockId(4));
  ASSERT_TRUE(deadlock.has_value());
  EXPECT_EQ(deadlock->victim, Txn(12)) << "the youngest";
  EXPECT_EQ(deadlock->victim_request, LockId(3));
  EXPECT_EQ(deadlock->text,
            "transaction 11 waits for SHARED_READ on db.b (lock 4) behind EXCLUSIVE on db.b held "
            "by transaction "
            "12 (lock 2); transaction 12 waits for SHARED_READ on db.a (lock 3) behind EXCLUSIVE "
            "on db.a held "
            "by transaction 11 (lock 1)");
  EXPECT_THAT(locks.End(12), ElementsAre(LockId(4)));
  EXPECT_EQ(locks.table.FindDeadlock(LockId(4)), std::nullopt);
}

TEST(LockDeadlock, FindsThreeInACircle) {
  Locks locks;
  for (int64_t txn = 1; txn <= 3; ++txn) locks.Ask(txn, kEX, Table("t" + std::to_string(txn)));
  locks.Ask(1, kEX, Table("t2"));
  locks.Ask(2, kEX, Table("t3"));
  EXPECT_EQ(locks.table.FindDeadlock(LockId(5)), std::nullopt);
  locks.Ask(3, kEX, Table("t1"));
  const std::optional<LockDeadlock> deadlock = locks.table.FindDeadlock(LockId(6));
  ASSERT_TRUE(deadlock.has_value());
  ASSERT_THAT(deadlock->cycle, SizeIs(3));
  EXPECT_EQ(deadlock->cycle[0].owner, Txn(3));
  EXPECT_EQ(deadlock->cycle[1].owner, Txn(1));
  EXPECT_EQ(deadlock->cycle[2].owner, Txn(2));
  EXPECT_EQ(deadlock->victim, Txn(3));
  EXPECT_EQ(deadlock->victim_request, LockId(6));
}

TEST(LockDeadlock, LeavesAChainAlone) {
  Locks locks;
  for (int64_t txn = 1; txn <= 5; ++txn) locks.Ask(txn, kEX, Table("t" + std::to_string(txn)));
  for (int64_t txn = 1; txn <= 4; ++txn) {
    locks.Ask(txn, kEX, Table("t" + std::to_string(txn + 1)));
    EXPECT_EQ(locks.table.FindDeadlock(LockId(locks.last)), std::nullopt);
  }
  EXPECT_EQ(locks.table.FindDeadlock(LockId(1)), std::nullopt) << "granted";
  EXPECT_EQ(locks.table.FindDeadlock(LockId(77)), std::nullopt) << "unknown";
}

TEST(LockDeadlock, GoesThroughTheQueue) {
  Locks locks;
  locks.Ask(1, kSR, Table("a"));  // 1
  locks.Ask(3, kSR, Table("b"));  // 2
  locks.Ask(2, kEX, Table("a"));  // 3 waits for transaction 1
  locks.Ask(3, kSR, Table("a"));  // 4 waits behind it
  EXPECT_EQ(locks.table.FindDeadlock(LockId(4)), std::nullopt);
  locks.Ask(1, kEX, Table("b"));  // 5 waits for transaction 3
  const std::optional<LockDeadlock> deadlock = locks.table.FindDeadlock(LockId(5));
  ASSERT_TRUE(deadlock.has_value());
  EXPECT_THAT(deadlock->cycle, SizeIs(3));
  EXPECT_EQ(deadlock->victim, Txn(3));
  EXPECT_THAT(deadlock->text,
              HasSubstr("behind EXCLUSIVE on db.a asked for earlier by transaction 2 (lock 3)"));
}

TEST(LockDeadlock, CountsLocksOutsideTransactions) {
  Locks locks;
  const LockOwner session = LockOwner::OfSession(9);
  locks.Ask(session, {{Table("a"), kEX}});
  locks.Ask(2, kEX, Table("b"));
  locks.Ask(session, {{Table("b"), kSR}});
  locks.Ask(2, kSR, Table("a"));
  const std::optional<LockDeadlock> deadlock = locks.table.FindDeadlock(LockId(4));
  ASSERT_TRUE(deadlock.has_value());
  EXPECT_EQ(deadlock->victim, Txn(2));
}

TEST(LockDeadlock, RefusesTheLastRequestOfSessions) {
  Locks locks;
  locks.Ask(LockOwner::OfSession(5), {{Table("a"), kEX}});
  locks.Ask(LockOwner::OfSession(9), {{Table("b"), kEX}});
  locks.Ask(LockOwner::OfSession(9), {{Table("a"), kSR}});
  locks.Ask(LockOwner::OfSession(5), {{Table("b"), kSR}});
  const std::optional<LockDeadlock> deadlock = locks.table.FindDeadlock(LockId(4));
  ASSERT_TRUE(deadlock.has_value());
  EXPECT_EQ(deadlock->victim, LockOwner::OfSession(5));
  EXPECT_EQ(deadlock->victim_request, LockId(4));
}

TEST(LockDeadlock, SeesASessionThatBlocksItself) {  // LCM-3
  Locks locks;
  locks.Ask(LockOwner::OfSession(5), {{Table("a"), kEX}});
  locks.Ask(LockOwner::OfSession(5), {{Table("a"), kSR}});
  const std::optional<LockDeadlock> deadlock = locks.table.FindDeadlock(LockId(2));
  ASSERT_TRUE(deadlock.has_value());
  EXPECT_THAT(deadlock->cycle, SizeIs(1));
}

TEST(LockDeadlock, IsFoundAgainAfterTheFirstVictim) {
  Locks locks;
  locks.Ask(1, kSR, Table("a"));
  for (int64_t txn = 2; txn <= 3; ++txn) {
    locks.Ask(txn, kSR, Table("b"));
    locks.Ask(LockOwner::OfTxn(TxnId(txn)), {{Table("a"), kEX}});
  }
  locks.Ask(1, kEX, Table("b"));
  std::vector<LockOwner> victims;
  for (auto deadlock = locks.table.FindDeadlock(LockId(6)); deadlock.has_value();
       deadlock = locks.table.FindDeadlock(LockId(6))) {
    victims.push_back(deadlock->victim);
    locks.table.ReleaseAll(deadlock->victim);
  }
  EXPECT_EQ(victims.size(), 2u);
  EXPECT_EQ(locks.State(6), LockState::kAcquired);
}

TEST(LockDeadlock, MayCloseWhenAPrivilegeIsTakenAway) {
  Locks locks;
  locks.Ask(1, kSR, Table("a"));                                                  // 1
  locks.Ask(1, kSR, Table("c"));                                                  // 2
  locks.Ask(LockOwner::OfTxn(TxnId(2)), {{Table("a"), kEX}, {Table("b"), kSR}});  // 3 waits for 1
  locks.Ask(3, kSR, Table("b"));                                                  // 4
  locks.Ask(2, kEX, Table("c"));                                                  // 5 waits for 2
  locks.Ask(1, kEX, Table("b"));  // 6 passes 3, waits for 4
  EXPECT_EQ(locks.table.FindDeadlock(LockId(6)), std::nullopt);
  locks.table.Release(
      LockId(1));  // by force: 3 is granted, and transaction 2 still waits for lock 2
  ASSERT_EQ(locks.State(3), LockState::kAcquired);
  ASSERT_EQ(locks.State(6), LockState::kWaiting);
  const std::optional<LockDeadlock> deadlock = locks.table.FindDeadlock(LockId(6));
  ASSERT_TRUE(deadlock.has_value());
  EXPECT_EQ(deadlock->victim, Txn(2));
}

TEST(LockDeadlock, IsNotSeenWhereTheWayIsFree) {
  Locks locks;
  locks.Ask(1, kSW, Table("a"));  // 1
  locks.Ask(2, kEW, Table("a"));  // 2 waits for transaction 1
  locks.Ask(3, kEX, Table("b"));  // 3
  locks.Ask(1, kSR, Table("b"));  // 4 waits for transaction 3
  locks.Ask(3, kSR, Table("a"));  // 5 EXCL_WRITE and SHARED_READ go together
  EXPECT_EQ(locks.State(5), LockState::kAcquired);
  EXPECT_EQ(locks.table.FindDeadlock(LockId(4)), std::nullopt);
}

}  // namespace
}  // namespace skep::state
