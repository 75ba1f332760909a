// What a session is told without asking, and the fused begin.

#include "tests/server/rpc/session_world.h"

namespace skep::rpc {
namespace {

using ::testing::ElementsAre;
using testing::HasReason;
using testing::IsOk;

class SessionNoticeTest : public SessionWorld {
 protected:
  SessionNoticeTest() {
    CreateTable("orders");
    holder_ = OpenElsewhere();
    held_ = LockElsewhere(holder_, "orders", LockKind::kExclusive);
    stream_ = &Connect();
    Read(*stream_);
  }

  // A begin that wants all there is, of the table whose lock somebody holds.
  static v1::BeginTransactionRequest* AddBegin(v1::SessionRequest& request, int64_t number) {
    auto* begin = Add(request, number).mutable_begin_transaction();
    begin->mutable_open()->set_user("ada");
    SetComponent("orders", v1::LOCK_KIND_SHARED_WRITE, begin->add_locks());
    SetName("orders", begin->add_write_tables());
    SetName("orders", begin->add_read_tables());
    begin->set_with_snapshot(true);
    return begin;
  }

  TxnId holder_;
  LockId held_;
  FakeStream* stream_ = nullptr;
};

TEST_F(SessionNoticeTest, AWaitingLockIsAnsweredAtOnceAndGrantedByANotice) {
  v1::SessionRequest request;
  AddOpen(request, 1);
  AddLock(request, 2, 2, "orders", v1::LOCK_KIND_SHARED_READ);
  Send(*stream_, request);
  v1::SessionResponse response = Read(*stream_);
  ASSERT_THAT(StatusOf(response, 2), IsOk());
  const v1::AcquireLocksResponse& waiting = AnswerTo(response, 2)->acquire_locks();
  EXPECT_EQ(waiting.state(), v1::LOCK_STATE_WAITING);
  EXPECT_EQ(waiting.blocked_by(0).txn_id(), holder_.value());
  EXPECT_EQ(sessions().watched_locks(), 1u);
  EndElsewhere(holder_);
  response = Read(*stream_);
  ASSERT_EQ(response.notices_size(), 1);
  EXPECT_EQ(response.notices(0).number(), 1);
  EXPECT_EQ(response.notices(0).operation(), 2);
  EXPECT_EQ(response.notices(0).lock().lock_id(), waiting.lock_id());
  EXPECT_EQ(response.notices(0).lock().state(), v1::LOCK_STATE_ACQUIRED);
  EXPECT_EQ(sessions().watched_locks(), 0u);
}

TEST_F(SessionNoticeTest, AWaitEndsWithItsTransaction) {
  v1::SessionRequest request;
  AddOpen(request, 1);
  AddLock(request, 2, 2, "orders", v1::LOCK_KIND_SHARED_READ);
  Send(*stream_, request);
  Read(*stream_);
  EndElsewhere(TxnId(2), false);
  const v1::SessionResponse response = Read(*stream_);
  ASSERT_EQ(response.notices_size(), 2);
  EXPECT_EQ(response.notices(0).aborted_by_server().txn_id(), 2);
  EXPECT_EQ(response.notices(0).aborted_by_server().abort_cause(), v1::ABORT_CAUSE_OPERATOR);
  EXPECT_EQ(response.notices(1).lock().state(), v1::LOCK_STATE_ABORTED);
  EXPECT_THAT(response.notices(1).lock().reason(), ::testing::Not(::testing::IsEmpty()));
}

TEST_F(SessionNoticeTest, ALockOfAUnitThatWasNotStoredIsNoticedByNobody) {
  v1::SessionRequest open;
  AddOpen(open, 1);
  Send(*stream_, open);
  store_.FailAppend(1, MakeError(ErrorReason::kStoreBusy, "locked"));
  v1::SessionRequest lock;
  AddLock(lock, 2, 2, "orders", v1::LOCK_KIND_SHARED_READ);
  Send(*stream_, lock);
  EXPECT_THAT(StatusOf(Read(*stream_), 2), HasReason(ErrorReason::kStoreBusy));
  EXPECT_EQ(sessions().watched_locks(), 0u);
  EndElsewhere(holder_);
  EXPECT_EQ(Read(*stream_).notices_size(), 0);
}

TEST_F(SessionNoticeTest, TheVictimOfADeadlockIsToldSo) {
  CreateTable("parts");
  v1::SessionRequest request;
  AddOpen(request, 1);
  AddLock(request, 2, 2, "parts", v1::LOCK_KIND_EXCLUSIVE);
  AddLock(request, 3, 2, "orders", v1::LOCK_KIND_EXCLUSIVE);
  Send(*stream_, request);
  Read(*stream_);
  LockElsewhere(holder_, "parts", LockKind::kExclusive);  // the session's is the youngest
  Round();
  const v1::SessionResponse response = Read(*stream_);
  ASSERT_EQ(response.notices_size(), 2);
  EXPECT_EQ(response.notices(0).aborted_by_server().abort_cause(), v1::ABORT_CAUSE_DEADLOCK);
  EXPECT_EQ(response.notices(1).operation(), 3);
  EXPECT_EQ(response.notices(1).lock().state(), v1::LOCK_STATE_ABORTED);
  EXPECT_THAT(response.notices(1).lock().reason(), ::testing::HasSubstr("waits"));
}

TEST_F(SessionNoticeTest, ALeaseThatIsOverIsNoticedForTransactionsOfTheSessionOnly) {
  v1::SessionRequest request;
  AddOpen(request, 1, 3);
  Send(*stream_, request);  // 2, 3, 4
  v1::SessionRequest end;
  AddAbort(end, 2, 2);
  AddCommit(end, 3, 3);
  Send(*stream_, end);
  Read(*stream_);
  for (int i = 0; i < 5; ++i) {
    Send(*stream_, v1::SessionRequest());
    Pass(core_options_.state.txn_timeout / 3);
  }
  const v1::SessionResponse response = Read(*stream_);
  ASSERT_EQ(response.notices_size(), 1) << "who aborts or commits knows; others are others'";
  EXPECT_EQ(response.notices(0).aborted_by_server().txn_id(), 4);
  EXPECT_EQ(response.notices(0).aborted_by_server().abort_cause(), v1::ABORT_CAUSE_TIMEOUT);
}

TEST_F(SessionNoticeTest, AnIdOfAUnitThatWasNotStoredBelongsToWhoGetsItNext) {
  store_.FailAppend(1, MakeError(ErrorReason::kStoreBusy, "locked"));
  v1::SessionRequest request;
  AddOpen(request, 1);
  Send(*stream_, request);
  EXPECT_THAT(StatusOf(Read(*stream_), 1), HasReason(ErrorReason::kStoreBusy));
  const TxnId other = OpenElsewhere();
  EndElsewhere(other, false);
  EXPECT_EQ(Read(*stream_).notices_size(), 0);
}

// ---- the fused begin ----

TEST_F(SessionNoticeTest, AFusedBeginHasAllOfItInOneAnswer) {
  EndElsewhere(holder_);
  v1::SessionRequest request;
  AddBegin(request, 1);
  Send(*stream_, request);
  const v1::SessionResponse response = Read(*stream_);
  ASSERT_THAT(StatusOf(response, 1), IsOk());
  const v1::BeginTransactionResponse& begun = AnswerTo(response, 1)->begin_transaction();
  EXPECT_EQ(begun.state(), v1::LOCK_STATE_ACQUIRED);
  EXPECT_EQ(begun.transaction().first_txn_id(), 2);
  EXPECT_EQ(begun.lock().state(), v1::LOCK_STATE_ACQUIRED);
  ASSERT_EQ(begun.write_ids_size(), 1);
  EXPECT_EQ(begun.write_ids(0).allocations(0).write_id(), 1);
  ASSERT_EQ(begun.valid_write_ids().lists_size(), 1);
  EXPECT_EQ(begun.valid_write_ids().lists(0).snapshot_seq(), begun.transaction().snapshot_seq());
  EXPECT_EQ(begun.snapshot().snapshot_seq(), begun.transaction().snapshot_seq());
}

TEST_F(SessionNoticeTest, R23AFusedBeginThatWaitsTakesSnapshotAndWriteIdsAtTheGrant) {
  v1::SessionRequest request;
  AddBegin(request, 1);
  Send(*stream_, request);
  v1::SessionResponse response = Read(*stream_);
  ASSERT_THAT(StatusOf(response, 1), IsOk());
  const v1::BeginTransactionResponse waiting = AnswerTo(response, 1)->begin_transaction();
  EXPECT_EQ(waiting.state(), v1::LOCK_STATE_WAITING);
  EXPECT_EQ(waiting.transaction().first_txn_id(), 2);
  EXPECT_EQ(waiting.transaction().snapshot_seq(), 0);
  EXPECT_EQ(waiting.write_ids_size(), 0);
  EXPECT_FALSE(waiting.has_valid_write_ids());
  // The holder writes before it commits: write id 1, which the waiter has to see.
  OnState([&](state::State& state, state::Now now, state::Unit& unit) {
    EXPECT_THAT(state.Allocate({{"sales", "orders"}, {holder_}}, now, unit), IsOk());
  });
  EndElsewhere(holder_);
  response = Read(*stream_);
  ASSERT_EQ(response.notices_size(), 1);
  EXPECT_EQ(response.notices(0).operation(), 1);
  const v1::BeginTransactionResponse& begun = response.notices(0).begun();
  EXPECT_EQ(begun.state(), v1::LOCK_STATE_ACQUIRED);
  EXPECT_EQ(begun.lock().blocked_by_size(), 0) << "nobody blocks what is granted";
  EXPECT_EQ(begun.lock().reason(), "");
  EXPECT_GT(begun.lock().lock_id(), 0);
  ASSERT_EQ(begun.write_ids_size(), 1);
  EXPECT_EQ(begun.write_ids(0).allocations(0).write_id(), 2);
  const v1::WriteIdList& list = begun.valid_write_ids().lists(0);
  EXPECT_GE(list.high_watermark(), 1);
  EXPECT_THAT(list.open(), ::testing::Not(::testing::Contains(1)))
      << "the commit that released the lock is part of the snapshot";
  EXPECT_EQ(list.aborted_size(), 0);
  EXPECT_EQ(list.snapshot_seq(), begun.transaction().snapshot_seq());
  // No conflict with the writer it waited for.
  v1::SessionRequest commit;
  AddCommit(commit, 2, 2);
  Send(*stream_, commit);
  EXPECT_THAT(StatusOf(Read(*stream_), 2), IsOk());
}

TEST_F(SessionNoticeTest, AFusedBeginThatMayNotWaitLeavesNothing) {
  v1::SessionRequest request;
  AddBegin(request, 1)->set_no_wait(true);
  Send(*stream_, request);
  const v1::SessionResponse response = Read(*stream_);
  ASSERT_THAT(StatusOf(response, 1), IsOk());
  EXPECT_EQ(AnswerTo(response, 1)->begin_transaction().state(), v1::LOCK_STATE_NOT_ACQUIRED);
  EXPECT_FALSE(AnswerTo(response, 1)->begin_transaction().has_transaction());
  EXPECT_EQ(Txn(2)->state, TxnState::kAborted);
}

TEST_F(SessionNoticeTest, AFusedBeginIsAllOrNothing) {
  struct Case {
    const char* name;
    std::function<void(v1::BeginTransactionRequest&)> damage;
    ErrorReason reason;
  };
  const Case cases[] = {
      {"a lock of a table that is not there",
       [](auto& begin) { SetComponent("no", v1::LOCK_KIND_SHARED_READ, begin.add_locks()); },
       ErrorReason::kNoSuchTable},
      {"a write id of a table that is not there",
       [](auto& begin) { SetName("no", begin.add_write_tables()); },
       ErrorReason::kNoSuchTable},
      {"a list of a table that is not there",
       [](auto& begin) { SetName("no", begin.add_read_tables()); },
       ErrorReason::kNoSuchTable},
      {"a write id of a read-only transaction",
       [](auto& begin) { begin.mutable_open()->set_type(v1::TRANSACTION_TYPE_READ_ONLY); },
       ErrorReason::kOperationNotAllowed},
      {"two transactions",
       [](auto& begin) { begin.mutable_open()->set_count(2); },
       ErrorReason::kInvalidRequest},
      {"a lock without a kind",
       [](auto& begin) { begin.mutable_locks(0)->clear_kind(); },
       ErrorReason::kInvalidRequest},
  };
  EndElsewhere(holder_);
  int64_t number = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    v1::SessionRequest request;
    c.damage(*AddBegin(request, ++number));
    Send(*stream_, request);
    EXPECT_THAT(StatusOf(Read(*stream_), number), HasReason(c.reason));
    EXPECT_EQ(core_->state().Summary({clock_.Now(), clock_.MonoNow()}).open_txns, 0);
    EXPECT_EQ(core_->state().Summary({clock_.Now(), clock_.MonoNow()}).locks_held, 0);
  }
}

TEST_F(SessionNoticeTest, AFusedBeginWhoseTableIsGoneAtTheGrantIsNothing) {
  OnState([&](state::State& state, state::Now now, state::Unit& unit) {
    EXPECT_THAT(state.Drop(holder_, {"sales", "orders"}, now, unit), IsOk());
  });
  v1::SessionRequest request;
  AddBegin(request, 1);
  Send(*stream_, request);
  Read(*stream_);
  EndElsewhere(holder_);
  const v1::SessionResponse response = Read(*stream_);
  ASSERT_EQ(response.notices_size(), 1);
  EXPECT_NE(response.notices(0).begun().state(), v1::LOCK_STATE_ACQUIRED) << response.DebugString();
  EXPECT_EQ(response.notices(0).begun().write_ids_size(), 0);
  EXPECT_EQ(Txn(2)->state, TxnState::kAborted);
}

TEST_F(SessionNoticeTest, AFusedBeginThatWasGivenUpIsNothing) {
  v1::SessionRequest request;
  AddBegin(request, 1);
  Send(*stream_, request);
  const v1::SessionResponse response = Read(*stream_);
  v1::SessionRequest release;
  Add(release, 2)
      .mutable_release_lock()
      ->set_lock_id(response.answers(0).begin_transaction().lock().lock_id());
  Send(*stream_, release);
  const v1::SessionResponse ended = Read(*stream_);
  ASSERT_EQ(ended.notices_size(), 1);
  EXPECT_EQ(ended.notices(0).begun().state(), v1::LOCK_STATE_NOT_ACQUIRED);
  EXPECT_EQ(Txn(2)->state, TxnState::kAborted);
}

TEST_F(SessionNoticeTest, AFusedBeginOfAUnitThatWasNotStoredNeverWas) {
  EndElsewhere(holder_);
  store_.FailAppend(1, MakeError(ErrorReason::kStoreFull, "full"));
  v1::SessionRequest request;
  AddBegin(request, 1);
  Send(*stream_, request);
  EXPECT_THAT(StatusOf(Read(*stream_), 1), HasReason(ErrorReason::kStoreFull));
  EXPECT_FALSE(Txn(2).ok());
}

}  // namespace
}  // namespace skep::rpc
