#pragma once

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include "storage/base/executor.h"

namespace skep {

// An executor of `threads` named threads over one queue and one timer list. Thread-safe.
// Stop() lets running tasks end, drops those that have not begun and joins; the destructor calls
// it.
class ThreadExecutor final : public Executor {
 public:
  // `clock` must outlive the executor and run in real time.
  ThreadExecutor(std::string name, int threads, Clock& clock);
  ~ThreadExecutor() override;

  void Post(Task task) override;
  TimerId PostAt(MonoTime when, Task task) override;
  bool Cancel(TimerId id) override;
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Names the calling thread as `ps -L` shows it (at most 15 characters).
void SetThreadName(const std::string& name);

}  // namespace skep
