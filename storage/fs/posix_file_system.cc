#include "storage/fs/posix_file_system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "storage/fs/posix_error.h"
#include "storage/fs/posix_file.h"
#include "storage/fs/posix_rename.h"
#include "storage/fs/posix_retry.h"
#include "storage/fs/posix_tree.h"
#include "storage/fs/unique_fd.h"

namespace skep::fs {
namespace {

UniqueFd OpenDirectory(const std::string& dir) {
  return UniqueFd(
      RetryOnEintr([&] { return ::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
}

struct FreeDeleter {
  void operator()(char* text) const { ::free(text); }  // realpath(3) allocates with malloc
};

}  // namespace

absl::StatusOr<std::vector<DirEntry>> PosixFileSystem::List(const std::string& dir) {
  UniqueFd fd = OpenDirectory(dir);
  if (!fd.is_open()) return PosixError(errno, "list", dir, Access::kRead);
  return ListOpenDirectory(std::move(fd), dir);
}

absl::StatusOr<FileInfo> PosixFileSystem::Stat(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return PosixError(errno, "stat", path, Access::kRead);
  FileInfo result;
  result.kind = KindOfMode(info.st_mode);
  result.size = S_ISREG(info.st_mode) ? info.st_size : 0;
  result.modified = Timestamp(std::chrono::seconds(info.st_mtim.tv_sec) +
                              std::chrono::milliseconds(info.st_mtim.tv_nsec / 1'000'000));
  return result;
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> PosixFileSystem::OpenForRead(
    const std::string& path) {
  return OpenPosixFileForRead(path);
}

absl::StatusOr<std::unique_ptr<WritableFile>> PosixFileSystem::Create(const std::string& path) {
  return CreatePosixFile(path);
}

absl::Status PosixFileSystem::CreateDirectories(const std::string& dir) {
  return CreatePosixDirectories(dir);
}

absl::Status PosixFileSystem::RenameNoReplace(const std::string& from, const std::string& to) {
  return RenameWithoutReplacing(from, to);
}

absl::Status PosixFileSystem::RemoveFile(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return absl::OkStatus();
  return PosixError(errno, "remove", path, Access::kWrite);
}

absl::Status PosixFileSystem::RemoveTree(const std::string& path) { return RemovePosixTree(path); }

absl::Status PosixFileSystem::SyncDirectory(const std::string& dir) {
  const UniqueFd fd = OpenDirectory(dir);
  if (!fd.is_open()) return PosixError(errno, "sync directory", dir, Access::kWrite);
  if (RetryOnEintr([&] { return ::fsync(fd.get()); }) == 0) return absl::OkStatus();
  // Some network and FUSE filesystems have nothing to sync in a directory: their server does it.
  if (errno == EINVAL || errno == EOPNOTSUPP) return absl::OkStatus();
  return PosixError(errno, "sync directory", dir, Access::kWrite);
}

absl::StatusOr<std::string> PosixFileSystem::Canonical(const std::string& path) {
  const std::unique_ptr<char, FreeDeleter> resolved(::realpath(path.c_str(), nullptr));
  if (resolved == nullptr) return PosixError(errno, "resolve", path, Access::kRead);
  return std::string(resolved.get());
}

}  // namespace skep::fs
