#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/daemon/adapters.h"
#include "server/duties/directory_desk.h"
#include "server/duties/duties.h"
#include "server/loop/batch_core.h"
#include "server/loop/loop.h"
#include "server/loop/loop_executor.h"
#include "server/loop/loop_port.h"
#include "server/rpc/event_service.h"
#include "server/rpc/lock_watch.h"
#include "server/rpc/services.h"
#include "server/rpc/session_service.h"
#include "storage/meta/open_store.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/sim_call.h"
#include "tests/sim/sim_disk.h"
#include "tests/sim/sim_stream.h"
#include "tests/sim/sim_vfs.h"
#include "tests/sim/truth.h"
#include "tests/sim/watched_store.h"

namespace skep::sim {

// skepd in the simulation: production's store, core, loop, services, sessions, initiator and
// cleaner on a simulated disk, one process after the other. It dies at any call to its disk, or
// between two events, and starts again.
class Daemon {
 public:
  struct Options {
    meta::StoreForm form = meta::StoreForm::kLog;
    loop::BatchCore::Options core;
    loop::Sessions::Options sessions;
    rpc::EventService::Options events;
    int64_t segment_bytes = 16 << 10;  // of the log, the first; small: a run goes through many
    int64_t reserve_bytes = 0;         // held back for a full disk; 0: nothing
    duties::Initiator::Options initiator;
    std::string store_path;  // its directory is real, for the lock; the files are the disk's
    Nanos sync_low{200'000};
    Nanos sync_high{8'000'000};
    int check_every = 16;  // units between two comparisons with what the store would load
    // For tests of the simulation: puts something between the loop and the store.
    std::function<std::unique_ptr<meta::MetaStore>(std::unique_ptr<meta::MetaStore>)> wrap_store;
  };
  using Report = std::function<void(const std::string&)>;
  using Trace = std::function<void(const std::string&)>;

  // All must outlive it.
  Daemon(const Options& options,
         Scheduler& scheduler,
         SimDisk& disk,
         SimDisk& warehouse,
         Truth& truth,
         Report report,
         Trace trace);
  ~Daemon();

  bool up() const { return process_ != nullptr; }
  // The process that runs, for what lives in it; null while there is none.
  const std::shared_ptr<Process>& process() const { return process_; }
  loop::LoopPort& port() { return *port_; }
  const state::State& state() const { return core_->state(); }

  // Opens the store, loads, serves. False: it died on the way.
  bool Start();
  // It dies now. `on_down` of each call under way is told.
  void Die(const std::string& why);
  // An orderly end: what is open is written, the log goes.
  void StopInOrder();
  // Its process is stopped and goes on later.
  void StandStill(Nanos time) {
    // What waits already for the end of an earlier pause does not come sooner.
    calm_since_ = std::max(process_->paused_until, scheduler_.now() + time);
    process_->paused_until = calm_since_;
  }
  // The unit that it began with.
  CommitSeq loaded() const { return loaded_; }
  // It is up, and neither started nor stood still after `since`, nor loaded its state again.
  bool CalmSince(MonoTime since) const { return up() && calm_since_ <= since; }
  // Called once after it died of itself (its disk stopped, its store's outcome is unknown).
  void OnDeath(std::function<void()> died) { died_ = std::move(died); }

  // As it opens its store.
  meta::LogStoreOptions StoreOptions();

  using CallId = uint64_t;
  // A request arrives; only while up.
  CallId Arrive(Arrival arrival);
  void ClientGone(CallId call);

  using StreamPtr = std::shared_ptr<SimStream>;
  // A client opens a stream of the service behind `door`; only while up. What is done with one of a
  // daemon that is gone is nothing.
  enum class Door { kSession, kFence, kEvents, kLocks };
  StreamPtr OpenStream(Door door, std::function<void(SimStream::Out)> deliver);
  void Arrive(const StreamPtr& stream, std::string message);
  // The client has taken a message.
  void Taken(const StreamPtr& stream);
  // The connection is no more.
  void CloseStream(const StreamPtr& stream);

  struct Counts {
    int64_t starts = 0, deaths = 0, loads_compared = 0, states_compared = 0, units = 0;
    int64_t cleaned = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  class CommandPort;

  absl::Status Open();
  void Serve();
  void EndDuties();
  void Destroy();
  void ScheduleRound(MonoTime when);
  void Round();
  void NoticeDeath();
  CallId Fence(Arrival arrival);
  void SendAnswers();
  void CheckState();

  const Options options_;
  Scheduler& scheduler_;
  SimDisk& disk_;
  SimDisk& warehouse_;
  Truth& truth_;
  const Report report_;
  const Trace trace_;
  std::function<void()> died_;
  Counts counts_;
  SimVfs vfs_;
  rpc::ServerFacts facts_;

  // Of the process that runs.
  std::shared_ptr<Process> process_;
  std::unique_ptr<SimExecutor> executor_;  // the store's thread and the pool's
  std::vector<std::unique_ptr<SimExecutor>> duty_executors_;
  WatchedStore* watched_ = nullptr;
  std::unique_ptr<meta::MetaStore> store_;
  std::unique_ptr<loop::LoopExecutor> loop_executor_;
  std::unique_ptr<CommandPort> commands_;
  std::unique_ptr<duties::DirectoryDesk> desk_;
  std::unique_ptr<daemon::DeskPort> directories_;
  std::unique_ptr<duties::Duties> duties_;
  std::unique_ptr<rpc::Dependencies> dependencies_;
  std::vector<loop::Service> services_;
  std::map<std::string, loop::Method*> methods_;
  std::unique_ptr<loop::BatchCore> core_;
  std::unique_ptr<rpc::SessionService> sessions_;
  std::unique_ptr<rpc::EventService> events_;
  std::unique_ptr<rpc::LockWatch> lock_watch_;
  std::unique_ptr<loop::LoopPort> port_;
  SimQueue queue_;
  std::unique_ptr<loop::Loop> loop_;

  std::map<CallId, std::unique_ptr<SimCall>> calls_;
  CallId last_call_ = 0;
  std::vector<CallId> outbox_;
  std::map<SimCall*, CallId> ids_;
  struct Served {
    StreamPtr stream;
    loop::StreamHandler* handler = nullptr;
  };
  std::map<SimStream*, Served> streams_;
  std::vector<SimStream*> written_;  // have something to leave
  std::optional<Scheduler::EventId> round_;
  MonoTime round_due_{};
  MonoTime busy_until_{};
  int64_t units_seen_ = 0;
  int64_t since_check_ = 0;
  CommitSeq loaded_;
  MonoTime calm_since_{};
  MonoTime last_round_{};
  int64_t failed_units_ = 0;
};

}  // namespace skep::sim
