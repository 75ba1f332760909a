#pragma once

// Nothing in an input is passed over in silence: what readers ignore would be gone for good once
// the input is cleaned.

#include <string>
#include <vector>

#include <absl/status/status.h>

#include "storage/fs/file_system.h"

namespace skep::compact {

// Every visible file in the given directories below `dir` has the name of a data file or of its
// flush-length file. Errors: kMalformedDirectory naming the first that has not; kNotEnoughHistory
// where an input is gone (D-14).
absl::Status CheckInputNames(fs::FileSystem& fs,
                             const std::string& dir,
                             const std::vector<std::string>& inputs);

}  // namespace skep::compact
