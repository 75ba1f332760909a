#pragma once

#include <absl/status/status.h>

namespace skep::daemon {

// What the process's end tells systemd and scripts (sysexits.h).
enum ExitCode {
  kExitOk = 0,
  kExitUsage = 64,        // bad command line
  kExitUnavailable = 69,  // port taken, store in use by another skepd
  kExitInternal = 70,     // a broken invariant
  kExitCannotCreate = 73,
  kExitIo = 74,  // the store cannot be read or written, or the outcome of a unit is unknown
  kExitNoPermission = 77,
  kExitConfig = 78,  // bad configuration, or a store newer than the program
};

// For a store that cannot be opened.
ExitCode ExitCodeOfStore(const absl::Status& status);

}  // namespace skep::daemon
