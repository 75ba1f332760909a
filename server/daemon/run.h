#pragma once

#include "server/daemon/hooks.h"

namespace skep::daemon {

// The whole of skepd: reads the command line and the configuration, serves until a signal ends it.
// Returns the exit status. Once per process.
int Run(int argc, char** argv, DaemonHooks hooks = {});

}  // namespace skep::daemon
