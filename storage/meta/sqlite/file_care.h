#pragma once

#include <string>

#include <absl/status/status.h>

#include "storage/fs/file_system.h"
#include "storage/fs/in_place_file.h"

namespace skep::meta {

// The directory that holds the store's files; "." for a lone name.
std::string DirectoryOf(const std::string& store_path);

// The directory that is to hold `path` must be there and writable. Errors: kStorageUnwritable with
// path and errno (ENOENT, ENOTDIR, EACCES, EROFS) and what to do.
absl::Status CheckDataDirectory(const std::string& path);

// Syncs a file that is there and the directory that names it. Errors: as the ports.
absl::Status SyncFileAndName(fs::FileSystem& fs, fs::InPlaceFiles& files, const std::string& path);

// Writes the bytes of a file over themselves and syncs it; absent: OK. After a failed sync the
// system may keep the bytes in memory and call them clean: a second sync alone would write nothing
// . Only while nobody has the file open for writing. Errors: as fs::InPlaceFiles.
absl::Status RewriteInPlace(fs::InPlaceFiles& files, const std::string& path);

}  // namespace skep::meta
