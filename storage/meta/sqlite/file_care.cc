#include "storage/meta/sqlite/file_care.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/fs/posix_error.h"
#include "storage/fs/posix_file_system.h"
#include "storage/model/errors.h"

namespace skep::meta {

using fs::Access;
using fs::PosixError;

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

absl::Status SyncFileAndName(fs::FileSystem& fs, fs::InPlaceFiles& files, const std::string& path) {
  SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<fs::InPlaceFile> file, files.OpenInPlace(path));
  SKEP_RETURN_IF_ERROR(file->SyncData());
  return fs.SyncDirectory(DirectoryOf(path));
}

absl::Status RewriteInPlace(fs::InPlaceFiles& files, const std::string& path) {
  const absl::StatusOr<std::unique_ptr<fs::InPlaceFile>> file = files.OpenInPlace(path);
  if (absl::IsNotFound(file.status())) return absl::OkStatus();
  SKEP_RETURN_IF_ERROR(file.status());
  std::string buffer(1 << 20, '\0');
  const int64_t size = (*file)->size();
  for (int64_t at = 0; at < size;) {
    const int64_t length = std::min(size - at, static_cast<int64_t>(buffer.size()));
    SKEP_RETURN_IF_ERROR((*file)->ReadAt(at, length, buffer.data()));
    const std::string_view bytes(buffer.data(), static_cast<size_t>(length));
    SKEP_RETURN_IF_ERROR((*file)->WriteAt(at, bytes));
    at += length;
  }
  return (*file)->SyncData();
}

}  // namespace skep::meta
