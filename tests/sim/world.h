#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "skep/session.h"
#include "storage/model/names.h"
#include "tests/sim/actor.h"
#include "tests/sim/daemon.h"
#include "tests/sim/history.h"
#include "tests/sim/network.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/sim_disk.h"
#include "tests/sim/stream_network.h"
#include "tests/sim/truth.h"
#include "tests/sim/view_client.h"
#include "tests/sim/warehouse.h"

namespace skep::sim {

struct WorldOptions {
  uint64_t seed = 1;
  std::chrono::seconds length{1200};
  bool trace = false;               // every step to stderr
  std::set<std::string> without;    // kinds of actors that are left out (shrink.h)
  std::ostream* history = nullptr;  // takes the history as JSON lines
  std::string data_dir;             // real and empty: for the lock file of the store
  // For tests of the simulation: a world with a fault that the checks must find.
  bool disk_lies = false;
  std::function<std::unique_ptr<meta::MetaStore>(std::unique_ptr<meta::MetaStore>)> wrap_store;
};

// What the threads of one client process share.
struct SharedSession {
  client::Session* session = nullptr;  // while the process lives
  std::shared_ptr<Link> link;
  int users = 0;
};

// One run: daemon, disk, network, clients and what looks on, in one thread under virtual time. The
// same seed gives the same run. Confined to one thread.
class World {
 public:
  explicit World(const WorldOptions& options);
  ~World();

  // To the end or to the first thing that is wrong.
  void Run();
  // What is wrong, and what happened last; empty if nothing.
  const std::string& failure() const { return failure_; }
  // When that was, since the beginning.
  std::chrono::microseconds failed_at() const { return failed_at_; }
  std::vector<std::string> LastSteps() const { return {steps_.begin(), steps_.end()}; }
  // How often what happened, for people.
  std::map<std::string, int64_t> Figures() const;
  // A number for everything that happened: equal runs have equal numbers.
  uint64_t fingerprint() const { return fingerprint_; }

  // ---- for the scripts ----

  Dice& dice() { return dice_; }
  Scheduler& scheduler() { return scheduler_; }
  SimClock& clock() { return clock_; }
  Network& network() { return network_; }
  StreamNetwork& streams() { return streams_; }
  History& history() { return history_; }
  Warehouse& warehouse() { return warehouse_; }
  Daemon& daemon() { return daemon_; }
  const Truth& truth() const { return truth_; }
  Views& views() { return views_; }
  // The server keeps fewer events than a run has.
  bool few_events() const { return few_events_; }

  void Fail(const std::string& what);
  void Trace(const std::string& step);
  void Count(const std::string& what, int64_t times = 1);
  bool stopping() const { return stopping_ || !failure_.empty(); }

  // The tables of the tiny world.
  struct TableSpec {
    TableName name;
    bool partitioned = false;
  };
  const std::vector<TableSpec>& tables() const { return tables_; }
  std::string AnyPartition(const TableSpec& table);
  static constexpr int kPartitions = 3;

  // A command of something that lives in the daemon. Errors: kUnavailable where there is none, or
  // it died meanwhile.
  template <class T>
  absl::StatusOr<T> Ask(
      Actor& actor, std::function<absl::StatusOr<T>(state::State&, state::Now, state::Unit&)> ask);

  int64_t NextValue() { return ++last_value_; }
  // Puts files into a table's directory that are nobody's: they must be there for ever.
  void PlantForeignNames(const std::string& location);

 private:
  Actor& AddActor(const std::string& name,
                  std::function<void(Actor&)> script,
                  std::shared_ptr<Process> process = nullptr);
  bool Without(const std::string& kind) const { return options_.without.contains(kind); }
  std::chrono::microseconds Since() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(clock_.MonoNow() - begin_);
  }
  void MakeActors();
  bool Step();
  void WindDown();
  // At the end (rest.cc).
  void CheckRest();
  void CheckQuiet();
  void CheckRows();
  void CheckForeignNames();
  void CheckFiles();
  // The daemon's fate (faults.cc).
  void Faults(Actor& actor);
  void BringUp(Actor& actor);
  void Kill(const std::string& why);

  const WorldOptions options_;
  Dice dice_;
  SimClock clock_;
  Scheduler scheduler_;
  SimDisk disk_;
  SimDisk files_;
  History history_;
  Truth truth_;
  Views views_;
  bool few_events_ = false;
  Warehouse warehouse_;
  std::vector<TableSpec> tables_;
  Daemon daemon_;
  Network network_;
  StreamNetwork streams_;
  std::deque<SharedSession> sessions_;
  std::vector<std::unique_ptr<Actor>> actors_;
  std::deque<std::string> steps_;
  std::string failure_;
  std::chrono::microseconds failed_at_{0};
  std::map<std::string, int64_t> seen_;
  std::set<std::string> planted_;
  uint64_t fingerprint_ = 1469598103934665603u;
  int64_t last_value_ = 0;
  bool stopping_ = false;
  bool faults_stop_ = false;
  bool power_goes_next_ = false;  // whatever stops the daemon next
  int64_t failed_syncs_ = 0;
  MonoTime begin_;
};

template <class T>
absl::StatusOr<T> World::Ask(
    Actor& actor, std::function<absl::StatusOr<T>(state::State&, state::Now, state::Unit&)> ask) {
  if (!daemon_.up()) return absl::UnavailableError("no daemon");
  struct Shared {
    absl::StatusOr<T> answer = absl::UnknownError("not decided");
    std::optional<absl::Status> done;
  };
  const auto shared = std::make_shared<Shared>();
  const std::shared_ptr<Process> process = daemon_.process();
  daemon_.port().Run(
      [shared, ask = std::move(ask)](state::State& state, state::Now now, state::Unit& unit) {
        shared->answer = ask(state, now, unit);
      },
      [shared](const absl::Status& status) { shared->done = status; });
  actor.WaitFor([&] { return shared->done.has_value() || process->dead; });
  if (process->dead || !shared->done) return absl::UnavailableError("the daemon died");
  if (!shared->done->ok()) return *shared->done;
  return shared->answer;
}

// ---- the scripts ----

void SessionScript(World& world, Actor& actor, SharedSession& shared);
void ThreadScript(World& world, Actor& actor, SharedSession& shared);
void RawScript(World& world, Actor& actor);
void StreamScript(World& world, Actor& actor);
void EventScript(World& world, Actor& actor);
void ViewScript(World& world, Actor& actor);
void LateScript(World& world, Actor& actor);
void PatientScript(World& world, Actor& actor);
void HostileScript(World& world, Actor& actor);
void OperatorScript(World& world, Actor& actor);
void TablesScript(World& world, Actor& actor);
void WorkerScript(World& world, Actor& actor);

}  // namespace skep::sim
