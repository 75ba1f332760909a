#pragma once

// A daemon in this process, and clients that speak protobuf messages to it: every service as
// production has it, a store in memory, one thread, time that passes when the test says so. What a
// client sends and gets is bytes, as on a channel; only HTTP/2 is left out.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <google/protobuf/message_lite.h>
#include <gtest/gtest.h>

#include "server/loop/call.h"
#include "server/rpc/services.h"
#include "storage/fs/posix_file_system.h"
#include "tests/testing/manual_clock.h"
#include "tests/testing/manual_executor.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

#include "proto/skep/v1/admin_service.pb.h"
#include "proto/skep/v1/compaction_service.pb.h"
#include "proto/skep/v1/lock_service.pb.h"
#include "proto/skep/v1/table_service.pb.h"
#include "proto/skep/v1/transaction_service.pb.h"

namespace skep::conformance {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr seconds kLease{300};

// One call on its way. Made and kept by the World.
class WireCall final : public loop::Call, public loop::Command {
 public:
  WireCall(loop::Method& method, loop::BatchCore& core, std::string request, MonoTime deadline)
      : method_(method), core_(core), request_(std::move(request)), deadline_(deadline) {}

  bool Read(google::protobuf::MessageLite* request) override {
    return request->ParseFromString(request_);
  }
  void Reply(const google::protobuf::MessageLite& response) override {
    response_ = response.SerializeAsString();
    status_ = absl::OkStatus();
  }
  void Refuse(const absl::Status& status) override;
  void Send() override { answered_ = true; }
  MonoTime deadline() const override { return deadline_; }

  loop::Verdict Decide(state::State& state, state::Now now, state::Unit& unit) override {
    loop::CallContext context{*this, core_, state, now, unit};
    return method_.run(context);
  }
  void Durable() override { Send(); }
  void Failed(const absl::Status& status) override {
    Refuse(status);
    Send();
  }

  bool answered() const { return answered_; }
  const absl::Status& status() const { return status_; }
  const std::string& response() const { return response_; }

 private:
  loop::Method& method_;
  loop::BatchCore& core_;
  const std::string request_;
  const MonoTime deadline_;
  bool answered_ = false;
  absl::Status status_;
  std::string response_;
};

// Short forms of what a scenario speaks of. A write is "db.t:U" or "db.t/p=1:I", the letters being
// Insert, Update, Delete, Overwrite. A lock is "KIND RESOURCE" or "KIND WRITE": "SR db", "EX db.t",
// "EW db.t/p=1:U", "SR db.t:I*" where the partitions are dynamic.
struct Locked {
  int64_t id = 0;
  v1::LockState state = v1::LOCK_STATE_UNSPECIFIED;
  bool snapshot_stale = false;
  std::string reason;
};

// The lists of one table, as a client has them.
struct List {
  int64_t high = 0;
  std::vector<int64_t> open;
  std::vector<int64_t> aborted;
  std::vector<int64_t> own;
  bool Sees(int64_t id) const;
};

class World : public ::testing::Test {
 protected:
  explicit World(state::Options options = {});
  ~World() override;

  // ---- the daemon

  void Restart();
  void Pass(std::chrono::nanoseconds time);  // timers on the way run
  const StoredState& stored() const { return store_.state(); }

  // ---- calls

  // Does not wait for the answer.
  WireCall& Send(const std::string& path,
                 const google::protobuf::MessageLite& request,
                 std::chrono::nanoseconds timeout);
  // The answer; kInternal for a call that waits.
  template <class Response>
  absl::StatusOr<Response> Ask(const std::string& path,
                               const google::protobuf::MessageLite& request) {
    return AnswerOf<Response>(Send(path, request, seconds(10)));
  }
  template <class Response>
  static absl::StatusOr<Response> AnswerOf(const WireCall& call) {
    if (!call.answered()) return absl::InternalError("the call waits");
    if (!call.status().ok()) return call.status();
    Response response;
    EXPECT_TRUE(response.ParseFromString(call.response()));
    return response;
  }

  // ---- what clients do

  void Table(const std::string& name, bool partitioned = false);  // "db.t"
  int64_t Open(v1::TransactionType type = v1::TRANSACTION_TYPE_DEFAULT,
               const std::string& user = "me");
  std::vector<int64_t> OpenMany(int count);
  absl::Status Commit(int64_t txn, const std::vector<std::string>& writes = {});
  absl::Status Abort(int64_t txn);
  v1::AbortTransactionsResponse AbortAll(const std::vector<int64_t>& txns);
  v1::HeartbeatTransactionsResponse Beat(const std::vector<int64_t>& txns,
                                         const std::vector<int64_t>& locks = {});
  v1::TransactionState StateOf(int64_t txn);
  v1::AbortCause CauseOf(int64_t txn);
  std::vector<v1::Transaction> Listed(std::vector<v1::TransactionState> states = {});

  absl::StatusOr<int64_t> Allocate(int64_t txn, const std::string& table);
  absl::Status AddPartitions(int64_t txn,
                             const std::string& table,
                             const std::vector<std::string>& partitions,
                             v1::WriteOperation operation = v1::WRITE_OPERATION_UPDATE);
  // A transaction that writes this and commits.
  int64_t Write(const std::string& write);
  List ListOf(int64_t txn, const std::string& table);
  List TxnListOf(int64_t txn);

  // Asks and does not wait for the grant. `txn` 0: outside any transaction.
  absl::StatusOr<Locked> TryLock(int64_t txn,
                                 const std::vector<std::string>& locks,
                                 bool no_wait = false);
  Locked Lock(int64_t txn, const std::vector<std::string>& locks);
  v1::LockState LockState(int64_t txn, const std::string& lock) { return Lock(txn, {lock}).state; }
  absl::StatusOr<v1::LockState> Check(int64_t lock);
  absl::Status Release(int64_t lock, bool force = false);
  std::vector<v1::Lock> Locks(const std::string& resource = "");

 private:
  class NoDirectories;
  void Start();
  void Settle();

  const state::Options options_;
  testing::TempDir dir_;
  testing::ManualClock clock_;
  testing::MemoryStore store_;
  fs::PosixFileSystem fs_;
  std::unique_ptr<NoDirectories> directories_;
  rpc::ServerFacts facts_;
  std::unique_ptr<testing::ManualExecutor> executor_;
  std::unique_ptr<loop::BatchCore> core_;
  std::unique_ptr<loop::LoopPort> port_;
  std::unique_ptr<rpc::Dependencies> dependencies_;
  std::vector<loop::Service> services_;
  std::map<std::string, loop::Method*> methods_;
  std::vector<std::unique_ptr<WireCall>> calls_;
};

inline constexpr v1::LockState kAcquired = v1::LOCK_STATE_ACQUIRED;
inline constexpr v1::LockState kWaiting = v1::LOCK_STATE_WAITING;
inline constexpr v1::LockState kNotAcquired = v1::LOCK_STATE_NOT_ACQUIRED;

v1::TableName NameOf(const std::string& text);         // "db.t"
v1::LockResource ResourceOf(const std::string& text);  // "db", "db.t", "db.t/p=1"

}  // namespace skep::conformance
