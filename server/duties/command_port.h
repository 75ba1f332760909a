#pragma once

#include <functional>

#include <absl/functional/any_invocable.h>
#include <absl/status/status.h>

#include "server/state/state.h"

namespace skep::duties {

// How a duty speaks with the state machine: it hands in a command, the loop runs it inside one of
// its units. server/daemon puts the loop behind it; tests have a synchronous one over a State and
// rows in memory. Implementations are thread-safe.
class CommandPort {
 public:
  // Runs once, on the loop's thread; may read and change the state through its methods, must not
  // block, do IO or call the port. What it wants to keep it copies out: answers that it read are
  // durable only when `Done` says OK.
  using Command = absl::AnyInvocable<void(state::State&, state::Now, state::Unit&)>;
  // Called exactly once, on any thread, never inside Run. Must return soon: a duty posts to its
  // executor.
  //   OK            the unit that held the command, and all that the command saw, is durable and
  //   published kUnavailable  the unit failed or the loop is stopping: the command changed nothing,
  //   or never ran kUnknown      the sync failed (OUTCOME_UNKNOWN): what became of it shows after
  //   the restart
  using Done = absl::AnyInvocable<void(absl::Status)>;

  virtual ~CommandPort() = default;

  virtual void Run(Command command, Done done) = 0;

  // `changed` is called, on any thread, after each durable unit that put a compaction row: there
  // may be work for a worker or the cleaner. Must return soon. Set before the first Run; replaces
  // the one before.
  virtual void WatchCompactions(std::function<void()> changed) = 0;
};

}  // namespace skep::duties
