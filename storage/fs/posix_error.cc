#include "storage/fs/posix_error.h"

#include <errno.h>
#include <string.h>

#include <fmt/format.h>

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::fs {
namespace {

std::string_view WayOut(int error, Access access) {
  switch (error) {
    case EROFS:
      return "; mount the filesystem read-write";
    case EACCES:
    case EPERM:
      return access == Access::kWrite
                 ? "; give the user that runs this program write permission there"
                 : "; give the user that runs this program read permission there";
    case ELOOP:
      return "; the links there lead in a circle";
    case EIO:
      return "; the device or mount failed, look at the kernel's log";
    case ENOSPC:
      return "; free space or inodes on that filesystem";
    case EDQUOT:
      return "; raise the quota or remove files";
    case EMFILE:
    case ENFILE:
      return "; raise the limit of open files (LimitNOFILE)";
    case ESTALE:
      return "; the server of the mount gave the file up, look at the mount";
    case EBUSY:
    case ETXTBSY:
      return "; a process still holds it";
    default:
      return "";
  }
}

bool MeansUnwritable(int error) {
  return error == EROFS || error == EACCES || error == EPERM || error == ENOSPC || error == EDQUOT;
}

// What the place has, not this program: EBADF, EINVAL and their like stay its own faults.
bool MeansUnreadable(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
    case EIO:
    case ESTALE:
    case ELOOP:
    case ENAMETOOLONG:
    case EMFILE:
    case ENFILE:
    case ENXIO:
    case ENODEV:
    case ENOTCONN:
    case ETIMEDOUT:
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::Status PosixError(int error, std::string_view doing, const std::string& path, Access access) {
  const char* known = strerrorname_np(error);
  const std::string name = known != nullptr ? known : std::to_string(error);
  const char* words = strerrordesc_np(error);
  const std::string message = fmt::format("cannot {} {}: {} ({}){}",
                                          doing,
                                          Printable(path),
                                          words != nullptr ? words : "unknown error",
                                          name,
                                          WayOut(error, access));
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(message);
  if (access == Access::kWrite) {
    if (error == EEXIST || error == ENOTEMPTY) {
      return MakeError(ErrorReason::kAlreadyExists, message, {{"name", path}});
    }
    if (MeansUnwritable(error)) {
      return MakeError(ErrorReason::kStorageUnwritable, message, {{"path", path}, {"errno", name}});
    }
  }
  if (access == Access::kRead && MeansUnreadable(error)) {
    return MakeError(ErrorReason::kStorageUnreadable, message, {{"path", path}, {"errno", name}});
  }
  return MakeError(ErrorReason::kInternal, message, {{"path", path}, {"errno", name}});
}

}  // namespace skep::fs
