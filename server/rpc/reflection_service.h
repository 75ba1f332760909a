#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/loop/grpc_stream.h"

namespace skep::rpc {

// grpc.reflection.v1alpha.ServerReflection over the descriptors that are compiled in; see
// HealthService for why it is ours. Confined to the loop's thread.
class ReflectionService final : public loop::StreamHandler {
 public:
  // The full names of the services to be listed.
  explicit ReflectionService(std::vector<std::string> names);

  // To be given to the transport; borrows this.
  std::unique_ptr<loop::StreamService> MakeStreams();

  void Message(loop::Stream& stream, std::string bytes) override;
  void HalfClosed(loop::Stream& stream) override { stream.Finish(grpc::Status::OK); }
  void Closed(loop::Stream&) override {}

 private:
  const std::vector<std::string> names_;
};

}  // namespace skep::rpc
