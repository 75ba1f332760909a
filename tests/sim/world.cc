#include "tests/sim/world.h"

#include <iostream>

#include <fmt/format.h>

#include "storage/base/text.h"

namespace skep::sim {
namespace {

constexpr size_t kStepsKept = 200;

Daemon::Options DaemonOptions(const WorldOptions& world, Dice& dice, bool& few_events) {
  Daemon::Options options;
  options.store_path = world.data_dir + "/skep.db";
  options.wrap_store = world.wrap_store;
  // One run in eight keeps the store in the tables at once.
  options.form = dice.OneIn(8) ? meta::StoreForm::kTables : meta::StoreForm::kLog;
  state::Options& state = options.core.state;
  state.txn_timeout = std::chrono::seconds(dice.Between(10, 90));
  state.max_open_txns = dice.OneIn(4) ? 12 : 1000;
  state.max_batch = 8;
  state.request_ring = dice.OneIn(3) ? 8 : 64;
  state.claim_lease = std::chrono::seconds(dice.Between(10, 60));
  options.core.reaper_interval = std::chrono::seconds(dice.Between(1, 30));
  options.core.max_effects = static_cast<size_t>(dice.OneIn(3) ? dice.Between(1, 20) : 4096);
  if (dice.OneIn(5)) options.sync_high = Nanos(400'000'000);
  loop::Sessions::Options& sessions = options.sessions;
  sessions.lease = state.txn_timeout;
  if (dice.OneIn(3)) sessions.limits.operations = dice.Between(2, 8);
  if (dice.OneIn(3)) sessions.max_message_bytes = 200;
  few_events = dice.OneIn(3);
  if (few_events) options.events.log.max_events = dice.Between(1, 100);
  if (dice.OneIn(3))
    options.events.max_events_per_message = static_cast<size_t>(dice.Between(1, 4));
  if (dice.OneIn(3)) options.segment_bytes = 2 << 10;
  if (!dice.OneIn(3)) options.reserve_bytes = 64 << 10;
  duties::Initiator::Options& initiator = options.initiator;
  initiator.interval = std::chrono::seconds(dice.Between(5, 120));
  initiator.retry = std::chrono::seconds(dice.Between(5, 120));
  if (dice.OneIn(3)) initiator.per_pass = 1;
  initiator.rules.thresholds.delta_num = dice.Between(2, 8);
  return options;
}

StreamNetwork::Options StreamOptions(Dice& dice) {
  StreamNetwork::Options options;
  if (dice.OneIn(4)) options.breaks = 0;
  if (dice.OneIn(4)) options.breaks = 12;
  if (dice.OneIn(4)) options.high = Nanos(900'000'000);
  return options;
}

Network::Options NetworkOptions(Dice& dice) {
  Network::Options options;
  switch (dice.Below(4)) {
    case 0:  // a quiet wire
      options.lose_request = options.lose_answer = options.late_request = 0;
      break;
    case 1:
      options.high = Nanos(900'000'000);
      break;
    case 2:
      options.lose_request = options.lose_answer = 12;
      options.late_request = 30;
      break;
    default:
      break;
  }
  return options;
}

}  // namespace

World::World(const WorldOptions& options)
    : options_(options),
      dice_(options.seed),
      scheduler_(clock_, dice_),
      disk_(dice_),
      files_(dice_),
      history_([this](const std::string& what) { Fail(what); }),
      truth_([this](const std::string& what) { Fail(what); },
             [this](TxnId txn, const TxnOutcome& outcome) { history_.Ended(txn, outcome); },
             &history_.model()),
      warehouse_(files_),
      tables_({{{"db", "u0"}, false},
               {{"db", "u1"}, false},
               {{"db", "p0"}, true},
               {{"db", "p1"}, true}}),
      daemon_(
          DaemonOptions(options, dice_, few_events_),
          scheduler_,
          disk_,
          files_,
          truth_,
          [this](const std::string& what) { Fail(what); },
          [this](const std::string& step) { Trace(step); }),
      network_(NetworkOptions(dice_), scheduler_, daemon_),
      streams_(StreamOptions(dice_), scheduler_, daemon_),
      begin_(clock_.MonoNow()) {
  history_.log().WriteTo(options.history, [this] { return Since().count(); });
  truth_.OnPublished([this](const CompactionRow& row) {
    history_.Published(row.table, row.txn, row.published_seq);
  });
  files_.CreateDirectories("/w").IgnoreError();
  disk_.CreateDirectories(options.data_dir).IgnoreError();
  if (options.disk_lies) disk_.LieAboutSyncs();
}

// What clients left with the history stands on the network and the scheduler.
World::~World() { history_.LetGo(); }

void World::Fail(const std::string& what) {
  if (!failure_.empty()) return;
  failure_ = what;
  failed_at_ = Since();
  Trace("WRONG: " + what);
}

void World::Trace(const std::string& step) {
  history_.log().Note("step", {{"what", step}});
  std::string line = fmt::format("{:>13.6f} {}", static_cast<double>(Since().count()) / 1e6, step);
  for (const char c : line)
    fingerprint_ = (fingerprint_ ^ static_cast<uint8_t>(c)) * 1099511628211u;
  if (options_.trace) std::cerr << line << "\n";
  steps_.push_back(std::move(line));
  if (steps_.size() > kStepsKept) steps_.pop_front();
}

void World::Count(const std::string& what, int64_t times) { seen_[what] += times; }

std::string World::AnyPartition(const TableSpec& table) {
  return table.partitioned ? "p=" + std::to_string(dice_.Below(kPartitions)) : "";
}

Actor& World::AddActor(const std::string& name,
                       std::function<void(Actor&)> script,
                       std::shared_ptr<Process> process) {
  actors_.push_back(
      std::make_unique<Actor>(scheduler_, name, std::move(script), std::move(process)));
  return *actors_.back();
}

void World::MakeActors() {
  using Script = void (*)(World&, Actor&);
  // `count` of a kind; their dice are thrown in any case.
  const auto add = [this](const std::string& kind, int64_t count, Script script) {
    if (Without(kind)) return;
    for (int64_t i = 0; i < count; ++i) {
      AddActor(count == 1 ? kind : fmt::format("{}-{}", kind, i),
               [this, script](Actor& actor) { script(*this, actor); });
    }
  };
  AddActor("faults", [this](Actor& actor) { Faults(actor); });
  add("tables", 1, TablesScript);
  add("operator", 1, OperatorScript);
  add("worker", 2, WorkerScript);
  const int64_t sessions = dice_.Between(2, 4);
  for (int64_t i = 0; i < sessions && !Without("session"); ++i) {
    SharedSession& shared = sessions_.emplace_back();
    const Actor& main = AddActor(fmt::format("session-{}", i), [this, &shared](Actor& actor) {
      SessionScript(*this, actor, shared);
    });
    const auto process = main.process();
    for (int64_t thread = dice_.Below(3); thread > 0; --thread) {
      AddActor(
          fmt::format("session-{}.{}", i, thread),
          [this, &shared](Actor& actor) { ThreadScript(*this, actor, shared); },
          process);
    }
  }
  add("raw", dice_.Between(1, 3), RawScript);
  if (dice_.OneIn(2)) add("stream", 1, StreamScript);
  add("late", 1, LateScript);
  add("events", 1, EventScript);
  add("view", 2, ViewScript);
  add("patient", 2, PatientScript);
  add("hostile", 1, HostileScript);
}

bool World::Step() {
  if (!scheduler_.RunOne()) return false;
  for (const auto& actor : actors_) actor->Poll();
  return true;
}

void World::Run() {
  MakeActors();
  for (const auto& actor : actors_) actor->Poll();
  const MonoTime end = begin_ + options_.length;
  while (failure_.empty() && clock_.MonoNow() < end && Step()) {
  }
  WindDown();
}

// Everybody comes to an end by himself: nobody is torn out of the middle of production code.
void World::WindDown() {
  stopping_ = true;
  const auto all_ended = [this] {
    for (const auto& actor : actors_) {
      if (!actor->ended()) return false;
    }
    return true;
  };
  for (const auto& actor : actors_) actor->process()->paused_until = MonoTime();
  const MonoTime limit = clock_.MonoNow() + std::chrono::hours(1);
  while (!all_ended() && clock_.MonoNow() < limit && Step()) {
  }
  for (const auto& actor : actors_) {
    if (!actor->ended()) Fail(actor->name() + " never comes to an end");
  }
  if (failure_.empty()) CheckRest();
}

std::map<std::string, int64_t> World::Figures() const {
  const History::Counts& h = history_.counts();
  const Daemon::Counts& d = daemon_.counts();
  std::map<std::string, int64_t> figures = seen_;
  figures.insert({{"steps", scheduler_.steps()},
                  {"units", d.units},
                  {"calls", network_.calls()},
                  {"calls lost", network_.lost()},
                  {"streams", streams_.streams()},
                  {"stream messages", streams_.messages()},
                  {"streams broken", streams_.broken()},
                  {"daemon starts", d.starts},
                  {"daemon deaths", d.deaths},
                  {"units in doubt, there", truth_.settled_as_there()},
                  {"units in doubt, lost", truth_.settled_as_lost()},
                  {"states compared", d.states_compared},
                  {"loads compared", d.loads_compared},
                  {"transactions opened", h.opened},
                  {"committed", h.committed},
                  {"aborted", h.aborted},
                  {"commits acknowledged", h.told_committed},
                  {"writes", h.writes},
                  {"lists", h.lists},
                  {"reads of own writes", h.own_reads},
                  {"conflicts explained", h.conflicts},
                  {"reads", h.reads},
                  {"rows read", h.rows_read},
                  {"lock grants", h.grants},
                  {"directories removed", files_.trees_removed()}});
  return figures;
}

}  // namespace skep::sim
