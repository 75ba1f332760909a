#pragma once

#include <string>
#include <vector>

#include "client/cli/context.h"

namespace skep::cli {

// skepctl without its process: parses `arguments` (without the program's name), runs the command,
// prints its result or its error. Returns the exit code.
int RunTool(const std::vector<std::string>& arguments, Context& context);

}  // namespace skep::cli
