#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <absl/base/thread_annotations.h>
#include <absl/functional/any_invocable.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>

#include "storage/base/clock.h"
#include "storage/base/executor.h"

namespace skep::duties {

// How a pass of a duty ended.
struct PassResult {
  enum class Next { kRest, kGoOn };  // kGoOn: there is more to do, at once
  absl::Status status;
  Next next = Next::kRest;
};

// Runs one pass of a duty after another, never two at once: after a rest, sooner when woken; after
// a failure with a growing delay that waking does not cut short. A failure is logged when it first
// happens and then at each doubling of its count. Thread-safe.
class Pacer {
 public:
  struct Options {
    std::string name;  // event prefix of log lines: "initiator"
    std::chrono::milliseconds rest{5'000};
    std::chrono::milliseconds first_delay{1'000};  // after a failure; doubles
    std::chrono::milliseconds max_delay{320'000};
  };
  using Finished = absl::AnyInvocable<void(PassResult)>;  // exactly once, on any thread
  using Pass = absl::AnyInvocable<void(Finished)>;        // a task of the executor

  struct Status {
    bool running = false;
    int64_t passes = 0;    // finished ones
    int64_t failures = 0;  // in a row
    std::string last_error;
    MonoTime next{};  // of the next pass, unless running
  };

  // `executor` and `clock` must outlive the pacer.
  Pacer(Options options, Executor& executor, Clock& clock, Pass pass);
  // Only before Start or after Stop has reported.
  ~Pacer();

  // The first pass comes at once.
  void Start() ABSL_LOCKS_EXCLUDED(mutex_);
  void Wake() ABSL_LOCKS_EXCLUDED(mutex_);
  // No pass begins after this. `stopped` is called once the running one has finished, on the
  // executor. To be called once.
  void Stop(Executor::Task stopped) ABSL_LOCKS_EXCLUDED(mutex_);
  // True from Stop on: a pass looks here to end early.
  bool stopping() const ABSL_LOCKS_EXCLUDED(mutex_);
  Status status() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  enum class Phase { kIdle, kPosted, kResting, kRunning };

  void RunPass() ABSL_LOCKS_EXCLUDED(mutex_);
  void Finish(PassResult result) ABSL_LOCKS_EXCLUDED(mutex_);
  void PostLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RestLocked(std::chrono::milliseconds delay) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountLocked(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::chrono::milliseconds DelayLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  Executor& executor_;
  Clock& clock_;
  Pass pass_;  // touched by the running pass only

  mutable absl::Mutex mutex_;
  Phase phase_ ABSL_GUARDED_BY(mutex_) = Phase::kIdle;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Executor::TimerId timer_ ABSL_GUARDED_BY(mutex_) = 0;
  Executor::Task stopped_ ABSL_GUARDED_BY(mutex_);
  Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skep::duties
