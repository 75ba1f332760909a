#pragma once

#include "storage/base/clock.h"

namespace skep::loop {

// Where calls come from and answers go: one queue of events, handled one at a time on the loop's
// thread. Production: a completion queue (GrpcTransport). The simulator and tests have their own.
class Transport {
 public:
  enum class Got { kEvent, kNothing, kClosed };

  virtual ~Transport() = default;

  // Waits until `deadline` for the next event; a deadline that is over takes what is there without
  // waiting. kClosed: there will be no more.
  virtual Got Next(MonoTime deadline) = 0;
  // Handles the event that Next reported: a call that arrived is decided by BatchCore::Run.
  virtual void Dispatch() = 0;
};

}  // namespace skep::loop
