// Who rebuilds a materialised view (MV-1 … MV-4, MV-8).

#include <functional>

#include <gmock/gmock.h>

#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using testing::HasReason;
using testing::IsOk;

const TableName kView{"mart", "by_day"};

class ViewRebuild : public ::testing::Test {
 protected:
  TxnId Rebuilder(const std::string& user = "ann") {
    OpenTxns command;
    command.type = TxnType::kMaterializedViewRebuild;
    command.user = user;
    command.host = user + "-host";
    auto opened = server_.TryOpen(command);
    EXPECT_THAT(opened, IsOk());
    return opened->first;
  }
  absl::StatusOr<ViewLockAnswer> TryLock(TxnId txn, const TableName& view = kView) {
    return server_.Do([&](State& s, Now now, Unit& u) { return s.LockView({txn, view}, now, u); });
  }
  LockState Lock(TxnId txn, const TableName& view = kView) {
    const auto answer = TryLock(txn, view);
    EXPECT_THAT(answer, IsOk());
    return answer.ok() ? answer->state : LockState::kAborted;
  }
  size_t Held(ListLocks query = {}) { return server_.state().ViewLocks(query).size(); }

  Server server_;
};

TEST_F(ViewRebuild, BelongsToOneTransactionAtATime) {
  const TxnId first = Rebuilder("ann");
  const TxnId second = Rebuilder("bob");
  EXPECT_EQ(Lock(first), LockState::kAcquired);
  EXPECT_EQ(Lock(first), LockState::kAcquired) << "asked again";
  server_.Pass(std::chrono::seconds(5));
  const auto answer = TryLock(second);
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->state, LockState::kNotAcquired);
  EXPECT_EQ(answer->holder.txn, first);
  EXPECT_EQ(answer->holder.user, "ann");
  EXPECT_EQ(answer->holder.host, "ann-host");
  EXPECT_EQ(answer->holder.since, server_.now().wall - std::chrono::seconds(5)) << "MV-4";
  EXPECT_EQ(answer->holder.view, kView);
}

TEST_F(ViewRebuild, OfAnotherViewIsNotInTheWay) {
  const TxnId first = Rebuilder();
  const TxnId second = Rebuilder();
  EXPECT_EQ(Lock(first), LockState::kAcquired);
  EXPECT_EQ(Lock(second, {"mart", "by_week"}), LockState::kAcquired);
  EXPECT_EQ(Lock(first, {"mart", "by_month"}), LockState::kAcquired);
  EXPECT_EQ(Held(), 3u);
}

TEST_F(ViewRebuild, EndsWithItsTransactionHoweverThatEnds) {
  struct Case {
    const char* name;
    std::function<void(Server&, TxnId)> end;
  };
  const std::vector<Case> cases = {
      {"commit", [](Server& s, TxnId txn) { EXPECT_THAT(s.Commit(txn), IsOk()); }},
      {"abort", [](Server& s, TxnId txn) { EXPECT_THAT(s.Abort(txn), IsOk()); }},
      {"operator",
       [](Server& s, TxnId txn) { EXPECT_THAT(s.Abort(txn, AbortCause::kOperator), IsOk()); }},
      {"lease",
       [](Server& s, TxnId) {
         s.Pass(kLease + std::chrono::seconds(1));
         s.Reap();
       }},
      {"lease, seen by nobody yet (R-15)",
       [](Server& s, TxnId) { s.Pass(kLease + std::chrono::seconds(1)); }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const TxnId holder = Rebuilder();
    ASSERT_EQ(Lock(holder), LockState::kAcquired);
    c.end(server_, holder);
    const TxnId next = Rebuilder();
    EXPECT_EQ(Lock(next), LockState::kAcquired);
    EXPECT_THAT(server_.Commit(next), IsOk());
    EXPECT_EQ(Held(), 0u);
    EXPECT_TRUE(server_.stored().view_locks.empty());
  }
}

TEST_F(ViewRebuild, IsKeptByTheHeartbeatsOfItsTransaction) {
  const TxnId holder = Rebuilder();
  ASSERT_EQ(Lock(holder), LockState::kAcquired);
  for (int i = 0; i < 4; ++i) {
    server_.Pass(kLease / 2 + std::chrono::seconds(1));
    server_.Beat({holder});
  }
  EXPECT_EQ(Lock(Rebuilder()), LockState::kNotAcquired) << "MV-2";
}

TEST_F(ViewRebuild, SurvivesARestart) {
  const TxnId holder = Rebuilder();
  ASSERT_EQ(Lock(holder), LockState::kAcquired);
  server_.Restart();
  EXPECT_EQ(Lock(Rebuilder()), LockState::kNotAcquired);
  EXPECT_THAT(server_.Commit(holder), IsOk());
  EXPECT_EQ(Lock(Rebuilder()), LockState::kAcquired);
}

TEST_F(ViewRebuild, TakesNoPlaceInTheLockQueue) {
  server_.MakeTable("t");
  const TxnId holder = Rebuilder();
  ASSERT_EQ(Lock(holder, T("t")), LockState::kAcquired);
  EXPECT_TRUE(server_.state().Locks({}).empty()) << "MV-8";
  EXPECT_EQ(server_.Lock(server_.Open(), {OnTable("t", LockKind::kExclusive)})->state,
            LockState::kAcquired);
}

TEST_F(ViewRebuild, IsForItsTypeOfTransactionOnly) {
  EXPECT_THAT(TryLock(server_.Open()), HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(TryLock(TxnId(99)), HasReason(ErrorReason::kNoSuchTxn));
  const TxnId ended = Rebuilder();
  ASSERT_THAT(server_.Abort(ended), IsOk());
  EXPECT_THAT(TryLock(ended), HasReason(ErrorReason::kTxnAborted));
  EXPECT_EQ(Held(), 0u);
}

TEST_F(ViewRebuild, IsListedByResourceAndTransaction) {
  const TxnId first = Rebuilder();
  const TxnId second = Rebuilder();
  ASSERT_EQ(Lock(first), LockState::kAcquired);
  ASSERT_EQ(Lock(second, {"other", "v"}), LockState::kAcquired);
  ListLocks query;
  query.resource = LockResource{"mart", "", ""};
  EXPECT_EQ(Held(query), 1u);
  query.resource = LockResource{"mart", "by_week", ""};
  EXPECT_EQ(Held(query), 0u);
  query.resource.reset();
  query.txn = second;
  EXPECT_EQ(Held(query), 1u);
  query.waiting_only = true;
  EXPECT_EQ(Held(query), 0u) << "none of them waits";
  query = {};
  query.limit = 1;
  EXPECT_EQ(Held(query), 1u);
}

}  // namespace
}  // namespace skep::state
