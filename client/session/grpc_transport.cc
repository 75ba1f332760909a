#include "client/session/grpc_transport.h"

#include <utility>

#include <grpcpp/impl/codegen/proto_utils.h>

#include "proto/wire/status_wire.h"

namespace skep::client {
namespace {

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& endpoint) {
  grpc::ChannelArguments arguments;
  // Without it channels to one address share a connection, and a heartbeat would wait behind a
  // large answer.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A restarted server is found soon; gRPC's own defaults are a second and two minutes.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2'000);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES,
                   0);  // retries are the caller's, who marks them as repeats
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(endpoint, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

bool FailedBeforeSending(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE &&
         status.error_message().rfind("failed to connect to all addresses", 0) == 0;
}

struct GrpcTransport::Pending {
  std::string method;
  grpc::ClientContext context;
  grpc::ByteBuffer request;
  grpc::ByteBuffer reply;
  std::shared_ptr<google::protobuf::Message> response;
  Done done;
};

GrpcTransport::GrpcTransport(const std::string& endpoint, Clock& clock)
    : clock_(clock), channel_(MakeChannel(endpoint)), stub_(channel_) {}

GrpcTransport::~GrpcTransport() {
  absl::MutexLock lock(&mutex_);
  for (Pending* call : pending_) call->context.TryCancel();
  auto none_left = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return pending_.empty(); };
  mutex_.Await(absl::Condition(&none_left));
}

void GrpcTransport::Call(const std::string& method,
                         std::shared_ptr<const google::protobuf::Message> request,
                         std::shared_ptr<google::protobuf::Message> response,
                         MonoTime deadline,
                         Done done) {
  auto* call = new Pending;
  call->method = method;
  call->response = std::move(response);
  call->done = std::move(done);
  call->context.set_deadline(
      std::chrono::system_clock::now() +
      std::chrono::duration_cast<std::chrono::system_clock::duration>(deadline - clock_.MonoNow()));
  bool own_buffer = false;
  grpc::Status serialized = grpc::SerializationTraits<google::protobuf::Message>::Serialize(
      *request, &call->request, &own_buffer);
  {
    absl::MutexLock lock(&mutex_);
    pending_.insert(call);
  }
  // An empty buffer would be sent if this failed; it fails only for messages above 2 GiB.
  if (!serialized.ok()) call->context.TryCancel();
  stub_.UnaryCall(&call->context,
                  method,
                  grpc::StubOptions(),
                  &call->request,
                  &call->reply,
                  [this, call](grpc::Status status) { Finish(call, status); });
}

void GrpcTransport::Finish(Pending* call, const grpc::Status& status) {
  TransportReply reply;
  grpc::Status outcome = status;
  if (outcome.ok()) {
    outcome = grpc::SerializationTraits<google::protobuf::Message>::Deserialize(
        &call->reply, call->response.get());
    if (!outcome.ok()) {
      outcome = {grpc::StatusCode::INTERNAL,
                 "the server's answer to " + call->method +
                     " cannot be read: are server and client of one release?"};
    }
  }
  reply.status = wire::FromGrpc(outcome);
  reply.retry_after = wire::RetryDelay(outcome);
  reply.maybe_sent = !FailedBeforeSending(outcome);
  call->done(std::move(reply));
  call->done = nullptr;
  absl::MutexLock lock(&mutex_);
  pending_.erase(call);
  delete call;
}

}  // namespace skep::client
