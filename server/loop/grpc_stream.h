#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <google/protobuf/message_lite.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/status.h>

#include "server/loop/grpc_transport.h"

namespace skep::loop {

class GrpcStreamService;

// One call whose messages flow one by one in both directions: a stream of any kind, or a unary call
// seen as one. Confined to the loop's thread.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual int method() const = 0;  // index into the names that the service was made with
  // Queued; a client that does not read is cut.
  virtual void Write(const google::protobuf::MessageLite& message) = 0;
  // Ends the call after what was written. Later writes are dropped.
  virtual void Finish(const grpc::Status& status) = 0;
};

class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  virtual void Message(Stream& stream, const std::string& bytes) = 0;
  // The client sends no more.
  virtual void HalfClosed(Stream& stream) = 0;
  // The call is over; `stream` must not be used after.
  virtual void Closed(Stream& stream) = 0;
};

// A service of streams on the transport's queue, for what is rare and small: health, reflection.
class GrpcStreamService final : public StreamService, private grpc::Service {
 public:
  // Full paths of its methods ("/grpc.health.v1.Health/Watch"). `handler` must outlive the service.
  GrpcStreamService(std::vector<std::string> paths, StreamHandler& handler);
  ~GrpcStreamService() override;

  grpc::Service& grpc_service() override { return *this; }
  void Start(grpc::ServerCompletionQueue& queue) override;
  void EndStreams() override;
  bool Ended() const override { return calls_.empty(); }

 private:
  class Call;

  void Register(int method);
  void Remove(Call* call);

  const std::vector<std::string> paths_;
  StreamHandler& handler_;
  grpc::ServerCompletionQueue* queue_ = nullptr;
  bool closing_ = false;
  std::vector<std::unique_ptr<Call>> calls_;
};

}  // namespace skep::loop
