#pragma once

#include <memory>
#include <string>

#include <absl/status/statusor.h>

#include "storage/fs/file_system.h"

namespace skep::fs {

// Regular files only: a pipe or a directory is refused as kInternal instead of blocking or failing
// later.
absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenPosixFileForRead(const std::string& path);

// Buffers 64 KiB, so an error of the disk may come with a later call. After an error every call
// repeats it: pages of a failed sync count as clean, a second sync would lie.
absl::StatusOr<std::unique_ptr<WritableFile>> CreatePosixFile(const std::string& path);

}  // namespace skep::fs
