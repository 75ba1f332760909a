// Compaction workers: production's own, on a thread of their own that the world can hold up in the
// middle of a merge. Only what merges and installs the toy files is ours. Some stop without a word,
// come back too late, or find that their daemon is gone.

#include "server/duties/worker.h"

#include <deque>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/compact/plan.h"
#include "storage/model/errors.h"
#include "storage/table/sources.h"
#include "tests/sim/world.h"

namespace skep::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A thread whose tasks may wait: they run in the script of an actor.
class ScriptExecutor final : public Executor {
 public:
  explicit ScriptExecutor(World& world) : timers_(world.scheduler(), nullptr) {}

  void Post(Task task) override { tasks_.push_back(std::move(task)); }
  TimerId PostAt(MonoTime when, Task task) override {
    return timers_.PostAt(
        when, [this, task = std::move(task)]() mutable { tasks_.push_back(std::move(task)); });
  }
  bool Cancel(TimerId id) override { return timers_.Cancel(id); }

  bool HasTask() const { return !tasks_.empty(); }
  void RunOne() {
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
  }

 private:
  SimExecutor timers_;
  std::deque<Task> tasks_;
};

// The daemon that a worker lives in, as long as it does.
class ScriptPort final : public duties::CommandPort {
 public:
  ScriptPort(World& world, std::shared_ptr<Process> process)
      : world_(world), process_(std::move(process)) {}

  void Run(Command command, Done done) override {
    const int64_t call = ++last_;
    waiting_[call] = std::move(done);
    if (gone()) return Answer(call, absl::UnavailableError("the daemon is gone"));
    world_.daemon().port().Run(
        std::move(command),
        [this, call, alive = std::weak_ptr<bool>(alive_)](const absl::Status& status) {
          if (alive.lock()) Answer(call, status);
        });
  }
  void WatchCompactions(std::function<void()>) override {}

  bool gone() const { return closed_ || process_->dead; }
  bool HasOpen() const { return !waiting_.empty(); }
  // No command gets through any more; what has no answer gets none.
  void Close() {
    closed_ = true;
    while (!waiting_.empty()) {
      Answer(waiting_.begin()->first, absl::UnavailableError("the daemon is gone"));
    }
  }

 private:
  void Answer(int64_t call, const absl::Status& status) {
    auto node = waiting_.extract(call);
    if (!node.empty()) node.mapped()(status);
  }

  World& world_;
  const std::shared_ptr<Process> process_;
  bool closed_ = false;
  int64_t last_ = 0;
  std::map<int64_t, Done> waiting_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class CompactionWorker {
 public:
  CompactionWorker(World& world, Actor& actor) : world_(world), actor_(actor) {}

  void Run() {
    while (!world_.stopping()) {
      actor_.Sleep(dice().Delay(milliseconds(500), seconds(8)));
      if (world_.daemon().up()) Live();
    }
  }

 private:
  Dice& dice() { return world_.dice(); }
  void Say(const std::string& what) { world_.Trace(actor_.name() + ": " + what); }
  void Pause() { actor_.Sleep(dice().Delay(milliseconds(1), milliseconds(300))); }

  // One worker, until it or its daemon ends.
  void Live() {
    ScriptExecutor executor(world_);
    ScriptPort port(world_, world_.daemon().process());
    port_ = &port;
    duties::Worker::Options options;
    // The same name takes its claims back at once; those of another's wait for their lease.
    options.name = dice().OneIn(2) ? actor_.name() : fmt::format("{}-{}", actor_.name(), ++lives_);
    options.rest = seconds(dice().Between(1, 10));
    options.beat = seconds(dice().Between(1, 8));
    options.merge = [this](fs::FileSystem& fs, const compact::CompactionRequest& request) {
      return Merge(fs, request);
    };
    duties::Worker worker(
        std::move(options), port, executor, world_.clock(), world_.warehouse().disk());
    worker.Start();
    const auto over = [&] { return world_.stopping() || port.gone(); };
    while (!over()) {
      actor_.WaitFor([&] { return executor.HasTask() || over(); });
      if (executor.HasTask() && !over()) executor.RunOne();
    }
    // In order, what it has is given back; where nobody hears it any more, it ends all the same.
    bool stopped = false;
    worker.Stop([&stopped] { stopped = true; });
    while (!stopped) {
      if (port.gone()) port.Close();
      actor_.WaitFor([&] { return executor.HasTask() || (port.gone() && port.HasOpen()); });
      if (executor.HasTask()) executor.RunOne();
    }
  }

  // Whether the process that merges is still there, and may go on.
  absl::Status GoOn(const compact::CompactionRequest& request) {
    if (port_->gone()) return absl::UnavailableError("the process is gone");
    return request.on_progress({});
  }

  absl::StatusOr<compact::CompactionResult> Merge(fs::FileSystem& fs,
                                                  const compact::CompactionRequest& request) {
    world_.Count("merges begun");
    SKEP_ASSIGN_OR_RETURN(const acid::Listing listing, table::ListDirectory(fs, request.directory));
    SKEP_ASSIGN_OR_RETURN(const acid::Selection selection,
                          acid::SelectDirectories(listing, request.write_ids, request.visibility));
    compact::CompactionResult result;
    SKEP_ASSIGN_OR_RETURN(
        result.plan,
        compact::MakePlan(request.type, request.txn, listing, selection, request.write_ids));
    if (result.plan.outcome != compact::PlanOutcome::kMerge) {
      world_.history().Merged(request.txn);
      return result;
    }
    Say(fmt::format("compacts {} under transaction {}", request.directory, request.txn.value()));
    const bool minor = request.type == CompactionType::kMinor;
    SKEP_ASSIGN_OR_RETURN(const Warehouse::Merged merged,
                          world_.warehouse().Merge(request.directory,
                                                   compact::InputsOf(request.type, selection),
                                                   request.write_ids,
                                                   minor,
                                                   [this] { Pause(); }));
    SKEP_RETURN_IF_ERROR(Stumble(request));
    const std::pair<std::string, std::string> outputs[] = {
        {result.plan.delete_delta, merged.deletes},
        {result.plan.delta, merged.inserts},
        {result.plan.base, merged.inserts}};
    for (const auto& [name, content] : outputs) {
      if (name.empty() || (minor && content.empty())) continue;
      // A process that is gone installs nothing; one that lost its claim and does not know it does.
      if (port_->gone()) return absl::UnavailableError("the process is gone");
      SKEP_RETURN_IF_ERROR(world_.warehouse().Install(
          request.directory, name, content, request.txn, [this] { Pause(); }));
      result.outputs.push_back(name);
    }
    world_.history().Merged(request.txn);
    world_.Count("compactions merged");
    return result;
  }

  absl::Status Stumble(const compact::CompactionRequest& request) {
    if (dice().OneIn(12)) {
      Say("stops without a word");
      port_->Close();
    }
    if (dice().OneIn(12)) return absl::InternalError("made to fail");
    if (dice().OneIn(10)) {
      Say("takes too long");
      actor_.Sleep(dice().Delay(seconds(5), seconds(120)));
      // It does not always look whether it may still go on.
      if (dice().OneIn(2)) return absl::OkStatus();
    }
    return GoOn(request);
  }

  World& world_;
  Actor& actor_;
  ScriptPort* port_ = nullptr;
  int64_t lives_ = 0;
};

}  // namespace

void WorkerScript(World& world, Actor& actor) { CompactionWorker(world, actor).Run(); }

}  // namespace skep::sim
