#pragma once

// A core without transport, driven by hand, and a stream whose client reads when the test says so.

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/wire/status_wire.h"
#include "server/loop/batch_core.h"
#include "server/loop/stream.h"
#include "tests/testing/manual_clock.h"
#include "tests/testing/manual_executor.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/status_matchers.h"

namespace skep::rpc {

template <class Response>
class WatcherStream final : public loop::Stream {
 public:
  int method() const override { return 0; }
  void WriteBytes(std::string message) override {
    if (finished) return;
    EXPECT_TRUE(written.emplace_back().ParseFromString(message));
    busy_ = stuck;
  }
  bool busy() const override { return busy_; }
  void Finish(const grpc::Status& status) override {
    if (!finished) finished = wire::FromGrpc(status);
  }
  void Cut() override { cut = true; }

  // The client reads on.
  void Unstick(loop::StreamHandler& handler) {
    stuck = busy_ = false;
    handler.Writable(*this);
  }
  // What came since the last call.
  std::vector<Response> Take() { return std::exchange(written, {}); }

  bool stuck = false;  // what is written from now on does not leave
  bool cut = false;
  std::optional<absl::Status> finished;
  std::vector<Response> written;

 private:
  bool busy_ = false;
};

class StreamFixture : public ::testing::Test {
 protected:
  StreamFixture() { Open(); }

  void Open() {
    core_.reset();
    auto core = loop::BatchCore::Open({}, store_, clock_, executor_);
    ASSERT_TRUE(core.ok()) << core.status().ToString();
    core_ = *std::move(core);
  }
  // One command, one unit.
  template <class F>
  void Do(F command) {
    core_->RunOwned(loop::MakeCommand(command, [](const absl::Status& status) {
      EXPECT_TRUE(status.ok()) << status.ToString();
    }));
    core_->Flush();
  }
  TxnId OpenTxn(int64_t count = 1, TxnType type = TxnType::kDefault) {
    TxnId txn;
    Do([&](state::State& state, state::Now now, state::Unit& unit) {
      state::OpenTxns command;
      command.user = "ada";
      command.count = count;
      command.type = type;
      txn = state.Open(command, now, unit)->first;
    });
    return txn;
  }
  void Commit(TxnId txn) {
    Do([txn](state::State& state, state::Now now, state::Unit& unit) {
      EXPECT_TRUE(state.Commit({txn, {}}, now, unit).ok());
    });
  }

  testing::ManualClock clock_;
  testing::ManualExecutor executor_{clock_};
  testing::MemoryStore store_;
  std::unique_ptr<loop::BatchCore> core_;
};

}  // namespace skep::rpc
