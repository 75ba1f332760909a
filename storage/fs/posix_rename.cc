#include "storage/fs/posix_rename.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "storage/base/text.h"
#include "storage/fs/posix_error.h"
#include "storage/fs/posix_retry.h"
#include "storage/fs/unique_fd.h"

namespace skep::fs {
namespace {

absl::Status RenameError(int error, const std::string& from, const std::string& to) {
  return PosixError(error, fmt::format("rename {} to", Printable(from)), to, Access::kWrite);
}

absl::Status RenameDirectoryByClaim(const std::string& from, const std::string& to) {
  if (::mkdir(to.c_str(), 0777) != 0) return RenameError(errno, from, to);
  if (::rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  const int error = errno;
  ::rmdir(
      to.c_str());  // the own claim, empty; if somebody filled it, it is no longer ours to remove
  return RenameError(error, from, to);
}

absl::Status RenameFileByClaim(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) == 0) {
    if (::unlink(from.c_str()) == 0) return absl::OkStatus();
    const int error = errno;
    ::unlink(to.c_str());
    return RenameError(error, from, to);
  }
  const bool no_links = errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK;
  if (!no_links) return RenameError(errno, from, to);
  const UniqueFd claim(RetryOnEintr(
      [&] { return ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); }));
  if (!claim.is_open()) return RenameError(errno, from, to);
  if (::rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  const int error = errno;
  ::unlink(to.c_str());
  return RenameError(error, from, to);
}

}  // namespace

absl::Status RenameWithoutReplacing(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return absl::OkStatus();
  }
  // EINVAL is also what moving a directory into itself gives; RenameByClaim answers that one again.
  if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) return RenameByClaim(from, to);
  return RenameError(errno, from, to);
}

absl::Status RenameByClaim(const std::string& from, const std::string& to) {
  struct stat info {};
  if (::lstat(from.c_str(), &info) != 0) return RenameError(errno, from, to);
  return S_ISDIR(info.st_mode) ? RenameDirectoryByClaim(from, to) : RenameFileByClaim(from, to);
}

}  // namespace skep::fs
