#pragma once

// The command port of tests: runs each command at once in a unit of its own, over a state in memory
// and the rows that a store would hold. Answers come as tasks of the executor.

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include "server/duties/command_port.h"
#include "storage/model/errors.h"
#include "storage/model/stored_state.h"
#include "tests/testing/manual_clock.h"
#include "tests/testing/manual_executor.h"

namespace skep::testing {

class MemoryCommandPort final : public duties::CommandPort {
 public:
  // All must outlive the port.
  MemoryCommandPort(state::Options options, ManualClock& clock, ManualExecutor& executor)
      : options_(std::move(options)), clock_(clock), executor_(executor) {
    Restart();
  }

  void Run(Command command, Done done) override {
    absl::Status status = absl::OkStatus();
    if (fail_next_ > 0) {
      --fail_next_;
      status = MakeError(failure_, "the unit was not stored");
    } else {
      RunUnit([&](state::Unit& unit) { command(*state_, Now(), unit); });
    }
    executor_.Post([done = std::move(done), status]() mutable { done(status); });
  }

  void WatchCompactions(std::function<void()> changed) override { changed_ = std::move(changed); }

  // A command of the test itself: `command(state, now, unit)`, durable on return.
  template <class Command>
  auto Do(Command command) {
    std::optional<decltype(command(*state_, Now(), std::declval<state::Unit&>()))> answer;
    RunUnit([&](state::Unit& unit) { answer.emplace(command(*state_, Now(), unit)); });
    return *std::move(answer);
  }

  // The next `count` units are not stored.
  void FailNext(int count, ErrorReason why = ErrorReason::kStoreBusy) {
    fail_next_ = count;
    failure_ = why;
  }
  // The process ended and began again.
  void Restart() {
    absl::StatusOr<std::unique_ptr<state::State>> loaded =
        state::State::Load(options_, stored_, Now());
    ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
    state_ = *std::move(loaded);
  }

  state::State& state() { return *state_; }
  state::Now Now() const { return {clock_.Now(), clock_.MonoNow()}; }

 private:
  template <class Body>
  void RunUnit(Body body) {
    state::Unit unit = state_->Begin();
    state_->Reap(Now(), unit);
    body(unit);
    state_->Seal(unit);
    if (unit.empty()) return;
    ApplyEffects(stored_, unit.effects());
    state_->Published(unit);
    EXPECT_EQ(state_->ToStored(), stored_) << "the state and the store differ";
    state_->TakeNotices();
    bool compactions = false;
    for (const Effect& effect : unit.effects()) {
      compactions |= std::holds_alternative<Put<CompactionRow>>(effect);
    }
    if (compactions && changed_) changed_();
  }

  const state::Options options_;
  ManualClock& clock_;
  ManualExecutor& executor_;
  StoredState stored_;
  std::unique_ptr<state::State> state_;
  std::function<void()> changed_;
  ErrorReason failure_ = ErrorReason::kStoreBusy;
  int fail_next_ = 0;
};

}  // namespace skep::testing
