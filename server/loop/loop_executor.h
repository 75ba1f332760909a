#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include "storage/base/executor.h"

namespace skep::loop {

// The executor whose tasks run on the loop's thread, when the loop asks for them: the way in for
// everybody outside. Thread-safe, except RunPosted, RunDue and NextDue (the loop's thread).
class LoopExecutor final : public Executor {
 public:
  explicit LoopExecutor(Clock& clock) : clock_(clock) {}

  // Called (on the caller's thread) when something was posted while the loop may sleep. Set before
  // the first Post from another thread; must be cheap and must not call back.
  void SetWake(std::function<void()> wake) { wake_ = std::move(wake); }

  void Post(Task task) override;
  TimerId PostAt(MonoTime when, Task task) override;
  bool Cancel(TimerId id) override;

  bool HasPosted() const { return has_posted_.load(std::memory_order_acquire); }
  // Runs what was posted before the call, not what those tasks post.
  void RunPosted();
  // Runs the timers that are due, in order of their time.
  void RunDue();
  std::optional<MonoTime> NextDue();
  // Drops what is left and whatever is posted from now on.
  void Close();

 private:
  using Key = std::pair<MonoTime, TimerId>;

  Clock& clock_;
  std::function<void()> wake_;
  std::atomic<bool> has_posted_{false};
  absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<Task> posted_ ABSL_GUARDED_BY(mutex_);
  TimerId next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  std::map<Key, Task> timers_ ABSL_GUARDED_BY(mutex_);
  std::map<TimerId, MonoTime> due_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skep::loop
