#include "server/loop/batch_core.h"

#include <algorithm>
#include <utility>

#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/meta/check_store.h"
#include "storage/model/errors.h"

namespace skep::loop {
namespace {

constexpr std::chrono::milliseconds kMinReapGap{500};

int64_t Milliseconds(std::chrono::nanoseconds d) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
}

// The answer of a lock request whose time to wait is over. Who gets it is asked when it leaves: a
// waiter may be gone by then.
class CheckCommand final : public Command {
 public:
  using Answer = absl::StatusOr<state::LockAnswer>;
  CheckCommand(LockId lock, std::function<void(const Answer&)> deliver)
      : lock_(lock), deliver_(std::move(deliver)) {}

  Verdict Decide(state::State& state, state::Now now, state::Unit& unit) override {
    answer_ = state.CheckLock(lock_, now, unit);
    return {};
  }
  void Durable() override { deliver_(answer_); }
  void Failed(const absl::Status& status) override { deliver_(status); }

 private:
  const LockId lock_;
  const std::function<void(const Answer&)> deliver_;
  Answer answer_ = absl::UnknownError("not decided");
};

bool PutsCompaction(const Effects& effects) {
  return std::any_of(effects.begin(), effects.end(), [](const Effect& effect) {
    return std::holds_alternative<Put<CompactionRow>>(effect);
  });
}

// The transaction whose outcome, snapshot or own write ids an effect changes; none for others.
TxnId TouchedBy(const Effect& effect) {
  if (const auto* open = std::get_if<Put<TxnRow>>(&effect)) return open->row.id;
  if (const auto* end = std::get_if<EraseTxn>(&effect)) return end->id;
  if (const auto* write_id = std::get_if<Put<WriteIdRow>>(&effect)) return write_id->row.txn;
  return TxnId();
}

}  // namespace

absl::StatusOr<std::unique_ptr<BatchCore>> BatchCore::Open(const Options& options,
                                                           meta::MetaStore& store,
                                                           Clock& clock,
                                                           Executor& executor) {
  std::unique_ptr<BatchCore> core(new BatchCore(options, store, clock, executor));
  SKEP_RETURN_IF_ERROR(core->LoadState());
  core->ArmReaper();
  return core;
}

BatchCore::BatchCore(const Options& options,
                     meta::MetaStore& store,
                     Clock& clock,
                     Executor& executor)
    : options_(options),
      store_(store),
      clock_(clock),
      executor_(executor),
      last_tick_(clock.MonoNow()) {}

BatchCore::~BatchCore() {
  if (reaper_) executor_.Cancel(*reaper_);
  for (const LockId lock : waiters_.Locks()) {
    for (const LockWaiters::Entry& entry : waiters_.Take(lock)) CancelTimer(entry);
  }
}

absl::Status BatchCore::LoadState() {
  SKEP_ASSIGN_OR_RETURN(const StoredState stored, store_.Load());
  SKEP_RETURN_IF_ERROR(meta::RequireSound(stored));
  const state::Now now = Now();
  SKEP_ASSIGN_OR_RETURN(auto loaded, state::State::Load(options_.state, stored, now));
  // After a unit that was not stored the process goes on, and so do the clients: who was silent
  // must not live longer because others could not write.
  if (state_ != nullptr) loaded->KeepLeases(*state_, now);
  state_ = std::move(loaded);
  return absl::OkStatus();
}

void BatchCore::Tick() {
  const MonoTime now = clock_.MonoNow();
  const std::chrono::nanoseconds pause = now - last_tick_;
  last_tick_ = now;
  if (pause <= options_.stall) return;
  Log(LogLevel::kWarn, "loop.stall", {{"took_ms", Milliseconds(pause)}});
  state_->ExtendLeases(pause);
  if (observer_ != nullptr) observer_->Stalled(pause);
}

void BatchCore::Run(Command& command) { RunMember({&command, nullptr}); }

void BatchCore::RunOwned(std::unique_ptr<Command> command) {
  Command* const borrowed = command.get();
  RunMember({borrowed, std::move(command)});
}

void BatchCore::RunMember(Member member) {
  if (!fatal_.ok()) {
    member.command->Failed(fatal_);
    return;
  }
  if (!unit_) unit_.emplace(state_->Begin(std::move(effects_memory_), std::move(events_memory_)));
  ++counts_.commands;
  const bool was_empty = unit_->empty();
  const state::Now now = Now();
  const Verdict verdict = member.command->Decide(*state_, now, *unit_);
  if (!unit_->empty()) {
    if (was_empty) unit_began_ = now.mono;
    NoteTouched();
  }
  if (verdict.release == Release::kParked || verdict.release == Release::kLater) return;
  if (MayLeaveAtOnce(verdict)) {
    member.command->Durable();
  } else {
    batch_.push_back(std::move(member));
  }
}

bool BatchCore::MayLeaveAtOnce(const Verdict& verdict) const {
  if (!HasUnit()) return true;
  if (verdict.release != Release::kAtOnce) return false;
  return std::none_of(verdict.about.begin(), verdict.about.end(), [&](TxnId txn) {
    return touched_.contains(txn);
  });
}

void BatchCore::NoteTouched() {
  const Effects& effects = unit_->effects();
  for (; seen_effects_ < effects.size(); ++seen_effects_) {
    const TxnId txn = TouchedBy(effects[seen_effects_]);
    if (!txn.is_none()) touched_.insert(txn);
  }
}

bool BatchCore::UnitIsFull() const {
  if (!HasUnit()) return false;
  return unit_->effects().size() >= options_.max_effects ||
         clock_.MonoNow() - unit_began_ >= options_.max_unit_age;
}

void BatchCore::Flush() {
  if (!HasUnit()) return;
  state_->Seal(*unit_);
  const absl::Status stored = store_.Append(unit_->effects());
  if (stored.ok()) {
    Publish();
  } else {
    Fail(stored);
  }
}

void BatchCore::Publish() {
  state_->Published(*unit_);
  ++counts_.units;
  counts_.effects += static_cast<int64_t>(unit_->effects().size());
  const CommitSeq seq = unit_->seq();
  const bool compactions = compactions_changed_ && PutsCompaction(unit_->effects());
  if (observer_ != nullptr) observer_->UnitEnds(&unit_->effects());
  std::vector<Member> batch = CloseUnit();
  // What is answered may begin the next unit.
  std::vector<state::Event> events = std::exchange(events_memory_, {});
  last_unit_ = batch.size();
  for (Member& member : batch) member.command->Durable();
  AnswerNotices();
  batch.clear();
  if (batch_.empty()) batch_ = std::move(batch);  // its memory serves the next unit
  if (observer_ != nullptr) observer_->UnitEnded();
  if (event_sink_ != nullptr) event_sink_->UnitPublished(seq, clock_.Now(), events);
  events_memory_ = std::move(events);
  if (compactions) compactions_changed_();
  ArmReaper();
}

void BatchCore::AnswerNotices() {
  for (const state::LockNotice& notice : state_->TakeNotices()) {
    AnswerAll(waiters_.Take(notice.lock), notice.answer);
  }
}

// Nothing of the unit is stored, or nobody knows: what memory holds is ahead of what is durable.
void BatchCore::Fail(const absl::Status& status) {
  ++counts_.failed_units;
  const ErrorReason reason = ReasonOf(status);
  const bool clean = reason == ErrorReason::kStoreBusy || reason == ErrorReason::kStoreFull;
  Log(clean ? LogLevel::kWarn : LogLevel::kCritical,
      "store.unit_failed",
      {{"seq", unit_->seq().value()},
       {"commands", static_cast<int64_t>(batch_.size())},
       {"error", MessageOf(status)}});
  absl::Status answer = status;
  if (!clean) {
    answer = MakeError(ErrorReason::kOutcomeUnknown,
                       "the sync of the store failed: ask for the outcome after the restart (" +
                           MessageOf(status) + ")");
    fatal_ = answer;
  }
  const CommitSeq seq = unit_->seq();
  const std::vector<Member> batch = CloseUnit();
  if (clean) {
    const absl::Status loaded = LoadState();
    if (!loaded.ok()) {
      Log(LogLevel::kCritical, "store.load_failed", {{"error", MessageOf(loaded)}});
      fatal_ =
          MakeError(ErrorReason::kOutcomeUnknown,
                    "the store cannot be read after a failed unit (" + MessageOf(loaded) + ")");
    } else {
      ArmReaper();  // what it had ended is there again
    }
  }
  if (observer_ != nullptr) observer_->UnitEnds(nullptr);
  for (const Member& member : batch) member.command->Failed(answer);
  // Requests that this unit queued never were; older ones wait on, in the state that is loaded now.
  AnswerAll(waiters_.TakeOfUnit(seq), answer);
  if (!fatal_.ok()) {
    for (const LockId lock : waiters_.Locks()) AnswerAll(waiters_.Take(lock), fatal_);
  }
  if (observer_ != nullptr) observer_->UnitEnded();
}

std::vector<BatchCore::Member> BatchCore::CloseUnit() {
  effects_memory_ = std::move(unit_->effects());
  if (effects_memory_.capacity() > kEffectsKept) effects_memory_ = Effects();
  events_memory_ = std::move(unit_->events().all());
  unit_.reset();
  touched_.clear();
  seen_effects_ = 0;
  return std::exchange(batch_, {});
}

void BatchCore::CancelTimer(const LockWaiters::Entry& entry) {
  if (entry.timer) executor_.Cancel(*entry.timer);
}

void BatchCore::AnswerAll(const std::vector<LockWaiters::Entry>& entries,
                          const absl::StatusOr<state::LockAnswer>& answer) {
  for (const LockWaiters::Entry& entry : entries) {
    CancelTimer(entry);
    entry.waiter->Answer(answer);
  }
}

void BatchCore::Park(LockId lock, LockWaiter& waiter, MonoTime deadline) {
  std::optional<Executor::TimerId> timer;
  if (deadline != MonoTime::max()) {
    timer = executor_.PostAt(deadline, [this, lock] { AnswerWaiting(lock); });
  }
  // A unit without effects did not queue the request: its failure would say nothing of it.
  waiters_.Add(lock, {&waiter, unit_->empty() ? CommitSeq() : unit_->seq(), timer});
}

void BatchCore::AnswerWaiting(LockId lock) {
  if (!waiters_.Waits(lock)) return;
  RunOwned(std::make_unique<CheckCommand>(lock, [this, lock](const CheckCommand::Answer& answer) {
    AnswerAll(waiters_.Take(lock), answer);
  }));
}

void BatchCore::AnswerWaiters() {
  for (const LockId lock : waiters_.Locks()) AnswerWaiting(lock);
}

void BatchCore::Leave(LockWaiter& waiter) {
  LockId lock;
  LockWaiters::Entry entry;
  if (!waiters_.Remove(&waiter, &lock, &entry)) return;
  CancelTimer(entry);
  if (waiters_.Waits(lock)) return;  // a repeat of the same request still wants it
  RunOwned(MakeCommand(
      [lock](state::State& state, state::Now now, state::Unit& unit) {
        // Granted in the meantime: stays with its transaction until that ends.
        state.Release({lock, false}, now, unit).IgnoreError();
      },
      [](const absl::Status&) {}));
}

void BatchCore::Forget(LockWaiter& waiter) {
  LockId lock;
  LockWaiters::Entry entry;
  if (waiters_.Remove(&waiter, &lock, &entry)) CancelTimer(entry);
}

void BatchCore::Reap() {
  reaper_.reset();
  RunOwned(MakeCommand(
      [](state::State& state, state::Now now, state::Unit& unit) { state.Reap(now, unit); },
      [](const absl::Status&) {}));
  ArmReaper();
}

// A lease that ends sooner than the reaper would come brings it forward.
void BatchCore::ArmReaper() {
  const MonoTime now = clock_.MonoNow();
  MonoTime due = now + options_.reaper_interval;
  if (const std::optional<MonoTime> expiry = state_->NextExpiry()) {
    due = std::min(due, std::max(*expiry, now + kMinReapGap));
  }
  if (reaper_ && reaper_due_ <= due) return;
  if (reaper_) executor_.Cancel(*reaper_);
  reaper_due_ = due;
  reaper_ = executor_.PostAt(due, [this] { Reap(); });
}

}  // namespace skep::loop
