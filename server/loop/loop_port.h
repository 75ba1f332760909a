#pragma once

#include <memory>
#include <utility>

#include "server/loop/batch_core.h"
#include "server/loop/command.h"
#include "storage/base/executor.h"

namespace skep::loop {

// The way into the loop for everybody who is not on its thread. Thread-safe. Both must outlive the
// port, and the executor's tasks must run on the core's thread.
class LoopPort {
 public:
  LoopPort(BatchCore& core, Executor& executor) : core_(core), executor_(executor) {}

  // Runs `run` in one of the loop's units; `done` is called once, on the loop's thread or where the
  // port is being closed: see MakeCommand.
  void Run(CommandFn run, DoneFn done) {
    executor_.Post([this, command = MakeCommand(std::move(run), std::move(done))]() mutable {
      core_.RunOwned(std::move(command));
    });
  }
  // A task on the loop's thread that is no command.
  void Post(Executor::Task task) { executor_.Post(std::move(task)); }

 private:
  BatchCore& core_;
  Executor& executor_;
};

}  // namespace skep::loop
