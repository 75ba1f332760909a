#pragma once

// The sessions over the real core and the real handlers, without gRPC: streams that the test reads
// and breaks, a clock that is moved by hand.

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/wire/status_wire.h"
#include "server/loop/loop_executor.h"
#include "server/rpc/services.h"
#include "server/rpc/session_service.h"
#include "storage/fs/posix_file_system.h"
#include "storage/model/errors.h"
#include "tests/server/rpc/fake_directories.h"
#include "tests/testing/manual_clock.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/status_matchers.h"

#include "proto/skep/v1/session_service.pb.h"

namespace skep::rpc {

// A client's end of a stream, in the server's process.
class FakeStream final : public loop::Stream {
 public:
  explicit FakeStream(int method = loop::Sessions::kSession) : method_(method) {}

  int method() const override { return method_; }
  void WriteBytes(std::string message) override {
    if (finished || cut) return;
    written.push_back(std::move(message));
    if (slow) busy_ = true;
  }
  bool busy() const override { return busy_; }
  void Finish(const grpc::Status& with) override {
    if (!finished) status = with;
    finished = true;
  }
  void Cut() override { cut = true; }

  bool slow = false;  // what is written does not leave
  void Read() { busy_ = false; }

  bool ended() const { return finished || cut; }
  absl::Status error() const { return wire::FromGrpc(status); }

  std::deque<std::string> written;
  grpc::Status status;
  bool finished = false;
  bool cut = false;

 private:
  const int method_;
  bool busy_ = false;
};

class SessionWorld : public ::testing::Test {
 protected:
  SessionWorld() { Restart(); }
  ~SessionWorld() override {
    service_.reset();
    core_.reset();
  }

  // What the store holds is all that is left.
  void Restart() {
    streams_.clear();
    service_.reset();
    core_.reset();
    auto core = loop::BatchCore::Open(core_options_, store_, clock_, executor_);
    ASSERT_TRUE(core.ok()) << core.status().ToString();
    core_ = *std::move(core);
    port_ = std::make_unique<loop::LoopPort>(*core_, executor_);
    dependencies_ =
        std::make_unique<Dependencies>(Dependencies{*port_, executor_, fs_, directories_, facts_});
    service_ = std::make_unique<SessionService>(options_, MakeServices(*dependencies_), *core_);
  }

  loop::Sessions& sessions() { return service_->sessions(); }

  // Everything that the loop does in one round.
  void Round() {
    for (int i = 0; i < 20; ++i) {
      executor_.RunPosted();
      core_->Flush();
    }
    executor_.RunDue();
    executor_.RunPosted();
    core_->Flush();
  }
  void Pass(std::chrono::nanoseconds time) {
    clock_.Advance(time);
    Round();
  }

  FakeStream& NewStream(int method = loop::Sessions::kSession) {
    streams_.push_back(std::make_unique<FakeStream>(method));
    return *streams_.back();
  }
  static v1::SessionRequest HelloOf(int64_t epoch,
                                    bool resume,
                                    const std::string& id = "0123456789abcdef") {
    v1::SessionRequest request;
    request.mutable_hello()->set_session_id(id);
    request.mutable_hello()->set_epoch(epoch);
    request.mutable_hello()->set_resume(resume);
    return request;
  }
  // One message as the loop takes it, without the end of the unit.
  void Arrive(FakeStream& stream, const v1::SessionRequest& request) {
    sessions().Message(stream, request.SerializeAsString());
  }
  void Send(FakeStream& stream, const v1::SessionRequest& request) {
    Arrive(stream, request);
    Round();
  }
  FakeStream& Connect(int64_t epoch = 1, bool resume = false) {
    FakeStream& stream = NewStream();
    Send(stream, HelloOf(epoch, resume));
    EXPECT_FALSE(stream.ended()) << stream.error();
    return stream;
  }
  // The client's end is gone.
  void Break(FakeStream& stream) {
    stream.cut = true;
    sessions().Closed(stream);
  }

  // What has arrived at the client since the last time, as one message; `messages` counts them.
  v1::SessionResponse Read(FakeStream& stream, int* messages = nullptr) {
    v1::SessionResponse all;
    if (messages != nullptr) *messages = static_cast<int>(stream.written.size());
    for (const std::string& bytes : std::exchange(stream.written, {})) {
      v1::SessionResponse one;
      EXPECT_TRUE(one.ParseFromString(bytes));
      all.MergeFrom(one);
    }
    return all;
  }
  static const v1::SessionAnswer* AnswerTo(const v1::SessionResponse& response, int64_t number) {
    for (const v1::SessionAnswer& answer : response.answers()) {
      if (answer.number() == number) return &answer;
    }
    return nullptr;
  }
  static absl::Status StatusOf(const v1::SessionResponse& response, int64_t number) {
    const v1::SessionAnswer* answer = AnswerTo(response, number);
    if (answer == nullptr) return absl::NotFoundError("no answer");
    return wire::FromProto(answer->error());
  }

  // ---- operations ----
  static v1::SessionOperation& Add(v1::SessionRequest& request, int64_t number) {
    v1::SessionOperation* operation = request.add_operations();
    operation->set_number(number);
    return *operation;
  }
  static void AddOpen(v1::SessionRequest& request, int64_t number, int count = 1) {
    auto* open = Add(request, number).mutable_open_transactions();
    open->set_user("ada");
    open->set_count(count);
  }
  static void AddCommit(v1::SessionRequest& request, int64_t number, int64_t txn) {
    Add(request, number).mutable_commit_transaction()->set_txn_id(txn);
  }
  static void AddAbort(v1::SessionRequest& request, int64_t number, int64_t txn) {
    Add(request, number).mutable_abort_transactions()->add_txn_ids(txn);
  }
  static void AddBeat(v1::SessionRequest& request, int64_t number, int64_t txn) {
    Add(request, number).mutable_heartbeat_transactions()->add_txn_ids(txn);
  }
  static void SetName(const std::string& table, v1::TableName* name) {
    name->set_database("sales");
    name->set_table(table);
  }
  static void AddPartitions(v1::SessionRequest& request,
                            int64_t number,
                            int64_t txn,
                            const std::string& table,
                            const std::string& partition) {
    auto* add = Add(request, number).mutable_add_partitions();
    add->set_txn_id(txn);
    SetName(table, add->mutable_table());
    add->add_partitions(partition);
  }
  static void AddAllocate(v1::SessionRequest& request,
                          int64_t number,
                          int64_t txn,
                          const std::string& table) {
    auto* allocate = Add(request, number).mutable_allocate_write_ids();
    SetName(table, allocate->mutable_table());
    allocate->add_txn_ids(txn);
  }
  static void SetComponent(const std::string& table, v1::LockKind kind, v1::LockComponent* to) {
    to->mutable_resource()->set_database("sales");
    to->mutable_resource()->set_table(table);
    to->set_kind(kind);
  }
  static void AddLock(v1::SessionRequest& request,
                      int64_t number,
                      int64_t txn,
                      const std::string& table,
                      v1::LockKind kind) {
    auto* lock = Add(request, number).mutable_acquire_locks();
    lock->set_txn_id(txn);
    SetComponent(table, kind, lock->add_components());
  }

  // ---- the state behind, beside any session ----
  template <class Run>
  void OnState(Run run) {
    core_->RunOwned(loop::MakeCommand(
        [&run](state::State& state, state::Now now, state::Unit& unit) { run(state, now, unit); },
        [](const absl::Status&) {}));
    core_->Flush();
  }
  void CreateTable(const std::string& table, bool partitioned = false) {
    OnState([&](state::State& state, state::Now now, state::Unit& unit) {
      state::CreateTable command;
      command.name = {"sales", table};
      command.schema.columns = *ParseColumns("id bigint");
      if (partitioned) command.schema.partition_columns = *ParseColumns("p int");
      command.location = "/w/sales.db/" + table;
      EXPECT_THAT(state.Create(command, now, unit), testing::IsOk());
    });
  }
  TxnId OpenElsewhere() {
    TxnId id;
    OnState([&](state::State& state, state::Now now, state::Unit& unit) {
      state::OpenTxns command;
      command.user = "bob";
      id = state.Open(command, now, unit)->first;
    });
    return id;
  }
  LockId LockElsewhere(TxnId txn, const std::string& table, LockKind kind) {
    LockId lock;
    OnState([&](state::State& state, state::Now now, state::Unit& unit) {
      state::AcquireLocks command;
      command.txn = txn;
      command.components.push_back({{"sales", table, ""}, kind, std::nullopt, false});
      lock = state.Lock(command, now, unit)->lock;
    });
    return lock;
  }
  void EndElsewhere(TxnId txn, bool commit = true) {
    OnState([&](state::State& state, state::Now now, state::Unit& unit) {
      if (commit) {
        EXPECT_THAT(state.Commit({txn, {}}, now, unit), testing::IsOk());
      } else {
        EXPECT_THAT(state.AbortOne(txn, AbortCause::kOperator, now, unit), testing::IsOk());
      }
    });
    Round();
  }
  absl::StatusOr<state::TxnInfo> Txn(int64_t id) {
    return core_->state().GetTxn(TxnId(id), {clock_.Now(), clock_.MonoNow()});
  }
  int64_t Highest() {
    int64_t highest = 0;
    while (Txn(highest + 1).ok()) ++highest;
    return highest;
  }

  loop::BatchCore::Options core_options_;
  loop::Sessions::Options options_;
  testing::ManualClock clock_;
  testing::MemoryStore store_;
  loop::LoopExecutor executor_{clock_};
  std::unique_ptr<loop::BatchCore> core_;
  std::unique_ptr<SessionService> service_;
  std::vector<std::unique_ptr<FakeStream>> streams_;

 private:
  // What the services stand on; nothing here touches directories.
  fs::PosixFileSystem fs_;
  FakeDirectories directories_;
  ServerFacts facts_;
  std::unique_ptr<loop::LoopPort> port_;
  std::unique_ptr<Dependencies> dependencies_;
};

}  // namespace skep::rpc
