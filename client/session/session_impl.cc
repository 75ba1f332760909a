#include "client/session/session_impl.h"

#include <utility>

namespace skep::client {

namespace {

Transport& Either(const std::unique_ptr<SessionStream>& stream, Transport& unary) {
  return stream != nullptr ? static_cast<Transport&>(*stream) : unary;
}

}  // namespace

std::unique_ptr<SessionStream> SessionImpl::MakeStream(const SessionPorts& ports) {
  if (ports.connector == nullptr || !options_.stream) return nullptr;
  return std::make_unique<SessionStream>(
      SessionStream::Ports{ports.calls,
                           ports.heartbeats,
                           *ports.connector,
                           ports.executor,
                           ports.clock,
                           ports.random},
      [this](TxnId txn, AbortCause cause) { heartbeater_.EndedByServer(txn, cause); });
}

SessionImpl::SessionImpl(SessionOptions options, SessionPorts ports)
    : options_(std::move(options)),
      stream_(MakeStream(ports)),
      caller_(
          {Either(stream_, ports.calls), ports.executor, ports.clock, ports.random, ports.blocker},
          options_.retry),
      heartbeater_(
          Either(stream_, ports.heartbeats), ports.heartbeat_executor, ports.clock, ports.random),
      owned_(std::move(ports.owned)) {}

SessionImpl::~SessionImpl() {
  heartbeater_.Stop();
  if (stream_ != nullptr) stream_->Stop();
}

void SessionImpl::Sleep(std::chrono::milliseconds time) {
  auto awake = std::make_shared<absl::Notification>();
  caller_.executor().PostAt(clock().MonoNow() + time, [awake] { awake->Notify(); });
  caller_.blocker().Wait(*awake);
}

}  // namespace skep::client
