#include "server/daemon/exit_codes.h"

#include <cerrno>
#include <string>

#include "storage/base/text.h"
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
      const std::optional<int64_t> code =
          found == metadata.end() ? std::nullopt : ParseInt64(found->second);
      return code == EACCES || code == EPERM ? kExitNoPermission : kExitCannotCreate;
    }
    default:
      return kExitIo;
  }
}

}  // namespace skep::daemon
