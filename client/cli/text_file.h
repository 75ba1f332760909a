#pragma once

#include <string>

#include <absl/status/statusor.h>

namespace skep::cli {

// A small text file named on the command line, "-" for stdin. Errors: NOT_FOUND, kInvalidRequest
// (larger than 16 MiB, a directory, not readable) naming it.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

}  // namespace skep::cli
