#include "server/loop/grpc_call.h"

#include <string_view>
#include <utility>

#include <google/protobuf/message_lite.h>
#include <grpc/support/time.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include "proto/wire/base_wire.h"
#include "proto/wire/status_wire.h"
#include "storage/model/errors.h"

namespace skep::loop {
namespace {

constexpr std::chrono::seconds kDefaultDeadline{30};
constexpr char kClientKey[] = "skep-client-id";

MonoTime ToMono(gpr_timespec time) {
  const gpr_timespec mono = gpr_convert_clock_type(time, GPR_CLOCK_MONOTONIC);
  return MonoTime(std::chrono::seconds(mono.tv_sec) + std::chrono::nanoseconds(mono.tv_nsec));
}

std::string_view ClientOf(const grpc::ServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(kClientKey);
  if (found == metadata.end()) return {};
  return {found->second.data(), found->second.size()};
}

}  // namespace

GrpcService::GrpcService(loop::Service service) : service_(std::move(service)) {
  for (size_t i = 0; i < service_.methods.size(); ++i) {
    AddMethod(new grpc::internal::RpcServiceMethod(  // the base class owns it; the path lives as
                                                     // long as we do
        service_.methods[i].path.c_str(),
        grpc::internal::RpcMethod::NORMAL_RPC,
        nullptr));
    MarkMethodRaw(static_cast<int>(i));
  }
}

void GrpcCall::Register(GrpcService& service, int method, grpc::ServerCompletionQueue* queue) {
  service_ = &service;
  method_ = method;
  context_.emplace();
  writer_.emplace(&*context_);
  events_left_ = 1;
  if (service.methods()[method].waits) {
    // An event more per call, so only where it can matter.
    context_->AsyncNotifyWhenDone(&ended_);
    events_left_ = 2;
  }
  service.Request(method, &*context_, &request_, &*writer_, queue, &arrived_);
}

void GrpcCall::Arrived(bool ok) {
  if (!ok) {  // the server is shut down; no other event follows
    transport_.Recycle(this);
    return;
  }
  transport_.Register(*service_, method_);
  const absl::Status admitted = Admit();
  if (!admitted.ok()) {
    Refuse(admitted);
    Send();
    return;
  }
  transport_.core_.Run(*this);
}

absl::Status GrpcCall::Admit() {
  const auto size = static_cast<int64_t>(request_.Length());
  if (size > transport_.options_.max_message) {
    return wire::TooLarge(size, transport_.options_.max_message);
  }
  const absl::StatusOr<int64_t*> slot =
      transport_.admission_.Enter(method().call_class, ClientOf(*context_));
  if (!slot.ok()) return slot.status();
  slot_ = *slot;
  transport_.in_flight_.fetch_add(1, std::memory_order_relaxed);
  const MonoTime now = transport_.clock_.MonoNow();
  const gpr_timespec deadline = context_->raw_deadline();
  if (gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) == 0) {
    deadline_ = now + kDefaultDeadline;
  } else {
    deadline_ = ToMono(deadline);
    if (deadline_ <= now)
      return absl::DeadlineExceededError("the deadline passed before the call was begun");
  }
  return absl::OkStatus();
}

bool GrpcCall::Read(google::protobuf::MessageLite* request) {
  grpc::ProtoBufferReader reader(&request_);
  return reader.status().ok() && request->ParseFromZeroCopyStream(&reader);
}

void GrpcCall::Reply(const google::protobuf::MessageLite& response) {
  const size_t size = response.ByteSizeLong();
  grpc::Slice slice(size);
  response.SerializeWithCachedSizesToArray(const_cast<uint8_t*>(slice.begin()));
  response_ = grpc::ByteBuffer(&slice, 1);
  status_ = grpc::Status();
}

void GrpcCall::Refuse(const absl::Status& status) { status_ = wire::ToGrpc(status); }

void GrpcCall::Send() {
  sending_ = true;
  if (status_.ok()) {
    writer_->Finish(response_, status_, &sent_);
  } else {
    writer_->FinishWithError(status_, &sent_);
  }
}

Verdict GrpcCall::Decide(state::State& state, state::Now now, state::Unit& unit) {
  CallContext context{*this, transport_.core_, state, now, unit};
  return method().run(context);
}

void GrpcCall::Failed(const absl::Status& status) {
  Refuse(status);
  Send();
}

void GrpcCall::Sent(bool) { Leave(); }

void GrpcCall::Ended(bool) {
  if (!sending_ && waiter() != nullptr) {
    transport_.core_.Leave(*waiter());
    Refuse(absl::CancelledError("the client gave up waiting"));
    Send();
  }
  Leave();
}

void GrpcCall::Leave() {
  if (--events_left_ > 0) return;
  if (slot_ != nullptr) {
    transport_.admission_.Leave(slot_);
    transport_.in_flight_.fetch_sub(1, std::memory_order_relaxed);
  }
  slot_ = nullptr;
  sending_ = false;
  KeepWaiter(nullptr);
  request_.Clear();
  response_.Clear();
  status_ = grpc::Status();
  writer_.reset();
  context_.reset();
  transport_.Recycle(this);
}

}  // namespace skep::loop
