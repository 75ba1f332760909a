#include "server/loop/loop_executor.h"

namespace skep::loop {

void LoopExecutor::Post(Task task) {
  {
    absl::MutexLock lock(&mutex_);
    if (!closed_) posted_.push_back(std::move(task));
  }
  // A task that was not taken is destroyed here, outside the mutex: it may answer somebody.
  if (!has_posted_.exchange(true, std::memory_order_acq_rel) && wake_) wake_();
}

Executor::TimerId LoopExecutor::PostAt(MonoTime when, Task task) {
  absl::MutexLock lock(&mutex_);
  const TimerId id = next_id_++;
  if (closed_) return id;
  timers_.emplace(Key(when, id), std::move(task));
  due_.emplace(id, when);
  return id;
}

bool LoopExecutor::Cancel(TimerId id) {
  Task task;
  absl::MutexLock lock(&mutex_);
  const auto due = due_.find(id);
  if (due == due_.end()) return false;
  const auto timer = timers_.find(Key(due->second, id));
  task = std::move(timer->second);
  timers_.erase(timer);
  due_.erase(due);
  return true;
}

void LoopExecutor::RunPosted() {
  if (!HasPosted()) return;
  has_posted_.store(false, std::memory_order_release);
  std::vector<Task> tasks;
  {
    absl::MutexLock lock(&mutex_);
    tasks.swap(posted_);
  }
  for (Task& task : tasks) task();
}

void LoopExecutor::RunDue() {
  // Only what is here now: a task that posts a timer for "now" waits for the next round.
  const MonoTime now = clock_.MonoNow();
  TimerId last = 0;
  {
    absl::MutexLock lock(&mutex_);
    last = next_id_;
  }
  for (;;) {
    Task task;
    {
      absl::MutexLock lock(&mutex_);
      auto it = timers_.begin();
      while (it != timers_.end() && it->first.first <= now && it->first.second >= last) ++it;
      if (it == timers_.end() || it->first.first > now) return;
      task = std::move(it->second);
      due_.erase(it->first.second);
      timers_.erase(it);
    }
    task();
  }
}

std::optional<MonoTime> LoopExecutor::NextDue() {
  absl::MutexLock lock(&mutex_);
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first.first;
}

void LoopExecutor::Close() {
  std::vector<Task> posted;
  std::map<Key, Task> timers;
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  posted.swap(posted_);
  timers.swap(timers_);
  due_.clear();
}

}  // namespace skep::loop
