#include "client/session/caller.h"

#include "tests/client/session/fakes.h"
#include "tests/testing/status_matchers.h"

namespace skep::client {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::skep::testing::StatusIs;
using Enqueue = v1::EnqueueCompactionRequest;

struct CallerWorld : World {
  absl::Status Call(milliseconds deadline = seconds(10)) {
    Caller caller({server, executor, clock, random, blocker}, options.retry);
    return caller.Call(Enqueue(), clock.MonoNow() + deadline).status();
  }
  std::vector<milliseconds> Pauses() const {
    std::vector<milliseconds> pauses;
    for (size_t i = 1; i < server.seen.size(); ++i) {
      pauses.push_back(
          std::chrono::duration_cast<milliseconds>(server.seen[i].time - server.seen[i - 1].time));
    }
    return pauses;
  }
};

TEST(Caller, RepeatsTheSameRequestAfterALostAnswer) {
  CallerWorld world;
  world.server.Next<Enqueue>({Fate::kAnswerLost, Fate::kRequestLost});
  EXPECT_THAT(world.Call(), IsOk());
  std::vector<Enqueue> sent = world.server.RequestsOf<Enqueue>();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].request_id().size(), 16u);
  EXPECT_FALSE(sent[0].repeat());
  for (size_t i : {1, 2}) {
    EXPECT_EQ(sent[i].request_id(), sent[0].request_id());
    EXPECT_TRUE(sent[i].repeat());
  }
}

TEST(Caller, DoesNotCallARepeatWhatWasNeverSent) {
  CallerWorld world;
  world.server.Next<Enqueue>({Fate::kNotSent, Fate::kNotSent, Fate::kAnswerLost});
  EXPECT_THAT(world.Call(), IsOk());
  std::vector<Enqueue> sent = world.server.RequestsOf<Enqueue>();
  ASSERT_EQ(sent.size(), 4u);
  EXPECT_FALSE(sent[1].repeat());
  EXPECT_FALSE(sent[2].repeat());
  EXPECT_TRUE(sent[3].repeat());
}

TEST(Caller, HonoursTheServersWishAndItsWordThatNothingWasDone) {
  CallerWorld world;
  int calls = 0;
  world.server.On<Enqueue>([&calls](const auto&, auto&) {
    TransportReply busy = Refuse(ErrorReason::kStoreBusy);
    busy.retry_after = milliseconds(700);
    return ++calls < 3 ? busy : Ok();
  });
  EXPECT_THAT(world.Call(), IsOk());
  for (milliseconds pause : world.Pauses()) EXPECT_GE(pause, milliseconds(700));
  for (const Enqueue& sent : world.server.RequestsOf<Enqueue>()) EXPECT_FALSE(sent.repeat());
}

TEST(Caller, RepeatsNothingButUnavailable) {
  const ErrorReason reasons[] = {ErrorReason::kTxnAborted,
                                 ErrorReason::kWriteConflict,
                                 ErrorReason::kOverloaded,
                                 ErrorReason::kOutcomeUnknown,
                                 ErrorReason::kNoSuchTable,
                                 ErrorReason::kInternal};
  for (ErrorReason reason : reasons) {
    SCOPED_TRACE(std::string(ReasonName(reason)));
    CallerWorld world;
    world.server.On<Enqueue>([reason](const auto&, auto&) { return Refuse(reason); });
    EXPECT_THAT(world.Call(), HasReason(reason));
    EXPECT_EQ(world.server.seen.size(), 1u);
  }
}

TEST(Caller, PausesLongerEachTimeUpToALimit) {
  CallerWorld world;
  world.server.SetDown(true);
  EXPECT_THAT(world.Call(seconds(30)), StatusIs(absl::StatusCode::kUnavailable));
  std::vector<milliseconds> pauses = world.Pauses();
  ASSERT_GT(pauses.size(), 10u);
  double expected = 50;
  for (milliseconds pause : pauses) {
    EXPECT_GE(pause.count(), expected * 0.8 - 1);
    EXPECT_LE(pause.count(), expected * 1.2 + 1);
    expected = std::min(expected * 2, 2000.0);
  }
}

TEST(Caller, GivesUpAtTheDeadlineWithTheLastRefusal) {
  CallerWorld world;
  world.server.SetDown(true);
  const MonoTime start = world.clock.MonoNow();
  EXPECT_THAT(world.Call(seconds(3)), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_LE(world.clock.MonoNow(), start + seconds(3));
  for (const FakeServer::Seen& call : world.server.seen)
    EXPECT_EQ(call.deadline, start + seconds(3));
}

TEST(Caller, GivesUpAfterTheAttemptsItMayMake) {
  CallerWorld world;
  world.options.retry.max_attempts = 4;
  world.server.SetDown(true);
  EXPECT_THAT(world.Call(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(world.server.seen.size(), 4u);
}

TEST(Caller, EndsACallThatHangs) {
  CallerWorld world;
  world.server.Next<Enqueue>({Fate::kHangs});
  const MonoTime start = world.clock.MonoNow();
  EXPECT_THAT(world.Call(), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(world.clock.MonoNow(), start + seconds(10));
}

TEST(Caller, SendsNothingThatIsTooLargeForAServer) {
  CallerWorld world;
  Caller caller({world.server, world.executor, world.clock, world.random, world.blocker}, {});
  Enqueue request;
  request.set_partition(std::string(5 << 20, 'x'));
  EXPECT_THAT(caller.Call(request, world.clock.MonoNow() + seconds(1)),
              HasReason(ErrorReason::kInvalidRequest));
  EXPECT_TRUE(world.server.seen.empty());
}

TEST(Caller, KeepsARequestIdThatWasGiven) {
  CallerWorld world;
  Caller caller({world.server, world.executor, world.clock, world.random, world.blocker}, {});
  Enqueue request;
  request.set_request_id("0123456789abcdef");
  EXPECT_THAT(caller.Call(request, world.clock.MonoNow() + seconds(1)), IsOk());
  EXPECT_EQ(world.server.RequestsOf<Enqueue>()[0].request_id(), "0123456789abcdef");
}

}  // namespace
}  // namespace skep::client
