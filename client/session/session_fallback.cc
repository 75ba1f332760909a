// What a session stream does when it breaks, when the server does not know it, and when it gives no
// sign of life.
#include <algorithm>
#include <limits>
#include <utility>

#include "client/session/request_identity.h"
#include "client/session/session_stream.h"
#include "storage/base/log.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::client {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr char kFenceMethod[] = "/skep.v1.SessionService/FenceSession";
constexpr std::chrono::milliseconds kLongestPause{2'000};
constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::milliseconds kFencePause{200};
constexpr std::chrono::seconds kFenceDeadline{2};
constexpr int64_t kAll = std::numeric_limits<int64_t>::max();

// The transaction that a request is about; 0: none.
int64_t TxnOf(const Message& request) {
  const auto* reflection = request.GetReflection();
  if (const FieldDescriptor* one = request.GetDescriptor()->FindFieldByName("txn_id")) {
    return reflection->GetInt64(request, one);
  }
  const FieldDescriptor* many = request.GetDescriptor()->FindFieldByName("txn_ids");
  if (many == nullptr || reflection->FieldSize(request, many) == 0) return 0;
  return reflection->GetRepeatedInt64(request, many, 0);
}

}  // namespace

// An event may be running: the connection goes down elsewhere.
void SessionStream::Retire() {
  if (!connection_) return;
  retired_.push_back(std::move(connection_));
  ++connections_;  // what it still says is not heard
  writing_ = false;
  messages_.clear();
  ports_.executor.Post([this, alive = alive_] {
    if (!alive->load()) return;
    std::vector<Connection> retired;
    {
      absl::MutexLock lock(&mutex_);
      retired.swap(retired_);
    }
  });
}

void SessionStream::ForgetSession() {
  id_.clear();
  epoch_ = 0;
  known_ = false;
  next_number_ = 1;
  seen_below_ = 1;
  seen_above_.clear();
  notices_below_ = 1;
  sent_.clear();
  sent_bytes_ = 0;
  beats_.Forget();
  for (const OperationPtr& operation : queue_) operation->shortened.reset();
}

// Whoever waits for a lock goes on by asking.
void SessionStream::EndWaits(Later& later) {
  for (const auto& [number, operation] : std::exchange(waiting_, {})) Finish(*operation, {}, later);
}

// The server does not know the session (any more): what has no answer may have been executed, and
// its caller repeats it under its request id.
void SessionStream::LoseSession(Later& later) {
  EndWaits(later);
  for (const auto& [number, operation] : sent_) {
    Finish(*operation,
           {absl::UnavailableError("the server has lost the session; what was under way may have "
                                   "been executed"),
            std::nullopt,
            true},
           later);
  }
  std::erase_if(queue_, [](const OperationPtr& operation) { return operation->number != 0; });
  ForgetSession();
  state_ = State::kIdle;
  if (!queue_.empty() && ports_.clock.MonoNow() >= retry_at_) Connect();
}

void SessionStream::Ended(int64_t connection, const absl::Status& status, bool connected) {
  Later later;
  {
    absl::MutexLock lock(&mutex_);
    if (connection != connections_ || state_ == State::kFencing) return;
    Retire();
    LoseConnection(status, connected, later);
    Pump();
    Arm();
  }
  for (auto& task : later) task();
}

void SessionStream::LoseConnection(const absl::Status& status, bool connected, Later& later) {
  const ErrorReason reason = ReasonOf(status);
  const bool welcomed = state_ == State::kOpen;
  if (connected && !welcomed && !known_) {
    // A session that was refused at its beginning has executed nothing.
    if (absl::IsUnimplemented(status) || reason == ErrorReason::kOverloaded) {
      never_ = absl::IsUnimplemented(status);
      return GoUnary(0, later);
    }
  }
  if (reason == ErrorReason::kNoSuchSession || reason == ErrorReason::kSessionFenced ||
      reason == ErrorReason::kInvalidRequest) {
    Log(LogLevel::kInfo, "session.lost", {{"error", MessageOf(status)}});
    return LoseSession(later);
  }
  known_ |= connected && hello_sent_;
  state_ = State::kIdle;
  const MonoTime now = ports_.clock.MonoNow();
  if (connected && welcomed) {
    retry_at_ = std::max(retry_at_, now);
    return;
  }
  pause_ = std::min<std::chrono::nanoseconds>(
      std::max<std::chrono::nanoseconds>(pause_ * 2, kFirstPause), kLongestPause);
  retry_at_ = now + pause_;
  if (connected) return;
  // Nobody is there. What was never sent is its caller's again, who pauses and comes back.
  const TransportReply unreachable{status, std::nullopt, false};
  std::vector<OperationPtr> unsent;
  for (const OperationPtr& operation : queue_) {
    if (operation->number == 0 || !known_) unsent.push_back(operation);
  }
  std::erase_if(queue_,
                [&](const OperationPtr& operation) { return operation->number == 0 || !known_; });
  if (!known_) {
    for (const auto& [number, operation] : sent_) unsent.push_back(operation);
    ForgetSession();
  }
  for (const OperationPtr& operation : unsent) Finish(*operation, unreachable, later);
}

// ---- unary calls instead ----

void SessionStream::FallBack(Later& later) {
  Log(LogLevel::kWarn,
      "session.falls_back",
      {{"operations", static_cast<int64_t>(sent_.size() + queue_.size())}});
  EndWaits(later);
  if (connection_) connection_->Cancel();
  Retire();
  if (!hello_sent_ && !known_) return GoUnary(0, later);  // nothing was sent
  state_ = State::kFencing;
  ++counts_.fences;
  v1::FenceSessionRequest request;
  request.set_session_id(id_);
  request.set_epoch(++epoch_);
  later.push_back([this, request] { SendFence(request); });
}

void SessionStream::SendFence(const v1::FenceSessionRequest& request) {
  auto response = std::make_shared<v1::FenceSessionResponse>();
  ports_.calls.Call(kFenceMethod,
                    std::make_shared<v1::FenceSessionRequest>(request),
                    response,
                    ports_.clock.MonoNow() + kFenceDeadline,
                    [this, alive = alive_, response](TransportReply reply) {
                      if (alive->load()) Fenced(*response, reply);
                    });
}

void SessionStream::Fenced(const v1::FenceSessionResponse& response, const TransportReply& reply) {
  Later later;
  {
    absl::MutexLock lock(&mutex_);
    if (state_ != State::kFencing) return;
    const bool decided = reply.status.ok() || absl::IsUnimplemented(reply.status) ||
                         ReasonOf(reply.status) == ErrorReason::kSessionFenced;
    if (decided) {
      // A session that is not known may have been forgotten by a restart.
      GoUnary(reply.status.ok() && response.known() ? response.next_number() : kAll, later);
      Arm();
    } else {
      // Until it is fenced nothing may overtake what the stream holds; callers have deadlines.
      v1::FenceSessionRequest request;
      request.set_session_id(id_);
      request.set_epoch(epoch_);
      ports_.executor.PostAt(ports_.clock.MonoNow() + kFencePause, [this, alive = alive_, request] {
        if (alive->load()) SendFence(request);
      });
    }
  }
  for (auto& task : later) task();
}

void SessionStream::GoUnary(int64_t executed_below, Later& later) {
  state_ = State::kUnary;
  retry_at_ = ports_.clock.MonoNow() + Patience();
  std::vector<OperationPtr> operations;
  for (const auto& [number, operation] : sent_) operations.push_back(operation);
  for (const OperationPtr& operation : queue_) {
    if (operation->number == 0) operations.push_back(operation);
  }
  queue_.clear();
  ForgetSession();
  // Those of one transaction go one after the other, others side by side.
  std::map<int64_t, std::shared_ptr<std::deque<OperationPtr>>> chains;
  for (const OperationPtr& operation : operations) {
    if (!operation->done) continue;
    deadlines_.erase({operation->due, operation->ticket});  // the unary call has it
    if (operation->number != 0 && operation->number < executed_below) {
      std::shared_ptr<Message> repeat(operation->request->New());
      repeat->CopyFrom(*operation->request);
      MarkAsRepeat(*repeat);
      operation->request = std::move(repeat);
    }
    ++counts_.unary;
    const int64_t txn = TxnOf(*operation->request);
    auto& chain = chains[txn != 0 ? txn : -static_cast<int64_t>(operation->ticket)];
    if (!chain) chain = std::make_shared<std::deque<OperationPtr>>();
    chain->push_back(operation);
  }
  for (auto& [txn, chain] : chains) {
    later.push_back([this, chain = std::move(chain)] { RunChain(chain); });
  }
}

void SessionStream::RunChain(std::shared_ptr<std::deque<OperationPtr>> chain) {
  const OperationPtr operation = chain->front();
  chain->pop_front();
  CallUnary(*operation, [this, alive = alive_, chain, operation](TransportReply reply) {
    // The next one first: whoever gets the answer may call again.
    if (!alive->load()) {
      for (const OperationPtr& next : *chain) next->done(reply);
    } else if (!chain->empty()) {
      RunChain(chain);
    }
    operation->done(std::move(reply));
  });
}

}  // namespace skep::client
