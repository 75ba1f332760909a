#include "client/session/caller.h"

#include <algorithm>
#include <utility>

#include "client/session/request_identity.h"
#include "proto/wire/base_wire.h"
#include "storage/model/errors.h"

namespace skep::client {

using google::protobuf::Message;

struct Caller::Operation {
  std::string method;
  std::shared_ptr<Message> request;
  std::shared_ptr<Message> response;
  MonoTime deadline;
  Done done;
  int attempts = 0;
  std::chrono::milliseconds pause{0};
};

void Caller::Start(const std::string& method,
                   std::shared_ptr<Message> request,
                   std::shared_ptr<Message> response,
                   MonoTime deadline,
                   Done done) {
  auto operation = std::make_shared<Operation>();
  operation->method = method;
  operation->request = std::move(request);
  operation->response = std::move(response);
  operation->deadline = deadline;
  operation->done = std::move(done);
  operation->pause = retry_.first_pause;
  GiveRequestId(*operation->request, ports_.random);
  // gRPC would refuse it at the other end, as a lack of resources that a retry may help.
  const size_t size = operation->request->ByteSizeLong();
  if (size > wire::kMaxRequestBytes) {
    operation->done(
        MakeError(ErrorReason::kInvalidRequest,
                  "the request of " + method + " has " + std::to_string(size) +
                      " bytes, and a server takes " + std::to_string(wire::kMaxRequestBytes) +
                      " at most: give less at once",
                  {{"field", "request"}, {"limit", std::to_string(wire::kMaxRequestBytes)}}));
    return;
  }
  Attempt(std::move(operation));
}

void Caller::Attempt(std::shared_ptr<Operation> operation) {
  ++operation->attempts;
  Operation& op = *operation;
  ports_.transport.Call(op.method,
                        op.request,
                        op.response,
                        op.deadline,
                        [this, operation = std::move(operation)](TransportReply reply) mutable {
                          Answered(std::move(operation), std::move(reply));
                        });
}

void Caller::Answered(std::shared_ptr<Operation> operation, TransportReply reply) {
  if (reply.status.code() != absl::StatusCode::kUnavailable) {
    operation->done(std::move(reply.status));
    return;
  }
  // A refusal with a reason is the server's word that nothing was done.
  const bool refused = ReasonOf(reply.status) != ErrorReason::kUnspecified;
  if (reply.maybe_sent && !refused) MarkAsRepeat(*operation->request);

  using Millis = std::chrono::duration<double, std::milli>;
  Millis pause(Jitter(ports_.random, static_cast<double>(operation->pause.count()), retry_.jitter));
  if (reply.retry_after.has_value()) pause = std::max(pause, Millis(*reply.retry_after));
  operation->pause = std::min(
      std::chrono::duration_cast<std::chrono::milliseconds>(operation->pause * retry_.growth),
      retry_.longest_pause);
  const MonoTime when =
      ports_.clock.MonoNow() + std::chrono::duration_cast<std::chrono::nanoseconds>(pause);
  const bool exhausted = retry_.max_attempts > 0 && operation->attempts >= retry_.max_attempts;
  if (exhausted || when >= operation->deadline) {
    operation->done(std::move(reply.status));
    return;
  }
  operation->response->Clear();
  ports_.executor.PostAt(
      when, [this, operation = std::move(operation)]() mutable { Attempt(std::move(operation)); });
}

absl::Status Caller::Call(const std::string& method,
                          std::shared_ptr<Message> request,
                          std::shared_ptr<Message> response,
                          MonoTime deadline) {
  // Shared with the completion, which may still be notifying when the wait returns.
  struct Waiting {
    absl::Notification done;
    absl::Status status;
  };
  auto waiting = std::make_shared<Waiting>();
  Start(method, std::move(request), std::move(response), deadline, [waiting](absl::Status status) {
    waiting->status = std::move(status);
    waiting->done.Notify();
  });
  ports_.blocker.Wait(waiting->done);
  return waiting->status;
}

}  // namespace skep::client
