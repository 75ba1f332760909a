#include "server/daemon/notify.h"

#include <fmt/format.h>
#include <systemd/sd-daemon.h>

namespace skep::daemon {

void Notifier::Ready(const std::string& status) {
  sd_notify(0, fmt::format("READY=1\nSTATUS={}", status).c_str());
}

void Notifier::Status(const std::string& status) {
  sd_notify(0, fmt::format("STATUS={}", status).c_str());
}

void Notifier::Stopping() { sd_notify(0, "STOPPING=1\nSTATUS=draining"); }

void Notifier::Watchdog() { sd_notify(0, "WATCHDOG=1"); }

std::optional<std::chrono::microseconds> Notifier::WatchdogInterval() {
  uint64_t microseconds = 0;
  if (sd_watchdog_enabled(0, &microseconds) <= 0) return std::nullopt;
  return std::chrono::microseconds(microseconds / 2);
}

}  // namespace skep::daemon
