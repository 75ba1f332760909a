#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/fs/file_system.h"
#include "storage/model/errors.h"

namespace skep::fs {

absl::StatusOr<std::string> ReadSmallFile(FileSystem& fs, const std::string& path, int64_t limit) {
  SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file, fs.OpenForRead(path));
  if (file->size() > limit) {
    return MakeError(ErrorReason::kCorruptFile,
                     fmt::format("{} has {} bytes where at most {} make sense; it is not what its "
                                 "name says",
                                 Printable(path),
                                 file->size(),
                                 limit),
                     {{"path", path}, {"offset", std::to_string(limit)}});
  }
  std::string bytes(static_cast<size_t>(file->size()), '\0');
  SKEP_RETURN_IF_ERROR(file->ReadAt(0, file->size(), bytes.data()));
  return bytes;
}

absl::Status WriteSmallFile(FileSystem& fs, const std::string& path, std::string_view bytes) {
  SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, fs.Create(path));
  SKEP_RETURN_IF_ERROR(file->Append(bytes));
  SKEP_RETURN_IF_ERROR(file->Close());
  return fs.SyncDirectory(ParentPath(path));
}

}  // namespace skep::fs
