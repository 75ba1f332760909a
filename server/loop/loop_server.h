#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/loop/batch_core.h"
#include "server/loop/grpc_transport.h"
#include "server/loop/loop.h"
#include "server/loop/loop_executor.h"
#include "server/loop/loop_port.h"

namespace skep::loop {

// The production form of the loop: core, gRPC and one thread. Open → port() → Start → Stop.
// Thread-compatible; the port is thread-safe from Open on (its commands run after Start).
class LoopServer {
 public:
  struct Options {
    BatchCore::Options core;
    GrpcTransport::Options transport;
  };

  // Loads the state. `store` and `clock` must outlive the server.
  static absl::StatusOr<std::unique_ptr<LoopServer>> Open(const Options& options,
                                                          meta::MetaStore& store,
                                                          Clock& clock);
  // Stops at once if Stop was not called.
  ~LoopServer();

  LoopPort& port() { return port_; }
  BatchCore& core() { return *core_; }  // before Start, and in commands

  // Called once, on the loop's thread, when the store's outcome is unknown: the process must end
  // with status 74. Before Start.
  void OnFatal(std::function<void()> on_fatal) { on_fatal_ = std::move(on_fatal); }

  // Binds the endpoints and begins to serve. Errors: those of GrpcTransport::Start.
  absl::Status Start(std::vector<Service> services,
                     std::vector<std::unique_ptr<StreamService>> streams);
  const std::vector<std::string>& endpoints() const { return transport_->endpoints(); }

  // From now on ordinary calls are refused with SHUTTING_DOWN; commit, abort, heartbeat and release
  // get through.
  void Drain();
  // Ends calls that are still in flight: for a Stop that runs in another thread and must not wait
  // any longer.
  void CancelCalls();

  // Takes no new calls, answers waiting lock requests with WAITING, lets running calls end until
  // `deadline`, then cancels them; the unit that is open is written. Idempotent.
  void Stop(std::chrono::system_clock::time_point deadline);

  // Proof of life: when the loop last ended a round.
  MonoTime LastRound() const { return loop_ ? loop_->LastRound() : MonoTime{}; }
  int64_t in_flight() const { return transport_ ? transport_->in_flight() : 0; }
  const absl::Status& fatal() const {
    return core_->fatal();
  }  // after Stop, or on the loop's thread

 private:
  LoopServer(const Options& options,
             Clock& clock,
             std::unique_ptr<LoopExecutor> executor,
             std::unique_ptr<BatchCore> core);

  const Options options_;
  Clock& clock_;
  std::unique_ptr<LoopExecutor> executor_;
  std::unique_ptr<BatchCore> core_;
  LoopPort port_;
  std::function<void()> on_fatal_;
  std::unique_ptr<GrpcTransport> transport_;
  std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

}  // namespace skep::loop
