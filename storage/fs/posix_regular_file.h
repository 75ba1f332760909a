#pragma once

#include <cstdint>
#include <string>

#include <absl/status/statusor.h>

#include "storage/fs/posix_error.h"
#include "storage/fs/unique_fd.h"

namespace skep::fs {

struct RegularFile {
  UniqueFd fd;
  int64_t size = 0;
};

// `flags`: O_RDONLY or O_RDWR. What is no regular file is refused as kInternal, and a pipe is not
// waited for. Errors of the system: as PosixError, the file's use being `access`.
absl::StatusOr<RegularFile> OpenRegularFile(const std::string& path, int flags, Access access);

// How many of `length` bytes from `offset` there are; fewer only where the file ends.
absl::StatusOr<int64_t> ReadUpTo(
    const UniqueFd& fd, const std::string& path, int64_t offset, int64_t length, void* out);

}  // namespace skep::fs
