#include "tests/sim/daemon.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/meta/reserved_store.h"
#include "storage/model/errors.h"

namespace skep::sim {
namespace {

// A loop looks round at least this often, as in production.
constexpr std::chrono::milliseconds kLongestSleep{500};

// Room of the disk that is given back when it is full.
class SimReserve final : public meta::DiskReserve {
 public:
  SimReserve(SimDisk& disk, int64_t bytes) : disk_(disk), bytes_(bytes) {}
  ~SimReserve() override { GiveBack(); }
  bool Take() override { return held_ = held_ || disk_.Grow(bytes_); }
  void GiveBack() override {
    if (std::exchange(held_, false)) disk_.GiveRoom(bytes_);
  }

 private:
  SimDisk& disk_;
  const int64_t bytes_;
  bool held_ = false;
};

}  // namespace

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
      vfs_(disk, scheduler.clock()) {
  facts_.warehouse_roots = {"/w"};
}

Daemon::~Daemon() {
  if (up()) Destroy();
}

meta::LogStoreOptions Daemon::StoreOptions() {
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
  store.first_segment_bytes = options_.segment_bytes;
  store.largest_segment_bytes = 4 * options_.segment_bytes;
  store.apply_soon_bytes = 32 << 10;
  store.slice_bytes = 8 << 10;
  store.backlog_bytes = 256 << 10;
  return store;
}

absl::Status Daemon::Open() {
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<meta::MetaStore> opened,
                        meta::OpenStore(options_.form, StoreOptions()));
  if (options_.reserve_bytes > 0) {
    opened = std::make_unique<meta::ReservedStore>(
        std::move(opened),
        std::make_unique<SimReserve>(disk_, options_.reserve_bytes),
        scheduler_.clock());
  }
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
  Serve();
  loop_ = std::make_unique<loop::Loop>(*core_, queue_, *loop_executor_, scheduler_.clock());
  loop_executor_->SetWake([this] { ScheduleRound(scheduler_.now()); });
  units_seen_ = core_->counts().units;
  loaded_ = truth_.state().counters.seq;
  calm_since_ = scheduler_.now();
  failed_units_ = 0;
  busy_until_ = scheduler_.now();
  if (!(core_->state().ToStored() == truth_.state())) {
    report_("the state after a start is not what the store holds: " +
            Differences(core_->state().ToStored(), truth_.state()) + " differ");
  }
  ScheduleRound(scheduler_.now());
  trace_(fmt::format("daemon: up at unit {}", truth_.state().counters.seq.value()));
  return true;
}

// Services, sessions and duties on the core that is there.
void Daemon::Serve() {
  commands_ = std::make_unique<CommandPort>(*this);
  desk_ = std::make_unique<duties::DirectoryDesk>(options_.initiator.rules,
                                                  duties::DutiesAtWork(),
                                                  *commands_,
                                                  *executor_,
                                                  scheduler_.clock(),
                                                  warehouse_);
  directories_ = std::make_unique<daemon::DeskPort>(*desk_);
  dependencies_ = std::make_unique<rpc::Dependencies>(
      rpc::Dependencies{*port_, *executor_, warehouse_, *directories_, facts_});
  services_ = rpc::MakeServices(*dependencies_);
  for (loop::Service& service : services_) {
    for (loop::Method& method : service.methods) methods_[method.path] = &method;
  }
  sessions_ = std::make_unique<rpc::SessionService>(
      options_.sessions, rpc::MakeServices(*dependencies_), *core_);
  events_ = std::make_unique<rpc::EventService>(options_.events, *core_);
  lock_watch_ = std::make_unique<rpc::LockWatch>(*core_);
  duties::Duties::Options duties;
  duties.initiator = options_.initiator;
  duties.cleaner = duties::Cleaner::Options();
  duties.cleaner->retry = std::chrono::seconds(5);
  duties.workers = 0;  // theirs are scripts (worker.cc)
  const auto executor_for = [this](const std::string&) -> Executor& {
    duty_executors_.push_back(std::make_unique<SimExecutor>(scheduler_, process_));
    return *duty_executors_.back();
  };
  duties_ = std::make_unique<duties::Duties>(
      duties, *commands_, executor_for, scheduler_.clock(), warehouse_);
  duties_->Start();
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
// duties are led to their end with every door shut: no command is taken, no file goes.
void Daemon::EndDuties() {
  if (!duties_) return;
  const bool on = warehouse_.on();
  warehouse_.Stop();
  duties_->Stop([] {});
  for (const auto& executor : duty_executors_) executor->RunAll();
  duties_.reset();
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
  sessions_.reset();
  events_.reset();
  lock_watch_.reset();
  core_.reset();
  EndDuties();
  // What was posted goes before what it points to.
  executor_->Stop();
  methods_.clear();
  services_.clear();
  dependencies_.reset();
  directories_.reset();
  desk_.reset();
  calls_.clear();
  ids_.clear();
  outbox_.clear();
  streams_.clear();
  written_.clear();
  commands_.reset();
  port_.reset();
  watched_ = nullptr;
  store_.reset();
  loop_executor_.reset();
  executor_.reset();
  duty_executors_.clear();
  process_.reset();
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
  // Somebody may be given more time for it.
  if (scheduler_.now() - last_round_ > 2 * kLongestSleep) calm_since_ = scheduler_.now();
  last_round_ = scheduler_.now();
  loop_->Round();
  if (core_->counts().failed_units != failed_units_) calm_since_ = scheduler_.now();
  failed_units_ = core_->counts().failed_units;
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
