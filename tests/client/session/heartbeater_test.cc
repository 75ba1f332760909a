#include "client/session/heartbeater.h"

#include "client/session/transaction_core.h"
#include "tests/client/session/fakes.h"
#include "tests/testing/status_matchers.h"

namespace skep::client {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::skep::testing::StatusIs;
using ::testing::ElementsAre;
using Beat = v1::HeartbeatTransactionsRequest;

std::vector<int64_t> IdsOf(const Beat& beat) {
  return {beat.txn_ids().begin(), beat.txn_ids().end()};
}

size_t Beats(const World& world) { return world.server.CallsOf<Beat>().size(); }

TEST(Heartbeater, KeepsAllTransactionsAliveInOneCall) {
  World world;
  auto session = world.NewSession();
  auto a = world.Begin(*session);
  auto b = world.Begin(*session);
  auto c = world.Begin(*session);
  world.executor.RunFor(seconds(65));
  std::vector<Beat> beats = world.server.RequestsOf<Beat>();
  ASSERT_GE(beats.size(), 5u);
  for (const Beat& beat : beats) EXPECT_THAT(IdsOf(beat), ElementsAre(7, 8, 9));
}

TEST(Heartbeater, BeatsAtAThirdOfTheLease) {  // CLI-2
  World world;
  auto session = world.NewSession();
  const MonoTime opened = world.clock.MonoNow();
  auto txn = world.Begin(*session);
  world.executor.RunFor(std::chrono::minutes(10));
  std::vector<FakeServer::Seen> beats = world.server.CallsOf<Beat>();
  EXPECT_NEAR(static_cast<double>(beats.size()), 60, 4);
  MonoTime last = opened;
  std::set<int64_t> periods;
  for (const FakeServer::Seen& beat : beats) {
    const auto period = std::chrono::duration_cast<milliseconds>(beat.time - last).count();
    EXPECT_GE(period, 9'000 - 1);
    EXPECT_LE(period, 11'000 + 1);
    EXPECT_LE(beat.deadline - beat.time, milliseconds(5'500));
    periods.insert(period);
    last = beat.time;
  }
  EXPECT_GT(periods.size(), 10u) << "no jitter: all clients would beat together after a restart";
}

TEST(Heartbeater, FollowsTheShortestLease) {
  World world;
  auto session = world.NewSession();
  auto slow = world.Begin(*session);
  world.server.On<v1::OpenTransactionsRequest>([](const auto&, auto& answer) {
    answer.set_first_txn_id(100);
    answer.mutable_txn_timeout()->set_seconds(3);
    return Ok();
  });
  const MonoTime start = world.clock.MonoNow();
  auto quick = world.Begin(*session, {.lease = seconds(3)});
  world.executor.RunFor(milliseconds(1'101));
  ASSERT_EQ(Beats(world), 1u);
  EXPECT_LE(world.server.CallsOf<Beat>()[0].time, start + milliseconds(1'100));
  EXPECT_THAT(IdsOf(world.server.RequestsOf<Beat>()[0]), ElementsAre(7, 100));
  quick.reset();
  world.server.seen.clear();
  world.executor.RunFor(seconds(60));
  EXPECT_NEAR(static_cast<double>(Beats(world)), 6, 1);
}

TEST(Heartbeater, IsSilentAfterEveryExit) {
  struct Case {
    std::string name;
    std::function<void(World&, std::unique_ptr<Transaction>&)> exit;
  };
  const Case cases[] = {
      {"commit", [](World&, auto& txn) { EXPECT_THAT(txn->Commit(), IsOk()); }},
      {"abort", [](World&, auto& txn) { EXPECT_THAT(txn->Abort(), IsOk()); }},
      {"destruction", [](World&, auto& txn) { txn.reset(); }},
      {"destruction without a server",
       [](World& world, auto& txn) {
         world.server.SetDown(true);
         txn.reset();
         world.server.SetDown(false);
       }},
      {"abort without a server",
       [](World& world, auto& txn) {
         world.server.SetDown(true);
         EXPECT_THAT(txn->Abort(), StatusIs(absl::StatusCode::kUnavailable));
         world.server.SetDown(false);
       }},
      {"conflict",
       [](World& world, auto& txn) {
         world.server.On<v1::CommitTransactionRequest>(
             [](const auto&, auto&) { return Refuse(ErrorReason::kWriteConflict); });
         EXPECT_THAT(txn->Commit(), HasReason(ErrorReason::kWriteConflict));
       }},
      {"a call that says it is aborted",
       [](World& world, auto& txn) {
         world.server.On<v1::GetTableRequest>(
             [](const auto&, auto&) { return Refuse(ErrorReason::kTxnAborted); });
         EXPECT_THAT(txn->core()->GetTable({"d", "t"}), HasReason(ErrorReason::kTxnAborted));
       }},
      {"the server's word in a beat",
       [](World& world, auto&) {
         world.server.On<Beat>([](const auto& request, auto& answer) {
           for (int64_t id : request.txn_ids()) answer.add_aborted()->set_txn_id(id);
           return Ok();
         });
         world.executor.RunFor(seconds(12));
       }},
      {"left after a commit without answer",
       [](World& world, auto& txn) {
         world.server.SetDown(true);
         EXPECT_THAT(txn->Commit(), HasReason(ErrorReason::kOutcomeUnknown));
         txn.reset();
         world.server.SetDown(false);
       }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    World world;
    auto session = world.NewSession();
    auto txn = world.Begin(*session);
    world.executor.RunFor(seconds(25));
    EXPECT_GE(Beats(world), 2u);
    c.exit(world, txn);
    world.server.seen.clear();
    world.executor.RunFor(std::chrono::hours(1));
    EXPECT_EQ(Beats(world), 0u);
    EXPECT_EQ(world.executor.timers(), 0u);
  }
}

TEST(Heartbeater, IsNotStarvedByCallsThatHang) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  world.server.Next<v1::GetTableRequest>(std::vector<Fate>(20, Fate::kHangs));
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(txn->core()->GetTable({"d", "t"}), StatusIs(absl::StatusCode::kDeadlineExceeded));
  }
  EXPECT_GE(Beats(world), 16u) << "one every ten seconds for two hundred";
  EXPECT_THAT(txn->core()->CheckLease(), IsOk());
}

TEST(Heartbeater, GoesOnForTheOthersWhenOneEnds) {
  World world;
  auto session = world.NewSession();
  auto a = world.Begin(*session);
  auto b = world.Begin(*session);
  EXPECT_THAT(a->Commit(), IsOk());
  world.executor.RunFor(seconds(12));
  ASSERT_EQ(Beats(world), 1u);
  EXPECT_THAT(IdsOf(world.server.RequestsOf<Beat>()[0]), ElementsAre(8));
}

TEST(Heartbeater, SendsAFailedBeatAgainAtOnce) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  world.server.Next<Beat>({Fate::kRequestLost, Fate::kAnswerLost, Fate::kHangs});
  world.executor.RunFor(seconds(29));
  EXPECT_THAT(txn->core()->CheckLease(), IsOk());
  world.executor.RunFor(seconds(25));
  EXPECT_THAT(txn->core()->CheckLease(), IsOk())
      << "the fourth beat got through before the lease was over";
  EXPECT_GE(Beats(world), 5u);
}

TEST(Heartbeater, NeverStopsForRefusals) {  // CLI-3
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  world.server.On<Beat>([](const auto&, auto&) { return Refuse(ErrorReason::kInternal); });
  world.executor.RunFor(std::chrono::minutes(5));
  EXPECT_GT(Beats(world), 100u);
  EXPECT_LT(Beats(world), 250u) << "a loop without pauses";
  world.server.On<Beat>([](const auto&, auto&) { return Ok(); });
  world.executor.RunFor(seconds(3));
  EXPECT_THAT(txn->Commit(), IsOk());
}

TEST(Heartbeater, TellsTheOwnerAtItsNextCall) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  auto other = world.Begin(*session);
  world.server.On<Beat>([](const auto&, auto& answer) {
    answer.add_aborted()->set_txn_id(7);
    answer.mutable_aborted(0)->set_abort_cause(v1::ABORT_CAUSE_OPERATOR);
    return Ok();
  });
  world.executor.RunFor(seconds(12));
  world.server.seen.clear();
  absl::Status told = txn->Commit();
  EXPECT_THAT(told, HasReason(ErrorReason::kTxnAborted));
  EXPECT_EQ(MetadataOf(told)["cause"], "operator");
  EXPECT_EQ(txn->state(), TransactionState::kAborted);
  EXPECT_THAT(txn->core()->CheckLease(), HasReason(ErrorReason::kTxnAborted));
  EXPECT_TRUE(world.server.seen.empty()) << "nothing to ask";
  EXPECT_THAT(other->Commit(), IsOk());
}

// The beat left before the commit and its answer comes after it: "committed" is no news then.
TEST(Heartbeater, DropsWhatABeatUnderWaySaysAboutARemovedTransaction) {
  World world;
  Heartbeater heartbeater(world.server, world.executor, world.clock, world.random);
  auto lease = std::make_shared<Lease>(TxnId(7), seconds(30), world.clock.MonoNow(), world.clock);
  heartbeater.Add(lease);
  world.server.On<Beat>([&heartbeater](const auto&, auto& answer) {
    heartbeater.Remove(TxnId(7));
    answer.add_not_found(7);
    return Ok();
  });
  world.executor.RunFor(seconds(12));
  EXPECT_EQ(Beats(world), 1u);
  EXPECT_THAT(lease->final_state(), IsOk());
}

TEST(Heartbeater, SplitsWhatIsTooMuchForOneCall) {
  World world;
  Heartbeater heartbeater(world.server, world.executor, world.clock, world.random);
  for (int64_t id = 1; id <= 10'001; ++id) {
    heartbeater.Add(
        std::make_shared<Lease>(TxnId(id), seconds(30), world.clock.MonoNow(), world.clock));
  }
  world.executor.RunFor(seconds(12));
  std::vector<Beat> beats = world.server.RequestsOf<Beat>();
  ASSERT_EQ(beats.size(), 2u);
  EXPECT_EQ(beats[0].txn_ids_size(), 10'000);
  EXPECT_EQ(beats[1].txn_ids_size(), 1);
}

TEST(Lease, IsOverByTheClientsOwnClock) {
  World world;
  auto session = world.NewSession();
  auto txn = world.Begin(*session);
  world.server.Next<Beat>(std::vector<Fate>(100, Fate::kRequestLost));
  world.executor.RunFor(milliseconds(29'999));
  EXPECT_THAT(txn->core()->CheckLease(), IsOk());
  world.executor.RunFor(milliseconds(1));
  absl::Status over = txn->core()->CheckLease();
  EXPECT_THAT(over, HasReason(ErrorReason::kTxnAborted));
  EXPECT_EQ(MetadataOf(over)["cause"], "timeout");
  // Belief is a hint: the server decides about the commit.
  EXPECT_THAT(txn->Commit(), IsOk());
}

TEST(Lease, CountsFromTheSendingOfTheBeatThatGotThrough) {
  World world;
  Lease lease(TxnId(7), seconds(30), world.clock.MonoNow(), world.clock);
  const MonoTime start = world.clock.MonoNow();
  world.clock.Advance(seconds(20));
  lease.Renew(start + seconds(10));
  world.clock.Advance(milliseconds(19'999));
  EXPECT_THAT(lease.Check(), IsOk());
  world.clock.Advance(milliseconds(1));
  EXPECT_THAT(lease.Check(), HasReason(ErrorReason::kTxnAborted));
}

}  // namespace
}  // namespace skep::client
