#include "client/session/grpc_session.h"

#include <atomic>
#include <utility>

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <absl/synchronization/notification.h>
#include <grpcpp/grpcpp.h>

#include "client/session/grpc_transport.h"
#include "proto/wire/status_wire.h"

#include "proto/skep/v1/session_service.grpc.pb.h"

namespace skep::client {
namespace {

// How long a client that goes waits for its last message to leave.
constexpr absl::Duration kMoment = absl::Milliseconds(200);

class GrpcConnection final
    : public SessionConnection,
      private grpc::ClientBidiReactor<v1::SessionRequest, v1::SessionResponse> {
 public:
  GrpcConnection(v1::SessionService::Stub& stub, SessionEvents events)
      : events_(std::move(events)) {
    stub.async()->Session(&context_, this);
    AddHold();  // writes come from elsewhere: the call stays until reading has ended
    StartRead(&incoming_);
    StartCall();
  }

  ~GrpcConnection() override {
    context_.TryCancel();
    done_.WaitForNotification();
  }

  void Write(const v1::SessionRequest& message) override {
    absl::MutexLock lock(&mutex_);
    if (over_) return;
    outgoing_ = message;
    StartWrite(&outgoing_);
  }

  void Cancel() override { context_.TryCancel(); }

  void Close(const v1::SessionRequest& last) override {
    muted_.store(true, std::memory_order_release);
    {
      absl::MutexLock lock(&mutex_);
      if (over_) return;
      outgoing_ = last;
      StartWriteLast(&outgoing_, grpc::WriteOptions());
    }
    done_.WaitForNotificationWithTimeout(kMoment);
  }

 private:
  bool muted() const { return muted_.load(std::memory_order_acquire); }

  void OnReadDone(bool ok) override {
    if (!ok) {
      {
        absl::MutexLock lock(&mutex_);
        over_ = true;
      }
      RemoveHold();
      return;
    }
    if (!muted()) events_.received(std::move(incoming_));
    incoming_.Clear();
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    if (ok && !muted()) events_.written();
  }

  void OnDone(const grpc::Status& status) override {
    if (!muted()) events_.ended(wire::FromGrpc(status), !FailedBeforeSending(status));
    done_.Notify();
  }

  const SessionEvents events_;
  grpc::ClientContext context_;
  v1::SessionResponse incoming_;
  std::atomic<bool> muted_{false};
  absl::Mutex mutex_;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  v1::SessionRequest outgoing_;  // one at a time
  absl::Notification done_;
};

}  // namespace

struct GrpcSessionConnector::Stub {
  explicit Stub(std::shared_ptr<grpc::Channel> channel) : service(std::move(channel)) {}
  v1::SessionService::Stub service;
};

GrpcSessionConnector::GrpcSessionConnector(std::shared_ptr<grpc::Channel> channel)
    : stub_(std::make_unique<Stub>(std::move(channel))) {}

GrpcSessionConnector::~GrpcSessionConnector() = default;

std::unique_ptr<SessionConnection> GrpcSessionConnector::Open(SessionEvents events) {
  return std::make_unique<GrpcConnection>(stub_->service, std::move(events));
}

}  // namespace skep::client
