#pragma once

// One function per command: prints its result and returns the exit code. An error it returns is
// printed by the caller, in the three-part form, and decides the exit code.

#include <absl/status/statusor.h>

#include "client/cli/context.h"
#include "client/cli/options.h"

namespace skep::cli {

absl::StatusOr<int> RunCommand(Run& run, const Status& options);
absl::StatusOr<int> RunCommand(Run& run, const ShowTransactions& options);
absl::StatusOr<int> RunCommand(Run& run, const ShowLocks& options);
absl::StatusOr<int> RunCommand(Run& run, const ShowCompactions& options);
absl::StatusOr<int> RunCommand(Run& run, const ShowTables& options);
absl::StatusOr<int> RunCommand(Run& run, const ShowTable& options);
absl::StatusOr<int> RunCommand(Run& run, const ShowDeltas& options);
absl::StatusOr<int> RunCommand(Run& run, const ShowSnapshot& options);
absl::StatusOr<int> RunCommand(Run& run, const ExplainLock& options);
absl::StatusOr<int> RunCommand(Run& run, const ExplainCleaner& options);
absl::StatusOr<int> RunCommand(Run& run, const ExplainCompaction& options);
absl::StatusOr<int> RunCommand(Run& run, const AbortTransactions& options);
absl::StatusOr<int> RunCommand(Run& run, const ReleaseLock& options);
absl::StatusOr<int> RunCommand(Run& run, const Compact& options);
absl::StatusOr<int> RunCommand(Run& run, const CreateTable& options);
absl::StatusOr<int> RunCommand(Run& run, const RegisterTable& options);
absl::StatusOr<int> RunCommand(Run& run, const SetProperties& options);
absl::StatusOr<int> RunCommand(Run& run, const DropTable& options);
absl::StatusOr<int> RunCommand(Run& run, const WatchEvents& options);
absl::StatusOr<int> RunCommand(Run& run, const Read& options);
absl::StatusOr<int> RunCommand(Run& run, const Dump& options);

}  // namespace skep::cli
