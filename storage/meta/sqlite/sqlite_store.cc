#include "storage/meta/sqlite/sqlite_store.h"

#include <utility>

#include <fmt/format.h>

#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/fs/posix_file_system.h"
#include "storage/fs/posix_in_place_file.h"
#include "storage/meta/sqlite/create_store.h"
#include "storage/meta/sqlite/file_care.h"
#include "storage/meta/sqlite/migrations.h"
#include "storage/meta/sqlite/state_reader.h"
#include "storage/meta/sqlite/table_names.h"
#include "storage/model/errors.h"

namespace skep::meta {
namespace {

// From here on two connections may reset one log at the same moment; before, such a reset could
// lose pages. Skep has one connection that writes, so the fault cannot strike; a second program
// could make it.
constexpr int kFirstVersionWithSafeReset = 3'051'003;

template <class Id, class Row>
absl::Status ReadHighest(Database& db, std::string_view column, Id& id) {
  SKEP_ASSIGN_OR_RETURN(
      const int64_t highest,
      db.QueryInt(fmt::format("SELECT ifnull(max({}), 0) FROM {}", column, kTableOf<Row>)));
  id = Id(highest);
  return absl::OkStatus();
}

absl::StatusOr<StoredIds> ReadStoredIds(Database& db) {
  StoredIds ids;
  SKEP_RETURN_IF_ERROR((ReadHighest<TxnId, TxnRow>(db, "txn_id", ids.txn)));
  SKEP_RETURN_IF_ERROR((ReadHighest<TxnId, ComponentRow>(db, "txn_id", ids.component_txn)));
  SKEP_RETURN_IF_ERROR((ReadHighest<LockId, LockRow>(db, "lock_id", ids.lock)));
  SKEP_RETURN_IF_ERROR(
      (ReadHighest<CompactionId, CompactionRow>(db, "compaction_id", ids.compaction)));
  return ids;
}

}  // namespace

void LogSqliteVersion() {
  const bool safe = sqlite3_libversion_number() >= kFirstVersionWithSafeReset;
  Log(safe ? LogLevel::kInfo : LogLevel::kWarn,
      "store.library",
      {{"sqlite", sqlite3_libversion()},
       {"note", safe ? "" : "before 3.51.3: no other program may write to the store's file"}});
}

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Open(const SqliteOptions& options) {
  SKEP_ASSIGN_OR_RETURN(LockFile lock, Lock(options));
  return OpenLocked(options, std::move(lock));
}

absl::StatusOr<LockFile> SqliteStore::Lock(const SqliteOptions& options) {
  SKEP_RETURN_IF_ERROR(CheckDataDirectory(options.path));
  return LockFile::Acquire(fs::JoinPath(fs::ParentPath(options.path), "skep.lock"), options.now);
}

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::OpenLocked(const SqliteOptions& options,
                                                                     LockFile lock) {
  fs::PosixFileSystem system_fs;
  fs::PosixInPlaceFiles system_files;
  fs::FileSystem& fs = options.fs != nullptr ? *options.fs : system_fs;
  fs::InPlaceFiles& files =
      options.in_place_files != nullptr ? *options.in_place_files : system_files;
  DatabaseOptions database;
  database.path = options.path;
  database.vfs = options.vfs;
  database.extra_sync = options.synchronous == SqliteOptions::Synchronous::kExtra;
  database.busy_timeout_ms = options.busy_timeout_ms;
  MigrateOptions migrate;
  migrate.auto_migrate = options.auto_migrate;
  migrate.now = options.now;
  migrate.program = options.program;
  SKEP_RETURN_IF_ERROR(CreateStoreIfAbsent(fs, files, database, migrate));
  // Nobody else writes now, and SQLite has nothing open yet: what it is about to read of the log
  // becomes truly durable before anything is built on it.
  SKEP_RETURN_IF_ERROR(RewriteInPlace(files, options.path + "-wal"));
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<Database> db, Database::Open(database));
  std::unique_ptr<SqliteStore> store(new SqliteStore(options, std::move(lock), std::move(db)));
  absl::Status status = store->Recover();
  // The journal of the change to the write-ahead log is gone for good only now: brought back by a
  // power loss, it would undo that change, and every unit in the log with it.
  if (status.ok()) status = fs.SyncDirectory(DirectoryOf(options.path));
  if (status.ok()) status = Migrate(*store->db_, MigrationSteps(), migrate);
  if (status.ok()) status = store->PrepareUnits();
  if (!status.ok()) return store->GiveUp(std::move(status));
  return store;
}

SqliteStore::SqliteStore(const SqliteOptions& options, LockFile lock, std::unique_ptr<Database> db)
    : checkpoint_frames_(options.checkpoint_frames), lock_(std::move(lock)), db_(std::move(db)) {}

SqliteStore::~SqliteStore() = default;

absl::Status SqliteStore::Recover() {
  SKEP_RETURN_IF_ERROR(CheckIsStore(*db_));
  SKEP_RETURN_IF_ERROR(db_->UseWriteAheadLog());
  return Checkpoint();
}

absl::Status SqliteStore::PrepareUnits() {
  SKEP_ASSIGN_OR_RETURN(writer_, UnitWriter::Prepare(*db_));
  SKEP_ASSIGN_OR_RETURN(begin_, db_->Prepare("BEGIN IMMEDIATE"));
  SKEP_ASSIGN_OR_RETURN(commit_, db_->Prepare("COMMIT"));
  SKEP_ASSIGN_OR_RETURN(rollback_, db_->Prepare("ROLLBACK"));
  SKEP_ASSIGN_OR_RETURN(stored_ids_, ReadStoredIds(*db_));
  return absl::OkStatus();
}

absl::StatusOr<StoredState> SqliteStore::Load() {
  SKEP_RETURN_IF_ERROR(broken_);
  absl::StatusOr<StoredState> state = ReadState(*db_);
  if (ReasonOf(state.status()) == ErrorReason::kCorruptStore) return GiveUp(state.status());
  return state;
}

absl::Status SqliteStore::Append(const Effects& effects) {
  SKEP_RETURN_IF_ERROR(broken_);
  if (effects.empty()) return absl::OkStatus();
  if (db_->uncopied_frames() > checkpoint_frames_) SKEP_RETURN_IF_ERROR(Checkpoint());
  const std::vector<const Effect*> net = NetEffects(effects, stored_ids_);
  if (const int code = begin_.Run(); code != SQLITE_OK) {
    return RollBack(db_->Error(code, "begin a unit"));
  }
  if (absl::Status status = writer_->Write(net); !status.ok()) return RollBack(std::move(status));
  SKEP_RETURN_IF_ERROR(Commit());
  RaiseStoredIds(stored_ids_, net);
  return absl::OkStatus();
}

absl::Status SqliteStore::Commit() {
  const int code = commit_.Run();
  if (code == SQLITE_OK) return absl::OkStatus();
  absl::Status cause = db_->Error(code, "commit a unit");
  // The unit ends with the frame that carries its commit mark, and the sync comes after it. A full
  // disk stops the writing at that frame or before: the unit is surely not there. Any other failure
  // may come from the sync or from behind it.
  if ((code & 0xff) == SQLITE_FULL) return RollBack(std::move(cause));
  return GiveUp(MakeError(
      ErrorReason::kOutcomeUnknown,
      fmt::format("{}; whether the unit is stored shows after a restart", MessageOf(cause)),
      MetadataOf(cause)));
}

absl::Status SqliteStore::RollBack(absl::Status cause) {
  if (db_->InTransaction()) {
    const int code = rollback_.Run();
    if (code != SQLITE_OK || db_->InTransaction()) {
      return GiveUp(MakeError(ErrorReason::kCorruptStore,
                              fmt::format("{}; and the unit cannot be rolled back: {}",
                                          MessageOf(cause),
                                          MessageOf(db_->Error(code, "roll back a unit"))),
                              MetadataOf(cause)));
    }
  }
  if (ReasonOf(cause) == ErrorReason::kCorruptStore) return GiveUp(std::move(cause));
  return cause;
}

absl::Status SqliteStore::Checkpoint() {
  const int code = db_->Checkpoint();
  if (code == SQLITE_OK) return absl::OkStatus();
  absl::Status status = db_->Error(code, "copy the write-ahead log");
  // A full disk leaves the log as it is: nothing is lost, and units may still find room in it.
  if (ReasonOf(status) == ErrorReason::kStoreFull) {
    Log(LogLevel::kWarn, "store.checkpoint", {{"error", MessageOf(status)}});
    return absl::OkStatus();
  }
  return GiveUp(std::move(status));
}

void SqliteStore::Idle() {
  if (!broken_.ok() || db_->uncopied_frames() <= checkpoint_frames_ / 4) return;
  // A failure is remembered: the next unit is refused with it.
  Checkpoint().IgnoreError();
}

absl::Status SqliteStore::GiveUp(absl::Status cause) {
  db_->LeaveFilesAlone();
  broken_ = std::move(cause);
  return broken_;
}

absl::StatusOr<CommitSeq> SqliteStore::Sequence() {
  SKEP_RETURN_IF_ERROR(broken_);
  SKEP_ASSIGN_OR_RETURN(const int64_t seq, db_->QueryInt("SELECT seq FROM counters"));
  return CommitSeq(seq);
}

absl::StatusOr<uint64_t> SqliteStore::StoreId() {
  SKEP_RETURN_IF_ERROR(broken_);
  SKEP_ASSIGN_OR_RETURN(const int64_t id, db_->QueryInt("SELECT store_id FROM store_identity"));
  return static_cast<uint64_t>(id);
}

absl::StatusOr<std::vector<std::string>> SqliteStore::CheckFile(Depth depth) {
  SKEP_RETURN_IF_ERROR(broken_);
  std::vector<std::string> findings;
  SKEP_ASSIGN_OR_RETURN(
      Statement check,
      db_->Prepare(depth == Depth::kDeep ? "PRAGMA integrity_check" : "PRAGMA quick_check"));
  int code = SQLITE_OK;
  while ((code = sqlite3_step(check.get())) == SQLITE_ROW) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(check.get(), 0));
    if (text != nullptr && std::string_view(text) != "ok") findings.emplace_back(text);
  }
  if (code != SQLITE_DONE) return db_->Error(code, "check the file");
  return findings;
}

}  // namespace skep::meta
