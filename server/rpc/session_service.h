#pragma once

#include <memory>
#include <vector>

#include "server/loop/call.h"
#include "server/loop/grpc_stream.h"
#include "server/loop/sessions.h"

namespace skep::rpc {

inline constexpr char kSessionServiceName[] = "skep.v1.SessionService";

// SessionService: the operations that SessionOperation names, each served by the unary handler of
// the same request (`services` holds them: a set of the session's own), and the fused begin. Lives
// as long as the transport. `core` must outlive it.
class SessionService {
 public:
  SessionService(const loop::Sessions::Options& options,
                 std::vector<loop::Service> services,
                 loop::BatchCore& core);

  std::unique_ptr<loop::StreamService> MakeStreams();
  loop::Sessions& sessions() { return sessions_; }

 private:
  loop::Sessions sessions_;
};

}  // namespace skep::rpc
