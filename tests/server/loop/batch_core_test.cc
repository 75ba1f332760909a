#include "server/loop/batch_core.h"

#include <array>

#include "storage/model/errors.h"
#include "tests/server/loop/core_fixture.h"

namespace skep::loop {
namespace {

using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::skep::testing::StatusIs;
using ::testing::HasSubstr;

class BatchCoreTest : public CoreFixture {};

absl::Status StoreFull() {
  return MakeError(ErrorReason::kStoreFull, "the disk of the store is full");
}
absl::Status SyncFailed() { return MakeError(ErrorReason::kOutcomeUnknown, "fdatasync: EIO"); }

// A table would be made under the id of another one.
TEST_F(BatchCoreTest, AStoreThatContradictsItselfIsNotStarted) {
  CreateTable("orders");
  core_.reset();
  SKEP_ASSERT_OK_AND_ASSIGN(StoredState state, store_.Load());
  CounterRow counters = state.counters;
  counters.next_table = TableId(1);
  ASSERT_THAT(store_.Append({Put<CounterRow>{counters}}), IsOk());
  const absl::Status refused = BatchCore::Open(options_, store_, clock_, executor_).status();
  EXPECT_THAT(refused, HasReason(ErrorReason::kCorruptStore));
  EXPECT_THAT(refused,
              HasMessage(HasSubstr("table 1 (sales.orders) has id 1, but next_table_id is 1")));
}

TEST_F(BatchCoreTest, AnAnswerWaitsForTheUnitThatHoldsIt) {
  TxnId txn;
  const auto open = StartOpen(&txn);
  EXPECT_FALSE(open->answered);
  EXPECT_TRUE(core_->HasUnit());
  EXPECT_EQ(store_.units(), 0);
  core_->Flush();
  EXPECT_TRUE(open->answered);
  EXPECT_THAT(open->status, IsOk());
  EXPECT_TRUE(store_.state().txns.contains(txn));
  EXPECT_FALSE(core_->HasUnit());
}

TEST_F(BatchCoreTest, AQuestionIsAnsweredAtOnceWhenNoUnitIsOpen) {
  const auto question = Run([](state::State& state, state::Now now, state::Unit&) {
    state.Summary(now);
    return Verdict{};
  });
  EXPECT_TRUE(question->answered);
  EXPECT_EQ(store_.units(), 0);
}

TEST_F(BatchCoreTest, AQuestionThatMayRevealAPendingEffectJoinsItsUnit) {
  const TxnId txn = OpenTxn();
  const auto commit = StartCommit(txn);
  TxnState seen = TxnState::kOpen;
  const auto question = Run([&](state::State& state, state::Now now, state::Unit&) {
    seen = state.GetTxn(txn, now)->state;
    return Verdict{};
  });
  EXPECT_EQ(seen, TxnState::kCommitted);
  EXPECT_FALSE(question->answered);  // nobody may hear of a commit that a crash takes back
  core_->Flush();
  EXPECT_TRUE(question->answered);
}

TEST_F(BatchCoreTest, WhatNoUnitCanChangeLeavesAtOnceUnlessTheUnitTouchesIt) {
  const TxnId a = OpenTxn();
  const TxnId b = OpenTxn();
  const auto commit = StartCommit(a);
  const auto beat = [&](TxnId txn) {
    const auto about = std::make_shared<TxnId>(txn);  // as long as the command
    return Run([about](state::State& state, state::Now now, state::Unit& unit) {
      state.Beat({{*about}, {}}, now, unit);
      return Verdict{Release::kAtOnce, std::span<const TxnId>(about.get(), 1)};
    });
  };
  EXPECT_TRUE(beat(b)->answered);
  const auto touched = beat(a);  // "it is committed" may be taken back
  EXPECT_FALSE(touched->answered);
  core_->Flush();
  EXPECT_TRUE(touched->answered);
}

TEST_F(BatchCoreTest, AnswersLeaveInTheOrderOfTheCommands) {
  std::vector<int> order;
  for (int i = 0; i < 5; ++i) {
    core_->RunOwned(MakeCommand(
        [](state::State& state, state::Now now, state::Unit& unit) {
          state::OpenTxns command;
          command.user = "ada";
          ASSERT_TRUE(state.Open(command, now, unit).ok());
        },
        [&order, i](const absl::Status&) { order.push_back(i); }));
  }
  core_->Flush();
  EXPECT_THAT(order, ::testing::ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(store_.units(), 1);
  EXPECT_EQ(core_->counts().units, 1);
}

TEST_F(BatchCoreTest, AUnitThatIsNotStoredNeverWas) {
  const TxnId before = OpenTxn();
  store_.FailAppend(1, StoreFull());
  TxnId lost;
  const auto open = StartOpen(&lost);
  const auto commit = StartCommit(before);
  core_->Flush();
  EXPECT_THAT(open->status, HasReason(ErrorReason::kStoreFull));
  EXPECT_THAT(open->status, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(commit->status, HasReason(ErrorReason::kStoreFull));
  EXPECT_THAT(core_->fatal(), IsOk());
  // Memory is what the store holds: the commit did not happen, the id is given out again.
  EXPECT_EQ(core_->state().ToStored(), store_.state());
  EXPECT_EQ(StateOf(before), TxnState::kOpen);
  EXPECT_EQ(OpenTxn(), lost);
}

// The process goes on, and leases with it: whose client was silent before the failed unit gets no
// new length by it, whose client was heard keeps what it was told.
TEST_F(BatchCoreTest, AUnitThatIsNotStoredChangesNoLease) {
  using std::chrono::minutes;
  using std::chrono::seconds;
  const TxnId silent = OpenTxn(minutes(5));
  const TxnId heard = OpenTxn(minutes(5));
  const TxnId ends = OpenTxn(minutes(5));
  const auto pass = [&](seconds time) {
    clock_.Advance(time);
    executor_.RunDue();
    core_->Flush();
  };
  pass(minutes(3));
  const auto beat = Run([&](state::State& state, state::Now now, state::Unit& unit) {
    state.Beat({{heard}, {}}, now, unit);
    return Verdict{Release::kAtOnce, std::span(&heard, 1)};
  });
  EXPECT_TRUE(beat->answered);
  TxnId lost;
  for (int i = 0; i < 60; ++i) {
    store_.FailAppend(1, StoreFull());
    const auto open = StartOpen(&lost);
    core_->Flush();
    ASSERT_THAT(open->status, HasReason(ErrorReason::kStoreFull));
    pass(seconds(1));
  }
  store_.FailAppend(1, StoreFull());
  const auto commit = StartCommit(ends);
  core_->Flush();
  EXPECT_THAT(commit->status, HasReason(ErrorReason::kStoreFull));
  const auto open = [&](TxnId txn) { return store_.state().txns.contains(txn); };
  EXPECT_TRUE(open(silent)) << "four minutes are not five";
  pass(seconds(62));
  EXPECT_FALSE(open(silent));
  EXPECT_TRUE(open(heard)) << "its beat was acknowledged";
  EXPECT_TRUE(open(ends)) << "heard of by the commit that was not stored";
  pass(minutes(3));
  EXPECT_FALSE(open(heard));
  EXPECT_TRUE(open(ends));
}

TEST_F(BatchCoreTest, WhatAFailedUnitEndedByItsLeaseStaysOver) {
  const TxnId silent = OpenTxn(std::chrono::minutes(1));
  clock_.Advance(std::chrono::seconds(61));
  for (int i = 0; i < 5; ++i) {
    store_.FailAppend(1, StoreFull());
    executor_.RunDue();  // the reaper comes, in vain
    core_->Flush();
    ASSERT_TRUE(store_.state().txns.contains(silent));
    clock_.Advance(std::chrono::seconds(1));
  }
  executor_.RunDue();
  core_->Flush();
  EXPECT_FALSE(store_.state().txns.contains(silent)) << "as soon as there is room";
}

TEST_F(BatchCoreTest, ABusyStoreAnswersUnavailable) {
  store_.FailAppend(1, MakeError(ErrorReason::kStoreBusy, "the store is locked"));
  TxnId txn;
  const auto open = StartOpen(&txn);
  core_->Flush();
  EXPECT_THAT(open->status, StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(BatchCoreTest, AFailedSyncAnswersOutcomeUnknownAndEndsTheProcess) {
  store_.FailAppend(1, SyncFailed(), testing::MemoryStore::Kept::kYes);
  TxnId txn;
  const auto open = StartOpen(&txn);
  core_->Flush();
  EXPECT_THAT(open->status, HasReason(ErrorReason::kOutcomeUnknown));
  EXPECT_THAT(open->status, StatusIs(absl::StatusCode::kUnknown));
  EXPECT_THAT(core_->fatal(), HasReason(ErrorReason::kOutcomeUnknown));
  // What comes now is refused: memory is not to be trusted.
  TxnId late;
  const auto refused = Run([](state::State&, state::Now, state::Unit&) {
    ADD_FAILURE() << "decided after a failed sync";
    return Verdict{};
  });
  EXPECT_THAT(refused->status, HasReason(ErrorReason::kOutcomeUnknown));
  // A restart finds what was really stored.
  Open();
  EXPECT_EQ(StateOf(txn), TxnState::kOpen);
}

TEST_F(BatchCoreTest, ADamagedStoreEndsTheProcess) {
  store_.FailAppend(1, MakeError(ErrorReason::kCorruptStore, "database disk image is malformed"));
  TxnId txn;
  const auto open = StartOpen(&txn);
  core_->Flush();
  EXPECT_THAT(open->status, HasReason(ErrorReason::kOutcomeUnknown));
  EXPECT_FALSE(core_->fatal().ok());
}

TEST_F(BatchCoreTest, AStoreThatCannotBeReadAgainEndsTheProcess) {
  store_.FailAppend(1, StoreFull());
  store_.FailLoad(MakeError(ErrorReason::kCorruptStore, "damaged"));
  TxnId txn;
  const auto open = StartOpen(&txn);
  core_->Flush();
  EXPECT_TRUE(open->answered);
  EXPECT_FALSE(core_->fatal().ok());
}

TEST_F(BatchCoreTest, ACommandThatTakesTheCallOverIsNotAnswered) {
  const auto outcome = Run([](state::State&, state::Now, state::Unit&) {
    return Verdict{Release::kLater, {}};
  });
  TxnId txn;
  StartOpen(&txn);
  core_->Flush();
  EXPECT_FALSE(outcome->answered);
}

TEST_F(BatchCoreTest, AUnitIsFullByCountOrByAge) {
  options_.max_effects = 3;
  Open();
  TxnId txn;
  StartOpen(&txn);
  EXPECT_FALSE(core_->UnitIsFull());
  for (int i = 0; i < 3; ++i) StartOpen(&txn);
  EXPECT_TRUE(core_->UnitIsFull());
  core_->Flush();
  EXPECT_FALSE(core_->UnitIsFull());
  options_.max_effects = 4096;
  Open();
  StartOpen(&txn);
  clock_.Advance(std::chrono::milliseconds(1));
  EXPECT_TRUE(core_->UnitIsFull());
}

TEST_F(BatchCoreTest, TheReaperEndsWhatExpired) {
  const TxnId txn = OpenTxn(std::chrono::seconds(2));
  clock_.Advance(std::chrono::milliseconds(1900));
  executor_.RunDue();
  core_->Flush();
  EXPECT_TRUE(store_.state().txns.contains(txn));
  clock_.Advance(std::chrono::milliseconds(700));
  executor_.RunDue();
  core_->Flush();
  EXPECT_FALSE(store_.state().txns.contains(txn));
  EXPECT_EQ(StateOf(txn), TxnState::kAborted);
}

TEST_F(BatchCoreTest, AStallOfTheLoopExtendsEveryLease) {
  const TxnId txn = OpenTxn(std::chrono::seconds(2));
  core_->Tick();
  clock_.Advance(std::chrono::seconds(60));  // a stopped process: nobody's heartbeat could arrive
  core_->Tick();
  executor_.RunDue();
  core_->Flush();
  EXPECT_EQ(StateOf(txn), TxnState::kOpen);
  // Time that passes in ordinary steps counts.
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(std::chrono::milliseconds(500));
    core_->Tick();
  }
  executor_.RunDue();
  core_->Flush();
  EXPECT_EQ(StateOf(txn), TxnState::kAborted);
}

TEST_F(BatchCoreTest, WatchersOfTheQueueHearOfDurableChangesOnly) {
  CreateTable("orders");
  int heard = 0;
  core_->OnCompactions([&] { ++heard; });
  TxnId txn;
  StartOpen(&txn);
  core_->Flush();
  EXPECT_EQ(heard, 0);
  Run([](state::State& state, state::Now now, state::Unit& unit) {
    state::EnqueueCompaction command;
    command.table = {"sales", "orders"};
    EXPECT_TRUE(state.Enqueue(command, now, unit).ok());
    return Verdict{};
  });
  EXPECT_EQ(heard, 0);
  core_->Flush();
  EXPECT_EQ(heard, 1);
}

TEST_F(BatchCoreTest, ACommandThatNeverRanSaysSo) {
  absl::Status heard;
  auto command = MakeCommand([](state::State&, state::Now, state::Unit&) {},
                             [&](absl::Status status) { heard = std::move(status); });
  command.reset();
  EXPECT_THAT(heard, HasReason(ErrorReason::kShuttingDown));
}

TEST_F(BatchCoreTest, ARestartRecoversEverythingThatWasAnswered) {
  CreateTable("orders");
  const TxnId committed = OpenTxn();
  const TxnId open = OpenTxn();
  StartCommit(committed);
  core_->Flush();
  Open();
  EXPECT_EQ(StateOf(committed), TxnState::kCommitted);
  EXPECT_EQ(StateOf(open), TxnState::kOpen);
  EXPECT_EQ(core_->state().ToStored(), store_.state());
}

}  // namespace
}  // namespace skep::loop
