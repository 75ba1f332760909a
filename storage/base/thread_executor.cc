#include "storage/base/thread_executor.h"

#include <pthread.h>

#include <deque>
#include <utility>

#include <absl/time/time.h>

namespace skep {

// Timers and ready tasks under one mutex. A worker takes the next ready task, or sleeps until the
// first timer is due or something is posted.
struct ThreadExecutor::Impl {
  explicit Impl(Clock& clock_in) : clock(clock_in) {}

  void Work() {
    while (true) {
      Task task;
      {
        absl::MutexLock lock(&mutex);
        WaitForWorkLocked();
        if (stopping) return;
        if (!TakeDueLocked(&task)) continue;
      }
      task();
    }
  }

  void WaitForWorkLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (stopping || !ready.empty()) return;
    const uint64_t seen = generation;
    auto changed = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
      return stopping || !ready.empty() || generation != seen;
    };
    if (timers.empty()) {
      mutex.Await(absl::Condition(&changed));
      return;
    }
    const auto wait = timers.begin()->first.first - clock.MonoNow();
    if (wait.count() > 0) {
      mutex.AwaitWithTimeout(absl::Condition(&changed), absl::Nanoseconds(wait.count()));
    }
  }

  bool TakeDueLocked(Task* task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (!timers.empty() && timers.begin()->first.first <= clock.MonoNow()) {
      auto first = timers.begin();
      *task = std::move(first->second);
      due.erase(first->first.second);
      timers.erase(first);
      return true;
    }
    if (ready.empty()) return false;
    *task = std::move(ready.front());
    ready.pop_front();
    return true;
  }

  Clock& clock;
  absl::Mutex mutex;
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  uint64_t generation ABSL_GUARDED_BY(mutex) = 0;  // grows when the list of timers changes
  uint64_t next_timer ABSL_GUARDED_BY(mutex) = 1;
  std::deque<Task> ready ABSL_GUARDED_BY(mutex);
  std::map<std::pair<MonoTime, TimerId>, Task> timers ABSL_GUARDED_BY(mutex);
  std::map<TimerId, MonoTime> due ABSL_GUARDED_BY(mutex);
  std::vector<std::thread> threads;
};

ThreadExecutor::ThreadExecutor(std::string name, int threads, Clock& clock)
    : impl_(std::make_unique<Impl>(clock)) {
  for (int i = 0; i < threads; ++i) {
    impl_->threads.emplace_back([impl = impl_.get(), name] {
      SetThreadName(name);
      impl->Work();
    });
  }
}

ThreadExecutor::~ThreadExecutor() { Stop(); }

void ThreadExecutor::Post(Task task) {
  absl::MutexLock lock(&impl_->mutex);
  if (!impl_->stopping) impl_->ready.push_back(std::move(task));
}

Executor::TimerId ThreadExecutor::PostAt(MonoTime when, Task task) {
  absl::MutexLock lock(&impl_->mutex);
  const TimerId id = impl_->next_timer++;
  if (impl_->stopping) return id;
  impl_->timers.emplace(std::pair(when, id), std::move(task));
  impl_->due.emplace(id, when);
  ++impl_->generation;
  return id;
}

bool ThreadExecutor::Cancel(TimerId id) {
  Task task;  // ends outside the mutex: what it owns may post
  absl::MutexLock lock(&impl_->mutex);
  const auto found = impl_->due.find(id);
  if (found == impl_->due.end()) return false;
  const auto timer = impl_->timers.find({found->second, id});
  task = std::move(timer->second);
  impl_->timers.erase(timer);
  impl_->due.erase(found);
  return true;
}

void ThreadExecutor::Stop() {
  {
    absl::MutexLock lock(&impl_->mutex);
    impl_->stopping = true;
  }
  for (std::thread& thread : impl_->threads) {
    if (thread.joinable()) thread.join();
  }
  impl_->threads.clear();
  // Ended outside the mutex: what a task owns may post, to be dropped as well.
  std::deque<Task> ready;
  std::map<std::pair<MonoTime, TimerId>, Task> timers;
  absl::MutexLock lock(&impl_->mutex);
  ready.swap(impl_->ready);
  timers.swap(impl_->timers);
  impl_->due.clear();
}

void SetThreadName(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

}  // namespace skep
