#pragma once

#include <deque>
#include <map>
#include <utility>

#include "storage/base/executor.h"
#include "tests/testing/manual_clock.h"

namespace skep::testing {

// One virtual thread over a manual clock: tasks run when the test says so, in order of posting,
// timers in order of their time. Confined to the thread of the test.
class ManualExecutor final : public Executor {
 public:
  // `clock` must outlive the executor.
  explicit ManualExecutor(ManualClock& clock) : clock_(clock) {}

  void Post(Task task) override { ready_.push_back(std::move(task)); }

  TimerId PostAt(MonoTime when, Task task) override {
    const TimerId id = ++last_timer_;
    timers_.emplace(std::make_pair(when, id), std::move(task));
    return id;
  }

  bool Cancel(TimerId id) override {
    for (auto it = timers_.begin(); it != timers_.end(); ++it) {
      if (it->first.second != id) continue;
      timers_.erase(it);
      return true;
    }
    return false;
  }

  // Runs one task that is due. False: there is none.
  bool RunOne() {
    if (ready_.empty()) TakeDueTimers();
    if (ready_.empty()) return false;
    Task task = std::move(ready_.front());
    ready_.pop_front();
    task();
    return true;
  }

  // Runs what is due until nothing is. Answers how many tasks that were.
  int RunReady() {
    int count = 0;
    while (RunOne()) ++count;
    return count;
  }

  // Lets time pass, stopping at each timer on the way.
  void Advance(std::chrono::nanoseconds by) {
    const MonoTime end = clock_.MonoNow() + by;
    RunReady();
    while (!timers_.empty() && timers_.begin()->first.first <= end) {
      const MonoTime when = timers_.begin()->first.first;
      if (when > clock_.MonoNow()) clock_.Advance(when - clock_.MonoNow());
      RunReady();
    }
    clock_.Advance(end - clock_.MonoNow());
    RunReady();
  }

  bool HasTimers() const { return !timers_.empty(); }

 private:
  void TakeDueTimers() {
    while (!timers_.empty() && timers_.begin()->first.first <= clock_.MonoNow()) {
      ready_.push_back(std::move(timers_.begin()->second));
      timers_.erase(timers_.begin());
    }
  }

  ManualClock& clock_;
  std::deque<Task> ready_;
  std::map<std::pair<MonoTime, TimerId>, Task> timers_;
  TimerId last_timer_ = 0;
};

}  // namespace skep::testing
