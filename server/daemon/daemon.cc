#include "server/daemon/daemon.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <absl/synchronization/notification.h>
#include <absl/time/time.h>

#include "server/daemon/store_options.h"
#include "server/daemon/unix_socket.h"
#include "server/daemon/version.h"
#include "storage/base/log.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::daemon {
namespace {

// The state's rules from the configuration.
state::Options StateOptions(const Settings& settings) {
  state::Options options;
  options.txn_timeout = settings.txn.timeout;
  options.replication_timeout = settings.txn.replication_timeout;
  options.max_open_txns = settings.txn.max_open;
  options.max_open_txns_per_user = settings.txn.max_open_per_user;
  options.max_batch = settings.txn.max_batch;
  options.max_lock_components = settings.lock.max_components;
  options.reader_bypass = settings.lock.reader_bypass;
  options.claim_lease = settings.compactor.worker_lease;
  options.history_succeeded = settings.history.succeeded;
  options.history_failed = settings.history.failed;
  options.history_refused = settings.history.refused;
  options.history_not_initiated = settings.history.not_initiated;
  options.history_max_age = settings.history.max_age;
  options.failed_threshold = settings.compactor.failed_threshold;
  options.clean_retries = settings.cleaner.retry_max;
  return options;
}

loop::LoopServer::Options LoopOptions(const Settings& settings) {
  loop::LoopServer::Options options;
  options.core.state = StateOptions(settings);
  options.core.reaper_interval = settings.txn.reaper_interval;
  options.transport.listen = settings.server.listen;
  options.transport.max_message = settings.server.max_message;
  options.transport.limits = {settings.server.max_in_flight,
                              settings.server.max_in_flight_per_client};
  return options;
}

bool IsLoopback(const std::string& endpoint) {
  return endpoint.starts_with("unix:") || endpoint.starts_with("127.") ||
         endpoint.starts_with("localhost:") || endpoint.starts_with("[::1]:");
}

// This machine's name, as far as the dash that splits it from a worker's in Hive's listing.
std::string HostName() {
  char name[256] = {};
  if (::gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
}

absl::Duration Until(std::chrono::system_clock::time_point deadline) {
  return absl::FromChrono(deadline - std::chrono::system_clock::now());
}

}  // namespace

Daemon::Daemon(const Settings& settings, DaemonHooks hooks)
    : settings_(settings), hooks_(std::move(hooks)) {
  facts_.version = kVersion;
  facts_.start_time = clock_.Now();
  facts_.store_path = settings.store.path;
  facts_.warehouse_roots = settings.warehouse.roots;
  facts_.txn_timeout = settings.txn.timeout;
  facts_.initiator = settings.initiator.enabled;
  facts_.workers = settings.compactor.workers;
  facts_.cleaner = settings.cleaner.enabled;
}

Daemon::~Daemon() { Stop(std::chrono::system_clock::now()); }

Daemon::StartResult Daemon::Start() {
  StartResult result;
  for (const auto step : {&Daemon::OpenStore, &Daemon::OpenLoop, &Daemon::Serve}) {
    result.code = (this->*step)(&result.status);
    if (result.code != kExitOk) return result;
  }
  StartDuties();
  server_->port().Post([this] { health_->SetServing(true); });
  notifier_.Ready("serving on " + JoinText(server_->endpoints(), ", "));
  return result;
}

ExitCode Daemon::OpenStore(absl::Status* status) {
  notifier_.Status("opening the store");
  meta::LogSqliteVersion();
  absl::StatusOr<std::unique_ptr<meta::MetaStore>> store =
      meta::OpenStore(FormOf(settings_), StoreOptionsOf(settings_, clock_.Now()));
  if (!store.ok()) {
    *status = store.status();
    return ExitCodeOfStore(*status);
  }
  store_ = *std::move(store);
  return kExitOk;
}

ExitCode Daemon::OpenLoop(absl::Status* status) {
  notifier_.Status("loading the state");
  meta::MetaStore* store = store_.get();
  if (hooks_.wrap_store) {
    wrapped_store_ = hooks_.wrap_store(*store_);
    store = wrapped_store_.get();
  }
  absl::StatusOr<std::unique_ptr<loop::LoopServer>> server =
      loop::LoopServer::Open(LoopOptions(settings_), *store, clock_);
  if (!server.ok()) {
    *status = server.status();
    return kExitIo;
  }
  server_ = *std::move(server);
  server_->OnFatal(on_fatal_);
  return kExitOk;
}

ExitCode Daemon::Serve(absl::Status* status) {
  *status = PrepareUnixSockets(settings_.server.listen);
  if (!status->ok()) {
    return ReasonOf(*status) == ErrorReason::kStorageUnwritable ? ExitCodeOfStore(*status)
                                                                : kExitUnavailable;
  }
  for (const std::string& endpoint : settings_.server.listen) {
    if (!IsLoopback(endpoint))
      Log(LogLevel::kWarn, "daemon.listen_insecure", {{"endpoint", endpoint}});
  }
  port_ = std::make_unique<LoopCommandPort>(*server_);
  pool_ = std::make_unique<ThreadExecutor>("skep-pool", 2, clock_);
  desk_ = std::make_unique<duties::DirectoryDesk>(
      Rules(),
      duties::DutiesAtWork{settings_.cleaner.enabled, settings_.compactor.workers > 0},
      *port_,
      *pool_,
      clock_,
      fs_);
  directories_ = std::make_unique<DeskPort>(*desk_);
  dependencies_ = std::make_unique<rpc::Dependencies>(
      rpc::Dependencies{server_->port(), *pool_, fs_, *directories_, facts_});
  std::vector<loop::Service> services = rpc::MakeServices(*dependencies_);
  std::vector<std::string> names;
  for (const loop::Service& service : services) names.push_back(service.name);
  names.push_back(rpc::kSessionServiceName);
  names.push_back(rpc::kEventServiceName);
  health_ = std::make_unique<rpc::HealthService>(names);
  names.push_back("grpc.health.v1.Health");
  reflection_ = std::make_unique<rpc::ReflectionService>(names);
  std::vector<std::unique_ptr<loop::StreamService>> streams;
  streams.push_back(health_->MakeStreams());
  streams.push_back(reflection_->MakeStreams());
  loop::Sessions::Options sessions;
  sessions.lease = LoopOptions(settings_).core.state.txn_timeout;
  sessions_ = std::make_unique<rpc::SessionService>(
      sessions, rpc::MakeServices(*dependencies_), server_->core());
  streams.push_back(sessions_->MakeStreams());
  rpc::EventService::Options events;
  events.log = {settings_.events.max_events, settings_.events.max_memory};
  events_ = std::make_unique<rpc::EventService>(events, server_->core());
  streams.push_back(events_->MakeStreams());
  lock_watch_ = std::make_unique<rpc::LockWatch>(server_->core());
  streams.push_back(lock_watch_->MakeStreams());
  *status = server_->Start(std::move(services), std::move(streams));
  if (!status->ok()) return kExitUnavailable;
  serving_ = true;
  server_->port().Post([this, endpoints = server_->endpoints()] { facts_.endpoints = endpoints; });
  *status = OpenUnixSockets(settings_.server.listen);
  return status->ok() ? kExitOk : ExitCodeOfStore(*status);
}

duties::InitiatorRules Daemon::Rules() const {
  duties::InitiatorRules rules;
  rules.thresholds.delta_num = settings_.compactor.delta_num_threshold;
  rules.thresholds.delta_pct = settings_.compactor.delta_pct_threshold;
  rules.failed_threshold = settings_.compactor.failed_threshold;
  rules.failed_retry = settings_.compactor.failed_retry;
  return rules;
}

Executor& Daemon::ExecutorFor(const std::string& name) {
  std::unique_ptr<ThreadExecutor>& executor = executors_[name];
  if (!executor) executor = std::make_unique<ThreadExecutor>("skep-" + name, 1, clock_);
  return *executor;
}

void Daemon::StartDuties() {
  duties::Duties::Options options;
  options.initiator->interval = settings_.initiator.interval;
  options.initiator->rules = Rules();
  if (!settings_.initiator.enabled) options.initiator.reset();
  options.cleaner->interval = settings_.cleaner.interval;
  options.cleaner->retry = settings_.cleaner.retry_base;
  options.cleaner->max_retry = 16 * settings_.cleaner.retry_base;
  if (!settings_.cleaner.enabled) options.cleaner.reset();
  options.worker.beat = std::min<std::chrono::milliseconds>(std::chrono::seconds(10),
                                                            settings_.compactor.worker_lease / 3);
  options.worker.name = HostName();
  options.workers = static_cast<int>(settings_.compactor.workers);
  options.worker.at_step = hooks_.at_compaction_step;
  if (options.cleaner && hooks_.before_removal) {
    options.cleaner->before_removal = [this](const auto&) { hooks_.before_removal(); };
  }
  duties_ = std::make_unique<duties::Duties>(
      options,
      *port_,
      [this](const std::string& name) -> Executor& { return ExecutorFor(name); },
      clock_,
      fs_);
  duties_->Start();
}

void Daemon::StopDuties(std::chrono::system_clock::time_point deadline) {
  if (!duties_) return;
  auto stopped = std::make_shared<absl::Notification>();  // outlives us where a job hangs
  duties_->Stop([stopped] { stopped->Notify(); });
  if (!stopped->WaitForNotificationWithTimeout(Until(deadline) + absl::Seconds(5))) {
    Log(LogLevel::kWarn, "daemon.duty_hangs");
  }
  for (const auto& [name, executor] : executors_) executor->Stop();
}

void Daemon::Stop(std::chrono::system_clock::time_point deadline) {
  if (!serving_ || stopped_) return;
  stopped_ = true;
  const MonoTime begin = clock_.MonoNow();
  notifier_.Stopping();
  server_->port().Post([this] {
    facts_.draining = true;
    health_->SetServing(false);
  });
  server_->Drain();
  StopDuties(deadline);
  pool_->Stop();
  server_->Stop(deadline);
  RemoveUnixSockets(settings_.server.listen);
  store_.reset();  // the rest stays for Hurry, which may come at any time
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.MonoNow() - begin);
  Log(LogLevel::kInfo, "daemon.stopped", {{"took_ms", took.count()}});
}

void Daemon::Hurry() { server_->CancelCalls(); }

void Daemon::ProveLife() {
  server_->port().Run(
      [](state::State&, state::Now, state::Unit& unit) {
        // Changes nothing, but has to be written and synced.
        unit.Add(ForgetResolved{CommitSeq(0)});
      },
      [this](const absl::Status& status) {
        if (status.ok()) notifier_.Watchdog();
      });
}

void Daemon::DumpState() {
  server_->port().Run(
      [this](state::State& state, state::Now now, state::Unit&) {
        const state::State::Totals totals = state.Summary(now);
        Log(LogLevel::kInfo,
            "daemon.state",
            {{"seq", totals.seq.value()},
             {"open_txns", totals.open_txns},
             {"tables", totals.tables},
             {"locks_held", totals.locks_held},
             {"locks_waiting", totals.locks_waiting},
             {"queued", totals.queued},
             {"working", totals.working},
             {"to_clean", totals.to_clean},
             {"in_flight", server_->in_flight()},
             {"units", server_->core().counts().units}});
      },
      [](const absl::Status&) {});
}

}  // namespace skep::daemon
