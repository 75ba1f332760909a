#include "tests/testing/manual_clock.h"

namespace skep::testing {

namespace {
constexpr std::chrono::milliseconds kStart{1790812800000};  // 2026-10-01T00:00:00Z
}

ManualClock::ManualClock() = default;

Timestamp ManualClock::Now() const {
  absl::MutexLock lock(&mutex_);
  return Timestamp(kStart + std::chrono::duration_cast<std::chrono::milliseconds>(passed_));
}

MonoTime ManualClock::MonoNow() const {
  absl::MutexLock lock(&mutex_);
  return MonoTime(std::chrono::hours(1) + passed_);
}

void ManualClock::SleepUntil(MonoTime deadline, std::stop_token stop) {
  bool stopped = false;
  std::stop_callback on_stop(stop, [&] {
    absl::MutexLock lock(&mutex_);
    stopped = true;
  });
  absl::MutexLock lock(&mutex_);
  auto due = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopped || MonoTime(std::chrono::hours(1) + passed_) >= deadline;
  };
  mutex_.Await(absl::Condition(&due));
}

void ManualClock::Advance(std::chrono::nanoseconds by) {
  absl::MutexLock lock(&mutex_);
  passed_ += by;
}

}  // namespace skep::testing
