#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace skep::daemon {

// What systemd is told (sd_notify): no effect where nobody listens. Thread-safe.
class Notifier {
 public:
  // The daemon serves.
  void Ready(const std::string& status);
  // A phase: "recovering", "draining 4 calls".
  void Status(const std::string& status);
  void Stopping();
  // The proof of life that Type=notify asks for.
  void Watchdog();
  // How often the proof must come (half of WatchdogSec); nullopt: nobody asks.
  static std::optional<std::chrono::microseconds> WatchdogInterval();
};

}  // namespace skep::daemon
