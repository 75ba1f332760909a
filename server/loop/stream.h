#pragma once

#include <string>

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/status.h>

#include "proto/wire/base_wire.h"
#include "proto/wire/status_wire.h"

namespace skep::loop {

// One call whose messages flow one by one in both directions: a stream of any kind, or a unary call
// seen as one, whatever carries it. Confined to the loop's thread.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual int method() const = 0;  // index into the names that the service was made with
  // Queued; where too much is queued for a client that does not read, the call is cut.
  virtual void WriteBytes(std::string message) = 0;
  void Write(const google::protobuf::MessageLite& message) {
    WriteBytes(message.SerializeAsString());
  }
  // Something that was written has not left yet. Who waits for StreamHandler::Writable queues
  // nothing.
  virtual bool busy() const = 0;
  // Ends the call after what was written. Later writes are dropped.
  virtual void Finish(const grpc::Status& status) = 0;
  // `bytes` as the request; false: they are none, and the call was ended with kInvalidRequest.
  bool Parse(const std::string& bytes, google::protobuf::MessageLite& request) {
    if (request.ParseFromString(bytes)) return true;
    Finish(wire::ToGrpc(wire::NotParsed()));
    return false;
  }
  // Ends the call at once: what is queued is lost, and a client that does not read is not waited
  // for. It sees CANCELLED.
  virtual void Cut() = 0;
};

class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  virtual void Message(Stream& stream, std::string bytes) = 0;
  // Everything that was written has left.
  virtual void Writable(Stream&) {}
  // The client sends no more.
  virtual void HalfClosed(Stream& stream) = 0;
  // The call is over; `stream` must not be used after.
  virtual void Closed(Stream& stream) = 0;
  // The server is about to go: from now on only what ends and keeps alive is accepted.
  virtual void Drain() {}
};

}  // namespace skep::loop
