#pragma once

// A core over a store in memory, a clock that is moved by hand and an executor that is driven by
// hand.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/loop/batch_core.h"
#include "server/loop/loop_executor.h"
#include "tests/testing/manual_clock.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/status_matchers.h"

namespace skep::loop {

// What became of a command: nothing yet, durable, or why not.
struct Outcome {
  bool answered = false;
  absl::Status status;
  int times = 0;
};

class TestCommand final : public Command {
 public:
  using Run = std::function<Verdict(state::State&, state::Now, state::Unit&)>;
  TestCommand(Run run, std::shared_ptr<Outcome> outcome)
      : run_(std::move(run)), outcome_(std::move(outcome)) {}

  Verdict Decide(state::State& state, state::Now now, state::Unit& unit) override {
    return run_(state, now, unit);
  }
  void Durable() override { Answer(absl::OkStatus()); }
  void Failed(const absl::Status& status) override { Answer(status); }

 private:
  void Answer(const absl::Status& status) {
    outcome_->answered = true;
    outcome_->status = status;
    ++outcome_->times;
  }

  Run run_;
  std::shared_ptr<Outcome> outcome_;
};

class CoreFixture : public ::testing::Test {
 protected:
  CoreFixture() { Open(); }

  // A restart: what the store holds is all that is left.
  void Open() {
    core_.reset();
    auto core = BatchCore::Open(options_, store_, clock_, executor_);
    ASSERT_TRUE(core.ok()) << core.status().ToString();
    core_ = *std::move(core);
  }

  using Outcomes = std::shared_ptr<Outcome>;

  Outcomes Run(TestCommand::Run run) {
    auto outcome = std::make_shared<Outcome>();
    core_->RunOwned(std::make_unique<TestCommand>(std::move(run), outcome));
    return outcome;
  }

  Outcomes StartOpen(TxnId* id, std::chrono::milliseconds timeout = std::chrono::minutes(5)) {
    return Run([=](state::State& state, state::Now now, state::Unit& unit) {
      state::OpenTxns command;
      command.user = "ada";
      command.timeout = timeout;
      auto opened = state.Open(command, now, unit);
      EXPECT_TRUE(opened.ok()) << opened.status().ToString();
      *id = opened->first;
      return Verdict{};
    });
  }
  // A durable transaction.
  TxnId OpenTxn(std::chrono::milliseconds timeout = std::chrono::minutes(5)) {
    TxnId id;
    StartOpen(&id, timeout);
    core_->Flush();
    return id;
  }
  Outcomes StartCommit(TxnId txn) {
    return Run([=](state::State& state, state::Now now, state::Unit& unit) {
      EXPECT_TRUE(state.Commit({txn, {}}, now, unit).ok());
      return Verdict{};
    });
  }
  void CreateTable(const std::string& table) {
    Run([=](state::State& state, state::Now now, state::Unit& unit) {
      state::CreateTable command;
      command.name = {"sales", table};
      command.schema.columns = *ParseColumns("id bigint");
      command.location = "/w/sales.db/" + table;
      const auto created = state.Create(command, now, unit);
      EXPECT_TRUE(created.ok()) << created.status().ToString();
      return Verdict{};
    });
    core_->Flush();
  }
  TxnState StateOf(TxnId txn) {
    TxnState found = TxnState::kOpen;
    Run([&](state::State& state, state::Now now, state::Unit&) {
      found = state.GetTxn(txn, now)->state;
      return Verdict{};
    });
    return found;
  }

  BatchCore::Options options_;
  testing::ManualClock clock_;
  testing::MemoryStore store_;
  LoopExecutor executor_{clock_};
  std::unique_ptr<BatchCore> core_;
};

}  // namespace skep::loop
