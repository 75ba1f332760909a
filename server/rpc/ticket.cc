#include "server/rpc/ticket.h"

#include "storage/model/errors.h"

namespace skep::rpc {

Ticket::~Ticket() {
  if (call_ == nullptr) return;
  Refuse(MakeError(ErrorReason::kShuttingDown,
                   "the server is shutting down; repeat the call with the same request id"));
}

void Ticket::Refuse(absl::Status status) {
  Send([status = std::move(status)](loop::Call& call) { call.Refuse(status); });
}

void Ticket::Send(absl::AnyInvocable<void(loop::Call&)> answer) {
  loop::Call* const call = std::exchange(call_, nullptr);
  port_->Post([call, answer = std::move(answer)]() mutable {
    answer(*call);
    call->Send();
  });
}

}  // namespace skep::rpc
