#pragma once

#include <string>
#include <string_view>

#include <absl/status/status.h>

namespace skep::fs {

// What the failed call was for: a refusal is the operator's to mend (kStorageUnwritable,
// kStorageUnreadable).
enum class Access { kRead, kWrite };

// The status for `error` (an errno) met while `doing` ("create", "list", …) something to `path`.
//
// ENOENT, ENOTDIR: absl NOT_FOUND without a reason. Writes only: EEXIST and ENOTEMPTY are
// kAlreadyExists (metadata name); EROFS, EACCES, EPERM, ENOSPC, EDQUOT are kStorageUnwritable
// (metadata path, errno). Reads only: EACCES, EPERM and what else a disk, mount, link or limit
// refuses are kStorageUnreadable (metadata path, errno). Everything else is kInternal (metadata
// path, errno). errno is given by name ("ENOSPC"); the text ends with the way out where there is
// one.
absl::Status PosixError(int error, std::string_view doing, const std::string& path, Access access);

}  // namespace skep::fs
