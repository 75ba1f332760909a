#include "tests/sim/daemon.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/duties/command_port.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::sim {
namespace {

// A loop looks round at least this often, as in production.
constexpr std::chrono::milliseconds kLongestSleep{500};

}  // namespace

// ---- the store, watched ----

absl::StatusOr<StoredState> WatchedStore::Load() {
  SKEP_ASSIGN_OR_RETURN(StoredState state, store_->Load());
  truth_.Loaded(state);
  return state;
}

absl::Status WatchedStore::Append(const Effects& effects) {
  const absl::Status status = store_->Append(effects);
  const ErrorReason reason = ReasonOf(status);
  if (status.ok()) {
    truth_.Stored(effects);
  } else if (reason != ErrorReason::kStoreFull && reason != ErrorReason::kStoreBusy) {
    truth_.Unknown(effects);
  }
  return status;
}

// ---- what the services and the cleaner stand on ----

class Daemon::CommandPort final : public duties::CommandPort {
 public:
  explicit CommandPort(Daemon& daemon) : daemon_(daemon) {}
  void Run(Command command, Done done) override {
    if (closed_) return done(absl::UnavailableError("the daemon is going"));
    daemon_.port_->Run(std::move(command), std::move(done));
  }
  void WatchCompactions(std::function<void()> changed) override {
    daemon_.core_->OnCompactions(std::move(changed));
  }
  void Close() { closed_ = true; }

 private:
  Daemon& daemon_;
  bool closed_ = false;
};

class Daemon::NoDirectories final : public rpc::DirectoryPort {
 public:
  void Scan(rpc::RegisterScan, Done<rpc::RegisterFindings> done) override { done(None()); }
  void ListDirectories(TableName,
                       std::string,
                       Done<std::vector<rpc::DirectoryEntry>> done) override {
    done(None());
  }
  void ExplainCleaner(std::optional<TableName>,
                      Done<std::vector<rpc::CleanerEntry>> done) override {
    done(None());
  }
  void ExplainCompaction(TableName,
                         std::string,
                         Done<std::vector<rpc::CompactionDecision>> done) override {
    done(None());
  }

 private:
  static absl::Status None() {
    return MakeError(
        ErrorReason::kNotSupported, "not in the simulation", {{"what", "directories"}});
  }
};

// ---- life and death ----

Daemon::Daemon(const Options& options,
               Scheduler& scheduler,
               SimDisk& disk,
               SimDisk& warehouse,
               Truth& truth,
               Report report,
               Trace trace)
    : options_(options),
      scheduler_(scheduler),
      disk_(disk),
      warehouse_(warehouse),
      truth_(truth),
      report_(std::move(report)),
      trace_(std::move(trace)),
      vfs_(disk, scheduler.clock()),
      directories_(std::make_unique<NoDirectories>()) {
  facts_.warehouse_roots = {"/w"};
}

Daemon::~Daemon() {
  if (up()) Destroy();
}

absl::Status Daemon::Open() {
  meta::LogStoreOptions store;
  store.tables.path = options_.store_path;
  store.tables.vfs = vfs_.name();
  store.tables.fs = &disk_;
  store.tables.in_place_files = &disk_;
  store.tables.now = scheduler_.clock().Now();
  store.tables.checkpoint_frames = 64;
  store.executor = executor_.get();
  store.clock = &scheduler_.clock();
  store.random = &scheduler_.dice();
  store.fs = &disk_;
  store.in_place_files = &disk_;
  // Small, so that a run goes through many of them.
  store.first_segment_bytes = 16 << 10;
  store.largest_segment_bytes = 64 << 10;
  store.apply_soon_bytes = 32 << 10;
  store.slice_bytes = 8 << 10;
  store.backlog_bytes = 256 << 10;
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<meta::MetaStore> opened,
                        meta::OpenStore(options_.form, store));
  if (options_.wrap_store) opened = options_.wrap_store(std::move(opened));
  auto watched = std::make_unique<WatchedStore>(std::move(opened), truth_);
  watched_ = watched.get();
  store_ = std::move(watched);
  loop_executor_ = std::make_unique<loop::LoopExecutor>(scheduler_.clock());
  SKEP_ASSIGN_OR_RETURN(
      core_, loop::BatchCore::Open(options_.core, *store_, scheduler_.clock(), *loop_executor_));
  port_ = std::make_unique<loop::LoopPort>(*core_, *loop_executor_);
  return absl::OkStatus();
}

bool Daemon::Start() {
  ++counts_.starts;
  process_ =
      std::make_shared<Process>(Process{fmt::format("daemon-{}", counts_.starts), {}, false});
  executor_ = std::make_unique<SimExecutor>(scheduler_, process_);
  cleaner_executor_ = std::make_unique<SimExecutor>(scheduler_, process_);
  const int64_t failed_syncs = disk_.failed_syncs();
  const absl::Status opened = Open();
  if (!opened.ok()) {
    const bool healthy = disk_.on() && disk_.failed_syncs() == failed_syncs;
    if (healthy && ReasonOf(opened) != ErrorReason::kStoreFull) {
      report_("the daemon cannot start: " + opened.ToString());
    }
    trace_("daemon: does not start: " + MessageOf(opened));
    Destroy();
    return false;
  }
  commands_ = std::make_unique<CommandPort>(*this);
  dependencies_ = std::make_unique<rpc::Dependencies>(
      rpc::Dependencies{*port_, *executor_, warehouse_, *directories_, facts_});
  services_.push_back(rpc::MakeTransactionService());
  services_.push_back(rpc::MakeTableService(*dependencies_));
  services_.push_back(rpc::MakeLockService());
  services_.push_back(rpc::MakeCompactionService());
  for (loop::Service& service : services_) {
    for (loop::Method& method : service.methods) methods_[method.path] = &method;
  }
  duties::Cleaner::Options cleaner;
  cleaner.retry = std::chrono::seconds(5);
  cleaner_ = std::make_unique<duties::Cleaner>(
      std::move(cleaner), *commands_, *cleaner_executor_, scheduler_.clock(), warehouse_);
  core_->OnCompactions([this] { cleaner_->Wake(); });
  cleaner_->Start();
  loop_ = std::make_unique<loop::Loop>(*core_, queue_, *loop_executor_, scheduler_.clock());
  loop_executor_->SetWake([this] { ScheduleRound(scheduler_.now()); });
  units_seen_ = core_->counts().units;
  busy_until_ = scheduler_.now();
  if (!(core_->state().ToStored() == truth_.state())) {
    report_("the state after a start is not what the store holds: " +
            Differences(core_->state().ToStored(), truth_.state()) + " differ");
  }
  ScheduleRound(scheduler_.now());
  trace_(fmt::format("daemon: up at unit {}", truth_.state().counters.seq.value()));
  return true;
}

void Daemon::Die(const std::string& why) {
  trace_("daemon: dies, " + why);
  ++counts_.deaths;
  disk_.Stop();
  Destroy();
}

void Daemon::StopInOrder() {
  trace_("daemon: stops in order");
  core_->AnswerWaiters();
  core_->Flush();
  SendAnswers();
  Destroy();
}

// A killed process runs no destructors; ours must, and they check that nothing is half done. So the
// cleaner is led to its end with every door shut: no command is taken, no file goes.
void Daemon::EndCleaner() {
  if (!cleaner_) return;
  const bool on = warehouse_.on();
  warehouse_.Stop();
  cleaner_->Stop([] {});
  cleaner_executor_->RunAll();
  cleaner_.reset();
  if (on) warehouse_.Start(SimDisk::Loss::kProcess);
}

void Daemon::Destroy() {
  if (round_) scheduler_.Cancel(*round_);
  round_.reset();
  process_->dead = true;
  if (commands_) commands_->Close();
  if (loop_executor_) loop_executor_->Close();
  queue_ = SimQueue();
  loop_.reset();
  core_.reset();
  EndCleaner();
  // What was posted goes before what it points to.
  executor_->Stop();
  methods_.clear();
  services_.clear();
  dependencies_.reset();
  calls_.clear();
  ids_.clear();
  outbox_.clear();
  commands_.reset();
  port_.reset();
  watched_ = nullptr;
  store_.reset();
  loop_executor_.reset();
  executor_.reset();
  cleaner_executor_.reset();
  process_.reset();
}

// ---- calls ----

Daemon::CallId Daemon::Arrive(Arrival arrival) {
  const auto method = methods_.find(arrival.method);
  const CallId id = ++last_call_;
  auto call =
      std::make_unique<SimCall>(*core_, *method->second, std::move(arrival), [this](SimCall& sent) {
        outbox_.push_back(ids_.at(&sent));
      });
  ids_[call.get()] = id;
  queue_.Add([begun = call.get()] { begun->Begin(); });
  calls_.emplace(id, std::move(call));
  ScheduleRound(scheduler_.now());
  return id;
}

void Daemon::ClientGone(CallId call) {
  if (!calls_.contains(call)) return;
  queue_.Add([this, call] {
    const auto found = calls_.find(call);
    if (found != calls_.end()) found->second->ClientGone();
  });
  ScheduleRound(scheduler_.now());
}

std::vector<Daemon::CallId> Daemon::Outstanding() const {
  std::vector<CallId> ids;
  for (const auto& [id, call] : calls_) ids.push_back(id);
  return ids;
}

// ---- the loop ----

void Daemon::ScheduleRound(MonoTime when) {
  if (process_->dead) return;  // what goes with it still posts
  when = std::max(when, busy_until_);
  if (round_ && round_due_ <= when) return;
  if (round_) scheduler_.Cancel(*round_);
  round_due_ = when;
  round_ = scheduler_.At(
      when, [this] { Round(); }, process_);
}

void Daemon::Round() {
  round_.reset();
  // Its disk stopped under another thread.
  if (!disk_.on()) return NoticeDeath();
  const int64_t syncs = disk_.syncs();
  loop_->Round();
  const bool broken = !core_->fatal().ok();
  if (!disk_.on() || broken) {
    if (broken) trace_("daemon: " + MessageOf(core_->fatal()));
    // Answers of a broken loop may still leave: callers are told OUTCOME_UNKNOWN.
    if (disk_.on()) SendAnswers();
    return NoticeDeath();
  }
  for (int64_t i = syncs; i < disk_.syncs(); ++i) {
    busy_until_ = std::max(busy_until_, scheduler_.now()) +
                  scheduler_.dice().Delay(options_.sync_low, options_.sync_high);
  }
  SendAnswers();
  if (core_->counts().units != units_seen_) {
    since_check_ += core_->counts().units - units_seen_;
    counts_.units += core_->counts().units - units_seen_;
    units_seen_ = core_->counts().units;
    // Timers ran behind the last unit: what they did is not stored yet.
    if (!core_->HasUnit()) CheckState();
  }
  MonoTime next = scheduler_.now() + kLongestSleep;
  if (const std::optional<MonoTime> due = loop_executor_->NextDue()) next = std::min(next, *due);
  if (core_->HasUnit() || loop_executor_->HasPosted() || !queue_.empty()) next = scheduler_.now();
  ScheduleRound(next);
}

void Daemon::NoticeDeath() {
  scheduler_.After(
      Nanos(0), [this] { died_(); }, process_);
}

void Daemon::SendAnswers() {
  for (const CallId id : std::exchange(outbox_, {})) {
    const auto found = calls_.find(id);
    if (found == calls_.end()) continue;
    ids_.erase(found->second.get());
    std::shared_ptr<SimCall> call = std::move(found->second);
    calls_.erase(found);
    // Not before the unit is on the disk; a death until then takes the answer along.
    scheduler_.At(
        std::max(busy_until_, scheduler_.now()), [call] { call->Deliver(); }, process_);
  }
}

void Daemon::CheckState() {
  ++counts_.states_compared;
  const StoredState memory = core_->state().ToStored();
  if (!(memory == truth_.state())) {
    return report_("the state is not what the store was given: " +
                   Differences(memory, truth_.state()) + " differ");
  }
  if (since_check_ < options_.check_every) return;
  since_check_ = 0;
  const absl::StatusOr<StoredState> stored = watched_->Peek();
  if (!disk_.on()) return;
  ++counts_.loads_compared;
  if (!stored.ok()) {
    report_("the store cannot be read: " + stored.status().ToString());
  } else if (!(*stored == memory)) {
    report_("the state is not what the store would load: " + Differences(*stored, memory) +
            " differ");
  }
}

}  // namespace skep::sim
