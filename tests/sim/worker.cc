// Compaction workers: production's order of steps over the files of the tiny world, with workers
// that stop in the middle, come back too late, or do not tidy up.

#include <fmt/format.h>

#include "server/duties/table_facts.h"
#include "storage/base/text.h"
#include "storage/compact/plan.h"
#include "storage/model/errors.h"
#include "storage/table/sources.h"
#include "tests/sim/world.h"

namespace skep::sim {
namespace {

using state::ClaimedCompaction;
using std::chrono::milliseconds;
using std::chrono::seconds;

class CompactionWorker {
 public:
  CompactionWorker(World& world, Actor& actor) : world_(world), actor_(actor) {}

  void Run() {
    while (!world_.stopping()) {
      actor_.Sleep(dice().Delay(milliseconds(500), seconds(8)));
      // A worker lives in the daemon: it begins anew with each of them.
      if (world_.daemon().up()) One();
    }
  }

 private:
  Dice& dice() { return world_.dice(); }
  void Say(const std::string& what) { world_.Trace(actor_.name() + ": " + what); }
  void Pause() { actor_.Sleep(dice().Delay(milliseconds(1), milliseconds(300))); }

  void One() {
    const auto claimed = world_.Ask<std::optional<ClaimedCompaction>>(
        actor_, [name = actor_.name()](state::State& state, state::Now now, state::Unit& unit) {
          return state.Claim(name, now, unit);
        });
    if (!claimed.ok() || !claimed->has_value()) return;
    const CompactionRow row = (*claimed)->row;
    Pause();
    const auto view = world_.Ask<ClaimedCompaction>(
        actor_, [row](state::State& state, state::Now now, state::Unit& unit) {
          return state.ClaimView(row.id, row.claim, now, unit);
        });
    if (!view.ok()) return;
    Say(fmt::format("compacts {} {} as {} under transaction {}, up to {}",
                    view->table.location,
                    row.partition,
                    row.id.value(),
                    row.txn.value(),
                    view->row.highest_write_id.value()));
    Work(*view);
  }

  void Work(const ClaimedCompaction& claimed) {
    const CompactionRow& row = claimed.row;
    const std::string dir = duties::DirectoryOf(claimed.table, row.partition);
    const auto plan = Merge(claimed, dir);
    if (dice().OneIn(12)) return Say("stops in the middle");
    if (!plan.ok()) return Finish(row, CompactionState::kRefused, MessageOf(plan.status()));
    if (plan->outcome == compact::PlanOutcome::kNothing) {
      return Finish(row, CompactionState::kRefused, plan->because);
    }
    if (dice().OneIn(10)) {
      Say("takes too long");
      actor_.Sleep(dice().Delay(seconds(5), seconds(120)));
    }
    if (dice().OneIn(12)) return Finish(row, CompactionState::kFailed, "made to fail");
    Publish(row, *plan, dir);
  }

  absl::StatusOr<compact::Plan> Merge(const ClaimedCompaction& claimed, const std::string& dir) {
    const CompactionRow& row = claimed.row;
    const auto listing = table::ListDirectory(world_.warehouse().disk(), dir);
    if (!listing.ok()) return listing.status();
    const auto selection = acid::SelectDirectories(
        *listing, claimed.write_ids, duties::VisibilityOf(claimed.table, claimed.txns));
    if (!selection.ok()) return selection.status();
    const auto plan = compact::MakePlan(row.type, row.txn, *listing, *selection, claimed.write_ids);
    if (!plan.ok() || plan->outcome != compact::PlanOutcome::kMerge) return plan;
    const bool minor = row.type == CompactionType::kMinor;
    const auto merged = world_.warehouse().Merge(
        dir, compact::InputsOf(row.type, *selection), claimed.write_ids, minor, [this] {
          Pause();
        });
    if (!merged.ok()) return merged.status();
    Beat(row);
    absl::Status status;
    const auto install = [&](const std::string& name, const std::string& content) {
      if (!status.ok() || name.empty() || (minor && content.empty())) return;
      status = world_.warehouse().Install(dir, name, content, row.txn, [this] { Pause(); });
    };
    install(plan->delete_delta, merged->deletes);
    install(plan->delta, merged->inserts);
    install(plan->base, merged->inserts);
    if (!status.ok()) return status;
    return plan;
  }

  void Beat(const CompactionRow& row) {
    world_
        .Ask<bool>(
            actor_,
            [row](state::State& state, state::Now now, state::Unit& unit) -> absl::StatusOr<bool> {
              return state.BeatClaim(row.id, row.claim, now, unit).ok();
            })
        .status()
        .IgnoreError();
  }

  void Publish(const CompactionRow& row, const compact::Plan& plan, const std::string& dir) {
    struct Told {
      absl::Status status;
    };
    const state::PublishCompaction command{row.id, row.claim, plan.highest_write_id};
    for (int attempt = 0; attempt < 5; ++attempt) {
      const auto told = world_.Ask<Told>(
          actor_,
          [command](state::State& state, state::Now now, state::Unit& unit)
              -> absl::StatusOr<Told> { return Told{state.Publish(command, now, unit)}; });
      if (ReasonOf(told.status()) == ErrorReason::kStoreFull) {  // nothing of it was stored
        actor_.Sleep(seconds(1));
        continue;
      }
      if (!told.ok()) return;  // it dies with its daemon
      Say(fmt::format(
          "publishes {}: {}", row.id.value(), told->status.ok() ? "OK" : MessageOf(told->status)));
      if (told->status.ok()) world_.Count("compactions published");
      // Not every worker tidies up what it made in vain.
      if (told->status.ok() || dice().OneIn(2)) return;
      for (const std::string& name : {plan.base, plan.delta, plan.delete_delta}) {
        if (!name.empty()) world_.warehouse().disk().RemoveTree(dir + "/" + name).IgnoreError();
      }
      return;
    }
  }

  void Finish(const CompactionRow& row, CompactionState state, const std::string& why) {
    Say(fmt::format("ends {} as {}: {}", row.id.value(), CompactionStateName(state), why));
    world_
        .Ask<bool>(
            actor_,
            [command = state::FinishCompaction{row.id, row.claim, state, why}](
                state::State& state, state::Now now, state::Unit& unit) -> absl::StatusOr<bool> {
              return state.Finish(command, now, unit).ok();
            })
        .status()
        .IgnoreError();
  }

  World& world_;
  Actor& actor_;
};

}  // namespace

void WorkerScript(World& world, Actor& actor) { CompactionWorker(world, actor).Run(); }

}  // namespace skep::sim
