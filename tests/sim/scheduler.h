#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <absl/functional/any_invocable.h>

#include "storage/base/clock.h"
#include "storage/base/executor.h"
#include "storage/base/random.h"

namespace skep::sim {

using Nanos = std::chrono::nanoseconds;

// The simulated clock: monotonic time is set by the scheduler; the wall clock follows it with an
// offset that jumps.
class SimClock final : public Clock {
 public:
  SimClock();
  Timestamp Now() const override;
  MonoTime MonoNow() const override { return mono_; }
  // Nobody may block in a simulation of one thread.
  void SleepUntil(MonoTime deadline, std::stop_token stop) override;

  void Set(MonoTime mono) { mono_ = mono; }
  void JumpWall(std::chrono::milliseconds by) { wall_offset_ += by; }

 private:
  MonoTime mono_;
  std::chrono::milliseconds wall_offset_;
};

// Random choices of one run. All of them come from one seed. Confined to one thread, like
// everything here.
class Dice final : public Random {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  uint64_t NextUint64() override { return random_.NextUint64(); }
  int64_t Below(int64_t n) { return static_cast<int64_t>(NextUint64() % static_cast<uint64_t>(n)); }
  // low ≤ result ≤ high
  int64_t Between(int64_t low, int64_t high) { return low + Below(high - low + 1); }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  // Mostly near `low`, sometimes near `high`.
  Nanos Delay(Nanos low, Nanos high);
  template <class T>
  const T& Pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(Below(static_cast<int64_t>(from.size())))];
  }

 private:
  SeededRandom random_;
};

// Something that can stand still or die: the daemon's process, a client's.
struct Process {
  std::string name;
  MonoTime paused_until{};
  bool dead = false;  // what it had to do is dropped
};

// Virtual time and what happens in it: events in order of their time, those of one moment in order
// of a random tie-break. Time jumps to the next event.
class Scheduler {
 public:
  using Task = absl::AnyInvocable<void()>;
  using EventId = uint64_t;

  Scheduler(SimClock& clock, Dice& dice) : clock_(clock), dice_(dice) {}

  MonoTime now() const { return clock_.MonoNow(); }
  SimClock& clock() { return clock_; }
  Dice& dice() { return dice_; }

  // Of a process that stands still then, it happens when it goes on; of a dead one never.
  EventId At(MonoTime when, Task task, std::shared_ptr<const Process> process = nullptr);
  EventId After(Nanos delay, Task task, std::shared_ptr<const Process> process = nullptr) {
    return At(now() + delay, std::move(task), std::move(process));
  }
  bool Cancel(EventId id);

  // The next event. False: there is none.
  bool RunOne();
  int64_t steps() const { return steps_; }

 private:
  struct Key {
    MonoTime when;
    uint64_t tie;
    EventId id;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Event {
    Task task;
    std::shared_ptr<const Process> process;
  };

  SimClock& clock_;
  Dice& dice_;
  std::map<Key, Event> events_;
  std::map<EventId, Key> keys_;
  EventId last_ = 0;
  int64_t steps_ = 0;
};

// A process's thread: tasks run in order of posting, each a little later.
class SimExecutor final : public Executor {
 public:
  SimExecutor(Scheduler& scheduler, std::shared_ptr<const Process> process)
      : scheduler_(scheduler), process_(std::move(process)) {}
  ~SimExecutor() override { Stop(); }

  void Post(Task task) override;
  TimerId PostAt(MonoTime when, Task task) override;
  bool Cancel(TimerId id) override;
  // What is left is dropped, and whatever is posted from now on.
  void Stop();
  // What is left, and what it posts, runs now, in order of posting.
  void RunAll();

 private:
  TimerId Add(MonoTime when, Task task);

  Scheduler& scheduler_;
  const std::shared_ptr<const Process> process_;
  std::map<TimerId, Task> waiting_;
  MonoTime last_{};
  bool stopped_ = false;
};

}  // namespace skep::sim
