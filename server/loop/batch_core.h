#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <absl/container/flat_hash_set.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/loop/command.h"
#include "server/loop/lock_waiters.h"
#include "server/state/state.h"
#include "storage/base/clock.h"
#include "storage/base/executor.h"
#include "storage/meta/meta_store.h"

namespace skep::loop {

// Hears of the ends of units. Must outlive the core's last unit.
class UnitObserver {
 public:
  virtual ~UnitObserver() = default;
  // The unit's answers are about to leave. `effects`: what it made durable; nullptr if it was not
  // stored.
  virtual void UnitEnds(const Effects* effects) = 0;
  // All its answers, and those of the waiters that it woke, have been given.
  virtual void UnitEnded() = 0;
  // The loop stood still for so long: nobody could be heard.
  virtual void Stalled(std::chrono::nanoseconds pause) = 0;
};

// Takes the events of units. Must outlive the core's last unit.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // The unit is durable and its answers have left. `events` may be moved from; none for a unit that
  // nobody is told of.
  virtual void UnitPublished(CommitSeq seq, Timestamp time, std::vector<state::Event>& events) = 0;
};

// Group commit without transport and without threads: takes commands, decides them against the
// state in memory within one open unit, makes the unit durable, publishes it, and only then lets
// the answers go.
//
//   Tick ─▶ Run, Run, … ─▶ Flush:  Seal ─▶ Append ─▶ Published ─▶ answers in order ─▶ lock waiters
//                             └─ not stored: state rebuilt from the store, every call of the unit
//                             fails
//
// Invariants: no answer leaves before the unit that holds what it says is durable. An answer
// decided while the open unit holds effects joins that unit, unless it is of a kind that no unit
// can change (Release::kAtOnce). After a failed unit nothing of it is visible to anybody.
//
// Confined to one thread (the executor's tasks run on it). Driven by Loop in production and by the
// simulator.
class BatchCore {
 public:
  struct Options {
    state::Options state;
    // Ends what expired at least this often; sooner where a lease is known to end.
    std::chrono::nanoseconds reaper_interval = std::chrono::seconds(30);
    // A unit that reaches one of these is written although more has arrived.
    size_t max_effects = 4096;
    std::chrono::nanoseconds max_unit_age = std::chrono::milliseconds(1);
    // A loop that stood still for longer adds the pause to all leases: nobody could beat.
    std::chrono::nanoseconds stall = std::chrono::seconds(1);
  };

  // Loads the state. `store`, `clock` and `executor` must outlive the core. Errors: those of
  // MetaStore::Load, RequireSound (kCorruptStore for a store that contradicts itself) and
  // State::Load.
  static absl::StatusOr<std::unique_ptr<BatchCore>> Open(const Options& options,
                                                         meta::MetaStore& store,
                                                         Clock& clock,
                                                         Executor& executor);
  ~BatchCore();

  // The first thing of every round: notices how long the loop stood still.
  void Tick();
  // Decides now. The command is answered now or at the next Flush; it must live until then.
  void Run(Command& command);
  void RunOwned(std::unique_ptr<Command> command);
  // Something waits for a Flush.
  bool HasUnit() const { return unit_ && !unit_->empty(); }
  bool UnitIsFull() const;
  // How many waited for the last unit that was written.
  size_t last_unit() const { return last_unit_; }
  // Ends the open unit. No-op without one.
  void Flush();
  // Nothing waits: the store may tidy up.
  void Idle() { store_.Idle(); }
  // False: the store takes only what ends things.
  bool HasRoom() { return store_.HasRoom(); }
  meta::MetaStore::Lag StoreLag() const { return store_.TablesLag(); }

  // For a command being decided that left the request `lock` waiting: `waiter` is answered when it
  // is granted or ends, and at `deadline` at the latest (MonoTime::max(): never before), with an
  // error where the request's unit was not stored.
  void Park(LockId lock, LockWaiter& waiter, MonoTime deadline);
  // The waiter gives up: nobody is answered, the request leaves the queue (R-22: giving up never
  // aborts, also when it races the grant). No-op for one that does not wait.
  void Leave(LockWaiter& waiter);
  // The waiter is no more: nobody is answered, the request stays queued.
  void Forget(LockWaiter& waiter);
  // Answers all waiters now; their requests stay queued.
  void AnswerWaiters();
  size_t waiting() const { return waiters_.size(); }

  // Called after each durable unit that put a compaction row.
  void OnCompactions(std::function<void()> changed) { compactions_changed_ = std::move(changed); }

  // At most one; nullptr: none.
  void Observe(UnitObserver* observer) { observer_ = observer; }
  // At most one; nullptr: events are dropped.
  void SendEvents(EventSink* sink) { event_sink_ = sink; }
  // For those who answer over several rounds: tasks run between units, on the core's thread.
  Executor& executor() { return executor_; }
  const Clock& clock() const { return clock_; }

  // Not OK: the outcome of a unit is unknown or the store is damaged; the process must end (exit
  // status 74).
  const absl::Status& fatal() const { return fatal_; }

  // Durable facts for those who drive the core: units written, answers delivered.
  struct Counts {
    int64_t units = 0;
    int64_t effects = 0;
    int64_t commands = 0;
    int64_t failed_units = 0;
  };
  const Counts& counts() const { return counts_; }
  // For tests and the simulator, between units.
  const state::State& state() const { return *state_; }

 private:
  BatchCore(const Options& options, meta::MetaStore& store, Clock& clock, Executor& executor);

  struct Member {
    Command* command = nullptr;
    std::unique_ptr<Command> owned;
  };

  state::Now Now() const { return {clock_.Now(), clock_.MonoNow()}; }
  absl::Status LoadState();
  void RunMember(Member member);
  bool MayLeaveAtOnce(const Verdict& verdict) const;
  void NoteTouched();
  void Publish();
  std::vector<Member> CloseUnit();
  void Fail(const absl::Status& status);
  void AnswerNotices();
  void AnswerAll(const std::vector<LockWaiters::Entry>& entries,
                 const absl::StatusOr<state::LockAnswer>& answer);
  void AnswerWaiting(LockId lock);
  void CancelTimer(const LockWaiters::Entry& entry);
  void Reap();
  void ArmReaper();

  const Options options_;
  meta::MetaStore& store_;
  Clock& clock_;
  Executor& executor_;
  std::unique_ptr<state::State> state_;
  std::optional<state::Unit> unit_;
  // Of the last unit, for the next one; unless it was a large one, which is seldom.
  static constexpr size_t kEffectsKept = 4096;
  Effects effects_memory_;
  std::vector<state::Event> events_memory_;
  MonoTime unit_began_{};
  std::vector<Member> batch_;
  size_t last_unit_ = 0;
  // Transactions that the open unit opens, ends or gives a write id; effects looked at so far.
  absl::flat_hash_set<TxnId> touched_;
  size_t seen_effects_ = 0;
  LockWaiters waiters_;
  MonoTime last_tick_{};
  std::optional<Executor::TimerId> reaper_;
  MonoTime reaper_due_{};
  std::function<void()> compactions_changed_;
  UnitObserver* observer_ = nullptr;
  EventSink* event_sink_ = nullptr;
  absl::Status fatal_;
  Counts counts_;
};

}  // namespace skep::loop
