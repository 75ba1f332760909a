#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <absl/functional/any_invocable.h>
#include <grpcpp/support/status.h>

#include "server/loop/call.h"
#include "server/loop/transport.h"

namespace skep::sim {

// A request as it reaches the daemon. `answer` is called at most once: never if the daemon dies
// before.
struct Arrival {
  std::string method;
  std::string bytes;
  MonoTime deadline{};
  absl::AnyInvocable<void(grpc::Status, std::string)> answer;
  std::function<void(MonoTime)> decided;  // may be null
};

// What GrpcCall is in production: one unary call in the hands of the loop.
class SimCall final : public loop::Call, public loop::Command {
 public:
  // `sent` takes the call when its answer may leave.
  SimCall(loop::BatchCore& core,
          loop::Method& method,
          Arrival arrival,
          std::function<void(SimCall&)> sent)
      : core_(core), method_(method), arrival_(std::move(arrival)), sent_(std::move(sent)) {}

  void Begin();
  // The client hung up.
  void ClientGone();
  // Passes the answer on.
  void Deliver() { arrival_.answer(status_, std::move(response_)); }

  // loop::Call
  bool Read(google::protobuf::MessageLite* request) override {
    return request->ParseFromString(arrival_.bytes);
  }
  void Reply(const google::protobuf::MessageLite& response) override;
  void Refuse(const absl::Status& status) override;
  void Send() override;
  MonoTime deadline() const override { return arrival_.deadline; }

  // loop::Command
  loop::Verdict Decide(state::State& state, state::Now now, state::Unit& unit) override;
  void Durable() override { Send(); }
  void Failed(const absl::Status& status) override;

 private:
  loop::BatchCore& core_;
  loop::Method& method_;
  Arrival arrival_;
  const std::function<void(SimCall&)> sent_;
  grpc::Status status_;
  std::string response_;
  bool answered_ = false;
};

// What a completion queue is in production: events in order of arrival.
class SimQueue final : public loop::Transport {
 public:
  using Event = absl::AnyInvocable<void()>;
  void Add(Event event) { events_.push_back(std::move(event)); }
  bool empty() const { return events_.empty(); }

  Got Next(MonoTime) override { return events_.empty() ? Got::kNothing : Got::kEvent; }
  void Dispatch() override {
    Event event = std::move(events_.front());
    events_.pop_front();
    event();
  }

 private:
  std::deque<Event> events_;
};

}  // namespace skep::sim
