#pragma once

#include <absl/status/status.h>

namespace skep::cli {

// What the process ends with; documented for scripts, never renumbered.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;  // refused or failed
inline constexpr int kUsage = 2;   // the command line
inline constexpr int kNotFound = 3;
inline constexpr int kConflict = 4;  // conflict, aborted, not in this state
inline constexpr int kNotAllowed = 5;
inline constexpr int kUnavailable = 6;  // a retry may help
inline constexpr int kWaitTimeout = 7;  // --wait ended by --timeout
inline constexpr int kInterrupted = 130;

int ExitCodeOf(const absl::Status& status);

}  // namespace skep::cli
