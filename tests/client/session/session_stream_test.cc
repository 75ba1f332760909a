// The client's session stream against a real core: what it carries, and what becomes of calls when
// streams are lost at any moment.

#include "client/session/session_stream.h"

#include "client/session/transaction_core.h"
#include "tests/client/session/stream_world.h"

namespace skep::client {
namespace {

using ::testing::Contains;
using testing::HasReason;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::StatusIs;

const TableName kOrders{"sales", "orders"};

// One transaction that writes a partition, as table writers do.
absl::Status WriteOne(Session& session, const std::string& partition, TxnId* id = nullptr) {
  auto txn = session.Begin({.lease = seconds(6)});
  if (!txn.ok()) return Annotate(txn.status(), "begin");
  if (id != nullptr) *id = (*txn)->id();
  auto core = (*txn)->core();
  auto statement = core->BeginWrite(kOrders, WriteOp::kInsert);
  if (!statement.ok()) return Annotate(statement.status(), "begin write");
  absl::Status done = core->DeclarePartitions(*statement, {partition});
  if (!done.ok()) return Annotate(done, "declare");
  done = core->EndWrite(*statement, TransactionCore::Wrote::kRows);
  if (!done.ok()) return Annotate(done, "end write");
  return Annotate((*txn)->Commit(), "commit");
}

int64_t OpenTxns(StreamWorld& world) {
  return world.server->core->state().Summary({world.clock.Now(), world.clock.MonoNow()}).open_txns;
}

std::vector<std::string> Partitions(StreamWorld& world) {
  auto found = world.server->core->state().Partitions(
      kOrders, TxnId(), {world.clock.Now(), world.clock.MonoNow()}, "", 100);
  EXPECT_THAT(found, IsOk());
  return found.ok() ? *found : std::vector<std::string>();
}

TEST(SessionStream, CarriesTheCallsOfASession) {
  StreamWorld world;
  world.CreateTable("orders");
  auto session = world.NewSession();
  TxnId id;
  ASSERT_THAT(WriteOne(*session, "p=1", &id), IsOk());
  EXPECT_EQ(world.server->Txn(id.value())->state, TxnState::kCommitted);
  EXPECT_THAT(world.unary_methods, IsEmpty());
  EXPECT_EQ(session->impl().stream()->counts().streams, 1);
  EXPECT_EQ(world.server->service->sessions().size(), 1u);
  session.reset();
  EXPECT_EQ(world.server->service->sessions().size(), 0u) << "it said that it ends";
}

TEST(SessionStream, CanBeLeftOut) {
  StreamWorld world;
  world.CreateTable("orders");
  world.options.stream = false;
  auto session = world.NewSession();
  EXPECT_THAT(WriteOne(*session, "p=1"), IsOk());
  EXPECT_EQ(world.server->service->sessions().size(), 0u);
}

TEST(SessionStream, FallsBackWhereTheServerHasNoSessions) {
  StreamWorld world;
  world.CreateTable("orders");
  world.no_sessions = true;
  auto session = world.NewSession();
  EXPECT_THAT(WriteOne(*session, "p=1"), IsOk());
  EXPECT_THAT(WriteOne(*session, "p=2"), IsOk());
  EXPECT_EQ(session->impl().stream()->counts().streams, 1) << "it asks once";
  EXPECT_EQ(session->impl().stream()->counts().fences, 0);
}

TEST(SessionStream, CallsOfANetworkThatIsDownAreTheCallersToRepeat) {
  StreamWorld world;
  world.CreateTable("orders");
  world.unreachable = true;
  auto session = world.NewSession();
  world.executor.PostAt(world.clock.MonoNow() + seconds(3), [&] { world.unreachable = false; });
  TxnId id;
  EXPECT_THAT(WriteOne(*session, "p=1", &id), IsOk());
  EXPECT_EQ(id, TxnId(1)) << "what never reached anybody is no repeat";
  world.unreachable = true;
  world.Restart();
  const absl::Status late = session->Begin().status();
  EXPECT_TRUE(absl::IsUnavailable(late) || absl::IsDeadlineExceeded(late)) << late;
}

class RawCalls {
 public:
  explicit RawCalls(StreamWorld& world)
      : stream({world, world, world, world.executor, world.clock, world.random},
               [this](TxnId txn, AbortCause cause) { aborted.emplace_back(txn, cause); }),
        world_(world) {}

  template <class Request>
  int Start(Request request, std::chrono::milliseconds wait = seconds(10)) {
    const int index = static_cast<int>(replies.size());
    replies.emplace_back();
    auto response = std::make_shared<typename Rpc<Request>::Response>();
    responses.push_back(response);
    stream.Call(Rpc<Request>::kMethod,
                std::make_shared<Request>(std::move(request)),
                response,
                world_.clock.MonoNow() + wait,
                [this, index](TransportReply reply) {
                  EXPECT_FALSE(replies[index].has_value()) << "answered twice";
                  replies[index] = std::move(reply);
                });
    return index;
  }
  int StartOpen(int lease = 6) {
    v1::OpenTransactionsRequest request;
    request.set_user("ann");
    request.mutable_txn_timeout()->set_seconds(lease);
    GiveId(request);
    return Start(std::move(request));
  }
  template <class Request>
  void GiveId(Request& request) {
    const Uuid id = MakeUuid(world_.random);
    request.set_request_id(std::string(id.begin(), id.end()));
  }
  template <class Response>
  const Response& Answer(int index) {
    return dynamic_cast<const Response&>(*responses[index]);
  }
  bool AllAnswered() const {
    return std::all_of(replies.begin(), replies.end(), [](const auto& r) { return r.has_value(); });
  }

  std::vector<std::optional<TransportReply>> replies;
  std::vector<std::shared_ptr<google::protobuf::Message>> responses;
  std::vector<std::pair<TxnId, AbortCause>> aborted;
  SessionStream stream;

 private:
  StreamWorld& world_;
};

TEST(SessionStream, GathersWhatArrivesWhileAMessageIsUnderWay) {
  StreamWorld world;
  RawCalls calls(world);
  for (int i = 0; i < 1'000; ++i) calls.StartOpen();
  world.executor.RunFor(seconds(1));
  ASSERT_TRUE(calls.AllAnswered());
  for (const auto& reply : calls.replies) EXPECT_THAT(reply->status, IsOk());
  EXPECT_EQ(OpenTxns(world), 1'000);
  EXPECT_LE(calls.stream.counts().messages, 4);
  EXPECT_EQ(calls.stream.counts().operations, 1'000);
}

TEST(SessionStream, KeepsToTheCredit) {
  StreamWorld world;
  RawCalls calls(world);
  for (int i = 0; i < 10'000; ++i) calls.StartOpen();
  world.executor.RunFor(seconds(1));
  ASSERT_TRUE(calls.AllAnswered());
  for (const auto& reply : calls.replies) ASSERT_THAT(reply->status, IsOk());
}

TEST(SessionStream, ACallEndsAtItsDeadlineWhateverTheServerDoes) {
  StreamWorld world;
  RawCalls calls(world);
  calls.StartOpen();
  world.executor.RunFor(seconds(1));
  world.trouble = [](bool) { return Trouble::kSilence; };
  world.unary_down = true;
  v1::OpenTransactionsRequest request;
  request.set_user("ann");
  const int late = calls.Start(request, milliseconds(400));
  world.executor.RunFor(milliseconds(399));
  EXPECT_FALSE(calls.replies[late].has_value());
  world.executor.RunFor(milliseconds(2));
  ASSERT_TRUE(calls.replies[late].has_value());
  EXPECT_THAT(calls.replies[late]->status, StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST(SessionStream, StopCancelsWhatIsUnderWay) {
  StreamWorld world;
  RawCalls calls(world);
  calls.StartOpen();
  calls.stream.Stop();
  ASSERT_TRUE(calls.replies[0].has_value());
  EXPECT_THAT(calls.replies[0]->status, StatusIs(absl::StatusCode::kCancelled));
  world.executor.RunFor(seconds(60));
}

// ---- lost at every moment ----

// The `at`th message of the whole run (both ways) meets `what`; later ones pass.
std::function<Trouble(bool)> Once(int at, Trouble what, int* seen) {
  return [at, what, seen](bool) { return (*seen)++ == at ? what : Trouble::kNone; };
}

TEST(SessionStream, R26StreamsLostAtAnyMomentLoseNothingAndDoNothingTwice) {
  for (const Trouble what : {Trouble::kBreakBefore, Trouble::kBreakAfter, Trouble::kSilence}) {
    // Until a run has fewer messages than that.
    int at = 0;
    for (bool met = true; met; ++at) {
      SCOPED_TRACE(::testing::Message()
                   << "trouble " << static_cast<int>(what) << " at message " << at);
      StreamWorld world;
      world.CreateTable("orders");
      auto session = world.NewSession();
      int seen = 0;
      world.trouble = Once(at, what, &seen);
      TxnId id;
      ASSERT_THAT(WriteOne(*session, "p=1", &id), IsOk());
      EXPECT_EQ(world.server->Txn(id.value())->state, TxnState::kCommitted);
      EXPECT_THAT(Partitions(world), ::testing::ElementsAre("p=1"));
      EXPECT_EQ(OpenTxns(world), 0) << "nothing was opened twice";
      ASSERT_THAT(WriteOne(*session, "p=2"), IsOk()) << "and it goes on";
      met = seen > at;
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(at, 10);
  }
}

TEST(SessionStream, R26ARestartAtAnyMomentLosesNothingAndDoesNothingTwice) {
  for (const bool before : {true, false}) {
    int at = 0;
    for (bool met = true; met; ++at) {
      SCOPED_TRACE(::testing::Message() << "restart at message " << at << " before " << before);
      StreamWorld world;
      world.CreateTable("orders");
      auto session = world.NewSession();
      int seen = 0;
      world.trouble = [&](bool) {
        if (seen++ != at) return Trouble::kNone;
        world.executor.Post([&] { world.Restart(); });
        return before ? Trouble::kBreakBefore : Trouble::kNone;
      };
      TxnId id;
      ASSERT_THAT(WriteOne(*session, "p=1", &id), IsOk());
      EXPECT_EQ(world.server->Txn(id.value())->state, TxnState::kCommitted);
      EXPECT_THAT(Partitions(world), ::testing::ElementsAre("p=1"));
      EXPECT_EQ(OpenTxns(world), 0);
      met = seen > at;
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(at, 5);
  }
}

TEST(SessionStream, R26ManyCallsUnderWaySurviveALostStream) {
  for (const Trouble what : {Trouble::kBreakBefore, Trouble::kBreakAfter}) {
    for (int at = 0; at < 8; ++at) {
      SCOPED_TRACE(::testing::Message()
                   << "trouble " << static_cast<int>(what) << " at message " << at);
      StreamWorld world;
      RawCalls calls(world);
      int seen = 0;
      world.trouble = Once(at, what, &seen);
      for (int i = 0; i < 500; ++i) calls.StartOpen(60);
      world.executor.RunFor(seconds(9));
      ASSERT_TRUE(calls.AllAnswered());
      std::set<int64_t> ids;
      int lost = 0;
      for (int i = 0; i < 500; ++i) {
        if (!calls.replies[i]->status.ok()) {
          // The very first message, and whether it arrived is not known: its callers repeat it.
          EXPECT_THAT(calls.replies[i]->status, StatusIs(absl::StatusCode::kUnavailable));
          EXPECT_TRUE(calls.replies[i]->maybe_sent);
          ++lost;
          continue;
        }
        ids.insert(calls.Answer<v1::OpenTransactionsResponse>(i).first_txn_id());
      }
      // The hello went with the first call.
      EXPECT_EQ(lost, at == 0 && what == Trouble::kBreakBefore ? 1 : 0);
      EXPECT_EQ(std::ssize(ids), 500 - lost) << "no two calls got one answer";
      EXPECT_EQ(OpenTxns(world), 500 - lost) << "none was executed twice";
    }
  }
}

// ---- falling back ----

TEST(SessionStream, R26FallingBackFencesTheSessionBeforeItSendsAgainInOrder) {
  StreamWorld world;
  world.CreateTable("orders");
  RawCalls calls(world);
  calls.StartOpen();
  world.executor.RunFor(seconds(1));
  ASSERT_THAT(calls.replies[0]->status, IsOk());
  const int64_t txn = calls.Answer<v1::OpenTransactionsResponse>(0).first_txn_id();
  world.trouble = [](bool) { return Trouble::kSilence; };
  v1::AddPartitionsRequest add;
  add.set_txn_id(txn);
  add.mutable_table()->set_database("sales");
  add.mutable_table()->set_table("orders");
  add.add_partitions("p=7");
  add.set_operation(v1::WRITE_OPERATION_INSERT);
  const int added = calls.Start(add);
  v1::CommitTransactionRequest commit;
  commit.set_txn_id(txn);
  const int committed = calls.Start(commit);
  world.executor.RunFor(milliseconds(900));
  EXPECT_FALSE(calls.replies[added].has_value());
  EXPECT_THAT(world.unary_methods, IsEmpty());
  world.executor.RunFor(milliseconds(200));  // a sixth of the lease of six seconds is over
  ASSERT_TRUE(calls.AllAnswered());
  EXPECT_THAT(world.unary_methods,
              ::testing::ElementsAre("FenceSession", "AddPartitions", "CommitTransaction"));
  EXPECT_THAT(calls.replies[added]->status, IsOk());
  EXPECT_THAT(calls.replies[committed]->status, IsOk());
  // Later the library tries a stream again.
  world.trouble = nullptr;
  world.executor.RunFor(seconds(2));
  const int64_t before = world.unary_calls;
  calls.StartOpen();
  world.executor.RunFor(milliseconds(100));
  EXPECT_THAT(calls.replies.back()->status, IsOk());
  EXPECT_EQ(world.unary_calls, before);
  EXPECT_EQ(calls.stream.counts().streams, 2);
}

TEST(SessionStream, R26NothingOvertakesWhileTheFenceIsNotAnswered) {
  StreamWorld world;
  RawCalls calls(world);
  calls.StartOpen();
  world.executor.RunFor(seconds(1));
  world.trouble = [](bool) { return Trouble::kSilence; };
  world.unary_down = true;
  calls.StartOpen();
  world.executor.RunFor(seconds(2));
  const int behind = calls.StartOpen();
  world.executor.RunFor(seconds(2));
  EXPECT_THAT(world.unary_methods, ::testing::Each("FenceSession"));
  EXPECT_GT(world.unary_methods.size(), 3u) << "it asks again";
  EXPECT_FALSE(calls.replies[behind].has_value());
  world.unary_down = false;
  world.executor.RunFor(milliseconds(300));
  EXPECT_TRUE(calls.AllAnswered());
}

TEST(SessionStream, BeatsGoOverTheStreamAndAroundOneThatIsSilent) {
  StreamWorld world;
  auto session = world.NewSession();
  auto txn = session->Begin({.lease = seconds(6)});
  ASSERT_THAT(txn, IsOk());
  world.executor.RunFor(seconds(60));
  EXPECT_THAT(world.unary_methods, IsEmpty());
  EXPECT_EQ(world.server->Txn((*txn)->id().value())->state, TxnState::kOpen);
  world.trouble = [](bool) { return Trouble::kSilence; };
  world.executor.RunFor(seconds(60));
  EXPECT_THAT(world.unary_methods, Contains("HeartbeatTransactions"));
  EXPECT_EQ(world.server->Txn((*txn)->id().value())->state, TxnState::kOpen)
      << "no beat was starved";
  EXPECT_THAT((*txn)->core()->CheckLease(), IsOk());
}

// ---- what is pushed ----

TEST(SessionStream, AWaitingLockEndsWithItsGrant) {
  StreamWorld world;
  world.CreateTable("orders");
  auto session = world.NewSession();
  auto holder = session->Begin();
  auto waiter = session->Begin();
  ASSERT_THAT((*holder)->Lock({{"sales", "orders", "", LockMode::kExclusive}}), IsOk());
  const MonoTime begin = world.clock.MonoNow();
  world.executor.PostAt(begin + seconds(5), [&] {
    world.server->OnState([&](state::State& state, state::Now now, state::Unit& unit) {
      EXPECT_THAT(state.AbortOne((*holder)->id(), AbortCause::kOperator, now, unit), IsOk());
    });
  });
  ASSERT_THAT((*waiter)->Lock({{"sales", "orders", "", LockMode::kSharedRead}}), IsOk());
  EXPECT_LT(world.clock.MonoNow() - begin, seconds(5) + milliseconds(50)) << "pushed, not polled";
  EXPECT_EQ((*holder)->state(), TransactionState::kAborted) << "and so was the abort";
  EXPECT_THAT((*holder)->core()->CheckLease(), HasReason(ErrorReason::kTxnAborted));
  EXPECT_THAT(world.unary_methods, IsEmpty());
}

TEST(SessionStream, ALockThatIsNotGrantedInTimeLeavesTheQueue) {
  StreamWorld world;
  world.CreateTable("orders");
  auto session = world.NewSession();
  auto holder = session->Begin();
  auto waiter = session->Begin();
  ASSERT_THAT((*holder)->Lock({{"sales", "orders", "", LockMode::kExclusive}}), IsOk());
  const absl::Status refused =
      (*waiter)
          ->Lock({{"sales", "orders", "", LockMode::kSharedRead}}, {.wait = seconds(3)})
          .status();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(MessageOf(refused), HasSubstr("transaction 1"));
  EXPECT_EQ(
      world.server->core->state().Summary({world.clock.Now(), world.clock.MonoNow()}).locks_waiting,
      0);
}

TEST(SessionStream, AGrantWhileTheStreamIsDownIsNotLost) {
  for (const Trouble what : {Trouble::kBreakBefore, Trouble::kSilence}) {
    SCOPED_TRACE(static_cast<int>(what));
    StreamWorld world;
    world.CreateTable("orders");
    auto session = world.NewSession();
    auto holder = session->Begin({.lease = seconds(60)});
    auto waiter = session->Begin({.lease = seconds(6)});
    ASSERT_THAT((*holder)->Lock({{"sales", "orders", "", LockMode::kExclusive}}), IsOk());
    bool now = false;
    world.trouble = [&](bool up) {
      return !up && std::exchange(now, false) ? what : Trouble::kNone;
    };
    world.executor.PostAt(world.clock.MonoNow() + seconds(1), [&] {
      now = true;  // the message with the grant
      world.server->OnState([&](state::State& state, state::Now n, state::Unit& unit) {
        EXPECT_THAT(state.Commit({(*holder)->id(), {}}, n, unit), IsOk());
      });
    });
    EXPECT_THAT((*waiter)->Lock({{"sales", "orders", "", LockMode::kSharedRead}}), IsOk());
  }
}

}  // namespace
}  // namespace skep::client
