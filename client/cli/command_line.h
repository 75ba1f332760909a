#pragma once

#include <string>
#include <variant>
#include <vector>

#include "client/cli/options.h"

namespace skep::cli {

// The command line was answered by itself: help, the version, or a fault in it.
struct CommandLineAnswer {
  int exit_code = 0;  // 0: `text` is a result, 2: it is a complaint
  std::string text;
};

// Bare `skepctl` gives the short help and 2. A mistyped command names the nearest one.
std::variant<Invocation, CommandLineAnswer> ParseCommandLine(
    const std::vector<std::string>& arguments);

}  // namespace skep::cli
