#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <absl/base/thread_annotations.h>
#include <absl/functional/any_invocable.h>
#include <absl/synchronization/mutex.h>
#include <google/protobuf/descriptor.h>

#include "client/session/session_beats.h"
#include "client/session/session_connector.h"
#include "client/session/transport.h"
#include "storage/base/executor.h"
#include "storage/base/random.h"
#include "storage/model/ids.h"
#include "storage/model/txn.h"

namespace skep::client {

// Unary calls carried by one session stream: whatever is called while a message is under way goes
// into the next one, together with what was seen of the answers.
//
//   kIdle ──call──▶ kConnecting ──welcome──▶ kOpen
//     ▲                  ▲ └─never connected─▶ kIdle     │
//     │                  └────────stream broke───────────┤
//     │                                                  │ nothing heard for a sixth of the lease
//     └──later── kUnary ◀──answered── kFencing ◀─────────┘
//
// The contract of each call is Transport's. A call whose answer was lost with the stream is
// answered on the next one; where the session is gone it ends with UNAVAILABLE, may have been sent,
// and whoever called repeats it. Where the stream gives no sign of life the session is fenced by a
// unary call, then what has no answer is sent again by unary calls, those of one transaction in
// their order. A lock request or fused begin that waits is answered by its grant, or with
// WAITING shortly before its deadline, or sooner where the session is lost. Heartbeats go over the
// stream while it lives, leave out what the session keeps alive, and never wait for it. A fused
// begin has no unary form: without a stream it is UNIMPLEMENTED, and may have been sent.
// Thread-safe; no mutex is held over a call.
class SessionStream final : public Transport {
 public:
  struct Ports {
    Transport& calls;
    Transport& heartbeats;  // for beats that cannot go over the stream
    SessionConnector& connector;
    Executor& executor;
    Clock& clock;
    Random& random;
  };
  // A server ended this transaction. On any thread; must not block.
  using Aborted = std::function<void(TxnId, AbortCause)>;

  // All ports must outlive Stop.
  SessionStream(Ports ports, Aborted aborted);
  ~SessionStream() override;
  // Ends the session; calls under way end with CANCELLED before it returns. Once, and no call
  // after it.
  void Stop();

  void Call(const std::string& method,
            std::shared_ptr<const google::protobuf::Message> request,
            std::shared_ptr<google::protobuf::Message> response,
            MonoTime deadline,
            Done done) override;

  // Calls go over a stream, as far as one can tell.
  bool streaming() const;

  // For tests and people.
  struct Counts {
    int64_t operations = 0;  // sent over streams, repeats included
    int64_t messages = 0;
    int64_t unary = 0;  // calls that a stream could have carried
    int64_t streams = 0;
    int64_t fences = 0;
  };
  Counts counts() const;

 private:
  enum class State { kIdle, kConnecting, kOpen, kFencing, kUnary, kStopped };
  using Field = google::protobuf::FieldDescriptor;
  using Message = google::protobuf::Message;

  struct Operation {
    std::string method;
    const Field* field = nullptr;  // of SessionOperation
    std::shared_ptr<const Message> request;
    std::shared_ptr<const Message> shortened;  // a beat, as the present session sends it
    std::shared_ptr<Message> response;
    MonoTime deadline;
    MonoTime due;  // the entry in deadlines_
    Done done;     // empty: whoever called has its answer
    uint64_t ticket = 0;
    int64_t number = 0;  // 0: not sent yet
    int64_t bytes = 0;
  };
  using OperationPtr = std::shared_ptr<Operation>;
  // What is to be done once the mutex is free.
  using Later = std::vector<absl::AnyInvocable<void()>>;
  using Connection = std::unique_ptr<SessionConnection>;

  // ---- from outside: lock, act, unlock, do what is left ----
  void Received(int64_t connection, v1::SessionResponse response);
  void Written(int64_t connection);
  void Ended(int64_t connection, const absl::Status& status, bool connected);
  void OnTimer(uint64_t timer);
  void Fenced(const v1::FenceSessionResponse& response, const TransportReply& reply);

  // ---- the stream (session_stream.cc) ----
  void Enqueue(OperationPtr operation, Later& later) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Connect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Welcome(const v1::SessionWelcome& welcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Take(v1::SessionAnswer& answer, Later& later) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Take(const v1::SessionNotice& notice, Later& later) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Pump() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayWrite() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddHello(v1::SessionRequest& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddOperations(v1::SessionRequest& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ShortenBeats() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteTransactions(const Operation& operation, const v1::SessionAnswer& answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteLease(const v1::OpenTransactionsResponse& opened) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddSeen(v1::SessionRequest& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteSeen(int64_t number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Finish(Operation& operation, TransportReply reply, Later& later)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetDue(const OperationPtr& operation, MonoTime due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // ---- when it does not work (session_fallback.cc) ----
  void Retire() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetSession() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndWaits(Later& later) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LoseSession(Later& later) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LoseConnection(const absl::Status& status, bool connected, Later& later)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FallBack(Later& later) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendFence(const v1::FenceSessionRequest& request);
  // What has no answer goes by unary calls; operations below `executed_below` may have been
  // executed.
  void GoUnary(int64_t executed_below, Later& later) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RunChain(std::shared_ptr<std::deque<OperationPtr>> chain);
  void CallUnary(Operation& operation, Done done);

  // ---- time ----
  void Expire(MonoTime now, Later& later) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Unanswered() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::chrono::nanoseconds Patience() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Arm() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Ports ports_;
  const Aborted aborted_;
  // Tasks that were posted do nothing once it was stopped.
  const std::shared_ptr<std::atomic<bool>> alive_ = std::make_shared<std::atomic<bool>>(true);

  mutable absl::Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kIdle;
  bool never_ ABSL_GUARDED_BY(mutex_) = false;  // the server has no sessions
  // The session.
  std::string id_ ABSL_GUARDED_BY(mutex_);  // empty: none yet
  int64_t epoch_ ABSL_GUARDED_BY(mutex_) = 0;
  bool known_ ABSL_GUARDED_BY(mutex_) = false;  // a stream of it may have reached the server
  int64_t next_number_ ABSL_GUARDED_BY(mutex_) = 1;
  int64_t seen_below_ ABSL_GUARDED_BY(mutex_) = 1;
  std::set<int64_t> seen_above_ ABSL_GUARDED_BY(mutex_);
  int64_t notices_below_ ABSL_GUARDED_BY(mutex_) = 1;
  int64_t credit_operations_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t credit_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Its stream.
  Connection connection_ ABSL_GUARDED_BY(mutex_);
  int64_t connections_ ABSL_GUARDED_BY(mutex_) = 0;  // number of the present one
  bool hello_sent_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool urgent_ ABSL_GUARDED_BY(mutex_) = false;         // a beat is queued
  std::set<int64_t> messages_ ABSL_GUARDED_BY(mutex_);  // under way: the first number of each
  std::vector<Connection> retired_ ABSL_GUARDED_BY(mutex_);
  // Operations.
  std::deque<OperationPtr> queue_ ABSL_GUARDED_BY(mutex_);           // to be sent
  std::map<int64_t, OperationPtr> sent_ ABSL_GUARDED_BY(mutex_);     // no answer yet
  std::map<int64_t, OperationPtr> waiting_ ABSL_GUARDED_BY(mutex_);  // answered WAITING
  int64_t sent_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  SessionBeats beats_ ABSL_GUARDED_BY(mutex_);
  std::map<std::pair<MonoTime, uint64_t>, OperationPtr> deadlines_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_ticket_ ABSL_GUARDED_BY(mutex_) = 0;
  // Time.
  std::chrono::nanoseconds lease_ ABSL_GUARDED_BY(mutex_);  // the shortest that was heard of
  MonoTime heard_ ABSL_GUARDED_BY(mutex_);  // or since when there is something without an answer
  MonoTime wrote_ ABSL_GUARDED_BY(mutex_);
  MonoTime retry_at_ ABSL_GUARDED_BY(mutex_);
  std::chrono::nanoseconds pause_ ABSL_GUARDED_BY(mutex_);
  std::optional<Executor::TimerId> timer_ ABSL_GUARDED_BY(mutex_);
  MonoTime timer_due_ ABSL_GUARDED_BY(mutex_);
  uint64_t timer_number_ ABSL_GUARDED_BY(mutex_) = 0;
  Counts counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skep::client
