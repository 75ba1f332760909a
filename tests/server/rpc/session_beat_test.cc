// Heartbeats by session: what they keep alive, and what they report.

#include "tests/server/rpc/session_world.h"

namespace skep::rpc {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;

class SessionBeatTest : public SessionWorld {
 protected:
  SessionBeatTest() : stream_(&Connect()) { CreateTable("orders"); }

  // One beat of the session, by the next number.
  v1::HeartbeatTransactionsResponse Beat(std::vector<int64_t> left = {}) {
    v1::SessionRequest request;
    auto* beat = Add(request, ++number_).mutable_heartbeat_transactions();
    beat->set_session(true);
    for (const int64_t txn : left) beat->add_left_txn_ids(txn);
    Send(*stream_, request);
    const v1::SessionResponse response = Read(*stream_);
    EXPECT_THAT(StatusOf(response, number_), IsOk());
    const v1::SessionAnswer* answer = AnswerTo(response, number_);
    return answer == nullptr ? v1::HeartbeatTransactionsResponse()
                             : answer->heartbeat_transactions();
  }
  void Open(int count) {
    v1::SessionRequest request;
    AddOpen(request, ++number_, count);
    Send(*stream_, request);
    EXPECT_THAT(StatusOf(Read(*stream_), number_), IsOk());
  }
  TxnState StateOf(int64_t txn) { return Txn(txn)->state; }

  FakeStream* stream_;
  int64_t number_ = 0;
};

TEST_F(SessionBeatTest, OneKeepsAllThatTheSessionOpened) {
  const TxnId foreign = OpenElsewhere();
  Open(3);
  v1::SessionRequest request;
  auto* lock = Add(request, ++number_).mutable_acquire_locks();
  lock->set_user("ada");
  SetComponent("orders", v1::LOCK_KIND_SHARED_READ, lock->add_components());
  Send(*stream_, request);
  const int64_t lock_id = AnswerTo(Read(*stream_), number_)->acquire_locks().lock_id();
  ASSERT_GT(lock_id, 0);
  for (int i = 0; i < 4; ++i) {
    Pass(seconds(200));
    Beat();
  }
  for (int64_t txn = 2; txn <= 4; ++txn) EXPECT_EQ(StateOf(txn), TxnState::kOpen) << txn;
  EXPECT_EQ(core_->state().Locks({}).size(), 1u) << "outside any transaction, and held";
  EXPECT_EQ(StateOf(foreign.value()), TxnState::kAborted) << "nobody's of this session";
  Pass(seconds(301));
  EXPECT_EQ(StateOf(2), TxnState::kAborted) << "each has its own lease";
  EXPECT_THAT(core_->state().Locks({}), IsEmpty());
}

TEST_F(SessionBeatTest, WhatEndedIsReportedOnce) {
  Open(4);
  EndElsewhere(TxnId(1), false);
  EndElsewhere(TxnId(2), true);
  v1::SessionRequest request;
  AddCommit(request, ++number_, 3);
  Send(*stream_, request);
  Read(*stream_);
  const v1::HeartbeatTransactionsResponse first = Beat();
  ASSERT_EQ(first.aborted_size(), 1);
  EXPECT_EQ(first.aborted(0).txn_id(), 1);
  EXPECT_EQ(first.aborted(0).abort_cause(), v1::ABORT_CAUSE_OPERATOR);
  EXPECT_THAT(first.committed(), ElementsAre(2)) << "3 was committed by the session: it knows";
  const v1::HeartbeatTransactionsResponse second = Beat();
  EXPECT_EQ(second.aborted_size() + second.committed_size() + second.not_found_size(), 0);
  EXPECT_EQ(StateOf(4), TxnState::kOpen);
}

TEST_F(SessionBeatTest, WhatTheClientLeftEndsByItsLease) {
  Open(2);
  Beat({1});
  Pass(seconds(200));
  Beat();
  Pass(seconds(200));
  EXPECT_EQ(StateOf(1), TxnState::kAborted);
  EXPECT_EQ(StateOf(2), TxnState::kOpen);
}

TEST_F(SessionBeatTest, ACommitThatWasNotStoredLeavesTheTransactionWithTheSession) {
  Open(1);
  store_.FailAppend(1, MakeError(ErrorReason::kStoreFull, "full"));
  v1::SessionRequest request;
  AddCommit(request, ++number_, 1);
  Send(*stream_, request);
  Read(*stream_);
  Pass(seconds(200));
  Beat();
  Pass(seconds(200));
  EXPECT_EQ(StateOf(1), TxnState::kOpen);
}

TEST_F(SessionBeatTest, TheNextStreamOfTheSessionBeatsForAllOfIt) {
  Open(1);
  Break(*stream_);
  stream_ = &Connect(2, true);
  Pass(seconds(200));
  Beat();
  Pass(seconds(200));
  EXPECT_EQ(StateOf(1), TxnState::kOpen);
}

TEST_F(SessionBeatTest, AFusedBeginThatWaitsLivesByWhateverIsSent) {
  const TxnId holder = OpenElsewhere();
  LockElsewhere(holder, "orders", LockKind::kExclusive);
  v1::SessionRequest request;
  auto* begin = Add(request, ++number_).mutable_begin_transaction();
  begin->mutable_open()->set_user("ada");
  begin->mutable_open()->mutable_txn_timeout()->set_seconds(60);
  SetComponent("orders", v1::LOCK_KIND_SHARED_READ, begin->add_locks());
  Send(*stream_, request);
  ASSERT_EQ(AnswerTo(Read(*stream_), number_)->begin_transaction().state(), v1::LOCK_STATE_WAITING);
  for (int i = 0; i < 4; ++i) {
    Pass(seconds(40));
    Send(*stream_, v1::SessionRequest());
  }
  EXPECT_EQ(StateOf(2), TxnState::kOpen);
  EndElsewhere(holder);
  const v1::SessionResponse response = Read(*stream_);
  ASSERT_EQ(response.notices_size(), 1);
  EXPECT_EQ(response.notices(0).begun().state(), v1::LOCK_STATE_ACQUIRED);
}

}  // namespace
}  // namespace skep::rpc
