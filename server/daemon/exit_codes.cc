#include "server/daemon/exit_codes.h"

#include <string>

#include "storage/model/errors.h"

namespace skep::daemon {
namespace {

bool IsDenied(const absl::Status& status) {
  const ErrorMetadata metadata = MetadataOf(status);
  const auto found = metadata.find("errno");
  const std::string name = found == metadata.end() ? "" : found->second;
  return name == "EACCES" || name == "EPERM" || name == "EROFS";
}

}  // namespace

ExitCode ExitCodeOfStore(const absl::Status& status) {
  switch (ReasonOf(status)) {
    case ErrorReason::kStoreBusy:
      return kExitUnavailable;
    case ErrorReason::kNotSupported:
      return kExitConfig;
    case ErrorReason::kStorageUnwritable:
      return IsDenied(status) ? kExitNoPermission : kExitCannotCreate;
    case ErrorReason::kStorageUnreadable:
      return IsDenied(status) ? kExitNoPermission : kExitIo;
    default:
      return kExitIo;
  }
}

}  // namespace skep::daemon
