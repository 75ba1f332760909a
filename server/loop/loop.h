#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "server/loop/batch_core.h"
#include "server/loop/loop_executor.h"
#include "server/loop/transport.h"

namespace skep::loop {

// The order of things, once per round:
//   1 wait for an event (not while a unit is open)   2 decide it and all others that have arrived,
//   and, where many call, that arrive after a short pause, until the unit is full   3 what other
//   threads posted   4 write, sync, publish, answer   5 timers that are due.
// So a batch forms by itself, and every arrival is seen before a timer runs: a lease whose
// heartbeat waits in the queue is not ended. Confined to the thread that calls it.
class Loop {
 public:
  // All must outlive the loop.
  Loop(BatchCore& core, Transport& transport, LoopExecutor& executor, Clock& clock)
      : core_(core), transport_(transport), executor_(executor), clock_(clock) {}

  // Called once, on the loop's thread, when the core must end (its fatal() is set): somebody has to
  // close the transport. Until then the loop goes on, refusing everything.
  void OnFatal(std::function<void()> on_fatal) { on_fatal_ = std::move(on_fatal); }

  // Rounds until the transport is closed.
  void Run();
  // One round; false at the end. May sleep until the next timer, half a second at most.
  bool Round();

  // When the last round ended, in nanoseconds of the clock: a proof that the loop is alive.
  // Thread-safe.
  MonoTime LastRound() const {
    return MonoTime(std::chrono::nanoseconds(last_round_.load(std::memory_order_relaxed)));
  }

 private:
  MonoTime WaitUntil(MonoTime now);
  // The next event, if one comes soon.
  Transport::Got Linger();
  void RunTimers(bool drained);

  BatchCore& core_;
  Transport& transport_;
  LoopExecutor& executor_;
  Clock& clock_;
  bool tidy_ = true;  // the store had its idle moment since the last unit
  int64_t units_ = 0;
  std::function<void()> on_fatal_;
  std::atomic<int64_t> last_round_{0};
};

}  // namespace skep::loop
