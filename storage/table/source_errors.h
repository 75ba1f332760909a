#pragma once

// The refusals that listing, collecting and reading of sources share.

#include <string>
#include <string_view>

#include <absl/status/status.h>

namespace skep::table {

absl::Status MalformedError(const std::string& path, std::string_view what);
// NOT_FOUND of something that was listed is kNotEnoughHistory (D-14); everything else stays as it
// is.
absl::Status GoneIfNotFound(const absl::Status& status, const std::string& path);
// NOT_FOUND of a directory that the server knows of, a table's or a declared partition's, is
// kMalformedDirectory: nothing of Skep removes one. Everything else stays as it is.
absl::Status MissingIfNotFound(const absl::Status& status, const std::string& dir);
absl::Status LegacyError(const std::string& path, std::string_view evidence);
absl::Status CorruptError(const std::string& path, std::string_view what);

}  // namespace skep::table
