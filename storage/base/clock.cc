#include "storage/base/clock.h"

#include <condition_variable>
#include <mutex>

#include <fmt/chrono.h>

namespace skep {

Timestamp SystemClock::Now() const {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

MonoTime SystemClock::MonoNow() const { return std::chrono::steady_clock::now(); }

void SystemClock::SleepUntil(MonoTime deadline, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_until(lock, stop, deadline, [] { return false; });
}

std::string FormatRfc3339(Timestamp t) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(t);
  const auto millis = (t - seconds).count();
  const std::time_t whole = seconds.time_since_epoch().count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(whole), millis);
}

}  // namespace skep
