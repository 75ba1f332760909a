#include "client/session/lock_wait.h"

#include "client/session/transaction_core.h"
#include "tests/client/session/fakes.h"
#include "tests/testing/status_matchers.h"

namespace skep::client {
namespace {

using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::skep::testing::StatusIs;
using ::testing::HasSubstr;
using Acquire = v1::AcquireLocksRequest;
using Check = v1::CheckLockRequest;
using Release = v1::ReleaseLockRequest;

struct LockWorld : World {
  absl::StatusOr<LockGrant> Lock(milliseconds wait = seconds(60)) {
    if (txn == nullptr) {
      session = NewSession();
      txn = Begin(*session);
    }
    start = clock.MonoNow();
    return txn->Lock({{"d", "t", "", LockMode::kExclWrite}}, {.wait = wait});
  }
  // The server holds the call until its deadline and answers WAITING.
  void AlwaysWaiting() {
    server.On<Acquire>([](const auto&, auto& answer) {
      answer.set_lock_id(41);
      answer.set_state(v1::LOCK_STATE_WAITING);
      return Ok();
    });
    server.On<Check>([](const auto&, auto& answer) {
      answer.set_state(v1::LOCK_STATE_WAITING);
      v1::LockBlocker* blocker = answer.add_blocked_by();
      blocker->set_txn_id(17);
      blocker->set_lock_id(30);
      blocker->set_kind(v1::LOCK_KIND_SHARED_WRITE);
      blocker->set_state(v1::LOCK_STATE_ACQUIRED);
      blocker->mutable_resource()->set_database("d");
      blocker->mutable_resource()->set_table("t");
      blocker->set_user("bob");
      blocker->set_host("host2");
      blocker->set_agent("nightly");
      answer.add_blocked_by()->set_txn_id(18);
      return Ok();
    });
  }
  std::vector<int64_t> Released() const {
    std::vector<int64_t> ids;
    for (const Release& release : server.RequestsOf<Release>()) {
      EXPECT_FALSE(release.force());
      ids.push_back(release.lock_id());
    }
    return ids;
  }

  std::unique_ptr<Session> session;
  std::unique_ptr<Transaction> txn;
  MonoTime start;
};

TEST(Lock, IsGrantedByOneCall) {
  LockWorld world;
  world.server.On<Acquire>([](const auto&, auto& answer) {
    answer.set_lock_id(41);
    answer.set_state(v1::LOCK_STATE_ACQUIRED);
    return Ok();
  });
  SKEP_ASSERT_OK_AND_ASSIGN(LockGrant grant, world.Lock());
  EXPECT_EQ(grant.id, LockId(41));
  EXPECT_FALSE(grant.snapshot_stale);
  EXPECT_TRUE(world.server.RequestsOf<v1::GetSnapshotRequest>().empty());
  std::vector<FakeServer::Seen> calls = world.server.CallsOf<Acquire>();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].deadline, world.start + seconds(60))
      << "the server may wait as long as the caller does";
  Acquire sent = world.server.RequestsOf<Acquire>()[0];
  EXPECT_EQ(sent.txn_id(), 7);
  EXPECT_FALSE(sent.no_wait());
  EXPECT_EQ(sent.components(0).kind(), v1::LOCK_KIND_EXCL_WRITE);
  EXPECT_EQ(sent.components(0).operation(), v1::WRITE_OPERATION_UNSPECIFIED);
  EXPECT_TRUE(world.Released().empty());
}

struct StaleWorld : LockWorld {
  StaleWorld() {
    server.On<Acquire>([](const auto&, auto& answer) {
      answer.set_lock_id(41);
      answer.set_state(v1::LOCK_STATE_ACQUIRED);
      answer.set_snapshot_stale(true);
      return Ok();
    });
    server.On<v1::GetSnapshotRequest>([this](const auto& request, auto& answer) {
      if (request.refresh()) seq = 9;
      answer.set_snapshot_seq(seq);
      return Ok();
    });
  }
  int64_t seq = 5;
};

// whoever waited for a writer cannot go on with what it saw before the wait.
TEST(Lock, TakesAFreshSnapshotWhereNothingWasHandedOut) {
  StaleWorld world;
  SKEP_ASSERT_OK_AND_ASSIGN(LockGrant grant, world.Lock());
  EXPECT_FALSE(grant.snapshot_stale);
  EXPECT_EQ(world.txn->snapshot(), CommitSeq(9));
  SKEP_ASSERT_OK_AND_ASSIGN(auto txns, world.txn->core()->GetTxnSnapshot());
  EXPECT_EQ(txns.seq, CommitSeq(9));
}

TEST(Lock, SaysThatTheSnapshotIsStaleWhereAListWasHandedOut) {
  StaleWorld world;
  world.session = world.NewSession();
  world.txn = world.Begin(*world.session);
  ASSERT_THAT(world.txn->core()->GetValidWriteIds({"d", "t"}), IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(LockGrant grant, world.Lock());
  EXPECT_TRUE(grant.snapshot_stale);
  EXPECT_EQ(world.txn->snapshot(), CommitSeq(5));
  EXPECT_TRUE(world.server.RequestsOf<v1::GetSnapshotRequest>().empty());
}

TEST(Lock, OfAWriterTakesAFreshSnapshotAndTheTableOfIt) {
  StaleWorld world;
  world.session = world.NewSession();
  world.txn = world.Begin(*world.session);
  SKEP_ASSERT_OK_AND_ASSIGN(WriteStatement statement,
                            world.txn->core()->BeginWrite({"d", "t"}, WriteOp::kOverwrite));
  EXPECT_EQ(world.txn->snapshot(), CommitSeq(9));
  EXPECT_EQ(world.server.RequestsOf<v1::GetTableRequest>().size(), 2u);
  EXPECT_EQ(statement.write_id, WriteId(12));
}

TEST(Lock, AsksUntilItIsGranted) {
  LockWorld world;
  world.AlwaysWaiting();
  int asked = 0;
  world.server.On<Check>([&asked](const auto& request, auto& answer) {
    EXPECT_EQ(request.lock_id(), 41);
    answer.set_state(++asked < 5 ? v1::LOCK_STATE_WAITING : v1::LOCK_STATE_ACQUIRED);
    return Ok();
  });
  world.server.Next<Check>({Fate::kRequestLost});
  SKEP_ASSERT_OK_AND_ASSIGN(LockGrant grant, world.Lock());
  EXPECT_EQ(grant.id, LockId(41));
  EXPECT_EQ(asked, 5);
  EXPECT_TRUE(world.Released().empty());
}

TEST(Lock, LeavesTheQueueAtTheDeadlineAndSaysForWhomItWaited) {
  LockWorld world;
  world.AlwaysWaiting();
  absl::StatusOr<LockGrant> late = world.Lock(seconds(5));
  EXPECT_THAT(late, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(late,
              HasMessage(HasSubstr(
                  "SHARED_WRITE on d.t held by transaction 17 of bob@host2 (nightly) and 1 "
                  "more")));
  EXPECT_THAT(world.Released(), ::testing::ElementsAre(41));
  EXPECT_LE(world.clock.MonoNow() - world.start, seconds(7));
  EXPECT_GE(world.clock.MonoNow() - world.start, seconds(5));
  EXPECT_EQ(world.txn->state(), TransactionState::kOpen);
}

TEST(Lock, TakesAGrantThatCameBeforeGivingUp) {
  LockWorld world;
  world.AlwaysWaiting();
  world.server.On<Release>([&world](const auto&, auto&) {
    world.server.On<Check>([](const auto&, auto& answer) {
      answer.set_state(v1::LOCK_STATE_ACQUIRED);
      return Ok();
    });
    return Refuse(ErrorReason::kTxnOpen);
  });
  SKEP_ASSERT_OK_AND_ASSIGN(LockGrant grant, world.Lock(seconds(5)));
  EXPECT_EQ(grant.id, LockId(41));
}

TEST(Lock, DoesNotWaitWhenToldSo) {
  LockWorld world;
  world.server.On<Acquire>([](const auto& request, auto& answer) {
    EXPECT_TRUE(request.no_wait());
    answer.set_state(v1::LOCK_STATE_NOT_ACQUIRED);
    return Ok();
  });
  EXPECT_THAT(world.Lock(milliseconds(0)), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_TRUE(world.Released().empty()) << "nothing is left of it";
  EXPECT_EQ(world.clock.MonoNow(), world.start);
}

TEST(Lock, ReleasesWhatALostAnswerQueued) {
  LockWorld world;
  world.AlwaysWaiting();
  world.server.Next<Acquire>({Fate::kHangs});
  EXPECT_THAT(world.Lock(seconds(5)), StatusIs(absl::StatusCode::kDeadlineExceeded));
  std::vector<Acquire> sent = world.server.RequestsOf<Acquire>();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[1].request_id(), sent[0].request_id());
  EXPECT_TRUE(sent[1].repeat());
  EXPECT_THAT(world.Released(), ::testing::ElementsAre(41));
}

TEST(Lock, TakesAGrantWhoseAnswerWasLost) {
  LockWorld world;
  world.server.Next<Acquire>({Fate::kHangs});
  SKEP_ASSERT_OK_AND_ASSIGN(LockGrant grant, world.Lock(seconds(5)));
  EXPECT_EQ(grant.id, LockId(40));
}

TEST(Lock, AsksAnewWhenTheServerKnowsNothingOfTheLostRequest) {
  LockWorld world;
  world.server.Next<Acquire>({Fate::kRequestLost});
  world.server.On<Acquire>([](const auto& request, auto& answer) {
    if (request.repeat()) return Refuse(ErrorReason::kRequestIdExpired);
    answer.set_lock_id(42);
    answer.set_state(v1::LOCK_STATE_ACQUIRED);
    return Ok();
  });
  SKEP_ASSERT_OK_AND_ASSIGN(LockGrant grant, world.Lock());
  EXPECT_EQ(grant.id, LockId(42));
}

TEST(Lock, EndsWithTheTransactionThatLostADeadlock) {
  LockWorld world;
  world.AlwaysWaiting();
  world.server.On<Check>([](const auto&, auto& answer) {
    answer.set_state(v1::LOCK_STATE_ABORTED);
    answer.set_reason("deadlock: 7 waits for 8, 8 waits for 7");
    return Ok();
  });
  absl::StatusOr<LockGrant> victim = world.Lock();
  EXPECT_THAT(victim, HasReason(ErrorReason::kTxnAborted));
  EXPECT_THAT(victim, HasMessage(HasSubstr("7 waits for 8")));
  EXPECT_EQ(world.txn->state(), TransactionState::kAborted);
  EXPECT_TRUE(world.Released().empty());
}

TEST(Lock, PassesRefusalsOn) {
  LockWorld world;
  world.server.On<Acquire>([](const auto&, auto&) { return Refuse(ErrorReason::kNoSuchTable); });
  EXPECT_THAT(world.Lock(), HasReason(ErrorReason::kNoSuchTable));
  EXPECT_TRUE(world.Released().empty());
  EXPECT_EQ(world.txn->state(), TransactionState::kOpen);
}

TEST(Lock, TriesToGiveUpForTwoSecondsOnlyWithoutAServer) {
  LockWorld world;
  world.AlwaysWaiting();
  ASSERT_FALSE(world.Lock(milliseconds(200)).ok());
  world.server.SetDown(true);
  EXPECT_FALSE(world.Lock(seconds(5)).ok());
  EXPECT_LE(world.clock.MonoNow() - world.start, seconds(8));
}

}  // namespace
}  // namespace skep::client
