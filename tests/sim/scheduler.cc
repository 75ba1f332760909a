#include "tests/sim/scheduler.h"

#include <algorithm>

#include "storage/base/check.h"

namespace skep::sim {

SimClock::SimClock()
    : mono_(std::chrono::hours(1)),
      wall_offset_(std::chrono::hours(24 * 365 * 56)) {}  // 2025, give or take

Timestamp SimClock::Now() const {
  return Timestamp(std::chrono::duration_cast<std::chrono::milliseconds>(mono_.time_since_epoch()) +
                   wall_offset_);
}

void SimClock::SleepUntil(MonoTime, std::stop_token) { SKEP_CHECK(false); }

Nanos Dice::Delay(Nanos low, Nanos high) {
  const int64_t span = (high - low).count();
  if (span <= 0) return low;
  // The product of two even draws: three quarters of them fall below the middle.
  const auto first = static_cast<double>(Below(1'000'001)) / 1e6;
  const auto second = static_cast<double>(Below(1'000'001)) / 1e6;
  return low + Nanos(static_cast<int64_t>(static_cast<double>(span) * first * second));
}

Scheduler::EventId Scheduler::At(MonoTime when, Task task, std::shared_ptr<const Process> process) {
  const EventId id = ++last_;
  const Key key{std::max(when, now()), dice_.NextUint64(), id};
  events_.emplace(key, Event{std::move(task), std::move(process)});
  keys_.emplace(id, key);
  return id;
}

bool Scheduler::Cancel(EventId id) {
  const auto found = keys_.find(id);
  if (found == keys_.end()) return false;
  const auto event = events_.find(found->second);
  keys_.erase(found);
  // Its task goes last: what that holds may cancel others.
  const Event dropped = std::move(event->second);
  events_.erase(event);
  return true;
}

bool Scheduler::RunOne() {
  if (events_.empty()) return false;
  const auto first = events_.begin();
  const Key key = first->first;
  clock_.Set(std::max(key.when, now()));
  if (const auto& process = first->second.process) {
    if (!process->dead && process->paused_until > now()) {
      // The order of a process's own events must survive its pause: the key keeps its tie-break.
      auto node = events_.extract(first);
      node.key().when = process->paused_until;
      // Events of one moment run by tie-break; id order keeps what was ordered before.
      node.key().tie = key.id;
      keys_[key.id] = node.key();
      events_.insert(std::move(node));
      return true;
    }
  }
  Event event = std::move(first->second);
  events_.erase(first);
  keys_.erase(key.id);
  ++steps_;
  if (event.process == nullptr || !event.process->dead) event.task();
  return true;
}

void SimExecutor::Post(Task task) {
  const Nanos delay = scheduler_.dice().Delay(Nanos(1'000), Nanos(400'000));
  last_ = std::max(last_ + Nanos(1), scheduler_.now() + delay);
  Add(last_, std::move(task));
}

Executor::TimerId SimExecutor::PostAt(MonoTime when, Task task) {
  const Nanos late = scheduler_.dice().Delay(Nanos(0), Nanos(2'000'000));
  return Add(std::max(when, scheduler_.now()) + late, std::move(task));
}

Executor::TimerId SimExecutor::Add(MonoTime when, Task task) {
  if (stopped_) return 0;
  const auto id = std::make_shared<TimerId>(0);
  *id = scheduler_.At(
      when,
      [this, id] {
        auto node = waiting_.extract(*id);
        node.mapped()();
      },
      process_);
  waiting_.emplace(*id, std::move(task));
  return *id;
}

bool SimExecutor::Cancel(TimerId id) {
  const auto node = waiting_.extract(id);
  return !node.empty() && scheduler_.Cancel(id);
}

void SimExecutor::Stop() {
  stopped_ = true;
  // What a task holds may cancel another one when it goes.
  while (!waiting_.empty()) {
    const auto node = waiting_.extract(waiting_.begin());
    scheduler_.Cancel(node.key());
  }
}

void SimExecutor::RunAll() {
  while (!waiting_.empty()) {
    auto node = waiting_.extract(waiting_.begin());
    scheduler_.Cancel(node.key());
    node.mapped()();
  }
}

}  // namespace skep::sim
