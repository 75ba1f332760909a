#pragma once

#include <memory>
#include <string>

#include <absl/functional/any_invocable.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <google/protobuf/message.h>

#include "client/session/blocker.h"
#include "client/session/rpc.h"
#include "client/session/transport.h"
#include "skep/session.h"
#include "storage/base/clock.h"
#include "storage/base/executor.h"
#include "storage/base/random.h"

namespace skep::client {

// Calls with retries: the one place where a client decides to send something again.
//
// Only UNAVAILABLE is repeated, after a growing, jittered pause of at least the server's RetryInfo,
// as the same message with the same request id. `repeat` is set from the first attempt on that may
// have reached a server without a refusal in return: a request that was surely never
// executed is not a repeat. Thread-safe.
class Caller {
 public:
  struct Ports {
    Transport& transport;
    Executor& executor;  // for the pauses
    Clock& clock;
    Random& random;  // thread-safe
    Blocker& blocker;
  };
  // All ports must outlive the caller and its calls.
  Caller(Ports ports, RetryOptions retry) : ports_(ports), retry_(retry) {}

  using Done = absl::AnyInvocable<void(absl::Status)>;
  // Ends by `deadline`: with the outcome, or with the last refusal, or with DEADLINE_EXCEEDED.
  // `done` runs once, on the transport's or the executor's thread. Gives `request` a request id if
  // its type has one and it is empty.
  void Start(const std::string& method,
             std::shared_ptr<google::protobuf::Message> request,
             std::shared_ptr<google::protobuf::Message> response,
             MonoTime deadline,
             Done done);

  // The same, waiting. Never on a thread that the transport or the executor needs.
  absl::Status Call(const std::string& method,
                    std::shared_ptr<google::protobuf::Message> request,
                    std::shared_ptr<google::protobuf::Message> response,
                    MonoTime deadline);
  template <class Request>
  absl::StatusOr<typename Rpc<Request>::Response> Call(Request request, MonoTime deadline) {
    auto response = std::make_shared<typename Rpc<Request>::Response>();
    absl::Status status = Call(
        Rpc<Request>::kMethod, std::make_shared<Request>(std::move(request)), response, deadline);
    if (!status.ok()) return status;
    return std::move(*response);
  }

  Clock& clock() const { return ports_.clock; }
  Executor& executor() const { return ports_.executor; }
  Random& random() const { return ports_.random; }
  Blocker& blocker() const { return ports_.blocker; }

 private:
  struct Operation;
  void Attempt(std::shared_ptr<Operation> operation);
  void Answered(std::shared_ptr<Operation> operation, TransportReply reply);

  Ports ports_;
  RetryOptions retry_;
};

}  // namespace skep::client
