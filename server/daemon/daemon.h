#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/status.h>

#include "server/daemon/adapters.h"
#include "server/daemon/exit_codes.h"
#include "server/daemon/hooks.h"
#include "server/daemon/notify.h"
#include "server/daemon/settings.h"
#include "server/duties/directory_desk.h"
#include "server/duties/duties.h"
#include "server/loop/loop_server.h"
#include "server/rpc/event_service.h"
#include "server/rpc/health_service.h"
#include "server/rpc/lock_watch.h"
#include "server/rpc/reflection_service.h"
#include "server/rpc/services.h"
#include "server/rpc/session_service.h"
#include "storage/base/thread_executor.h"
#include "storage/fs/posix_file_system.h"
#include "storage/meta/open_store.h"

namespace skep::daemon {

// The parts of skepd, put together. Start → Stop, once each; the main thread calls them.
class Daemon {
 public:
  Daemon(const Settings& settings, DaemonHooks hooks);
  ~Daemon();

  // Store, sockets, loop, duties, in this order; ready to serve when it returns.
  struct StartResult {
    ExitCode code = kExitOk;
    absl::Status status;  // why not; the message names the way out
  };
  StartResult Start();
  const std::vector<std::string>& endpoints() const { return server_->endpoints(); }

  // Called on the loop's thread when the process must end with status 74. Before Start.
  void OnFatal(std::function<void()> on_fatal) { on_fatal_ = std::move(on_fatal); }

  // Refuses new work, gives compactions back, lets running calls end until `deadline`, closes the
  // store.
  void Stop(std::chrono::system_clock::time_point deadline);
  // A Stop that runs in another thread ends what it waits for now.
  void Hurry();

  // Writes one empty unit through the loop; once it is durable, tells systemd that we live.
  void ProveLife();
  void DumpState();

 private:
  ExitCode OpenStore(absl::Status* status);
  ExitCode OpenLoop(absl::Status* status);
  ExitCode Serve(absl::Status* status);
  void StartDuties();
  void StopDuties(std::chrono::system_clock::time_point deadline);
  Executor& ExecutorFor(const std::string& name);
  duties::InitiatorRules Rules() const;

  const Settings settings_;
  const DaemonHooks hooks_;
  std::function<void()> on_fatal_;
  SystemClock clock_;
  fs::PosixFileSystem fs_;
  Notifier notifier_;
  rpc::ServerFacts facts_;
  bool serving_ = false;
  bool stopped_ = false;
  // In the order in which each stands on those before it.
  std::unique_ptr<meta::MetaStore> store_;
  std::unique_ptr<meta::MetaStore> wrapped_store_;
  std::unique_ptr<loop::LoopServer> server_;
  std::unique_ptr<LoopCommandPort> port_;
  std::unique_ptr<ThreadExecutor> pool_;
  std::unique_ptr<duties::DirectoryDesk> desk_;
  std::unique_ptr<DeskPort> directories_;
  std::unique_ptr<rpc::Dependencies> dependencies_;
  std::unique_ptr<rpc::HealthService> health_;
  std::unique_ptr<rpc::ReflectionService> reflection_;
  std::unique_ptr<rpc::SessionService> sessions_;
  std::unique_ptr<rpc::EventService> events_;
  std::unique_ptr<rpc::LockWatch> lock_watch_;
  std::map<std::string, std::unique_ptr<ThreadExecutor>> executors_;
  std::unique_ptr<duties::Duties> duties_;
};

}  // namespace skep::daemon
