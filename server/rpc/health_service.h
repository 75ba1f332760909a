#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/loop/grpc_stream.h"

namespace skep::rpc {

// grpc.health.v1.Health: each service by its full name, and the server as a whole under the empty
// name. The library's own would answer from threads of its own, which then poll in the loop's
// place. Confined to the loop's thread.
class HealthService final : public loop::StreamHandler {
 public:
  // All names are NOT_SERVING until SetServing.
  explicit HealthService(std::vector<std::string> names);

  // To be given to the transport; borrows this.
  std::unique_ptr<loop::StreamService> MakeStreams();

  // Whoever watches is told.
  void SetServing(bool serving);

  void Message(loop::Stream& stream, std::string bytes) override;
  void HalfClosed(loop::Stream&) override {}
  void Closed(loop::Stream& stream) override { watchers_.erase(&stream); }

 private:
  const std::vector<std::string> names_;
  bool serving_ = false;
  std::map<loop::Stream*, std::string> watchers_;  // with the name that each watches
};

}  // namespace skep::rpc
