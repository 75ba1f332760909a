// What a session promises: numbers, answers, streams that come and go, commits behind
// failures.

#include "tests/server/rpc/session_world.h"

namespace skep::rpc {
namespace {

using testing::HasReason;
using ::testing::HasSubstr;
using testing::IsOk;

class SessionTest : public SessionWorld {};

TEST_F(SessionTest, AWelcomeSaysWhatMayBeAsked) {
  options_.limits.operations = 7;
  options_.lease = std::chrono::seconds(30);
  Restart();
  FakeStream& stream = Connect();
  const v1::SessionResponse response = Read(stream);
  EXPECT_EQ(response.welcome().next_number(), 1);
  EXPECT_EQ(response.welcome().credit_operations(), 7);
  EXPECT_EQ(response.welcome().credit_bytes(), 4 << 20);
  EXPECT_EQ(response.welcome().session_lease().seconds(), 30);
}

TEST_F(SessionTest, OperationsOfOneMessageAreOneUnitAndOneMessageBack) {
  CreateTable("orders");
  FakeStream& stream = Connect();
  Read(stream);
  const int64_t units = core_->counts().units;
  v1::SessionRequest request;
  for (int i = 1; i <= 50; ++i) AddOpen(request, i);
  Send(stream, request);
  int messages = 0;
  const v1::SessionResponse response = Read(stream, &messages);
  EXPECT_EQ(core_->counts().units, units + 1);
  EXPECT_EQ(messages, 1);
  ASSERT_EQ(response.answers_size(), 50);
  for (int i = 1; i <= 50; ++i) {
    ASSERT_NE(AnswerTo(response, i), nullptr);
    EXPECT_EQ(AnswerTo(response, i)->open_transactions().first_txn_id(), i);
  }
}

TEST_F(SessionTest, NoAnswerLeavesBeforeItsUnitIsDurable) {
  FakeStream& stream = Connect();
  Read(stream);
  v1::SessionRequest request;
  AddOpen(request, 1);
  Arrive(stream, request);
  EXPECT_TRUE(stream.written.empty());
  core_->Flush();
  EXPECT_EQ(Read(stream).answers_size(), 1);
}

TEST_F(SessionTest, AHelloMayBringOperations) {
  v1::SessionRequest request = HelloOf(1, false);
  AddOpen(request, 1);
  FakeStream& stream = NewStream();
  Send(stream, request);
  const v1::SessionResponse response = Read(stream);
  EXPECT_TRUE(response.has_welcome());
  EXPECT_THAT(StatusOf(response, 1), IsOk());
}

TEST_F(SessionTest, EachOperationFailsOrSucceedsOnItsOwn) {
  FakeStream& stream = Connect();
  v1::SessionRequest request;
  AddOpen(request, 1);
  AddCommit(request, 2, 999);
  AddOpen(request, 3, -1);
  AddOpen(request, 4);
  Send(stream, request);
  const v1::SessionResponse response = Read(stream);
  EXPECT_THAT(StatusOf(response, 1), IsOk());
  EXPECT_THAT(StatusOf(response, 2), HasReason(ErrorReason::kNoSuchTxn));
  EXPECT_THAT(StatusOf(response, 3), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(StatusOf(response, 4), IsOk());
}

TEST_F(SessionTest, AUnitThatIsNotStoredFailsItsOperationsAndNoOthers) {
  FakeStream& stream = Connect();
  store_.FailAppend(1, MakeError(ErrorReason::kStoreBusy, "locked"));
  v1::SessionRequest request;
  AddOpen(request, 1);
  Send(stream, request);
  EXPECT_THAT(StatusOf(Read(stream), 1), HasReason(ErrorReason::kStoreBusy));
  v1::SessionRequest next;
  AddOpen(next, 2);
  Send(stream, next);
  EXPECT_THAT(StatusOf(Read(stream), 2), IsOk());
}

TEST_F(SessionTest, HeartbeatsOfAMessageAreHandledFirst) {
  FakeStream& stream = Connect();
  v1::SessionRequest open;
  AddOpen(open, 1);
  Send(stream, open);
  Read(stream);
  // The beat stands last: handled in order it would find the transaction ended by the commit.
  v1::SessionRequest request;
  AddCommit(request, 2, 1);
  AddBeat(request, 3, 1);
  Send(stream, request);
  const v1::SessionResponse response = Read(stream);
  EXPECT_THAT(StatusOf(response, 2), IsOk());
  ASSERT_NE(AnswerTo(response, 3), nullptr);
  EXPECT_EQ(AnswerTo(response, 3)->heartbeat_transactions().committed_size(), 0);
}

TEST_F(SessionTest, WhatThisServerDoesNotKnowIsRefusedByNumber) {
  FakeStream& stream = Connect();
  v1::SessionRequest request;
  Add(request, 1);  // a request of a newer client is in a field that we skip
  AddOpen(request, 2);
  Send(stream, request);
  const v1::SessionResponse response = Read(stream);
  EXPECT_THAT(StatusOf(response, 1), HasReason(ErrorReason::kNotSupported));
  EXPECT_THAT(StatusOf(response, 2), IsOk());
}

// ---- R-26 ----

TEST_F(SessionTest, R26AnswersThatWereLostComeAgainOnTheNextStream) {
  FakeStream& first = Connect();
  Read(first);
  v1::SessionRequest request;
  for (int i = 1; i <= 5; ++i) AddOpen(request, i);
  Send(first, request);
  Break(first);  // 1, 2 and 5 were seen, 3 and 4 are lost
  v1::SessionRequest hello = HelloOf(2, true);
  hello.set_answered_below(3);
  hello.add_answered_above(5);
  FakeStream& second = NewStream();
  Send(second, hello);
  const v1::SessionResponse response = Read(second);
  EXPECT_EQ(response.welcome().next_number(), 6);
  ASSERT_EQ(response.answers_size(), 2);
  EXPECT_EQ(AnswerTo(response, 3)->open_transactions().first_txn_id(), 3);
  EXPECT_EQ(AnswerTo(response, 4)->open_transactions().first_txn_id(), 4);
  EXPECT_EQ(Highest(), 5) << "nothing ran twice";
}

TEST_F(SessionTest, R26ARepeatedOperationIsRecognisedByItsNumber) {
  FakeStream& first = Connect();
  v1::SessionRequest request;
  AddOpen(request, 1);
  AddOpen(request, 2);
  Send(first, request);
  Break(first);
  // The client has seen nothing and sends all of it again, with one more.
  v1::SessionRequest again = HelloOf(2, true);
  for (int i = 1; i <= 3; ++i) AddOpen(again, i);
  FakeStream& second = NewStream();
  Send(second, again);
  const v1::SessionResponse response = Read(second);
  for (int i = 1; i <= 3; ++i) {
    ASSERT_NE(AnswerTo(response, i), nullptr) << i;
    EXPECT_EQ(AnswerTo(response, i)->open_transactions().first_txn_id(), i);
  }
  EXPECT_EQ(response.answers_size(), 3);
  EXPECT_EQ(Highest(), 3);
}

TEST_F(SessionTest, R26AnAnswerThatComesAfterTheBreakGoesToTheNextStream) {
  FakeStream& first = Connect();
  v1::SessionRequest request;
  AddOpen(request, 1);
  Arrive(first, request);
  Break(first);
  FakeStream& second = NewStream();
  Arrive(second, HelloOf(2, true));
  Round();
  const v1::SessionResponse response = Read(second);
  EXPECT_TRUE(response.has_welcome());
  EXPECT_THAT(StatusOf(response, 1), IsOk());
}

TEST_F(SessionTest, R26ANewEpochFencesTheOldStream) {
  FakeStream& first = Connect();
  FakeStream& second = Connect(2, true);
  EXPECT_THAT(first.error(), HasReason(ErrorReason::kSessionFenced));
  // What the old stream still brings is not taken.
  v1::SessionRequest late;
  AddOpen(late, 1);
  Send(first, late);
  EXPECT_EQ(Highest(), 0);
  sessions().Closed(first);
  v1::SessionRequest request;
  AddOpen(request, 1);
  Send(second, request);
  EXPECT_THAT(StatusOf(Read(second), 1), IsOk());
  // A stream that was slow to arrive is refused, and takes nothing away.
  FakeStream& old = NewStream();
  Send(old, HelloOf(1, true));
  EXPECT_THAT(old.error(), HasReason(ErrorReason::kSessionFenced));
  EXPECT_FALSE(second.ended());
}

TEST_F(SessionTest, R26AnUnknownSessionIsRefusedNeverBegunAnew) {
  FakeStream& stream = NewStream();
  v1::SessionRequest hello = HelloOf(2, true);
  AddOpen(hello, 1);
  Send(stream, hello);
  EXPECT_THAT(stream.error(), HasReason(ErrorReason::kNoSuchSession));
  EXPECT_EQ(Highest(), 0);
}

TEST_F(SessionTest, R26AfterARestartTheNumbersRequestIdFindsWhatWasCreated) {
  FakeStream& stream = Connect();
  v1::SessionRequest request;
  AddOpen(request, 1);
  Send(stream, request);
  Restart();
  FakeStream& again = NewStream();
  Send(again, HelloOf(2, true));
  EXPECT_THAT(again.error(), HasReason(ErrorReason::kNoSuchSession));
  // A new session repeats what has no answer, under the old identity.
  FakeStream& fresh = NewStream();
  v1::SessionRequest repeat = HelloOf(1, false, "fedcba9876543210");
  for (const int64_t old_number : {1, 2}) {
    AddOpen(repeat, old_number);
    auto* open =
        repeat.mutable_operations(static_cast<int>(old_number) - 1)->mutable_open_transactions();
    open->set_request_id(loop::OperationRequestId("0123456789abcdef", old_number));
    open->set_repeat(true);
  }
  Send(fresh, repeat);
  const v1::SessionResponse response = Read(fresh);
  ASSERT_THAT(StatusOf(response, 1), IsOk());
  EXPECT_EQ(AnswerTo(response, 1)->open_transactions().first_txn_id(), 1);
  EXPECT_THAT(StatusOf(response, 2), HasReason(ErrorReason::kRequestIdExpired))
      << "it never arrived: the client is told so";
  EXPECT_EQ(Highest(), 1);
}

TEST_F(SessionTest, R26AFenceStopsWhatIsUnderWayBeforeUnaryCallsGoOn) {
  CreateTable("orders", true);
  FakeStream& stream = Connect();
  v1::SessionRequest request;
  AddOpen(request, 1);
  Send(stream, request);
  // AddPartitions sits in the stream; the client gives the stream up.
  FakeStream& call = NewStream(loop::Sessions::kFence);
  v1::FenceSessionRequest fence;
  fence.set_session_id("0123456789abcdef");
  fence.set_epoch(2);
  sessions().Message(call, fence.SerializeAsString());
  ASSERT_THAT(call.error(), IsOk());
  v1::FenceSessionResponse fenced;
  ASSERT_TRUE(fenced.ParseFromString(call.written.front()));
  EXPECT_TRUE(fenced.known());
  EXPECT_EQ(fenced.next_number(), 2);
  EXPECT_THAT(stream.error(), HasReason(ErrorReason::kSessionFenced));
  v1::SessionRequest late;
  AddPartitions(late, 2, 1, "orders", "p=1");
  Send(stream, late);
  EXPECT_TRUE(Txn(1)->tables.empty());
  FakeStream& next = NewStream();
  Send(next, HelloOf(3, true));
  EXPECT_THAT(next.error(), HasReason(ErrorReason::kSessionFenced)) << "for good";
}

TEST_F(SessionTest, R26AFenceThatOvertakesTheHelloStopsItToo) {
  FakeStream& call = NewStream(loop::Sessions::kFence);
  v1::FenceSessionRequest fence;
  fence.set_session_id("0123456789abcdef");
  fence.set_epoch(2);
  sessions().Message(call, fence.SerializeAsString());
  v1::FenceSessionResponse fenced;
  ASSERT_TRUE(fenced.ParseFromString(call.written.front()));
  EXPECT_FALSE(fenced.known());
  v1::SessionRequest hello = HelloOf(1, false);
  AddOpen(hello, 1);
  FakeStream& late = NewStream();
  Send(late, hello);
  EXPECT_THAT(late.error(), HasReason(ErrorReason::kSessionFenced));
  EXPECT_EQ(Highest(), 0);
  // Remembered for a lease, and no longer.
  Pass(options_.lease + std::chrono::seconds(1));
  EXPECT_EQ(sessions().size(), 0u);
}

TEST_F(SessionTest, ABrokenStreamAbortsNothing) {
  CreateTable("orders");
  const TxnId holder = OpenElsewhere();
  LockElsewhere(holder, "orders", LockKind::kExclusive);
  FakeStream& stream = Connect();
  v1::SessionRequest request;
  AddOpen(request, 1);
  Send(stream, request);
  const int64_t txn = Read(stream).answers(0).open_transactions().first_txn_id();
  v1::SessionRequest lock;
  AddLock(lock, 2, txn, "orders", v1::LOCK_KIND_SHARED_READ);
  Send(stream, lock);
  EXPECT_EQ(Read(stream).answers(0).acquire_locks().state(), v1::LOCK_STATE_WAITING);
  Break(stream);
  EndElsewhere(holder);  // the grant comes while nobody is there
  FakeStream& second = NewStream();
  v1::SessionRequest hello = HelloOf(2, true);
  hello.set_answered_below(3);
  Send(second, hello);
  const v1::SessionResponse response = Read(second);
  ASSERT_EQ(response.notices_size(), 1);
  EXPECT_EQ(response.notices(0).operation(), 2);
  EXPECT_EQ(response.notices(0).lock().state(), v1::LOCK_STATE_ACQUIRED);
  EXPECT_EQ(Txn(txn)->state, TxnState::kOpen);
  // Not acknowledged: it comes once more.
  Break(second);
  FakeStream& third = Connect(3, true);
  EXPECT_EQ(Read(third).notices_size(), 1);
  Break(third);
  v1::SessionRequest seen = HelloOf(4, true);
  seen.set_notices_below(2);
  FakeStream& fourth = NewStream();
  Send(fourth, seen);
  EXPECT_EQ(Read(fourth).notices_size(), 0);
}

TEST_F(SessionTest, ASessionOutlivesItsStreamByOneLease) {
  FakeStream& stream = Connect();
  Break(stream);
  Pass(options_.lease - std::chrono::seconds(1));
  EXPECT_EQ(sessions().size(), 1u);
  Pass(std::chrono::seconds(2));
  EXPECT_EQ(sessions().size(), 0u);
  FakeStream& late = NewStream();
  Send(late, HelloOf(2, true));
  EXPECT_THAT(late.error(), HasReason(ErrorReason::kNoSuchSession));
}

TEST_F(SessionTest, AStallOfTheLoopEndsNoSession) {
  FakeStream& stream = Connect();
  Break(stream);
  clock_.Advance(options_.lease * 2);
  core_->Tick();
  Round();
  EXPECT_EQ(sessions().size(), 1u);
}

TEST_F(SessionTest, ASilentStreamIsEndedAfterALease) {
  FakeStream& stream = Connect();
  for (int i = 0; i < 6; ++i) {
    Send(stream, v1::SessionRequest());  // an empty message is a sign of life
    Pass(options_.lease / 3);
  }
  EXPECT_FALSE(stream.ended());
  for (int i = 0; i < 4; ++i) Pass(options_.lease / 3);
  EXPECT_TRUE(stream.ended());
  EXPECT_EQ(sessions().size(), 1u) << "it may come back";
}

TEST_F(SessionTest, AnEndedSessionIsForgottenAtOnce) {
  FakeStream& stream = Connect();
  v1::SessionRequest request;
  request.set_end(true);
  Send(stream, request);
  EXPECT_THAT(stream.error(), IsOk());
  EXPECT_EQ(sessions().size(), 0u);
}

// ---- R-6 ----

TEST_F(SessionTest, R6ACommitBehindAFailedOperationOfItsTransactionFails) {
  FakeStream& stream = Connect();
  v1::SessionRequest open;
  AddOpen(open, 1, 2);
  Send(stream, open);
  Read(stream);
  v1::SessionRequest request;
  AddPartitions(request, 2, 1, "missing", "p=1");
  AddCommit(request, 3, 1);
  AddCommit(request, 4, 2);  // another transaction has nothing to do with it
  Send(stream, request);
  const v1::SessionResponse response = Read(stream);
  EXPECT_THAT(StatusOf(response, 2), HasReason(ErrorReason::kNoSuchTable));
  EXPECT_THAT(StatusOf(response, 3), HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(MessageOf(StatusOf(response, 3)), HasSubstr("operation 2"));
  EXPECT_THAT(StatusOf(response, 4), IsOk());
  EXPECT_EQ(Txn(1)->state, TxnState::kOpen);
  // Who has seen the failure knows what it commits.
  v1::SessionRequest again;
  again.set_answered_below(5);
  AddCommit(again, 5, 1);
  Send(stream, again);
  EXPECT_THAT(StatusOf(Read(stream), 5), IsOk());
}

TEST_F(SessionTest, R6AFailureOfAnEarlierMessageCountsUntilItIsSeen) {
  FakeStream& stream = Connect();
  v1::SessionRequest open;
  AddOpen(open, 1);
  AddAllocate(open, 2, 1, "missing");
  Send(stream, open);
  Read(stream);
  v1::SessionRequest commit;
  commit.set_answered_below(2);  // the open was seen, not the failure
  AddCommit(commit, 3, 1);
  Send(stream, commit);
  EXPECT_THAT(StatusOf(Read(stream), 3), HasReason(ErrorReason::kOperationNotAllowed));
  v1::SessionRequest abort;
  AddAbort(abort, 4, 1);
  Send(stream, abort);
  EXPECT_THAT(StatusOf(Read(stream), 4), IsOk());
}

TEST_F(SessionTest, R6AnOperationWithoutCreditCountsAsFailed) {
  CreateTable("orders", true);
  options_.limits.operations = 2;
  Restart();
  FakeStream& stream = Connect();
  v1::SessionRequest request;
  AddOpen(request, 1);
  AddAllocate(request, 2, 1, "orders");
  AddPartitions(request, 3, 1, "orders", "p=1");
  AddCommit(request, 4, 1);  // needs no credit
  Send(stream, request);
  const v1::SessionResponse response = Read(stream);
  EXPECT_THAT(StatusOf(response, 2), IsOk());
  EXPECT_THAT(StatusOf(response, 3), HasReason(ErrorReason::kOverloaded));
  EXPECT_THAT(StatusOf(response, 4), HasReason(ErrorReason::kOperationNotAllowed));
}

TEST_F(SessionTest, R6AnOperationOfAUnitThatWasNotStoredCountsAsFailed) {
  CreateTable("orders", true);
  FakeStream& stream = Connect();
  v1::SessionRequest open;
  AddOpen(open, 1);
  Send(stream, open);
  store_.FailAppend(1, MakeError(ErrorReason::kStoreBusy, "locked"));
  v1::SessionRequest add;
  AddPartitions(add, 2, 1, "orders", "p=1");
  Send(stream, add);
  v1::SessionRequest commit;
  AddCommit(commit, 3, 1);
  Send(stream, commit);
  const v1::SessionResponse response = Read(stream);
  EXPECT_THAT(StatusOf(response, 2), HasReason(ErrorReason::kStoreBusy));
  EXPECT_THAT(StatusOf(response, 3), HasReason(ErrorReason::kOperationNotAllowed));
}

}  // namespace
}  // namespace skep::rpc
