#include "storage/meta/sqlite/database.h"

#include <utility>

#include <fmt/format.h>

#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/meta/sqlite/sqlite_error.h"
#include "storage/model/errors.h"

namespace skep::meta {

int Database::NoteCommit(void* wal, sqlite3*, const char*, int frames) {
  auto* length = static_cast<WalLength*>(wal);
  if (frames < length->frames) length->at_checkpoint = 0;
  length->frames = frames;
  return SQLITE_OK;
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const DatabaseOptions& options) {
  sqlite3* handle = nullptr;
  // NOMUTEX: one thread at a time is this class's contract, so SQLite need not lock each call.
  const int flags = SQLITE_OPEN_READWRITE | (options.create ? SQLITE_OPEN_CREATE : 0) |
                    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(
      options.path.c_str(), &handle, flags, options.vfs.empty() ? nullptr : options.vfs.c_str());
  std::unique_ptr<Database> db(new Database(handle, options));
  if (code != SQLITE_OK) return db->Error(code, "open the database");
  sqlite3_busy_timeout(handle, options.busy_timeout_ms);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  SKEP_RETURN_IF_ERROR(
      db->Execute("PRAGMA trusted_schema = OFF;"
                  "PRAGMA cell_size_check = ON;"
                  "PRAGMA foreign_keys = ON;"
                  "PRAGMA mmap_size = 0;"
                  "PRAGMA temp_store = MEMORY;"
                  "PRAGMA cache_size = -1024;",
                  "configure the connection"));
  return db;
}

absl::Status Database::UseWriteAheadLog() {
  SKEP_ASSIGN_OR_RETURN(const std::string mode, QueryText("PRAGMA journal_mode = WAL"));
  if (mode != "wal") {
    return MakeError(
        ErrorReason::kNotSupported,
        fmt::format("store {} cannot have a write-ahead log there (journal mode {}); put "
                    "the data directory on a local filesystem",
                    Printable(path_),
                    mode),
        {{"what", "journal_mode " + mode}, {"path", path_}});
  }
  SKEP_RETURN_IF_ERROR(Execute(fmt::format("PRAGMA synchronous = {};"
                                           "PRAGMA wal_autocheckpoint = 0;"
                                           "PRAGMA journal_size_limit = 67108864;",
                                           extra_sync_ ? "EXTRA" : "FULL"),
                               "configure the write-ahead log"));
  sqlite3_wal_hook(db_, &NoteCommit, &wal_);
  return absl::OkStatus();
}

Database::~Database() {
  const int code = sqlite3_close(db_);
  if (code != SQLITE_OK) {
    Log(LogLevel::kError, "store.close", {{"path", path_}, {"error", sqlite3_errstr(code)}});
  }
}

absl::Status Database::Error(int code, std::string_view doing) const {
  return SqliteError(code, doing, path_, db_);
}

absl::Status Database::Execute(const std::string& sql, std::string_view doing) {
  const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Error(code, doing);
}

template <class Take>
absl::Status Database::QueryRow(const std::string& sql, Take take) {
  SKEP_ASSIGN_OR_RETURN(const Statement query, Prepare(sql));
  int code = sqlite3_step(query.get());
  if (code == SQLITE_ROW) {
    take(query.get());
    // To the end: a pragma that changes the file commits behind its row, and may fail there.
    code = sqlite3_step(query.get());
  }
  return code == SQLITE_DONE ? absl::OkStatus() : Error(code, fmt::format("run '{}'", sql));
}

absl::StatusOr<int64_t> Database::QueryInt(const std::string& sql) {
  int64_t value = 0;
  SKEP_RETURN_IF_ERROR(
      QueryRow(sql, [&](sqlite3_stmt* row) { value = sqlite3_column_int64(row, 0); }));
  return value;
}

absl::StatusOr<std::string> Database::QueryText(const std::string& sql) {
  std::string value;
  SKEP_RETURN_IF_ERROR(QueryRow(sql, [&](sqlite3_stmt* row) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, 0));
    if (text != nullptr) value = text;
  }));
  return value;
}

absl::StatusOr<Statement> Database::Prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(db_,
                                      sql.c_str(),
                                      static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT,
                                      &statement,
                                      nullptr);
  if (code != SQLITE_OK) return Error(code, "prepare a statement");
  return Statement(statement);
}

int Database::Checkpoint() {
  wal_.at_checkpoint = wal_.frames;
  const int code =
      sqlite3_wal_checkpoint_v2(db_, "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  return code == SQLITE_BUSY ? SQLITE_OK : code;
}

void Database::LeaveFilesAlone() {
  sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

}  // namespace skep::meta
