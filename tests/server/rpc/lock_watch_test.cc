// WatchLock: by hand where the order matters, and through the wire.

#include "server/rpc/lock_watch.h"

#include <map>

#include "storage/model/errors.h"
#include "tests/server/rpc/watcher_stream.h"
#include "tests/server/rpc/rpc_fixture.h"

namespace skep::rpc {
namespace {

using ::testing::ElementsAre;
using testing::HasReason;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::Pair;
using Watch = WatcherStream<v1::WatchLockResponse>;

class LockWatchTest : public StreamFixture {
 protected:
  LockWatchTest() : watch_(std::make_unique<LockWatch>(*core_)) {
    Do([](state::State& state, state::Now now, state::Unit& unit) {
      state::CreateTable command;
      command.name = {"sales", "orders"};
      command.schema.columns = *ParseColumns("id bigint");
      command.location = "/w/orders";
      EXPECT_TRUE(state.Create(command, now, unit).ok());
    });
    holder_ = OpenTxn();
    held_ = Lock(holder_, LockKind::kExclusive);
  }
  ~LockWatchTest() override { watch_.reset(); }

  LockId Lock(TxnId txn, LockKind kind) {
    LockId lock;
    Do([&](state::State& state, state::Now now, state::Unit& unit) {
      state::AcquireLocks command;
      command.txn = txn;
      command.components.push_back({{"sales", "orders", ""}, kind, std::nullopt, false});
      lock = state.Lock(command, now, unit)->lock;
    });
    return lock;
  }
  void Abort(TxnId txn) {
    Do([txn](state::State& state, state::Now now, state::Unit& unit) {
      EXPECT_TRUE(state.AbortOne(txn, AbortCause::kOperator, now, unit).ok());
    });
  }
  std::unique_ptr<Watch> Start(std::vector<LockId> locks) {
    v1::WatchLockRequest request;
    for (LockId lock : locks) request.add_lock_ids(lock.value());
    auto stream = std::make_unique<Watch>();
    watch_->Message(*stream, request.SerializeAsString());
    return stream;
  }
  static std::vector<std::pair<int64_t, v1::LockState>> Take(Watch& watch) {
    std::vector<std::pair<int64_t, v1::LockState>> states;
    for (const auto& told : watch.Take()) states.emplace_back(told.lock_id(), told.state());
    return states;
  }

  std::unique_ptr<LockWatch> watch_;
  TxnId holder_;
  LockId held_;
};

TEST_F(LockWatchTest, TellsEachChangeAndEndsWithTheLast) {
  const TxnId reader = OpenTxn();
  const TxnId writer = OpenTxn();
  const LockId first = Lock(reader, LockKind::kSharedRead);
  const LockId second = Lock(writer, LockKind::kExclusive);
  const auto watch = Start({second, first, held_, first});
  EXPECT_THAT(Take(*watch),
              ElementsAre(Pair(held_.value(), v1::LOCK_STATE_ACQUIRED),
                          Pair(first.value(), v1::LOCK_STATE_WAITING),
                          Pair(second.value(), v1::LOCK_STATE_WAITING)));
  Commit(holder_);
  EXPECT_THAT(Take(*watch), ElementsAre(Pair(first.value(), v1::LOCK_STATE_ACQUIRED)));
  EXPECT_FALSE(watch->finished.has_value());
  Abort(writer);
  EXPECT_THAT(Take(*watch), ElementsAre(Pair(second.value(), v1::LOCK_STATE_ABORTED)));
  ASSERT_TRUE(watch->finished.has_value());
  EXPECT_THAT(*watch->finished, IsOk());
}

TEST_F(LockWatchTest, TellsOfRequestsThatAreNotThere) {
  const auto watch = Start({LockId(77)});
  EXPECT_THAT(Take(*watch), ElementsAre(Pair(77, v1::LOCK_STATE_NOT_ACQUIRED)));
  EXPECT_THAT(*watch->finished, IsOk());
}

TEST_F(LockWatchTest, TellsARequestThatWasGivenUp) {
  const LockId waiting = Lock(OpenTxn(), LockKind::kSharedRead);
  const auto watch = Start({waiting});
  watch->Take();
  Do([&](state::State& state, state::Now now, state::Unit& unit) {
    EXPECT_THAT(state.Release({waiting, false}, now, unit), IsOk());
  });
  EXPECT_THAT(Take(*watch), ElementsAre(Pair(waiting.value(), v1::LOCK_STATE_NOT_ACQUIRED)));
  EXPECT_THAT(*watch->finished, IsOk());
}

TEST_F(LockWatchTest, GivesNothingUpByLeaving) {
  const LockId waiting = Lock(OpenTxn(), LockKind::kSharedRead);
  const auto watch = Start({waiting});
  EXPECT_EQ(core_->waiting(), 1u);
  watch_->Closed(*watch);
  EXPECT_EQ(core_->waiting(), 0u);
  Commit(holder_);
  EXPECT_EQ(core_->state().Locks({}).front().state, LockState::kAcquired);
}

TEST_F(LockWatchTest, TellsNobodyOfAGrantThatWasNotStored) {
  const LockId waiting = Lock(OpenTxn(), LockKind::kSharedRead);
  const auto watch = Start({waiting});
  watch->Take();
  store_.FailAppend(1, MakeError(ErrorReason::kStoreFull, "full"));
  core_->RunOwned(loop::MakeCommand(
      [this](state::State& state, state::Now now, state::Unit& unit) {
        EXPECT_TRUE(state.Commit({holder_, {}}, now, unit).ok());
      },
      [](const absl::Status&) {}));
  core_->Flush();
  EXPECT_THAT(Take(*watch), IsEmpty());
  Commit(holder_);
  EXPECT_THAT(Take(*watch), ElementsAre(Pair(waiting.value(), v1::LOCK_STATE_ACQUIRED)));
}

TEST_F(LockWatchTest, WaitsForAClientThatReadsLate) {
  std::vector<LockId> locks;
  for (int i = 0; i < 200; ++i) locks.push_back(Lock(OpenTxn(), LockKind::kSharedRead));
  const auto watch = std::make_unique<Watch>();
  watch->stuck = true;
  v1::WatchLockRequest request;
  for (LockId lock : locks) request.add_lock_ids(lock.value());
  watch_->Message(*watch, request.SerializeAsString());
  Commit(holder_);
  EXPECT_LE(watch->written.size(), 64u) << "a stream cuts who lets more wait";
  for (int i = 0; i < 20; ++i) watch->Unstick(*watch_);
  std::map<int64_t, v1::LockState> last;
  for (const auto& [lock, state] : Take(*watch)) last[lock] = state;
  EXPECT_EQ(last.size(), 200u);
  for (const auto& [lock, state] : last) EXPECT_EQ(state, v1::LOCK_STATE_ACQUIRED);
  EXPECT_THAT(*watch->finished, IsOk());
}

TEST_F(LockWatchTest, RefusesWhatIsNoRequest) {
  EXPECT_THAT(*Start({})->finished, HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(*Start({LockId(0)})->finished, HasReason(ErrorReason::kInvalidRequest));
  EXPECT_EQ(watch_->watchers(), 0u);
}

TEST_F(LockWatchTest, EndsWhenTheServerGoes) {
  const auto watch = Start({Lock(OpenTxn(), LockKind::kSharedRead)});
  watch->Take();
  core_->AnswerWaiters();
  EXPECT_THAT(*watch->finished, HasReason(ErrorReason::kShuttingDown));
}

class LockWatchCallTest : public RpcFixture {};

TEST_F(LockWatchCallTest, TellsAGrantThroughTheWire) {
  CreateTable("orders");
  const int64_t holder = OpenTxn();
  const int64_t second = OpenTxn();
  v1::AcquireLocksResponse answer;
  ASSERT_THAT(Call(&Locks::AcquireLocks,
                   *locks_,
                   LockRequest(holder, "orders", v1::LOCK_KIND_EXCLUSIVE),
                   &answer),
              IsOk());
  ASSERT_THAT(Call(&Locks::AcquireLocks,
                   *locks_,
                   LockRequest(second, "orders", v1::LOCK_KIND_SHARED_READ),
                   &answer,
                   std::chrono::milliseconds(300)),
              IsOk());
  ASSERT_EQ(answer.state(), v1::LOCK_STATE_WAITING);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  v1::WatchLockRequest request;
  request.add_lock_ids(answer.lock_id());
  const auto reader = locks_->WatchLock(&context, request);
  v1::WatchLockResponse told;
  ASSERT_TRUE(reader->Read(&told));
  EXPECT_EQ(told.state(), v1::LOCK_STATE_WAITING);
  ASSERT_THAT(Commit(holder), IsOk());
  ASSERT_TRUE(reader->Read(&told));
  EXPECT_EQ(told.lock_id(), answer.lock_id());
  EXPECT_EQ(told.state(), v1::LOCK_STATE_ACQUIRED);
  EXPECT_FALSE(reader->Read(&told));
  EXPECT_TRUE(reader->Finish().ok());
}

}  // namespace
}  // namespace skep::rpc
