#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/loop/batch_core.h"
#include "server/loop/session_call.h"
#include "server/loop/session_ledger.h"
#include "server/loop/session_rules.h"
#include "server/loop/stream.h"

#include "proto/skep/v1/session_service.pb.h"

namespace skep::loop {

// The sessions of all clients: takes the messages of their streams, runs the operations through the
// core, and writes one message per session and unit.
//
//   message ─▶ acknowledge ─▶ take numbers ─▶ heartbeats ─▶ the rest ─┐
//                                                                     ├─▶ unit ─▶ one message back
//   grants, aborted transactions ─────────────────────────────────────┘
//
// Nothing of a session is durable. What it has done is in the state like anything else; a restart
// forgets the session, its client is refused and repeats what has no answer under the operations'
// request ids. Confined to the loop's thread.
class Sessions final : public StreamHandler, private UnitObserver, private OperationHome {
 public:
  struct Options {
    SessionLedger::Limits limits;
    // How long a session outlives its stream, and how long a stream may be silent.
    std::chrono::milliseconds lease{300'000};
    size_t max_sessions = 10'000;
    // What may wait for a client that does not read, before it is cut.
    int64_t max_unread_bytes = 8 << 20;
    int64_t max_message_bytes = 1 << 20;  // outgoing, unless one answer is larger
  };

  // The order of the methods of the streams that it handles.
  enum StreamMethod { kSession = 0, kFence = 1 };

  // `core` must outlive the sessions, and must not run any more once they are gone.
  Sessions(const Options& options, std::vector<SessionMethod> methods, BatchCore& core);
  ~Sessions() override;

  // StreamHandler
  void Message(Stream& stream, std::string bytes) override;
  void Writable(Stream& stream) override;
  void HalfClosed(Stream& stream) override;
  void Closed(Stream& stream) override;
  void Drain() override { draining_ = true; }

  size_t size() const { return sessions_.size(); }  // fenced ones included
  size_t watched_locks() const;

 private:
  using SessionPtr = std::shared_ptr<Session>;

  // The clock without the times at which nobody could be heard.
  MonoTime Now() const { return core_.clock().MonoNow() - stalled_; }

  void SessionMessageArrived(Stream& stream, std::string bytes);
  // With what the message acknowledges: a stream that goes on must not bring that again.
  absl::Status Hello(Stream& stream, const v1::SessionRequest& message);
  absl::Status Acknowledge(Session& session, const v1::SessionRequest& message);
  absl::Status RunAll(const SessionPtr& session,
                      const std::vector<OperationBytes>& operations,
                      const std::shared_ptr<const std::string>& bytes);
  void Run(const SessionPtr& session,
           const OperationBytes& operation,
           const std::shared_ptr<const std::string>& bytes);
  SessionMethod* MethodOf(int field);
  void BeatForBegins(const Session& session);
  void Fence(Stream& stream, const std::string& bytes);

  // The stream ends with this; its session, if it has one, lives on.
  void EndStream(Stream& stream, const absl::Status& status);
  void Detach(Session& session);
  void EndSession(const SessionPtr& session);
  void Arm(const SessionPtr& session);
  void Check(const SessionPtr& session);

  void MarkDirty(const SessionPtr& session);
  void DeliverAll();
  void Deliver(Session& session);
  void Notify(const SessionPtr& session, int64_t operation, v1::SessionNotice& notice);
  friend class LockWatch;
  void LockEnded(const SessionPtr& session,
                 LockId lock,
                 const absl::StatusOr<state::LockAnswer>& answer);

  // UnitObserver
  void UnitEnds(const Effects* effects) override;
  void UnitEnded() override;
  void Stalled(std::chrono::nanoseconds pause) override { stalled_ += pause; }

  // OperationHome
  BatchCore& core() override { return core_; }
  absl::Status Admit(const SessionCall& call) override;
  std::string RequestIdOf(const SessionCall& call) override;
  void Failed(const SessionCall& call) override;
  bool WatchLock(const SessionCall& call, LockId lock, WhenLockEnds then) override;
  void Opened(const SessionCall& call, TxnId first, int64_t count) override;
  void Asked(const SessionCall& call, LockId lock) override;
  void Ended(const SessionCall& call,
             const std::vector<TxnId>& txns,
             const std::vector<LockId>& locks) override;
  void AddOwn(const SessionCall& call,
              const std::vector<TxnId>& left,
              state::Heartbeat* beat) override;
  void Answer(SessionCall& call, std::string answer) override;

  const Options options_;
  std::vector<std::unique_ptr<SessionMethod>> methods_;  // by field; empty: no such operation
  BatchCore& core_;
  std::unordered_map<std::string, SessionPtr> sessions_;  // by id
  // Open streams; without a session before their hello and after their end.
  std::unordered_map<Stream*, SessionPtr> streams_;
  std::unordered_map<TxnId, std::weak_ptr<Session>> owners_;  // of open transactions
  std::vector<std::unique_ptr<SessionCall>> calls_;
  std::vector<SessionCall*> free_;
  std::vector<SessionPtr> dirty_;  // have something to send
  bool in_message_ = false;
  bool unit_ends_ = false;
  bool delivery_posted_ = false;
  bool draining_ = false;
  std::chrono::nanoseconds stalled_{0};
  // Tasks that were posted do nothing once the sessions are gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace skep::loop
