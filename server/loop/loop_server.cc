#include "server/loop/loop_server.h"

#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/thread_executor.h"

namespace skep::loop {

absl::StatusOr<std::unique_ptr<LoopServer>> LoopServer::Open(const Options& options,
                                                             meta::MetaStore& store,
                                                             Clock& clock) {
  auto executor = std::make_unique<LoopExecutor>(clock);
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<BatchCore> core,
                        BatchCore::Open(options.core, store, clock, *executor));
  return std::unique_ptr<LoopServer>(
      new LoopServer(options, clock, std::move(executor), std::move(core)));
}

LoopServer::LoopServer(const Options& options,
                       Clock& clock,
                       std::unique_ptr<LoopExecutor> executor,
                       std::unique_ptr<BatchCore> core)
    : options_(options),
      clock_(clock),
      executor_(std::move(executor)),
      core_(std::move(core)),
      port_(*core_, *executor_) {}

LoopServer::~LoopServer() { Stop(std::chrono::system_clock::now()); }

absl::Status LoopServer::Start(std::vector<Service> services,
                               std::vector<std::unique_ptr<StreamService>> streams) {
  auto transport = std::make_unique<GrpcTransport>(
      options_.transport, std::move(services), std::move(streams), *core_, clock_);
  SKEP_RETURN_IF_ERROR(transport->Start());
  transport_ = std::move(transport);
  executor_->SetWake([this] { transport_->Wake(); });
  loop_ = std::make_unique<Loop>(*core_, *transport_, *executor_, clock_);
  loop_->OnFatal(std::move(on_fatal_));
  thread_ = std::thread([this] {
    SetThreadName("skep-loop");
    loop_->Run();
  });
  return absl::OkStatus();
}

void LoopServer::Drain() {
  port_.Post([this] {
    if (transport_) transport_->Drain();
  });
}

void LoopServer::CancelCalls() {
  port_.Post([this] { transport_->CancelCalls(); });
}

void LoopServer::Stop(std::chrono::system_clock::time_point deadline) {
  if (!thread_.joinable()) return;
  port_.Post([this] {
    core_->Flush();  // streams end after the answers of the unit that is open
    transport_->Close();
    core_->AnswerWaiters();
  });
  transport_->Shutdown(deadline);
  thread_.join();
  executor_->Close();
}

}  // namespace skep::loop
