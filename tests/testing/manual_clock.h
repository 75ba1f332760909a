#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include "storage/base/clock.h"

namespace skep::testing {

// A clock that moves only when told to. Advance wakes sleepers whose deadline has come.
// Thread-safe.
class ManualClock final : public Clock {
 public:
  // Starts at 2026-10-01T00:00:00Z.
  ManualClock();

  Timestamp Now() const override;
  MonoTime MonoNow() const override;
  void SleepUntil(MonoTime deadline, std::stop_token stop) override;

  void Advance(std::chrono::nanoseconds by);

 private:
  mutable absl::Mutex mutex_;
  std::chrono::nanoseconds passed_ ABSL_GUARDED_BY(mutex_){0};
};

}  // namespace skep::testing
