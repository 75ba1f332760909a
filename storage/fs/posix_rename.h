#pragma once

#include <string>

#include <absl/status/status.h>

namespace skep::fs {

// Renames without ever replacing: renameat2(RENAME_NOREPLACE) where the filesystem has it, else
// RenameByClaim. Errors: as FileSystem::RenameNoReplace.
absl::Status RenameWithoutReplacing(const std::string& from, const std::string& to);

// The same for filesystems without RENAME_NOREPLACE (NFS, some FUSE): the target name is claimed by
// a call that fails if it exists, then taken. A directory: mkdir, then rename over the empty
// directory, which fails if anybody put something into it. A file: link, then unlink of the old
// name; where hard links are missing an exclusive create, then rename over it. A crash in between
// leaves an empty directory or both names of the file; never a lost or replaced one.
absl::Status RenameByClaim(const std::string& from, const std::string& to);

}  // namespace skep::fs
