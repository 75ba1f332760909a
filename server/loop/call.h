#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <absl/functional/any_invocable.h>
#include <absl/status/status.h>
#include <google/protobuf/message_lite.h>

#include "server/loop/admission.h"
#include "server/loop/batch_core.h"
#include "server/loop/command.h"
#include "server/state/commands.h"
#include "storage/base/clock.h"

namespace skep::v1 {
class SessionNotice;
}

namespace skep::loop {

// Brings a client a word that it does not wait for: number and operation are filled in on the way.
// Valid as long as the core; a session that is gone hears nothing.
using SendNotice = std::function<void(v1::SessionNotice&)>;
// What is to be done when a request that was queued has ended, one way or the other: at the least
// the client is told. Not called for a request whose unit was not stored.
using WhenLockEnds = absl::AnyInvocable<void(const state::LockAnswer&, const SendNotice&)>;

// One unary call as its handler sees it, whatever carried it here. Confined to the loop's thread.
//
// An answer is prepared by Reply or Refuse (the last one counts) and leaves when the command is
// durable. A call whose verdict was kParked or kLater is answered by Reply or Refuse followed by
// Send.
class Call {
 public:
  virtual ~Call() = default;

  // False: the bytes are no such message.
  virtual bool Read(google::protobuf::MessageLite* request) = 0;
  virtual void Reply(const google::protobuf::MessageLite& response) = 0;
  virtual void Refuse(const absl::Status& status) = 0;
  virtual void Send() = 0;

  // When the client gives up; a call without a deadline has 30 s.
  virtual MonoTime deadline() const = 0;

  // For a call whose lock request was queued by the unit that is open. True: whoever carries the
  // call waits for the end of the request in its stead (a session), so that WAITING is the answer
  // now. False: the call itself has to wait.
  virtual bool WatchLock(LockId, WhenLockEnds) { return false; }
  // The call opens these transactions: who carries it may want to hear of their end.
  virtual void Opens(TxnId /*first*/, int64_t /*count*/) {}
  // The call asked for this lock outside any transaction.
  virtual void Asks(LockId) {}
  // The client learns by the answer that these have ended.
  virtual void Ends(std::vector<TxnId> /*txns*/, std::vector<LockId> /*locks*/) {}
  // What the client has opened by whatever carries the call, and has not left. False: nothing that
  // is carried alone has anything.
  virtual bool AddOwn(const std::vector<TxnId>& /*left*/, state::Heartbeat* /*beat*/) {
    return false;
  }

  // Who answers this call when a lock is granted; lives as long as the call. Where the client
  // leaves before that, the transport lets it leave the queue (Method::waits).
  void KeepWaiter(std::unique_ptr<LockWaiter> waiter) { waiter_ = std::move(waiter); }
  LockWaiter* waiter() const { return waiter_.get(); }

 private:
  std::unique_ptr<LockWaiter> waiter_;
};

// What a handler may use while it decides.
struct CallContext {
  Call& call;
  BatchCore& core;
  state::State& state;
  state::Now now;
  state::Unit& unit;
};

// One method of a service. The transport keeps `registered` calls ready for it, so that a burst is
// taken without waiting for the loop.
struct Method {
  std::string path;  // "/skep.v1.LockService/AcquireLocks"
  CallClass call_class = CallClass::kOrdinary;
  int registered = 4;
  bool waits = false;  // may wait for a lock: its calls notice when the client is gone
  absl::AnyInvocable<Verdict(CallContext&)> run;
};

// The methods of one service, by their order. `name` is the full one: "skep.v1.LockService".
struct Service {
  std::string name;
  std::vector<Method> methods;
};

}  // namespace skep::loop
