#pragma once

// Calls through the command port that come back on the duty's own executor.

#include <memory>
#include <optional>
#include <utility>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/duties/command_port.h"
#include "storage/base/executor.h"

namespace skep::duties {

// Runs `command(state, now, unit) → absl::StatusOr<T>` (or T itself) in the loop; once what it did
// and saw is durable, runs `then(absl::StatusOr<T>)` as a task of `executor`, which must outlive
// the call. Where the unit failed, `then` gets that failure in place of the answer.
template <class T, class Command, class Then>
void Ask(CommandPort& port, Executor& executor, Command command, Then then) {
  // Shared by the command, which fills it, and the continuation, which takes it.
  auto answer = std::make_shared<std::optional<absl::StatusOr<T>>>();
  port.Run(
      [answer, command = std::move(command)](
          state::State& state, state::Now now, state::Unit& unit) mutable {
        *answer = command(state, now, unit);
      },
      [answer, &executor, then = std::move(then)](absl::Status status) mutable {
        executor.Post([answer, then = std::move(then), status = std::move(status)]() mutable {
          if (status.ok()) {
            then(**std::move(answer));
          } else {
            then(absl::StatusOr<T>(std::move(status)));
          }
        });
      });
}

// Nothing was decided or kept, for a reason that may pass: the loop was busy or ending, or the
// store had no room. To be tried again after a rest, never at once.
inline bool WasNotTaken(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsResourceExhausted(status);
}

// The same for commands that answer a status only.
template <class Command, class Then>
void AskStatus(CommandPort& port, Executor& executor, Command command, Then then) {
  struct Nothing {};
  Ask<Nothing>(
      port,
      executor,
      [command = std::move(command)](state::State& state,
                                     state::Now now,
                                     state::Unit& unit) mutable -> absl::StatusOr<Nothing> {
        absl::Status status = command(state, now, unit);
        if (!status.ok()) return status;
        return Nothing{};
      },
      [then = std::move(then)](absl::StatusOr<Nothing> answer) mutable { then(answer.status()); });
}

}  // namespace skep::duties
