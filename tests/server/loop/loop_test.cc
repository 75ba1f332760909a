#include "server/loop/loop.h"

#include <deque>
#include <functional>

#include "storage/model/errors.h"
#include "tests/server/loop/core_fixture.h"

namespace skep::loop {
namespace {

// Hands out scripted events; where there is none and it may wait, time passes.
class ScriptedTransport final : public Transport {
 public:
  explicit ScriptedTransport(testing::ManualClock& clock) : clock_(clock) {}

  void Add(std::function<void()> event) { events_.push_back(std::move(event)); }
  // Arrives when the queue was looked at in vain so many times, `pause` apart.
  void AddLater(int looks, std::chrono::microseconds pause, std::function<void()> event) {
    later_ = {looks, pause, std::move(event)};
  }
  void Close() { closed_ = true; }

  Got Next(MonoTime deadline) override {
    ++calls_;
    waited_ = deadline != MonoTime::min();
    if (!events_.empty()) return Got::kEvent;
    if (later_.event) {
      if (later_.looks-- == 0) {
        Add(std::exchange(later_.event, nullptr));
        return Got::kEvent;
      }
      clock_.Advance(later_.pause);
    }
    if (closed_) return Got::kClosed;
    if (waited_ && deadline > clock_.MonoNow()) clock_.Advance(deadline - clock_.MonoNow());
    return Got::kNothing;
  }
  void Dispatch() override {
    auto event = std::move(events_.front());
    events_.pop_front();
    event();
  }

  bool waited() const { return waited_; }

 private:
  testing::ManualClock& clock_;
  struct Later {
    int looks = 0;
    std::chrono::microseconds pause{0};
    std::function<void()> event;
  };
  std::deque<std::function<void()>> events_;
  Later later_;
  bool closed_ = false;
  bool waited_ = false;
  int calls_ = 0;
};

class LoopTest : public CoreFixture {
 protected:
  ScriptedTransport transport_{clock_};
  std::unique_ptr<Loop> MakeLoop() {
    return std::make_unique<Loop>(*core_, transport_, executor_, clock_);
  }
};

TEST_F(LoopTest, WhatHasArrivedBecomesOneUnit) {
  auto loop = MakeLoop();
  std::vector<Outcomes> outcomes;
  TxnId ids[10];
  for (TxnId& id : ids) {
    transport_.Add([&] { outcomes.push_back(StartOpen(&id)); });
  }
  ASSERT_TRUE(loop->Round());
  EXPECT_EQ(store_.units(), 1);
  for (const auto& outcome : outcomes) EXPECT_TRUE(outcome->answered);
}

TEST_F(LoopTest, WhereManyCallTheUnitWaitsForWhoComesAfterAShortPause) {
  struct Case {
    const char* name;
    int callers_before;
    int looks;
    std::chrono::microseconds pause;
    bool joins;
  };
  for (const Case& c : {Case{"many, soon", 4, 3, std::chrono::microseconds(5), true},
                        Case{"few, soon", 3, 3, std::chrono::microseconds(5), false},
                        Case{"many, late", 4, 3, std::chrono::microseconds(20), false},
                        Case{"many, on a clock that stands", 4, 1000, {}, false}}) {
    SCOPED_TRACE(c.name);
    Open();
    auto loop = MakeLoop();
    std::vector<TxnId> ids(static_cast<size_t>(c.callers_before) + 2);
    for (int i = 0; i < c.callers_before; ++i) transport_.Add([&, i] { StartOpen(&ids[i]); });
    ASSERT_TRUE(loop->Round());
    const int64_t units = store_.units();
    transport_.Add([&] { StartOpen(&ids[c.callers_before]); });
    transport_.AddLater(c.looks, c.pause, [&] { StartOpen(&ids[c.callers_before + 1]); });
    ASSERT_TRUE(loop->Round());
    EXPECT_EQ(store_.units(), units + 1);
    EXPECT_EQ(!ids.back().is_none(), c.joins);
    transport_.AddLater(0, {}, [] {});
    ASSERT_TRUE(loop->Round());
  }
}

TEST_F(LoopTest, AFullUnitIsWrittenAlthoughMoreHasArrived) {
  options_.max_effects = 3;
  Open();
  auto loop = MakeLoop();
  TxnId ids[10];
  for (TxnId& id : ids) {
    transport_.Add([&] { StartOpen(&id); });
  }
  ASSERT_TRUE(loop->Round());
  EXPECT_EQ(store_.units(), 1);
  EXPECT_LT(store_.state().txns.size(), 10u);
  while (store_.state().txns.size() < 10) ASSERT_TRUE(loop->Round());
}

TEST_F(LoopTest, WhatOtherThreadsPostedJoinsTheUnit) {
  auto loop = MakeLoop();
  TxnId a;
  TxnId b;
  transport_.Add([&] { StartOpen(&a); });
  executor_.Post([&] { StartOpen(&b); });
  ASSERT_TRUE(loop->Round());
  EXPECT_EQ(store_.units(), 1);
  EXPECT_EQ(store_.state().txns.size(), 2u);
}

TEST_F(LoopTest, AHeartbeatInTheQueueIsSeenBeforeTheReaper) {
  auto loop = MakeLoop();
  const TxnId txn = OpenTxn(std::chrono::milliseconds(900));
  // The beat arrived in time; the loop gets to it when the reaper is due as well.
  clock_.Advance(std::chrono::milliseconds(880));
  transport_.Add([&] {
    Run([&](state::State& state, state::Now now, state::Unit& unit) {
      state.Beat({{txn}, {}}, now, unit);
      clock_.Advance(std::chrono::milliseconds(100));
      return Verdict{};
    });
  });
  ASSERT_TRUE(loop->Round());
  EXPECT_EQ(StateOf(txn), TxnState::kOpen);
}

TEST_F(LoopTest, TheStoreTidiesUpOnceWhenNothingArrives) {
  auto loop = MakeLoop();
  TxnId txn;
  transport_.Add([&] { StartOpen(&txn); });
  ASSERT_TRUE(loop->Round());
  EXPECT_EQ(store_.idle_calls(), 0);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(loop->Round());
  EXPECT_EQ(store_.idle_calls(), 1);
}

TEST_F(LoopTest, AClosedTransportEndsTheLoopAfterTheOpenUnitWasWritten) {
  auto loop = MakeLoop();
  TxnId txn;
  executor_.Post([&] { StartOpen(&txn); });
  transport_.Close();
  loop->Run();
  EXPECT_EQ(store_.units(), 1);
}

TEST_F(LoopTest, AnUnknownOutcomeIsReportedOnceAndTheLoopGoesOnRefusing) {
  auto loop = MakeLoop();
  int fatal = 0;
  loop->OnFatal([&] { ++fatal; });
  store_.FailAppend(1, MakeError(ErrorReason::kOutcomeUnknown, "EIO"));
  TxnId txn;
  transport_.Add([&] { StartOpen(&txn); });
  ASSERT_TRUE(loop->Round());
  ASSERT_TRUE(loop->Round());
  EXPECT_EQ(fatal, 1);
}

TEST_F(LoopTest, TimersRunAlthoughTheQueueNeverEmptiesOnceTheyAreOverdue) {
  options_.max_unit_age =
      std::chrono::nanoseconds(0);  // each command fills the unit: the queue is never seen empty
  Open();
  auto loop = MakeLoop();
  bool ran = false;
  executor_.PostAt(clock_.MonoNow() + std::chrono::milliseconds(100), [&] { ran = true; });
  TxnId ids[40];
  for (TxnId& id : ids) {
    transport_.Add([&] {
      StartOpen(&id);
      clock_.Advance(std::chrono::milliseconds(100));
    });
  }
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(loop->Round());
  EXPECT_FALSE(ran);
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(loop->Round());
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace skep::loop
