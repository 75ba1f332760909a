#include "storage/meta/sqlite/migrations.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/fs/posix_file_system.h"
#include "storage/fs/posix_in_place_file.h"
#include "storage/meta/sqlite/column_io.h"
#include "storage/meta/sqlite/file_care.h"
#include "storage/model/errors.h"

namespace skep::meta {
namespace {

// Made with the first step and never changed by any.
constexpr std::string_view kHistoryTable = R"sql(
CREATE TABLE schema_migrations (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  applied_at TEXT NOT NULL,
  program TEXT NOT NULL
) STRICT;
)sql";

// Rolls back unless the work was committed.
class Transaction {
 public:
  explicit Transaction(Database& db) : db_(db) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (db_.InTransaction()) sqlite3_exec(db_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  absl::Status Begin() { return db_.Execute("BEGIN IMMEDIATE", "begin a migration"); }
  absl::Status Commit() { return db_.Execute("COMMIT", "commit a migration"); }

 private:
  Database& db_;
};

absl::StatusOr<bool> IsEmpty(Database& db) {
  SKEP_ASSIGN_OR_RETURN(const int64_t objects, db.QueryInt("SELECT count(*) FROM sqlite_schema"));
  SKEP_ASSIGN_OR_RETURN(const int64_t application, db.QueryInt("PRAGMA application_id"));
  return objects == 0 && application == 0;
}

absl::Status ApplyStep(Database& db, const MigrationStep& step, const MigrateOptions& options) {
  const std::string what = fmt::format("make schema version {} ({})", step.version, step.name);
  SKEP_RETURN_IF_ERROR(db.Execute(std::string(step.sql), what));
  SKEP_ASSIGN_OR_RETURN(Statement insert,
                        db.Prepare("INSERT INTO schema_migrations VALUES (?1, ?2, ?3, ?4, ?5)"));
  ColumnBinder bind(insert.get());
  const std::string checksum = ChecksumOf(step);
  const std::string applied_at = FormatRfc3339(options.now);
  bind.Bind(step.version);
  bind.Bind(step.name);
  bind.Bind(checksum);
  bind.Bind(applied_at);
  bind.Bind(options.program);
  SKEP_RETURN_IF_ERROR(bind.status());
  if (const int code = insert.Run(); code != SQLITE_OK) return db.Error(code, what);
  return db.Execute(fmt::format("PRAGMA user_version = {}", step.version), what);
}

absl::Status CreateAll(Database& db,
                       std::span<const MigrationStep> steps,
                       const MigrateOptions& options) {
  Transaction transaction(db);
  SKEP_RETURN_IF_ERROR(transaction.Begin());
  SKEP_RETURN_IF_ERROR(db.Execute(fmt::format("PRAGMA application_id = {}", kApplicationId),
                                  "mark the file as a store"));
  SKEP_RETURN_IF_ERROR(db.Execute(std::string(kHistoryTable), "make schema_migrations"));
  for (const MigrationStep& step : steps) SKEP_RETURN_IF_ERROR(ApplyStep(db, step, options));
  return transaction.Commit();
}

// The steps a store went through must be the ones this program knows.
absl::Status CheckHistory(Database& db, std::span<const MigrationStep> steps, int64_t version) {
  for (const MigrationStep& step : steps) {
    if (step.version > version) break;
    SKEP_ASSIGN_OR_RETURN(
        const std::string checksum,
        db.QueryText(fmt::format("SELECT checksum FROM schema_migrations WHERE version = {}",
                                 step.version)));
    if (checksum == ChecksumOf(step)) continue;
    return MakeError(
        ErrorReason::kCorruptStore,
        fmt::format(
            "store {}: schema version {} was not made by this program's step '{}' (checksum "
            "'{}', known '{}'); start the program that made it",
            Printable(db.path()),
            step.version,
            step.name,
            Printable(checksum),
            ChecksumOf(step)),
        {{"path", db.path()}, {"version", std::to_string(step.version)}});
  }
  return absl::OkStatus();
}

// "20261001T120000Z"
std::string CompactTime(Timestamp t) {
  std::string text = FormatRfc3339(t).substr(0, 19);
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text + "Z";
}

absl::Status CheckCopy(const std::string& path) {
  DatabaseOptions options;
  options.path = path;
  SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<Database> copy, Database::Open(options));
  SKEP_ASSIGN_OR_RETURN(const std::string check, copy->QueryText("PRAGMA quick_check"));
  if (check == "ok") return absl::OkStatus();
  return MakeError(ErrorReason::kCorruptStore,
                   fmt::format("the copy {} is damaged: {}", Printable(path), check),
                   {{"path", path}});
}

absl::Status CopyBefore(Database& db, int64_t version, Timestamp now) {
  const std::string copy = fmt::format("{}.v{}-{}.backup", db.path(), version, CompactTime(now));
  SKEP_ASSIGN_OR_RETURN(Statement vacuum, db.Prepare("VACUUM INTO ?1"));
  ColumnBinder bind(vacuum.get());
  bind.Bind(copy);
  if (const int code = vacuum.Run(); code != SQLITE_OK) {
    return db.Error(code, fmt::format("copy the store to {} before migrating", Printable(copy)));
  }
  SKEP_RETURN_IF_ERROR(CheckCopy(copy));
  // The copy is SQLite's own work, so it lies where the system's files do.
  fs::PosixFileSystem fs;
  fs::PosixInPlaceFiles files;
  SKEP_RETURN_IF_ERROR(SyncFileAndName(fs, files, copy));
  Log(LogLevel::kInfo, "store.backup", {{"path", copy}, {"version", version}});
  return absl::OkStatus();
}

absl::Status WrongVersion(const Database& db, int64_t found, int64_t known, std::string_view way) {
  return MakeError(ErrorReason::kNotSupported,
                   fmt::format("store {} has schema version {}, this program writes version {}; {}",
                               Printable(db.path()),
                               found,
                               known,
                               way),
                   {{"what", "schema version " + std::to_string(found)},
                    {"found", std::to_string(found)},
                    {"known", std::to_string(known)},
                    {"path", db.path()}});
}

}  // namespace

std::string ChecksumOf(const MigrationStep& step) {
  uint64_t hash = 14695981039346656037ull;  // FNV-1a: guards against a step edited by mistake
  for (const char c : step.sql) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211ull;
  return fmt::format("{:016x}", hash);
}

absl::Status CheckIsStore(Database& db) {
  SKEP_ASSIGN_OR_RETURN(const int64_t application, db.QueryInt("PRAGMA application_id"));
  if (application == kApplicationId) return absl::OkStatus();
  SKEP_ASSIGN_OR_RETURN(const bool empty, IsEmpty(db));
  if (empty) {
    return MakeError(ErrorReason::kCorruptStore,
                     fmt::format("store {} holds no tables, which no store ever does; keep a copy "
                                 "of the data directory and restore the last backup",
                                 Printable(db.path())),
                     {{"path", db.path()}});
  }
  return MakeError(ErrorReason::kCorruptStore,
                   fmt::format("{} is an SQLite database of another program (application id {}); "
                               "give the data directory of a Skep store or an empty one",
                               Printable(db.path()),
                               application),
                   {{"path", db.path()}});
}

absl::Status Migrate(Database& db,
                     std::span<const MigrationStep> steps,
                     const MigrateOptions& options) {
  SKEP_ASSIGN_OR_RETURN(const bool empty, IsEmpty(db));
  if (empty) return CreateAll(db, steps, options);
  SKEP_ASSIGN_OR_RETURN(const int64_t version, db.QueryInt("PRAGMA user_version"));
  const int64_t known = steps.back().version;
  if (version > known) {
    return WrongVersion(
        db, version, known, "start the newer program, or restore a copy made before it");
  }
  SKEP_RETURN_IF_ERROR(CheckHistory(db, steps, version));
  if (version == known) return absl::OkStatus();
  if (!options.auto_migrate) {
    return WrongVersion(
        db, version, known, "start with auto_migrate to migrate it; a copy is made");
  }
  SKEP_RETURN_IF_ERROR(CopyBefore(db, version, options.now));
  for (const MigrationStep& step : steps) {
    if (step.version <= version) continue;
    Transaction transaction(db);
    SKEP_RETURN_IF_ERROR(transaction.Begin());
    SKEP_RETURN_IF_ERROR(ApplyStep(db, step, options));
    SKEP_RETURN_IF_ERROR(transaction.Commit());
    Log(LogLevel::kInfo, "store.migrate", {{"path", db.path()}, {"version", step.version}});
  }
  return absl::OkStatus();
}

}  // namespace skep::meta
