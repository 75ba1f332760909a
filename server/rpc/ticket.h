#pragma once

#include <memory>
#include <utility>

#include <absl/status/status.h>
#include <google/protobuf/message.h>

#include "server/loop/call.h"
#include "server/loop/loop_port.h"

namespace skep::rpc {

// The right to answer a call that was taken over (Release::kLater), from any thread, once. A ticket
// that is lost answers SHUTTING_DOWN: a call always ends. Movable, thread-compatible; the port must
// outlive it.
class Ticket {
 public:
  Ticket(loop::Call& call, loop::LoopPort& port) : call_(&call), port_(&port) {}
  Ticket(Ticket&& other) noexcept
      : call_(std::exchange(other.call_, nullptr)), port_(other.port_) {}
  Ticket& operator=(Ticket&& other) = delete;
  Ticket(const Ticket&) = delete;
  ~Ticket();

  void Refuse(absl::Status status);
  template <class Response>
  void Reply(Response response) {
    Send([response = std::move(response)](loop::Call& call) { call.Reply(response); });
  }

 private:
  void Send(absl::AnyInvocable<void(loop::Call&)> answer);

  loop::Call* call_;
  loop::LoopPort* port_;
};

}  // namespace skep::rpc
