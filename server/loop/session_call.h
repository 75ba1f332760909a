#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/message_lite.h>

#include "server/loop/call.h"
#include "server/loop/session_wire.h"

namespace skep::loop {

// A method as an operation of a session.
struct SessionMethod {
  int field = 0;         // of its request in SessionOperation, and of its response in SessionAnswer
  Method method;         // as a unary call has it
  bool first = false;    // before the other operations of its message: heartbeats
  bool commits = false;  // refused where an earlier operation of its transaction failed
  bool changes = false;  // such an operation
  bool ends = false;     // its transactions have ended where it succeeds
  int txn_field = 0;     // of the request: whose transaction it is
  // Gives a request that brings no request id the operation's own; empty: it knows none.
  std::function<void(google::protobuf::MessageLite& request, const std::string& id)>
      give_request_id;

  bool needs_credit() const { return method.call_class != CallClass::kReserved; }
};

class SessionCall;
struct Session;

// What an operation needs of the session that it came by. Confined to the loop's thread.
class OperationHome {
 public:
  virtual ~OperationHome() = default;
  virtual BatchCore& core() = 0;
  // What is to be answered instead of running it; OK: run it.
  virtual absl::Status Admit(const SessionCall& call) = 0;
  virtual std::string RequestIdOf(const SessionCall& call) = 0;
  virtual void Failed(const SessionCall& call) = 0;
  virtual bool WatchLock(const SessionCall& call, LockId lock, WhenLockEnds then) = 0;
  virtual void Opened(const SessionCall& call, TxnId first, int64_t count) = 0;
  virtual void Asked(const SessionCall& call, LockId lock) = 0;
  virtual void Ended(const SessionCall& call,
                     const std::vector<TxnId>& txns,
                     const std::vector<LockId>& locks) = 0;
  virtual void AddOwn(const SessionCall& call,
                      const std::vector<TxnId>& left,
                      state::Heartbeat* beat) = 0;
  // The operation is over; `call` may be used for another one.
  virtual void Answer(SessionCall& call, std::string answer) = 0;
};

// One operation as a call and a command: runs through the same handler, the same unit and the same
// rules as a unary call. Recycled. Confined to the loop's thread.
class SessionCall final : public Call, public Command {
 public:
  explicit SessionCall(OperationHome& home) : home_(home) {}

  // `bytes` hold the request.
  void Begin(std::shared_ptr<Session> session,
             SessionMethod& method,
             const OperationBytes& operation,
             std::shared_ptr<const std::string> bytes,
             MonoTime deadline);
  void Clear();

  int64_t number() const { return operation_.number; }
  const SessionMethod& method() const { return *method_; }
  const std::shared_ptr<Session>& session() const { return session_; }
  std::vector<TxnId> txns() const { return TxnsOf(operation_.request, method_->txn_field); }

  // Call
  bool Read(google::protobuf::MessageLite* request) override;
  void Reply(const google::protobuf::MessageLite& response) override;
  void Refuse(const absl::Status& status) override;
  void Send() override;
  MonoTime deadline() const override { return deadline_; }
  bool WatchLock(LockId lock, WhenLockEnds then) override {
    return home_.WatchLock(*this, lock, std::move(then));
  }
  void Opens(TxnId first, int64_t count) override { opens_ = {first, count}; }
  void Asks(LockId lock) override { asks_ = lock; }
  void Ends(std::vector<TxnId> txns, std::vector<LockId> locks) override {
    ended_txns_ = std::move(txns);
    ended_locks_ = std::move(locks);
  }
  bool AddOwn(const std::vector<TxnId>& left, state::Heartbeat* beat) override {
    home_.AddOwn(*this, left, beat);
    return true;
  }
  TxnId opens() const { return opens_.first; }

  // Command
  Verdict Decide(state::State& state, state::Now now, state::Unit& unit) override;
  void Durable() override { Send(); }
  void Failed(const absl::Status& status) override;

 private:
  OperationHome& home_;
  std::shared_ptr<Session> session_;
  SessionMethod* method_ = nullptr;
  OperationBytes operation_;
  std::shared_ptr<const std::string> bytes_;
  MonoTime deadline_{};
  std::string answer_;
  bool refused_ = false;
  std::pair<TxnId, int64_t> opens_;  // first, count
  LockId asks_;
  std::vector<TxnId> ended_txns_;
  std::vector<LockId> ended_locks_;
};

}  // namespace skep::loop
