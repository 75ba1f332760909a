#include "server/loop/grpc_transport.h"

#include <algorithm>
#include <climits>

#include <fmt/format.h>
#include <grpc/support/time.h>
#include <grpcpp/security/server_credentials.h>

#include "server/loop/grpc_call.h"
#include "storage/model/errors.h"

namespace skep::loop {
namespace {

gpr_timespec ToTimespec(MonoTime time) {
  if (time == MonoTime::min()) return gpr_inf_past(GPR_CLOCK_MONOTONIC);
  return gpr_time_from_nanos(time.time_since_epoch().count(), GPR_CLOCK_MONOTONIC);
}

void SetLimits(const GrpcTransport::Options& options, grpc::ServerBuilder* builder) {
  // What gRPC itself refuses never reaches a handler and carries no reason of ours: so it lets
  // through what is a little too large, for us to refuse.
  constexpr int64_t kRoomToSayWhy = 2;
  builder->SetMaxReceiveMessageSize(
      static_cast<int>(std::min<int64_t>(options.max_message * kRoomToSayWhy, INT_MAX)));
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                              static_cast<int>(options.max_streams_per_connection));
  // Two servers on one port would share the clients between them.
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
}

}  // namespace

GrpcTransport::GrpcTransport(const Options& options,
                             std::vector<Service> services,
                             std::vector<std::unique_ptr<StreamService>> streams,
                             BatchCore& core,
                             Clock& clock)
    : options_(options),
      core_(core),
      clock_(clock),
      admission_(options.limits),
      streams_(std::move(streams)) {
  for (Service& service : services) {
    services_.push_back(std::make_unique<GrpcService>(std::move(service)));
  }
}

GrpcTransport::~GrpcTransport() = default;

absl::Status GrpcTransport::Start() {
  grpc::ServerBuilder builder;
  SetLimits(options_, &builder);
  std::vector<int> ports(options_.listen.size(), 0);
  for (size_t i = 0; i < options_.listen.size(); ++i) {
    builder.AddListeningPort(options_.listen[i], grpc::InsecureServerCredentials(), &ports[i]);
  }
  for (const auto& service : services_) builder.RegisterService(service.get());
  for (const auto& stream : streams_) builder.RegisterService(&stream->grpc_service());
  queue_ = builder.AddCompletionQueue();
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    size_t failed = 0;
    while (failed + 1 < ports.size() && ports[failed] != 0) ++failed;
    const std::string endpoint = options_.listen.empty() ? "nothing" : options_.listen[failed];
    return MakeError(
        ErrorReason::kOperationNotAllowed,
        fmt::format("cannot listen on {}: it is in use by another process, or not an address "
                    "of this host; change server.listen",
                    endpoint),
        {{"endpoint", endpoint}});
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string& given = options_.listen[i];
    const size_t colon = given.rfind(':');
    endpoints_.push_back(
        given.starts_with("unix:") ? given : given.substr(0, colon + 1) + std::to_string(ports[i]));
  }
  for (const auto& service : services_) {
    for (size_t i = 0; i < service->methods().size(); ++i) {
      for (int n = 0; n < service->methods()[i].registered; ++n)
        Register(*service, static_cast<int>(i));
    }
  }
  for (const auto& stream : streams_) stream->Start(*queue_, options_.max_message);
  return absl::OkStatus();
}

Transport::Got GrpcTransport::Next(MonoTime deadline) {
  switch (queue_->AsyncNext(&event_tag_, &event_ok_, ToTimespec(deadline))) {
    case grpc::CompletionQueue::GOT_EVENT:
      return Got::kEvent;
    case grpc::CompletionQueue::TIMEOUT:
      return Got::kNothing;
    case grpc::CompletionQueue::SHUTDOWN:
      break;
  }
  return Got::kClosed;
}

void GrpcTransport::Dispatch() {
  static_cast<CompletionEvent*>(event_tag_)->Complete(event_ok_);
  if (closing_) CloseQueueIfDone();
}

void GrpcTransport::Wake() {
  if (wake_pending_.exchange(true, std::memory_order_acq_rel)) return;
  absl::MutexLock lock(&wake_mutex_);
  if (queue_closed_) return;
  alarm_.Set(queue_.get(), gpr_now(GPR_CLOCK_MONOTONIC), &wake_event_);
}

void GrpcTransport::Drain() {
  admission_.Drain();
  for (const auto& stream : streams_) stream->Drain();
}

void GrpcTransport::CancelCalls() {
  for (const auto& call : calls_) call->Cancel();
}

void GrpcTransport::Close() {
  closing_ = true;
  Drain();
  for (const auto& stream : streams_) stream->EndStreams();
  CloseQueueIfDone();  // no event may be left that would come back to this
}

void GrpcTransport::Shutdown(std::chrono::system_clock::time_point deadline) {
  server_->Shutdown(deadline);
  server_down_.store(true, std::memory_order_release);
  Wake();
}

// A queue that is shut down takes no new operations, not even the answer of a call that is still
// here: so it is closed after the last call has ended.
void GrpcTransport::CloseQueueIfDone() {
  if (!server_down_.load(std::memory_order_acquire) || calls_.size() != free_.size()) return;
  for (const auto& stream : streams_) {
    if (!stream->Ended()) return;
  }
  absl::MutexLock lock(&wake_mutex_);
  if (queue_closed_) return;
  queue_closed_ = true;
  queue_->Shutdown();
}

void GrpcTransport::Register(GrpcService& service, int method) {
  if (!closing_) NewCall()->Register(service, method, queue_.get());
}

GrpcCall* GrpcTransport::NewCall() {
  if (!free_.empty()) {
    GrpcCall* const call = free_.back();
    free_.pop_back();
    return call;
  }
  calls_.push_back(std::make_unique<GrpcCall>(*this));
  return calls_.back().get();
}

void GrpcTransport::Recycle(GrpcCall* call) { free_.push_back(call); }

}  // namespace skep::loop
