#include <algorithm>
#include <string>

#include "client/session/grpc_session.h"
#include "client/session/grpc_transport.h"
#include "client/session/session_impl.h"
#include "storage/base/text.h"
#include "storage/base/thread_executor.h"
#include "storage/model/errors.h"

namespace skep::client {
namespace {

// The one composition of threads and channels. Goes down in this order: no new work, then the calls
// under way, then what they used.
struct ProductionPorts {
  explicit ProductionPorts(const std::string& endpoint)
      : executor("skep-client", 1, clock),
        heartbeat_executor("skep-beat", 1, clock),
        calls(std::make_unique<GrpcTransport>(endpoint, clock)),
        heartbeats(std::make_unique<GrpcTransport>(endpoint, clock)),
        connector(calls->channel()) {}
  ~ProductionPorts() {
    executor.Stop();
    heartbeat_executor.Stop();
    calls.reset();
    heartbeats.reset();
  }

  SystemClock clock;
  SystemRandom random;
  ThreadBlocker blocker;
  ThreadExecutor executor;
  ThreadExecutor heartbeat_executor;
  std::unique_ptr<GrpcTransport> calls;
  std::unique_ptr<GrpcTransport> heartbeats;
  GrpcSessionConnector connector;
};

absl::Status CheckEndpoint(const std::string& endpoint) {
  const std::string shape = "give unix:/path/to/skepd.sock or HOST:PORT";
  if (endpoint.rfind("unix:", 0) == 0) {
    if (endpoint.size() > 5 && endpoint[5] == '/' && endpoint.size() < 5 + 108)
      return absl::OkStatus();
  } else if (size_t colon = endpoint.rfind(':'); colon != std::string::npos && colon > 0) {
    std::optional<int64_t> port = ParseInt64(endpoint.substr(colon + 1));
    if (port.has_value() && *port > 0 && *port < 65536) return absl::OkStatus();
  }
  return MakeError(ErrorReason::kInvalidRequest,
                   "endpoint '" + Printable(endpoint) + "' is none: " + shape,
                   {{"field", "endpoint"}, {"endpoint", endpoint}});
}

}  // namespace

absl::StatusOr<SessionPorts> MakeProductionPorts(const std::string& endpoint) {
  absl::Status valid = CheckEndpoint(endpoint);
  if (!valid.ok()) return valid;
  auto owned = std::make_shared<ProductionPorts>(endpoint);
  return SessionPorts{*owned->calls,
                      *owned->heartbeats,
                      owned->executor,
                      owned->heartbeat_executor,
                      owned->clock,
                      owned->random,
                      owned->blocker,
                      owned,
                      &owned->connector};
}

}  // namespace skep::client
