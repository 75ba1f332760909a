#include "storage/fs/posix_regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "storage/base/text.h"
#include "storage/fs/posix_retry.h"
#include "storage/model/errors.h"

namespace skep::fs {

absl::StatusOr<RegularFile> OpenRegularFile(const std::string& path, int flags, Access access) {
  // O_NONBLOCK: opening a pipe without a writer would wait for ever. It means nothing for regular
  // files.
  UniqueFd fd(RetryOnEintr([&] { return ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK); }));
  if (!fd.is_open()) return PosixError(errno, "open", path, access);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return PosixError(errno, "stat", path, Access::kRead);
  if (!S_ISREG(info.st_mode)) {
    return MakeError(ErrorReason::kInternal,
                     fmt::format("cannot {} {}: it is not a regular file",
                                 access == Access::kRead ? "read" : "write",
                                 Printable(path)),
                     {{"path", path}, {"errno", S_ISDIR(info.st_mode) ? "EISDIR" : "EINVAL"}});
  }
  return RegularFile{std::move(fd), info.st_size};
}

absl::StatusOr<int64_t> ReadUpTo(
    const UniqueFd& fd, const std::string& path, int64_t offset, int64_t length, void* out) {
  auto* bytes = static_cast<char*>(out);
  int64_t done = 0;
  while (done < length) {
    const ssize_t got = RetryOnEintr([&] {
      return ::pread(fd.get(), bytes + done, static_cast<size_t>(length - done), offset + done);
    });
    if (got < 0) return PosixError(errno, "read", path, Access::kRead);
    if (got == 0) break;
    done += got;
  }
  return done;
}

}  // namespace skep::fs
