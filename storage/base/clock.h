#pragma once

#include <chrono>
#include <stop_token>
#include <string>

namespace skep {

// Wall-clock time as it is persisted and shown: UTC, milliseconds.
using Timestamp = std::chrono::sys_time<std::chrono::milliseconds>;
// Time for intervals and leases: never goes back, means nothing after the process ends.
using MonoTime = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

// Time as a dependency. Implementations: SystemClock here, ManualClock in tests/testing, the
// simulator's. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  virtual Timestamp Now() const = 0;
  virtual MonoTime MonoNow() const = 0;

  // Sleeps until `deadline` or until `stop` is requested, whichever comes first.
  virtual void SleepUntil(MonoTime deadline, std::stop_token stop) = 0;
};

class SystemClock final : public Clock {
 public:
  Timestamp Now() const override;
  MonoTime MonoNow() const override;
  void SleepUntil(MonoTime deadline, std::stop_token stop) override;
};

// "2026-10-01T12:00:00.123Z"
std::string FormatRfc3339(Timestamp t);

}  // namespace skep
