#pragma once

#include <string>

#include <absl/status/statusor.h>

#include "storage/base/clock.h"
#include "storage/fs/unique_fd.h"

namespace skep::meta {

// The mark that one daemon uses a data directory: the directory itself is held by flock(2), so the
// mark goes with the process however it ends, and nobody removes it by cleaning up; a file in it
// says who holds it since when. The file itself stays. Move-only.
class LockFile {
 public:
  // `path` is the file's, `now` the start time that goes into it. Errors: kStoreBusy naming the holder's process
  // id and start time (metadata path, pid, since); else as fs::PosixError.
  static absl::StatusOr<LockFile> Acquire(const std::string& path, Timestamp now);

 private:
  explicit LockFile(fs::UniqueFd fd) : fd_(std::move(fd)) {}
  fs::UniqueFd fd_;
};

}  // namespace skep::meta
