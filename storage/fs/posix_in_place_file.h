#pragma once

#include <memory>
#include <string>

#include <absl/status/statusor.h>

#include "storage/fs/in_place_file.h"

namespace skep::fs {

// The local filesystem. Stateless, thread-safe. Regular files only: anything else is refused as
// kInternal.
class PosixInPlaceFiles final : public InPlaceFiles {
 public:
  absl::StatusOr<std::unique_ptr<InPlaceFile>> OpenInPlace(const std::string& path) override;
};

}  // namespace skep::fs
