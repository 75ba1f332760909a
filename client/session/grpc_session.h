#pragma once

#include <memory>

#include <grpcpp/channel.h>

#include "client/session/session_connector.h"

namespace skep::client {

// Session streams over a channel that others use too. Events run on gRPC's threads.
class GrpcSessionConnector final : public SessionConnector {
 public:
  explicit GrpcSessionConnector(std::shared_ptr<grpc::Channel> channel);
  ~GrpcSessionConnector() override;
  std::unique_ptr<SessionConnection> Open(SessionEvents events) override;

 private:
  struct Stub;
  const std::unique_ptr<Stub> stub_;
};

}  // namespace skep::client
