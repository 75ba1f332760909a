#include "tests/sim/sim_call.h"

#include "proto/wire/status_wire.h"

namespace skep::sim {

void SimCall::Begin() { core_.Run(*this); }

void SimCall::ClientGone() {
  if (answered_ || waiter() == nullptr) return;
  core_.Leave(*waiter());
  Refuse(absl::CancelledError("the client gave up waiting"));
  Send();
}

void SimCall::Reply(const google::protobuf::MessageLite& response) {
  response_ = response.SerializeAsString();
  status_ = grpc::Status();
}

void SimCall::Refuse(const absl::Status& status) {
  status_ = wire::ToGrpc(status);
  response_.clear();
}

void SimCall::Send() {
  answered_ = true;
  sent_(*this);
}

loop::Verdict SimCall::Decide(state::State& state, state::Now now, state::Unit& unit) {
  if (arrival_.decided) arrival_.decided(now.mono);
  loop::CallContext context{*this, core_, state, now, unit};
  return method_.run(context);
}

void SimCall::Failed(const absl::Status& status) {
  Refuse(status);
  Send();
}

}  // namespace skep::sim
