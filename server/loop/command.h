#pragma once

#include <memory>
#include <span>

#include <absl/functional/any_invocable.h>
#include <absl/status/status.h>

#include "server/state/state.h"

namespace skep::loop {

// When an answer may leave.
enum class Release {
  // With the unit that was open when it was decided, durable; at once if that unit holds nothing
  // yet.
  kWithUnit,
  // Says only what no open unit can change (a transaction's own lists, a heartbeat): at once,
  // unless the open
  // unit touches one of the transactions it is about, or the answer is a refusal.
  kAtOnce,
  // There is no answer yet: the command waits for a lock (BatchCore::Park).
  kParked,
  // There is no answer yet: somebody else took the call and answers through a later command.
  kLater,
};

struct Verdict {
  Release release = Release::kWithUnit;
  // For kAtOnce. Valid until the command is answered.
  std::span<const TxnId> about;
};

// Something asked of the state machine. Confined to the loop's thread after it was handed over.
//
// Decide runs once. Then exactly one of Durable and Failed; neither where the verdict was kParked
// (the LockWaiter is answered, also when the unit fails) or kLater (who took the call answers it).
class Command {
 public:
  virtual ~Command() = default;

  // Decides: may read and change the state, adds what it changes to the unit. Must not block, do IO
  // or call the core, except for Park.
  virtual Verdict Decide(state::State& state, state::Now now, state::Unit& unit) = 0;
  // The unit that holds the command, and all that it saw, is durable and published.
  virtual void Durable() = 0;
  // The unit was not stored (kStoreBusy, kStoreFull): the command changed nothing. Or nobody knows
  // (kOutcomeUnknown). Or the loop stopped before it ran (kShuttingDown).
  virtual void Failed(const absl::Status& status) = 0;
};

using CommandFn = absl::AnyInvocable<void(state::State&, state::Now, state::Unit&)>;
using DoneFn = absl::AnyInvocable<void(absl::Status)>;

// A command of two functions. `done` is called exactly once: OK once durable, else why not;
// kShuttingDown if the command is destroyed without having run. For callers whose answers wait for
// the unit.
std::unique_ptr<Command> MakeCommand(CommandFn run, DoneFn done);

}  // namespace skep::loop
