#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "tests/bench/rpc/load.h"

namespace skep::bench {

// What the sessions do at one time.
struct SessionShape {
  int sessions = 4;            // each on a connection of its own
  int messages_under_way = 2;  // per session
  int operations_per_message = 128;
  int in_flight() const { return sessions * messages_under_way * operations_per_message; }
};

// Closed loop over session streams: the operations are opens of one transaction and commits of what
// was opened, in turn. Latency is counted per message, calls are operations. One thread.
class SessionLoad {
 public:
  SessionLoad(const std::string& endpoint, int connections);

  LoadResult Run(const SessionShape& shape, int64_t operations);

 private:
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  uint64_t runs_ = 0;  // session ids are one per run
};

}  // namespace skep::bench
