#pragma once

// The production form of Call: one object serves any unary method, is registered with the
// completion queue, filled by an arrival, decided, answered and recycled. Private to the transport.

#include <optional>
#include <string>
#include <vector>

#include <grpcpp/impl/service_type.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/byte_buffer.h>

#include "server/loop/call.h"
#include "server/loop/grpc_transport.h"

namespace skep::loop {

// A service whose methods deliver raw bytes to the completion queue.
class GrpcService final : public grpc::Service {
 public:
  explicit GrpcService(loop::Service service);

  std::vector<Method>& methods() { return service_.methods; }
  void Request(int method,
               grpc::ServerContext* context,
               grpc::ByteBuffer* request,
               grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>* writer,
               grpc::ServerCompletionQueue* queue,
               void* tag) {
    RequestAsyncUnary(method, context, request, writer, queue, queue, tag);
  }

 private:
  loop::Service service_;
};

class GrpcCall final : public Call, public Command {
 public:
  explicit GrpcCall(GrpcTransport& transport) : transport_(transport) {}

  // Waits for an arrival of the method.
  void Register(GrpcService& service, int method, grpc::ServerCompletionQueue* queue);

  // Ends it, if it is in flight.
  void Cancel() {
    if (slot_ != nullptr) context_->TryCancel();
  }

  // Call
  bool Read(google::protobuf::MessageLite* request) override;
  void Reply(const google::protobuf::MessageLite& response) override;
  void Refuse(const absl::Status& status) override;
  void Send() override;
  MonoTime deadline() const override { return deadline_; }

  // Command
  Verdict Decide(state::State& state, state::Now now, state::Unit& unit) override;
  void Durable() override { Send(); }
  void Failed(const absl::Status& status) override;

 private:
  template <void (GrpcCall::*kHandler)(bool)>
  class Event final : public CompletionEvent {
   public:
    explicit Event(GrpcCall& call) : call_(call) {}
    void Complete(bool ok) override { (call_.*kHandler)(ok); }

   private:
    GrpcCall& call_;
  };

  void Arrived(bool ok);
  void Sent(bool ok);
  void Ended(bool ok);  // the call is over for gRPC: answered, or the client is gone
  absl::Status Admit();
  void Leave();
  Method& method() { return service_->methods()[method_]; }

  GrpcTransport& transport_;
  GrpcService* service_ = nullptr;
  int method_ = 0;
  std::optional<grpc::ServerContext> context_;
  std::optional<grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>> writer_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  grpc::Status status_;
  MonoTime deadline_{};
  int64_t* slot_ = nullptr;  // of the admission; none: refused there
  bool sending_ = false;
  int events_left_ = 0;  // that must come before the object is recycled
  Event<&GrpcCall::Arrived> arrived_{*this};
  Event<&GrpcCall::Sent> sent_{*this};
  Event<&GrpcCall::Ended> ended_{*this};
};

}  // namespace skep::loop
