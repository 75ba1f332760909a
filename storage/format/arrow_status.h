#pragma once

#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::format {

// Failures of Arrow that no input explains (memory, broken arrays) are ours: kInternal.
inline absl::Status FromArrow(const arrow::Status& status) {
  return status.ok() ? absl::OkStatus()
                     : MakeError(ErrorReason::kInternal, "arrow: " + status.message());
}

template <class T>
absl::StatusOr<T> FromArrow(arrow::Result<T> result) {
  if (!result.ok()) return FromArrow(result.status());
  return std::move(result).ValueUnsafe();
}

}  // namespace skep::format
