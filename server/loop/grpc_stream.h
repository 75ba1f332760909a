#pragma once

#include <memory>
#include <string>
#include <vector>

#include <grpcpp/impl/service_type.h>

#include "server/loop/grpc_transport.h"
#include "server/loop/stream.h"

namespace skep::loop {

// A service of streams on the transport's queue: health, reflection, sessions.
class GrpcStreamService final : public StreamService, private grpc::Service {
 public:
  // Full paths of its methods ("/grpc.health.v1.Health/Watch"). `handler` must outlive the service.
  GrpcStreamService(std::vector<std::string> paths, StreamHandler& handler);
  ~GrpcStreamService() override;

  grpc::Service& grpc_service() override { return *this; }
  void Start(grpc::ServerCompletionQueue& queue, int64_t max_message) override;
  void Drain() override { handler_.Drain(); }
  void EndStreams() override;
  bool Ended() const override { return calls_.empty(); }

 private:
  class Call;

  void Register(int method);
  void Remove(Call* call);

  const std::vector<std::string> paths_;
  StreamHandler& handler_;
  grpc::ServerCompletionQueue* queue_ = nullptr;
  int64_t max_message_ = 0;
  bool closing_ = false;
  std::vector<std::unique_ptr<Call>> calls_;
};

}  // namespace skep::loop
