#pragma once

#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/model/names.h"

namespace skep::cli {

// The same error as a fault of the command line: the tool then ends with exit code 2.
absl::Status AsUsage(const absl::Status& status);
bool IsUsage(const absl::Status& status);

// DB.TABLE given as an argument. Errors: kInvalidRequest, a fault of the command line.
absl::StatusOr<TableName> ParseTableArgument(std::string_view text);

}  // namespace skep::cli
