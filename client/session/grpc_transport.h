#pragma once

#include <memory>
#include <set>
#include <string>

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "client/session/transport.h"

namespace skep::client {

// The call ended before there was a connection to send it on. gRPC tells only by its text; if that
// ever changes the answer is "maybe", which costs an extra question for the outcome and nothing
// else.
bool FailedBeforeSending(const grpc::Status& status);

// A channel of its own to one server, never shared with another transport of the process. `done`
// runs on gRPC's threads. Thread-safe.
class GrpcTransport final : public Transport {
 public:
  // `endpoint`: "unix:/path" or "host:port". `clock` must outlive the transport and run in real
  // time.
  GrpcTransport(const std::string& endpoint, Clock& clock);
  ~GrpcTransport() override;

  void Call(const std::string& method,
            std::shared_ptr<const google::protobuf::Message> request,
            std::shared_ptr<google::protobuf::Message> response,
            MonoTime deadline,
            Done done) override;

  // For the session stream of the same client.
  std::shared_ptr<grpc::Channel> channel() const { return channel_; }

 private:
  struct Pending;
  void Finish(Pending* call, const grpc::Status& status);

  Clock& clock_;
  std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  absl::Mutex mutex_;
  std::set<Pending*> pending_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skep::client
