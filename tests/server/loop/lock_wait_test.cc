// Lock requests that wait in the core: who is answered, when, and what is left in the queue.

#include <deque>

#include "storage/model/errors.h"
#include "tests/server/loop/core_fixture.h"

namespace skep::loop {
namespace {

using ::skep::testing::HasReason;

class Waiter final : public LockWaiter {
 public:
  void Answer(const absl::StatusOr<state::LockAnswer>& answer) override {
    answers.push_back(answer);
  }
  std::vector<absl::StatusOr<state::LockAnswer>> answers;
};

class LockWaitTest : public CoreFixture {
 protected:
  LockWaitTest() { CreateTable("orders"); }

  // Asks for EXCLUSIVE on the table; parks the caller if it has to wait.
  LockId Lock(TxnId txn,
              Waiter* waiter,
              uint8_t request = 0,
              std::chrono::nanoseconds wait = std::chrono::seconds(10)) {
    auto lock = std::make_shared<LockId>();
    Run([=, this](state::State& state, state::Now now, state::Unit& unit) {
      state::AcquireLocks command;
      command.txn = txn;
      command.components.push_back(
          {{"sales", "orders", ""}, LockKind::kExclusive, std::nullopt, false});
      command.request.id[0] = request;
      const auto answer = state.Lock(command, now, unit);
      EXPECT_TRUE(answer.ok()) << answer.status().ToString();
      *lock = answer->lock;
      if (answer->state != LockState::kWaiting) return Verdict{};
      core_->Park(answer->lock, *waiter, clock_.MonoNow() + wait);
      return Verdict{Release::kParked, {}};
    });
    return *lock;
  }

  LockState CheckState(LockId lock) {
    LockState found = LockState::kNotAcquired;
    Run([&](state::State& state, state::Now now, state::Unit& unit) {
      const auto answer = state.CheckLock(lock, now, unit);
      if (answer.ok()) found = answer->state;
      return Verdict{};
    });
    return found;
  }

  Waiter unused_;
};

TEST_F(LockWaitTest, IsAnsweredWhenTheReleaseIsDurable) {
  const TxnId holder = OpenTxn();
  Lock(holder, &unused_);
  const TxnId second = OpenTxn();
  Waiter waiter;
  const LockId lock = Lock(second, &waiter);
  core_->Flush();
  EXPECT_TRUE(waiter.answers.empty());
  StartCommit(holder);
  EXPECT_TRUE(waiter.answers.empty());  // granted in memory, not durable
  core_->Flush();
  ASSERT_EQ(waiter.answers.size(), 1u);
  EXPECT_EQ(waiter.answers[0]->state, LockState::kAcquired);
  EXPECT_EQ(waiter.answers[0]->lock, lock);
  EXPECT_EQ(core_->waiting(), 0u);
}

TEST_F(LockWaitTest, AGrantWithinTheSameUnitIsNotLost) {
  const TxnId holder = OpenTxn();
  Lock(holder, &unused_);
  const TxnId second = OpenTxn();
  Waiter waiter;
  Lock(second, &waiter);
  StartCommit(holder);
  core_->Flush();
  ASSERT_EQ(waiter.answers.size(), 1u);
  EXPECT_EQ(waiter.answers[0]->state, LockState::kAcquired);
}

TEST_F(LockWaitTest, AtItsDeadlineItIsToldToWaitAndStaysQueued) {
  const TxnId holder = OpenTxn();
  Lock(holder, &unused_);
  const TxnId second = OpenTxn();
  Waiter waiter;
  const LockId lock = Lock(second, &waiter);
  core_->Flush();
  clock_.Advance(std::chrono::seconds(11));
  executor_.RunDue();
  core_->Flush();
  ASSERT_EQ(waiter.answers.size(), 1u);
  EXPECT_EQ(waiter.answers[0]->state, LockState::kWaiting);
  EXPECT_EQ(waiter.answers[0]->blocked_by[0].txn, holder);
  EXPECT_EQ(CheckState(lock), LockState::kWaiting);
  // The later grant answers nobody, and the lock is there.
  StartCommit(holder);
  core_->Flush();
  EXPECT_EQ(waiter.answers.size(), 1u);
  EXPECT_EQ(CheckState(lock), LockState::kAcquired);
}

TEST_F(LockWaitTest, WhoGivesUpLeavesTheQueue) {
  const TxnId holder = OpenTxn();
  Lock(holder, &unused_);
  const TxnId second = OpenTxn();
  const TxnId third = OpenTxn();
  Waiter leaver;
  Waiter stayer;
  const LockId lock = Lock(second, &leaver);
  Lock(third, &stayer);
  core_->Flush();
  core_->Leave(leaver);
  core_->Flush();
  EXPECT_TRUE(leaver.answers.empty());
  EXPECT_EQ(CheckState(lock), LockState::kNotAcquired);  // no such request any more
  EXPECT_EQ(StateOf(second), TxnState::kOpen);           // giving up never aborts
  StartCommit(holder);
  core_->Flush();
  ASSERT_EQ(stayer.answers.size(), 1u);
  EXPECT_EQ(stayer.answers[0]->state, LockState::kAcquired);
}

TEST_F(LockWaitTest, WhoLeavesBeforeItsLastAnswerIsDurableIsNotAnswered) {
  const TxnId holder = OpenTxn();
  Lock(holder, &unused_);
  const TxnId second = OpenTxn();
  Waiter waiter;
  const LockId lock = Lock(second, &waiter);
  core_->Flush();
  clock_.Advance(std::chrono::seconds(11));
  TxnId other;
  StartOpen(&other);  // the answer joins a unit that holds something
  executor_.RunDue();
  core_->Leave(waiter);  // its owner may end it from here on
  core_->Flush();
  EXPECT_TRUE(waiter.answers.empty());
  EXPECT_EQ(core_->waiting(), 0u);
  EXPECT_EQ(CheckState(lock), LockState::kNotAcquired);
}

TEST_F(LockWaitTest, WhoLeavesInTheUnitThatQueuedItIsForgotten) {
  const TxnId holder = OpenTxn();
  Lock(holder, &unused_);
  const TxnId second = OpenTxn();
  {
    Waiter waiter;
    Lock(second, &waiter);
    core_->Leave(waiter);
  }
  store_.FailAppend(1, MakeError(ErrorReason::kStoreFull, "full"));
  core_->Flush();  // must not touch the waiter that is gone
  EXPECT_EQ(core_->waiting(), 0u);
}

TEST_F(LockWaitTest, ARepeatThatStillWaitsKeepsTheRequest) {
  const TxnId holder = OpenTxn();
  Lock(holder, &unused_);
  const TxnId second = OpenTxn();
  Waiter first_call;
  Waiter repeat;
  const LockId lock = Lock(second, &first_call, 7);
  core_->Flush();
  EXPECT_EQ(Lock(second, &repeat, 7), lock);
  core_->Leave(first_call);
  StartCommit(holder);
  core_->Flush();
  EXPECT_TRUE(first_call.answers.empty());
  ASSERT_EQ(repeat.answers.size(), 1u);
  EXPECT_EQ(repeat.answers[0]->state, LockState::kAcquired);
}

TEST_F(LockWaitTest, ARequestThatWasNotStoredFails) {
  const TxnId holder = OpenTxn();
  Lock(holder, &unused_);
  const TxnId second = OpenTxn();
  store_.FailAppend(1, MakeError(ErrorReason::kStoreBusy, "locked"));
  Waiter waiter;
  Lock(second, &waiter);
  core_->Flush();
  ASSERT_EQ(waiter.answers.size(), 1u);
  EXPECT_THAT(waiter.answers[0], HasReason(ErrorReason::kStoreBusy));
}

TEST_F(LockWaitTest, AGrantThatWasNotStoredLeavesTheRequestWaiting) {
  const TxnId holder = OpenTxn();
  Lock(holder, &unused_);
  const TxnId second = OpenTxn();
  Waiter waiter;
  Lock(second, &waiter);
  core_->Flush();
  store_.FailAppend(1, MakeError(ErrorReason::kStoreBusy, "locked"));
  StartCommit(holder);
  core_->Flush();
  EXPECT_TRUE(waiter.answers.empty());
  StartCommit(holder);
  core_->Flush();
  ASSERT_EQ(waiter.answers.size(), 1u);
  EXPECT_EQ(waiter.answers[0]->state, LockState::kAcquired);
}

TEST_F(LockWaitTest, AnUnknownOutcomeReachesEveryWaiter) {
  const TxnId holder = OpenTxn();
  Lock(holder, &unused_);
  const TxnId second = OpenTxn();
  Waiter waiter;
  Lock(second, &waiter);
  core_->Flush();
  store_.FailAppend(1, MakeError(ErrorReason::kOutcomeUnknown, "EIO"));
  StartCommit(holder);
  core_->Flush();
  ASSERT_EQ(waiter.answers.size(), 1u);
  EXPECT_THAT(waiter.answers[0], HasReason(ErrorReason::kOutcomeUnknown));
}

TEST_F(LockWaitTest, DrainingAnswersEverybodyWithWaiting) {
  const TxnId holder = OpenTxn();
  Lock(holder, &unused_);
  std::deque<Waiter> waiters(3);
  std::vector<LockId> locks;
  for (Waiter& waiter : waiters) locks.push_back(Lock(OpenTxn(), &waiter));
  core_->Flush();
  core_->AnswerWaiters();
  core_->Flush();
  for (const Waiter& waiter : waiters) {
    ASSERT_EQ(waiter.answers.size(), 1u);
    EXPECT_EQ(waiter.answers[0]->state, LockState::kWaiting);
  }
  for (const LockId lock : locks) EXPECT_EQ(CheckState(lock), LockState::kWaiting);
}

}  // namespace
}  // namespace skep::loop
