#include "storage/meta/sqlite/sqlite_error.h"

#include <errno.h>

#include <fmt/format.h>

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::meta {
namespace {

bool MeansFull(int code, sqlite3* db) {
  if ((code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_SHMSIZE) return true;
  if ((code & 0xff) != SQLITE_IOERR || db == nullptr) return false;
  const int error = sqlite3_system_errno(db);
  return error == ENOSPC || error == EDQUOT;
}

struct Meaning {
  ErrorReason reason;
  std::string_view way_out;
};

// The statements are the program's own and fit the schema that it made: another hand changed it.
bool MeansChangedSchema(int code, std::string_view words) {
  return (code & 0xff) == SQLITE_ERROR &&
         (words.starts_with("no such table: ") || words.starts_with("no such column: ") ||
          words.find(" has no column named ") != std::string_view::npos);
}

Meaning MeaningOf(int code, sqlite3* db) {
  if (MeansFull(code, db)) {
    return {ErrorReason::kStoreFull, "free space on the filesystem of the data directory"};
  }
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorReason::kStoreBusy,
              "another program holds the database; open it with sqlite3 -readonly only"};
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorReason::kStorageUnwritable,
              "give the user that runs this program write permission on the data directory and its "
              "files, and mount it read-write"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      return {ErrorReason::kCorruptStore,
              "keep a copy of the data directory and restore the last backup"};
    case SQLITE_IOERR:
      return {ErrorReason::kCorruptStore,
              "look at the disk and the kernel's log before starting again"};
    default:
      return {ErrorReason::kInternal, "this is a fault of the program"};
  }
}

}  // namespace

absl::Status SqliteError(int code, std::string_view doing, const std::string& path, sqlite3* db) {
  const int known = db != nullptr ? sqlite3_extended_errcode(db) : SQLITE_OK;
  // The connection's words belong to its last call only.
  const std::string words = known == code ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  const Meaning meaning =
      MeansChangedSchema(code, words)
          ? Meaning{ErrorReason::kCorruptStore,
                    "the store lacks a table or column that it was made with: keep a copy of the "
                    "data directory and restore the last backup"}
          : MeaningOf(code, db);
  return MakeError(meaning.reason,
                   fmt::format("cannot {} in store {}: {} (SQLite {}); {}",
                               doing,
                               Printable(path),
                               words,
                               code,
                               meaning.way_out),
                   {{"path", path}, {"sqlite", std::to_string(code)}});
}

}  // namespace skep::meta
