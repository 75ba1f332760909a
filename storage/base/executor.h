#pragma once

#include <cstdint>
#include <functional>

#include <absl/functional/any_invocable.h>

#include "storage/base/clock.h"

namespace skep {

// Where work that is not on the caller's stack runs. Production: threads (ThreadExecutor).
// Simulation and tests: one thread and virtual time, so that the same code can be driven
// deterministically.
//
// Tasks posted to one executor with one thread run in order of posting; with several threads in any
// order. A task never runs inside Post or PostAt.
class Executor {
 public:
  using Task = absl::AnyInvocable<void()>;
  using TimerId = uint64_t;

  virtual ~Executor() = default;

  virtual void Post(Task task) = 0;
  // Runs `task` at or soon after `when`, on the clock given to the executor.
  virtual TimerId PostAt(MonoTime when, Task task) = 0;
  // True if the task was taken back before it began.
  virtual bool Cancel(TimerId id) = 0;
};

}  // namespace skep
