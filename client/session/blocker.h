#pragma once

#include <absl/synchronization/notification.h>

namespace skep::client {

// How a blocking call waits for its completion. Production: the thread sleeps. Tests and the
// simulation, where one thread runs everything: the executor is driven until the completion is
// there. Thread-safe.
class Blocker {
 public:
  virtual ~Blocker() = default;
  // Returns once `done` was notified.
  virtual void Wait(absl::Notification& done) = 0;
};

class ThreadBlocker final : public Blocker {
 public:
  void Wait(absl::Notification& done) override { done.WaitForNotification(); }
};

}  // namespace skep::client
