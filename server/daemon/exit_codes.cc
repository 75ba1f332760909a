#include "server/daemon/exit_codes.h"

#include <string>

#include "storage/model/errors.h"

namespace skep::daemon {

ExitCode ExitCodeOfStore(const absl::Status& status) {
  switch (ReasonOf(status)) {
    case ErrorReason::kStoreBusy:
      return kExitUnavailable;
    case ErrorReason::kNotSupported:
      return kExitConfig;
    case ErrorReason::kStorageUnwritable: {
      const ErrorMetadata metadata = MetadataOf(status);
      const auto found = metadata.find("errno");
      const std::string name = found == metadata.end() ? "" : found->second;
      const bool denied = name == "EACCES" || name == "EPERM" || name == "EROFS";
      return denied ? kExitNoPermission : kExitCannotCreate;
    }
    default:
      return kExitIo;
  }
}

}  // namespace skep::daemon
