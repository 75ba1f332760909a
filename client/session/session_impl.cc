#include "client/session/session_impl.h"

#include <utility>

namespace skep::client {

SessionImpl::SessionImpl(SessionOptions options, SessionPorts ports)
    : options_(std::move(options)),
      caller_({ports.calls, ports.executor, ports.clock, ports.random, ports.blocker},
              options_.retry),
      heartbeater_(ports.heartbeats, ports.heartbeat_executor, ports.clock, ports.random),
      owned_(std::move(ports.owned)) {}

SessionImpl::~SessionImpl() { heartbeater_.Stop(); }

void SessionImpl::Sleep(std::chrono::milliseconds time) {
  auto awake = std::make_shared<absl::Notification>();
  caller_.executor().PostAt(clock().MonoNow() + time, [awake] { awake->Notify(); });
  caller_.blocker().Wait(*awake);
}

}  // namespace skep::client
