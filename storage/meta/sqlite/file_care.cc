#include "storage/meta/sqlite/file_care.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/fs/file_system.h"
#include "storage/fs/posix_error.h"
#include "storage/fs/posix_file_system.h"
#include "storage/fs/posix_retry.h"
#include "storage/fs/unique_fd.h"
#include "storage/model/errors.h"

namespace skep::meta {

using fs::Access;
using fs::PosixError;
using fs::RetryOnEintr;
using fs::UniqueFd;

std::string DirectoryOf(const std::string& store_path) {
  std::string dir = fs::ParentPath(store_path);
  return dir.empty() ? "." : dir;
}

absl::Status CheckDataDirectory(const std::string& path) {
  const std::string dir = DirectoryOf(path);
  const absl::StatusOr<fs::FileInfo> info = fs::PosixFileSystem().Stat(dir);
  const bool is_file = info.ok() && info->kind != fs::EntryKind::kDirectory;
  if (is_file || absl::IsNotFound(info.status())) {
    return MakeError(ErrorReason::kStorageUnwritable,
                     fmt::format("the data directory {} {}; create it, owned by the user that runs "
                                 "this program, or give another one",
                                 Printable(dir),
                                 is_file ? "is not a directory" : "does not exist"),
                     {{"path", dir}, {"errno", is_file ? "ENOTDIR" : "ENOENT"}});
  }
  SKEP_RETURN_IF_ERROR(info.status());
  if (::access(dir.c_str(), R_OK | W_OK | X_OK) != 0) {
    return PosixError(errno, "use the data directory", dir, Access::kWrite);
  }
  return absl::OkStatus();
}

absl::Status SyncFileAndName(const std::string& path) {
  const UniqueFd fd(RetryOnEintr([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!fd.is_open()) return PosixError(errno, "open", path, Access::kWrite);
  if (RetryOnEintr([&] { return ::fsync(fd.get()); }) != 0) {
    return PosixError(errno, "sync", path, Access::kWrite);
  }
  return fs::PosixFileSystem().SyncDirectory(DirectoryOf(path));
}

absl::Status RewriteInPlace(const std::string& path) {
  const UniqueFd fd(RetryOnEintr([&] { return ::open(path.c_str(), O_RDWR | O_CLOEXEC); }));
  if (!fd.is_open()) {
    return errno == ENOENT ? absl::OkStatus() : PosixError(errno, "open", path, Access::kWrite);
  }
  std::vector<char> buffer(1 << 20);
  off_t at = 0;
  for (;;) {
    const ssize_t got =
        RetryOnEintr([&] { return ::pread(fd.get(), buffer.data(), buffer.size(), at); });
    if (got < 0) return PosixError(errno, "read", path, Access::kRead);
    if (got == 0) break;
    ssize_t done = 0;
    while (done < got) {
      const ssize_t put = RetryOnEintr([&] {
        return ::pwrite(fd.get(), buffer.data() + done, static_cast<size_t>(got - done), at + done);
      });
      if (put < 0) return PosixError(errno, "write again", path, Access::kWrite);
      done += put;
    }
    at += got;
  }
  if (RetryOnEintr([&] { return ::fsync(fd.get()); }) != 0) {
    return PosixError(errno, "sync", path, Access::kWrite);
  }
  return absl::OkStatus();
}

}  // namespace skep::meta
