// How transactions begin and end, whatever becomes of the answers.
#include "skep/transaction.h"

#include "client/session/transaction_core.h"
#include "skep/errors.h"
#include "tests/client/session/fakes.h"
#include "tests/testing/status_matchers.h"

namespace skep::client {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::skep::testing::StatusIs;
using Abort = v1::AbortTransactionsRequest;
using Ask = v1::GetTransactionRequest;
using Commit = v1::CommitTransactionRequest;
using Open = v1::OpenTransactionsRequest;

std::function<TransportReply(const Ask&, v1::GetTransactionResponse&)> Outcome(
    v1::TransactionState state) {
  return [state](const Ask& request, v1::GetTransactionResponse& answer) {
    answer.mutable_transaction()->set_txn_id(request.txn_id());
    answer.mutable_transaction()->set_state(state);
    if (state == v1::TRANSACTION_STATE_ABORTED) {
      answer.mutable_transaction()->set_abort_cause(v1::ABORT_CAUSE_CONFLICT);
    }
    return Ok();
  };
}

const std::vector<Fate> kLostForTheWholeDeadline(100, Fate::kAnswerLost);

TEST(Begin, SaysWhoAsksAndForWhat) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(
      *session,
      {.mode = TransactionMode::kReadOnly, .agent = "query 5", .lease = milliseconds(1'500)});
  Open sent = world.server.RequestsOf<Open>().at(0);
  EXPECT_EQ(sent.user(), "ann");
  EXPECT_EQ(sent.host(), "host1");
  EXPECT_EQ(sent.agent(), "query 5");
  EXPECT_EQ(sent.type(), v1::TRANSACTION_TYPE_READ_ONLY);
  EXPECT_EQ(sent.txn_timeout().seconds(), 1);
  EXPECT_EQ(sent.txn_timeout().nanos(), 500'000'000);
  EXPECT_EQ(txn->id(), TxnId(7));
  EXPECT_EQ(txn->snapshot(), CommitSeq(5));
  EXPECT_EQ(txn->state(), TransactionState::kOpen);
}

TEST(Begin, OpensAnotherWhenTheServerHasForgottenTheFirstAttempt) {
  World world;
  world.server.Next<Open>({Fate::kAnswerLost});
  auto answer = [&world](const Open& request, v1::OpenTransactionsResponse& answer) {
    if (request.repeat()) return Refuse(ErrorReason::kRequestIdExpired);
    answer.set_first_txn_id(world.next_txn++);
    answer.mutable_txn_timeout()->set_seconds(30);
    return Ok();
  };
  world.server.On<Open>(answer);
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  ASSERT_NE(txn, nullptr);
  EXPECT_EQ(txn->id(), TxnId(8));
  std::vector<Open> sent = world.server.RequestsOf<Open>();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_NE(sent[2].request_id(), sent[0].request_id());
  // The lost one is nobody's: nothing keeps it alive.
  world.executor.RunFor(seconds(12));
  EXPECT_EQ(world.server.RequestsOf<v1::HeartbeatTransactionsRequest>().at(0).txn_ids_size(), 1);
}

TEST(Begin, PassesTheServersRefusalOn) {
  World world;
  world.server.On<Open>([](const auto&, auto&) { return Refuse(ErrorReason::kTooManyOpenTxns); });
  auto session = world.NewSession();
  EXPECT_THAT(session->Begin(), HasReason(ErrorReason::kTooManyOpenTxns));
  EXPECT_EQ(world.executor.timers(), 0u);
}

TEST(Commit, IsDoneOnce) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  EXPECT_THAT(txn->Commit(), IsOk());
  EXPECT_THAT(txn->Commit(), IsOk());
  EXPECT_EQ(txn->state(), TransactionState::kCommitted);
  EXPECT_EQ(world.server.CallsOf<Commit>().size(), 1u);
  EXPECT_THAT(txn->Abort(), HasReason(ErrorReason::kTxnAlreadyCommitted));
  EXPECT_THAT(txn->core()->GetTable({"d", "t"}), HasReason(ErrorReason::kTxnAlreadyCommitted));
  txn.reset();
  EXPECT_EQ(world.server.CallsOf<Abort>().size(), 0u);
}

TEST(Commit, IsRepeatedAfterALostAnswer) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  world.server.Next<Commit>({Fate::kAnswerLost, Fate::kRequestLost});
  EXPECT_THAT(txn->Commit(), IsOk());
  EXPECT_EQ(world.server.CallsOf<Commit>().size(), 3u);
}

TEST(Commit, AsksForTheOutcomeWhenNoAnswerComes) {
  struct Case {
    std::string name;
    v1::TransactionState outcome;
    ErrorReason reason;
    TransactionState state;
  };
  const Case cases[] = {
      {"committed",
       v1::TRANSACTION_STATE_COMMITTED,
       ErrorReason::kUnspecified,
       TransactionState::kCommitted},
      {"aborted",
       v1::TRANSACTION_STATE_ABORTED,
       ErrorReason::kTxnAborted,
       TransactionState::kAborted},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    World world;
    auto session = world.NewSession();
    auto txn = world.Begin(*session);
    world.server.Next<Commit>(kLostForTheWholeDeadline);
    world.server.On<Ask>(Outcome(c.outcome));
    EXPECT_THAT(txn->Commit(), HasReason(c.reason));
    EXPECT_EQ(txn->state(), c.state);
    EXPECT_EQ(world.server.CallsOf<Ask>().size(), 1u);
    world.server.seen.clear();
    world.executor.RunFor(std::chrono::hours(1));
    EXPECT_TRUE(world.server.seen.empty());
  }
}

TEST(Commit, IsMadeAgainIfTheServerSaysItDidNotHappen) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  world.server.Next<Commit>({Fate::kHangs});
  world.server.On<Ask>(Outcome(v1::TRANSACTION_STATE_OPEN));
  EXPECT_THAT(txn->Commit(), IsOk());
  EXPECT_EQ(world.server.CallsOf<Commit>().size(), 2u);
  EXPECT_EQ(txn->state(), TransactionState::kCommitted);
}

TEST(Commit, AsksAfterAServerThatDoesNotKnowEither) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  world.server.On<Commit>([](const auto&, auto&) { return Refuse(ErrorReason::kOutcomeUnknown); });
  world.server.On<Ask>(Outcome(v1::TRANSACTION_STATE_COMMITTED));
  EXPECT_THAT(txn->Commit(), IsOk());
}

TEST(Commit, IsNeitherSuccessNorFailureWithoutAnyAnswer) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  const MonoTime start = world.clock.MonoNow();
  world.server.SetDown(true);
  absl::Status unknown = txn->Commit();
  EXPECT_THAT(unknown, HasReason(ErrorReason::kOutcomeUnknown));
  EXPECT_EQ(MetadataOf(unknown)["txnId"], "7");
  EXPECT_LE(world.clock.MonoNow() - start, seconds(20));
  EXPECT_EQ(txn->state(), TransactionState::kUnknown);
  EXPECT_THAT(txn->core()->GetTable({"d", "t"}), HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(txn->QueryOutcome(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(txn->state(), TransactionState::kUnknown);

  world.server.SetDown(false);
  EXPECT_THAT(txn->Commit(), IsOk());
  EXPECT_EQ(txn->state(), TransactionState::kCommitted);
}

TEST(Commit, OfAnUnansweredCommitFindsItsOutcomeLater) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  world.server.SetDown(true);
  EXPECT_THAT(txn->Commit(), HasReason(ErrorReason::kOutcomeUnknown));
  world.server.SetDown(false);
  world.server.On<Ask>(Outcome(v1::TRANSACTION_STATE_COMMITTED));
  EXPECT_THAT(txn->QueryOutcome(), testing::IsOkAndHolds(TransactionState::kCommitted));
  EXPECT_THAT(txn->Commit(), IsOk());
}

TEST(Commit, KeepsTheTransactionWhenTheServerRefusesItForNow) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  world.server.On<Commit>([](const auto&, auto&) { return Refuse(ErrorReason::kStoreFull); });
  EXPECT_THAT(txn->Commit(), HasReason(ErrorReason::kStoreFull));
  EXPECT_EQ(txn->state(), TransactionState::kOpen);
  world.server.On<Commit>([](const auto&, auto&) { return Ok(); });
  EXPECT_THAT(txn->Commit(), IsOk());
}

TEST(Commit, ThatLostIsTheEnd) {  // CLI-12
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  world.server.On<Commit>([](const auto&, auto&) {
    return Refuse(ErrorReason::kWriteConflict, {{"winnerTxnId", "6"}});
  });
  absl::Status lost = txn->Commit();
  EXPECT_THAT(lost, HasReason(ErrorReason::kWriteConflict));
  EXPECT_TRUE(IsWorthANewTransaction(lost));
  EXPECT_EQ(MetadataOf(lost)["winnerTxnId"], "6");
  EXPECT_EQ(txn->state(), TransactionState::kAborted);
  EXPECT_THAT(txn->Commit(), HasReason(ErrorReason::kWriteConflict));
  EXPECT_THAT(txn->Abort(), IsOk());
  EXPECT_EQ(world.server.CallsOf<Abort>().size(), 0u);
}

TEST(Commit, ThatTheServerHasAlreadyIsASuccess) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  world.server.On<Commit>(
      [](const auto&, auto&) { return Refuse(ErrorReason::kTxnAlreadyCommitted); });
  EXPECT_THAT(txn->Commit(), IsOk());
}

TEST(Abort, IsDoneOnce) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  EXPECT_THAT(txn->Abort(), IsOk());
  EXPECT_THAT(txn->Abort(), IsOk());
  EXPECT_THAT(txn->Commit(), HasReason(ErrorReason::kTxnAborted));
  txn.reset();
  EXPECT_EQ(world.server.CallsOf<Abort>().size(), 1u);
}

TEST(Abort, SaysWhenTheTransactionIsCommitted) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  world.server.On<Abort>([](const auto& request, auto& answer) {
    answer.add_already_committed(request.txn_ids(0));
    return Ok();
  });
  EXPECT_THAT(txn->Abort(), HasReason(ErrorReason::kTxnAlreadyCommitted));
  EXPECT_EQ(txn->state(), TransactionState::kCommitted);
}

TEST(Abort, EndsTheHandleEvenIfNobodyAnswers) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  world.server.SetDown(true);
  EXPECT_THAT(txn->Abort(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(txn->state(), TransactionState::kAborted);
}

TEST(Destruction, AbortsWhatIsOpen) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  std::shared_ptr<TransactionCore> core = txn->core();
  txn.reset();
  ASSERT_EQ(world.server.CallsOf<Abort>().size(), 1u);
  EXPECT_EQ(world.server.RequestsOf<Abort>()[0].txn_ids(0), 7);
  EXPECT_FALSE(world.server.RequestsOf<Abort>()[0].by_operator());
  EXPECT_THAT(core->CheckLease(), HasReason(ErrorReason::kTxnAborted));
  EXPECT_THAT(core->GetTxnSnapshot(), HasReason(ErrorReason::kTxnAborted));
}

TEST(Destruction, HoldsUpItsOwnerForTwoSecondsAtMost) {
  for (Fate fate : {Fate::kRequestLost, Fate::kHangs}) {
    World world;
    auto session = world.NewSession();
    auto txn = world.Begin(*session);
    world.server.Next<Abort>(std::vector<Fate>(100, fate));
    const MonoTime start = world.clock.MonoNow();
    txn.reset();
    EXPECT_LE(world.clock.MonoNow() - start, seconds(2));
  }
}

TEST(Destruction, LeavesAnUnansweredCommitAlone) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  world.server.SetDown(true);
  EXPECT_THAT(txn->Commit(), HasReason(ErrorReason::kOutcomeUnknown));
  world.server.SetDown(false);
  txn.reset();
  EXPECT_EQ(world.server.CallsOf<Abort>().size(), 0u)
      << "an abort might undo what was promised nobody";
}

TEST(Destruction, OfTheSessionLeavesTransactionsUsable) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  session.reset();
  world.executor.RunFor(seconds(12));
  EXPECT_EQ(world.server.CallsOf<v1::HeartbeatTransactionsRequest>().size(), 1u);
  EXPECT_THAT(txn->Commit(), IsOk());
}

TEST(Connect, RefusesOptionsThatCannotBeRight) {
  struct Case {
    std::string name;
    SessionOptions options;
  };
  const SessionOptions good{.endpoint = "unix:/tmp/none.sock", .user = "ann"};
  std::vector<Case> cases(8, {"", good});
  cases[0] = {"no user", {.endpoint = good.endpoint}};
  cases[1] = {"endpoint without port", {.endpoint = "host", .user = "ann"}};
  cases[2] = {"port 0", {.endpoint = "host:0", .user = "ann"}};
  cases[3] = {"relative socket", {.endpoint = "unix:skepd.sock", .user = "ann"}};
  cases[4] = {"socket path too long",
              {.endpoint = "unix:/" + std::string(120, 'x'), .user = "ann"}};
  cases[5] = {"user is not text", {.endpoint = good.endpoint, .user = "\xFF"}};
  cases[6].name = "no deadline";
  cases[6].options.call_deadline = milliseconds(0);
  cases[7].name = "shrinking pauses";
  cases[7].options.retry.growth = 0.5;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(Session::Connect(c.options), HasReason(ErrorReason::kInvalidRequest));
  }
  EXPECT_THAT(Session::Connect(good), IsOk());
}

}  // namespace
}  // namespace skep::client
