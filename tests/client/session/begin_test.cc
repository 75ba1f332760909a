// A transaction that says at its beginning what it needs: one message over a stream, one call after
// another without, all of it or nothing.

#include "client/session/transaction_core.h"
#include "tests/client/session/stream_world.h"

namespace skep::client {
namespace {

using ::testing::Contains;
using testing::HasReason;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;
using ::testing::Not;
using testing::StatusIs;

const TableName kOrders{"sales", "orders"};

BeginOptions AllOfOrders(LockMode mode, milliseconds wait = seconds(20)) {
  BeginOptions options;
  options.lease = seconds(6);
  options.locks = {{"sales", "orders", "", mode}};
  options.lock_options.wait = wait;
  options.reads = {kOrders};
  options.writes = {kOrders};
  return options;
}

int64_t OpenTxns(StreamWorld& world) {
  return world.server->core->state().Summary({world.clock.Now(), world.clock.MonoNow()}).open_txns;
}

class BeginWithLocks : public ::testing::Test {
 protected:
  BeginWithLocks() { world_.CreateTable("orders"); }

  // Somebody holds EXCLUSIVE for so long, and writes meanwhile.
  std::unique_ptr<Transaction> Hold(Session& session, milliseconds time) {
    auto holder = session.Begin({.lease = seconds(60)});
    EXPECT_THAT((*holder)->Lock({{"sales", "orders", "", LockMode::kExclusive}}), IsOk());
    world_.executor.PostAt(world_.clock.MonoNow() + time, [this, id = (*holder)->id()] {
      world_.server->OnState([&](state::State& state, state::Now now, state::Unit& unit) {
        EXPECT_THAT(state.Allocate({kOrders, {id}}, now, unit), IsOk());
      });
      world_.server->OnState([&](state::State& state, state::Now now, state::Unit& unit) {
        EXPECT_THAT(state.Commit({id, {{kOrders, {{"", WriteOp::kUpdate}}}}}, now, unit), IsOk());
      });
    });
    return *std::move(holder);
  }
  // What was asked for is there, without another call.
  void ExpectAll(Transaction& txn, int64_t write_id) {
    const SessionStream::Counts before = session_->impl().stream() != nullptr
                                             ? session_->impl().stream()->counts()
                                             : SessionStream::Counts();
    const int64_t unary = world_.unary_calls;
    const auto list = txn.core()->GetValidWriteIds(kOrders);
    ASSERT_THAT(list, IsOk());
    EXPECT_THAT(list->own, ::testing::ElementsAre(write_id));
    EXPECT_THAT(txn.core()->GetTxnSnapshot(), IsOk());
    EXPECT_EQ(list->seq, txn.snapshot());
    EXPECT_THAT(txn.core()->CheckLease(), IsOk());
    EXPECT_EQ(world_.unary_calls, unary);
    if (session_->impl().stream() != nullptr) {
      EXPECT_EQ(session_->impl().stream()->counts().operations, before.operations);
    }
  }

  StreamWorld world_;
  std::unique_ptr<Session> session_;
};

TEST_F(BeginWithLocks, IsOneOperationOverTheStream) {
  session_ = world_.NewSession();
  auto txn = session_->Begin(AllOfOrders(LockMode::kSharedWrite));
  ASSERT_THAT(txn, IsOk());
  EXPECT_EQ(session_->impl().stream()->counts().operations, 1);
  EXPECT_THAT(world_.unary_methods, IsEmpty());
  ExpectAll(**txn, 1);
  EXPECT_THAT((*txn)->Commit(), IsOk());
}

TEST_F(BeginWithLocks, R23ThatWaitedSeesWhomItWaitedFor) {
  session_ = world_.NewSession();
  const auto holder = Hold(*session_, seconds(15));
  auto txn = session_->Begin(AllOfOrders(LockMode::kExclWrite));
  ASSERT_THAT(txn, IsOk()) << "its lease is 6 s, and it was kept alive while it waited";
  ExpectAll(**txn, 2);
  EXPECT_TRUE((*txn)->core()->GetValidWriteIds(kOrders)->IsValid(WriteId(1)));
  world_.executor.RunFor(seconds(30));
  EXPECT_EQ((*txn)->state(), TransactionState::kOpen);
  EXPECT_THAT((*txn)->Commit(), IsOk());
}

TEST_F(BeginWithLocks, ThatIsNotGrantedInTimeLeavesNothing) {
  session_ = world_.NewSession();
  const auto holder = Hold(*session_, seconds(60));
  for (const milliseconds wait : {milliseconds(0), milliseconds(3'000)}) {
    SCOPED_TRACE(wait.count());
    const absl::Status refused = session_->Begin(AllOfOrders(LockMode::kSharedRead, wait)).status();
    EXPECT_THAT(refused, StatusIs(absl::StatusCode::kDeadlineExceeded));
    EXPECT_THAT(MessageOf(refused), HasSubstr("EXCLUSIVE on sales.orders held by transaction 1"));
    world_.executor.RunFor(seconds(1));
    EXPECT_EQ(OpenTxns(world_), 1) << "the holder";
  }
}

TEST_F(BeginWithLocks, ThatCannotHaveATableOpensNothing) {
  session_ = world_.NewSession();
  for (const bool stream : {true, false}) {
    SCOPED_TRACE(stream);
    world_.no_sessions = !stream;
    if (!stream) session_ = world_.NewSession();
    BeginOptions options = AllOfOrders(LockMode::kSharedRead);
    options.reads = {{"sales", "nothing"}};
    EXPECT_THAT(session_->Begin(options), HasReason(ErrorReason::kNoSuchTable));
    EXPECT_EQ(OpenTxns(world_), 0);
    EXPECT_EQ(session_->impl().heartbeater().size(), 0u) << "no beat for what is not there";
  }
}

TEST_F(BeginWithLocks, GoesStepByStepWithoutAStream) {
  world_.no_sessions = true;
  session_ = world_.NewSession();
  const auto holder = Hold(*session_, seconds(5));
  auto txn = session_->Begin(AllOfOrders(LockMode::kExclWrite));
  ASSERT_THAT(txn, IsOk());
  EXPECT_THAT(world_.unary_methods, Contains("AcquireLocks"));
  EXPECT_THAT(world_.unary_methods, Not(Contains("BeginTransaction")));
  ExpectAll(**txn, 2);
  EXPECT_TRUE((*txn)->core()->GetValidWriteIds(kOrders)->IsValid(WriteId(1)))
      << "a fresh snapshot was taken (R-3)";
  EXPECT_THAT((*txn)->Commit(), IsOk());
}

// The answer is lost with the stream, and then nothing is heard any more: the session is fenced,
// and what may have been executed is found by its request id.
TEST_F(BeginWithLocks, R26IsNotDoneTwiceWhereTheStreamGivesNoSign) {
  session_ = world_.NewSession();
  ASSERT_THAT((*session_->Begin())->Commit(), IsOk());
  for (const Trouble what : {Trouble::kSilence, Trouble::kBreakBefore, Trouble::kBreakAfter}) {
    for (const bool lost_up : {true, false}) {
      SCOPED_TRACE(static_cast<int>(what) * 2 + (lost_up ? 1 : 0));
      bool once = true;
      world_.trouble = [&](bool up) {
        return up == lost_up && std::exchange(once, false) ? what : Trouble::kNone;
      };
      auto txn = session_->Begin(AllOfOrders(LockMode::kSharedWrite));
      ASSERT_THAT(txn, IsOk());
      EXPECT_EQ(OpenTxns(world_), 1);
      EXPECT_THAT((*txn)->Commit(), IsOk());
      EXPECT_EQ(OpenTxns(world_), 0);
      world_.executor.RunFor(seconds(10));
    }
  }
}

TEST_F(BeginWithLocks, ThatLosesItsSessionWhileItWaitsGoesOnStepByStep) {
  session_ = world_.NewSession();
  const auto holder = Hold(*session_, seconds(12));
  world_.executor.PostAt(world_.clock.MonoNow() + seconds(2),
                         [this] { world_.trouble = [](bool) { return Trouble::kSilence; }; });
  auto txn = session_->Begin(AllOfOrders(LockMode::kExclWrite));
  ASSERT_THAT(txn, IsOk());
  EXPECT_THAT(world_.unary_methods, Contains("FenceSession"));
  EXPECT_EQ(OpenTxns(world_), 1) << "what waited first was ended";
  EXPECT_THAT((*txn)->Commit(), IsOk());
}

// ---- beats by session ----

TEST(SessionBeats, NameNothingThatTheSessionKeeps) {
  SessionBeats beats;
  beats.Opened(1, 3);
  v1::HeartbeatTransactionsRequest beat;
  for (const int64_t txn : {1, 2, 9}) beat.add_txn_ids(txn);
  auto sent = beats.Shorten({&beat}).at(0);
  EXPECT_TRUE(sent->session());
  EXPECT_THAT(sent->txn_ids(), ::testing::ElementsAre(9)) << "opened elsewhere";
  EXPECT_THAT(sent->left_txn_ids(), ::testing::ElementsAre(3)) << "nobody beats for it any more";
  // Until it was answered the server may not know; and what was left is named like a stranger.
  beat.add_txn_ids(3);
  sent = beats.Shorten({&beat}).at(0);
  EXPECT_THAT(sent->txn_ids(), ::testing::ElementsAre(9, 3));
  EXPECT_THAT(sent->left_txn_ids(), ::testing::ElementsAre(3));
  beats.Answered(*sent);
  beats.Ended(1);
  sent = beats.Shorten({&beat}).at(0);
  EXPECT_THAT(sent->txn_ids(), ::testing::ElementsAre(1, 9, 3));
  EXPECT_THAT(sent->left_txn_ids(), IsEmpty());
  beats.Forget();
  sent = beats.Shorten({&beat}).at(0);
  EXPECT_FALSE(sent->session());
  EXPECT_EQ(sent->txn_ids_size(), 4);
}

TEST(SessionBeats, OfOneMessageSpeakOnceForTheSession) {
  SessionBeats beats;
  beats.Opened(1, 4);
  v1::HeartbeatTransactionsRequest first, second;
  first.add_txn_ids(1);
  first.add_txn_ids(2);
  second.add_txn_ids(3);
  second.add_txn_ids(4);
  const auto sent = beats.Shorten({&first, &second});
  EXPECT_TRUE(sent.at(0)->session());
  EXPECT_FALSE(sent.at(1)->session());
  EXPECT_THAT(sent.at(0)->left_txn_ids(), IsEmpty());
  EXPECT_EQ(sent.at(0)->txn_ids_size() + sent.at(1)->txn_ids_size(), 0);
}

// After any exit no beat keeps the transaction: of one whose end nobody could be told, the session
// tells with its next beat.
TEST(SessionBeats, KeepNoTransactionWhoseHandleIsGone) {
  StreamWorld world;
  auto session = world.NewSession();
  auto kept = session->Begin({.lease = seconds(6)});
  auto gone = session->Begin({.lease = seconds(6)});
  ASSERT_THAT(gone, IsOk());
  const int64_t id = (*gone)->id().value();
  world.server->OnState([](state::State&, state::Now, state::Unit&) {});
  session->impl().heartbeater().Remove(TxnId(id));  // as each exit does, before it calls anybody
  world.executor.RunFor(seconds(20));
  EXPECT_EQ(world.server->Txn(id)->state, TxnState::kAborted);
  EXPECT_EQ(world.server->Txn((*kept)->id().value())->state, TxnState::kOpen);
}

}  // namespace
}  // namespace skep::client
