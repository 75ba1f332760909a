#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/fs/file_system.h"
#include "storage/fs/unique_fd.h"

namespace skep::fs {

EntryKind KindOfMode(mode_t mode);

// Entries of the open directory `fd` in byte order of names; `dir` is its path for messages. A link
// counts as what it points to, one that points nowhere as kOther.
absl::StatusOr<std::vector<DirEntry>> ListOpenDirectory(UniqueFd fd, const std::string& dir);

// Removes `path` and, if it is a directory, everything below it. Each level is opened relative to
// its parent with O_NOFOLLOW: a link, or a directory that is swapped for a link meanwhile, is
// removed or refused, never entered. Absent: OK.
absl::Status RemovePosixTree(const std::string& path);

// mkdir with all missing parents; syncs the parent of each directory it makes.
absl::Status CreatePosixDirectories(const std::string& dir);

}  // namespace skep::fs
