#include "storage/fs/posix_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/fs/posix_error.h"
#include "storage/fs/posix_file_system.h"
#include "storage/fs/posix_retry.h"
#include "storage/model/errors.h"

namespace skep::fs {
namespace {

constexpr int kMaxDepth = 200;  // each level holds a descriptor while it is emptied
constexpr int kMaxPasses = 3;   // over one directory into which somebody keeps writing

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};
using UniqueDir = std::unique_ptr<DIR, CloseDir>;

bool IsDots(const char* name) {
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

// False if the entry is gone by now.
bool ResolveKind(int dir_fd, const dirent& entry, EntryKind& kind) {
  if (entry.d_type == DT_REG || entry.d_type == DT_DIR) {
    kind = entry.d_type == DT_REG ? EntryKind::kFile : EntryKind::kDirectory;
    return true;
  }
  if (entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) {
    kind = EntryKind::kOther;
    return true;
  }
  struct stat info {};
  if (::fstatat(dir_fd, entry.d_name, &info, 0) == 0) {
    kind = KindOfMode(info.st_mode);
    return true;
  }
  kind = EntryKind::kOther;  // a link that points nowhere, or an entry that cannot be looked at
  return ::fstatat(dir_fd, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

absl::Status RemoveAt(int parent, const std::string& name, const std::string& path, int depth);

// Calls `visit(entry)` for each entry but "." and "..". Errors: errno of readdir, 0 if there was
// none.
template <class Visit>
int ForEachEntry(DIR* dir, Visit visit) {
  for (;;) {
    errno = 0;
    const dirent* entry =
        ::readdir(dir);  // NOLINT(concurrency-mt-unsafe): nobody shares the stream
    if (entry == nullptr) return errno;
    if (!IsDots(entry->d_name)) visit(*entry);
  }
}

// One pass over the open directory.
absl::Status RemoveEntries(DIR* dir, const std::string& path, int depth) {
  ::rewinddir(dir);
  std::vector<std::string> names;  // all first: removing while reading may skip entries
  const int error = ForEachEntry(dir, [&](const dirent& entry) { names.push_back(entry.d_name); });
  if (error != 0) return PosixError(error, "list", path, Access::kWrite);
  for (const std::string& name : names) {
    SKEP_RETURN_IF_ERROR(RemoveAt(::dirfd(dir), name, JoinPath(path, name), depth));
  }
  return absl::OkStatus();
}

absl::Status RemoveDirectoryAt(int parent,
                               const std::string& name,
                               const std::string& path,
                               int depth) {
  if (depth > kMaxDepth) {
    return MakeError(
        ErrorReason::kInternal,
        fmt::format("cannot remove {}: more than {} levels deep", Printable(path), kMaxDepth),
        {{"path", path}, {"errno", "ELOOP"}});
  }
  UniqueFd fd(RetryOnEintr([&] {
    return ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  }));
  if (!fd.is_open()) {
    return errno == ENOENT ? absl::OkStatus() : PosixError(errno, "remove", path, Access::kWrite);
  }
  const UniqueDir dir(::fdopendir(fd.get()));
  if (dir == nullptr) return PosixError(errno, "remove", path, Access::kWrite);
  fd.Release();
  for (int pass = 1;; ++pass) {
    SKEP_RETURN_IF_ERROR(RemoveEntries(dir.get(), path, depth + 1));
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) {
      return absl::OkStatus();
    }
    const bool refilled = errno == ENOTEMPTY || errno == EEXIST;
    if (!refilled) return PosixError(errno, "remove", path, Access::kWrite);
    if (pass == kMaxPasses) return PosixError(EBUSY, "remove", path, Access::kWrite);
  }
}

absl::Status RemoveAt(int parent, const std::string& name, const std::string& path, int depth) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return absl::OkStatus();
  const int error = errno;
  // A directory: EISDIR on Linux, EPERM by the letter of POSIX. Anything else is as it was told.
  struct stat info {};
  if ((error == EISDIR || error == EPERM) &&
      ::fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode)) {
    return RemoveDirectoryAt(parent, name, path, depth);
  }
  return PosixError(error, "remove", path, Access::kWrite);
}

}  // namespace

EntryKind KindOfMode(mode_t mode) {
  if (S_ISREG(mode)) return EntryKind::kFile;
  if (S_ISDIR(mode)) return EntryKind::kDirectory;
  return EntryKind::kOther;
}

absl::StatusOr<std::vector<DirEntry>> ListOpenDirectory(UniqueFd fd, const std::string& dir) {
  const UniqueDir stream(::fdopendir(fd.get()));
  if (stream == nullptr) return PosixError(errno, "list", dir, Access::kRead);
  const int dir_fd = fd.Release();
  std::vector<DirEntry> entries;
  const int error = ForEachEntry(stream.get(), [&](const dirent& entry) {
    EntryKind kind = EntryKind::kOther;
    if (ResolveKind(dir_fd, entry, kind)) entries.push_back({entry.d_name, kind});
  });
  if (error != 0) return PosixError(error, "list", dir, Access::kRead);
  std::sort(entries.begin(), entries.end(), [](const DirEntry& a, const DirEntry& b) {
    return a.name < b.name;
  });
  return entries;
}

absl::Status RemovePosixTree(const std::string& path) {
  std::string clean = path;
  while (clean.size() > 1 && clean.back() == '/') clean.pop_back();  // "link/" would be followed
  const absl::Status status = RemoveAt(AT_FDCWD, clean, clean, 0);
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

absl::Status CreatePosixDirectories(const std::string& dir) {
  struct stat info {};
  if (::stat(dir.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return absl::OkStatus();
    return PosixError(EEXIST, "create directory", dir, Access::kWrite);
  }
  if (errno != ENOENT) return PosixError(errno, "create directory", dir, Access::kWrite);
  const std::string parent = ParentPath(dir);
  if (parent.empty()) return PosixError(ENOENT, "create directory", dir, Access::kWrite);
  SKEP_RETURN_IF_ERROR(CreatePosixDirectories(parent));
  // Somebody else may make it at the same moment: that is as good.
  if (::mkdir(dir.c_str(), 0777) != 0 && errno != EEXIST) {
    return PosixError(errno, "create directory", dir, Access::kWrite);
  }
  return PosixFileSystem().SyncDirectory(parent);
}

}  // namespace skep::fs
