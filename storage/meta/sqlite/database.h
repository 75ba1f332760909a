#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sqlite3.h>

#include "storage/meta/sqlite/statement.h"

namespace skep::meta {

struct DatabaseOptions {
  std::string path;
  std::string vfs;      // name of a registered VFS; empty: the default one
  bool create = false;  // a file that is absent; else it is kStorageUnwritable
  bool extra_sync = false;
  int busy_timeout_ms = 5'000;
};

// The one connection that writes and checkpoints a store file: opened with every setting the store
// relies on. Confined to one thread.
class Database {
 public:
  // Changes nothing of a file that is there. Errors: as SqliteError.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const DatabaseOptions& options);
  // To be called once it is known that the file is ours. Errors: as SqliteError; kNotSupported
  // where the filesystem cannot carry a write-ahead log.
  absl::Status UseWriteAheadLog();
  // Closing checkpoints and removes the write-ahead log, unless LeaveFilesAlone was called.
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  sqlite3* handle() const { return db_; }
  const std::string& path() const { return path_; }

  absl::Status Error(int code, std::string_view doing) const;

  // One or more statements without bindings, results ignored. For start and maintenance only.
  absl::Status Execute(const std::string& sql, std::string_view doing);
  // First column of the only row; 0 or "" if there is none.
  absl::StatusOr<int64_t> QueryInt(const std::string& sql);
  absl::StatusOr<std::string> QueryText(const std::string& sql);
  absl::StatusOr<Statement> Prepare(const std::string& sql);

  bool InTransaction() const { return sqlite3_get_autocommit(db_) == 0; }

  // Frames that commits have appended to the write-ahead log since the last Checkpoint.
  int uncopied_frames() const { return wal_.frames - wal_.at_checkpoint; }
  // Copies the log into the database file and syncs both. Frames that a reader still needs stay for
  // the next time. SQLITE_OK, also if they did, or the error's code.
  int Checkpoint();

  // Nothing is to be written any more: what the files hold is for the next start to find out.
  void LeaveFilesAlone();

 private:
  struct WalLength {
    int frames = 0;         // after the last commit
    int at_checkpoint = 0;  // at the last checkpoint; 0 if the log began anew since
  };
  template <class Take>
  absl::Status QueryRow(const std::string& sql, Take take);
  static int NoteCommit(void* wal, sqlite3*, const char*, int frames);

  Database(sqlite3* db, const DatabaseOptions& options)
      : db_(db), path_(options.path), extra_sync_(options.extra_sync) {}

  sqlite3* db_;
  const std::string path_;
  const bool extra_sync_;
  WalLength wal_;
};

}  // namespace skep::meta
