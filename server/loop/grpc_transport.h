#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "server/loop/admission.h"
#include "server/loop/call.h"
#include "server/loop/transport.h"

namespace skep::loop {

class GrpcCall;
class GrpcService;

// What a tag of the completion queue points to.
class CompletionEvent {
 public:
  virtual ~CompletionEvent() = default;
  virtual void Complete(bool ok) = 0;
};

// A service with calls of its own (streams) on the transport's queue: health, reflection. Lives as
// long as the transport.
class StreamService {
 public:
  virtual ~StreamService() = default;
  virtual grpc::Service& grpc_service() = 0;
  // The server has started: asks for the first calls. A call with a larger message is refused.
  virtual void Start(grpc::ServerCompletionQueue& queue, int64_t max_message) = 0;
  // From now on only what ends and keeps alive is accepted.
  virtual void Drain() {}
  // The server will be shut down: ends its streams and asks for no more.
  virtual void EndStreams() = 0;
  // No event of its calls is to come. Asked after EndStreams, once the server is down.
  virtual bool Ended() const = 0;
};

// One gRPC server, one completion queue, one thread: every method of every service is served by the
// same generic call object, which parses and answers on the loop. No other thread of the server
// polls, so nothing is handed over: that is why health and reflection are served here too.
//
// Confined to the loop's thread, except Start, Wake, Shutdown (any thread; see each).
class GrpcTransport final : public Transport {
 public:
  struct Options {
    std::vector<std::string> listen;  // "unix:/run/skep/skepd.sock", "127.0.0.1:7083"
    int64_t max_message = 4 << 20;    // bytes, incoming
    int64_t max_streams_per_connection = 128;
    Admission::Limits limits;
  };

  // `core` and `clock` must outlive the transport.
  GrpcTransport(const Options& options,
                std::vector<Service> services,
                std::vector<std::unique_ptr<StreamService>> streams,
                BatchCore& core,
                Clock& clock);
  // After Shutdown, when Next has said kClosed.
  ~GrpcTransport() override;

  // Binds and begins to take calls; they are answered once the loop runs.
  // Errors: kOperationNotAllowed naming the endpoint that cannot be bound.
  absl::Status Start();
  // The endpoints with the ports that were chosen ("127.0.0.1:0" → "127.0.0.1:40123").
  const std::vector<std::string>& endpoints() const { return endpoints_; }

  Got Next(MonoTime deadline) override;
  void Dispatch() override;

  // Makes a sleeping Next return. Thread-safe, cheap when repeated.
  void Wake();

  // From now on ordinary calls are refused with SHUTTING_DOWN.
  void Drain();
  // Cancels what is in flight; what is decided already stays decided.
  void CancelCalls();
  // Begins to end: streams end, no more calls are taken. Once, before Shutdown.
  void Close();
  // Ends what is still in flight at `deadline`; the queue closes after the last event: then Next
  // says kClosed. From any thread but the loop's, which must go on with its rounds meanwhile. Once.
  void Shutdown(std::chrono::system_clock::time_point deadline);

  // Calls in flight. Thread-safe.
  int64_t in_flight() const { return in_flight_.load(std::memory_order_relaxed); }

 private:
  friend class GrpcCall;

  class WakeEvent final : public CompletionEvent {
   public:
    explicit WakeEvent(GrpcTransport& transport) : transport_(transport) {}
    void Complete(bool) override {
      transport_.wake_pending_.store(false, std::memory_order_release);
    }

   private:
    GrpcTransport& transport_;
  };

  void Register(GrpcService& service, int method);
  GrpcCall* NewCall();
  void Recycle(GrpcCall* call);
  void CloseQueueIfDone();

  const Options options_;
  BatchCore& core_;
  Clock& clock_;
  Admission admission_;
  std::atomic<int64_t> in_flight_{0};
  std::vector<std::unique_ptr<GrpcService>> services_;
  std::vector<std::unique_ptr<StreamService>> streams_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::string> endpoints_;
  bool closing_ = false;
  std::atomic<bool> server_down_{false};
  std::vector<std::unique_ptr<GrpcCall>> calls_;
  std::vector<GrpcCall*> free_;
  void* event_tag_ = nullptr;
  bool event_ok_ = false;
  WakeEvent wake_event_{*this};
  grpc::Alarm alarm_;
  std::atomic<bool> wake_pending_{false};
  absl::Mutex wake_mutex_;
  bool queue_closed_ ABSL_GUARDED_BY(wake_mutex_) = false;
};

}  // namespace skep::loop
