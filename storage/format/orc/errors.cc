#include "storage/format/orc/errors.h"

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::orc {

absl::Status CorruptFile(const std::string& path, std::string_view what, uint64_t offset) {
  return MakeError(ErrorReason::kCorruptFile,
                   path + ": " + std::string(what) + " (offset " + std::to_string(offset) + ")",
                   {{"path", path}, {"offset", std::to_string(offset)}});
}

absl::Status UnsupportedFile(const std::string& path, std::string_view what) {
  return MakeError(ErrorReason::kNotSupported,
                   path + ": " + std::string(what) + " is not supported",
                   {{"path", path}, {"what", std::string(what)}});
}

absl::Status AtFile(const absl::Status& status, const std::string& path, uint64_t offset) {
  if (ReasonOf(status) == ErrorReason::kCorruptFile) {
    ErrorMetadata metadata = MetadataOf(status);
    if (metadata.contains("path")) return status;
    return CorruptFile(path, MessageOf(status), offset);
  }
  if (ReasonOf(status) == ErrorReason::kNotSupported)
    return UnsupportedFile(path, MessageOf(status));
  return Annotate(status, path);
}

}  // namespace skep::orc
