#include "storage/meta/sqlite/create_store.h"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/meta/sqlite/file_care.h"
#include "storage/model/errors.h"

namespace skep::meta {
namespace {

absl::Status CheckFound(fs::InPlaceFiles& files,
                        const std::string& path,
                        const fs::FileInfo& info) {
  if (info.kind == fs::EntryKind::kFile && info.size == 0) {
    return MakeError(ErrorReason::kCorruptStore,
                     fmt::format("store {} is empty, which no store ever is; keep a copy of the "
                                 "data directory and restore the last backup",
                                 Printable(path)),
                     {{"path", path}});
  }
  // SQLite would open it for reading only, and the first unit would fail.
  return files.OpenInPlace(path).status();
}

// Files that hold units which the tables may lack. One of the log in the making, and SQLite's
// index of its log, hold nothing.
bool HoldsUnits(std::string_view suffix) {
  return suffix == "-wal" || suffix == "-journal" ||
         (suffix.starts_with("-log.") && suffix != "-log.new");
}

absl::Status CheckNothingIsLeft(fs::FileSystem& fs, const std::string& path) {
  const std::string dir = DirectoryOf(path);
  const std::string name = fs::BaseName(path);
  SKEP_ASSIGN_OR_RETURN(const std::vector<fs::DirEntry> entries, fs.List(dir));
  for (const fs::DirEntry& entry : entries) {
    const std::string_view found = entry.name;
    if (!found.starts_with(name) || !HoldsUnits(found.substr(name.size()))) continue;
    return MakeError(
        ErrorReason::kCorruptStore,
        fmt::format("store {} is missing, but {} of it is there; bring the store back, or move "
                    "the files of the old one away to begin a new one",
                    Printable(path),
                    Printable(entry.name)),
        {{"path", path}, {"left", entry.name}});
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CreateStoreIfAbsent(fs::FileSystem& fs,
                                 fs::InPlaceFiles& files,
                                 const DatabaseOptions& database,
                                 const MigrateOptions& migrate) {
  const std::string& path = database.path;
  const absl::StatusOr<fs::FileInfo> found = fs.Stat(path);
  if (found.ok()) {
    SKEP_RETURN_IF_ERROR(CheckFound(files, path, *found));
    return fs.SyncDirectory(DirectoryOf(path));
  }
  if (!absl::IsNotFound(found.status())) return found.status();
  SKEP_RETURN_IF_ERROR(CheckNothingIsLeft(fs, path));
  DatabaseOptions making = database;
  making.path = path + ".new";
  making.create = true;
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    SKEP_RETURN_IF_ERROR(fs.RemoveFile(making.path + suffix));
  }
  {
    SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<Database> db, Database::Open(making));
    SKEP_RETURN_IF_ERROR(Migrate(*db, MigrationSteps(), migrate));
  }
  SKEP_RETURN_IF_ERROR(SyncFileAndName(fs, files, making.path));
  SKEP_RETURN_IF_ERROR(fs.RenameNoReplace(making.path, path));
  return fs.SyncDirectory(DirectoryOf(path));
}

}  // namespace skep::meta
