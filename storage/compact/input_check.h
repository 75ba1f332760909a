#pragma once

// Nothing in an input is passed over in silence: what readers ignore would be gone for good once
// the input is cleaned. Asked before a compaction, and again before each removal: in between
// anything may have come.

#include <string>
#include <vector>

#include <absl/status/status.h>

#include "storage/fs/file_system.h"

namespace skep::compact {

// Every visible file at any depth below `path` has the name of a data file or of its flush-length
// file, and every sub-directory but a union leg holds one. Errors: kMalformedDirectory naming the
// first that is not so; kNotEnoughHistory where something is gone (D-14).
absl::Status CheckTreeNames(fs::FileSystem& fs, const std::string& path);

// CheckTreeNames of each ACID directory among `inputs`, which lie below `dir`.
absl::Status CheckInputNames(fs::FileSystem& fs,
                             const std::string& dir,
                             const std::vector<std::string>& inputs);

}  // namespace skep::compact
