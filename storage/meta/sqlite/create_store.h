#pragma once

#include <absl/status/status.h>

#include "storage/fs/file_system.h"
#include "storage/fs/in_place_file.h"
#include "storage/meta/sqlite/database.h"
#include "storage/meta/sqlite/migrations.h"

namespace skep::meta {

// Sees to it that a store file is at `database.path`. A new one is made under "<path>.new", with
// its whole schema, and renamed when it is durable: so a file under the store's name is a store or
// damage, never the beginning of one. What is there already is not touched; the directory's name
// for it is durable on return.
//
// Errors: kCorruptStore for an empty file, and for files of a store (a write-ahead log, a log) that
// lie there without it; kStorageUnwritable for one that may not be written, with path and errno
// (EACCES, EROFS); those of Migrate and Database.
//
// The ports must suit the VFS of `database`.
absl::Status CreateStoreIfAbsent(fs::FileSystem& fs,
                                 fs::InPlaceFiles& files,
                                 const DatabaseOptions& database,
                                 const MigrateOptions& migrate);

}  // namespace skep::meta
