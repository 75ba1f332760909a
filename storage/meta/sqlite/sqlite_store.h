#pragma once

#include <memory>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/base/clock.h"
#include "storage/fs/file_system.h"
#include "storage/fs/in_place_file.h"
#include "storage/meta/lock_file.h"
#include "storage/meta/meta_store.h"
#include "storage/meta/net_effects.h"
#include "storage/meta/sqlite/database.h"
#include "storage/meta/sqlite/unit_writer.h"

namespace skep::meta {

struct SqliteOptions {
  enum class Synchronous {
    kFull,   // each unit is synced before Append returns
    kExtra,  // also the directory after files of the log went; costs nothing while running
  };

  std::string path;  // ".../skep.db"; "skep.lock" lies beside it
  Synchronous synchronous = Synchronous::kFull;
  bool auto_migrate = false;  // an older store is copied, then migrated, instead of refused
  Timestamp now{};      // the time of the start: shown to a second daemon, noted with migrations
  std::string program;  // "skepd 0.1.0": noted with migrations
  int checkpoint_frames = 400;  // length of the write-ahead log above which Append copies it first
  int busy_timeout_ms = 5'000;  // wait for whoever else holds the file
  std::string vfs;              // SQLite VFS by name, for tests; empty: the default
  // For what happens to its files beside SQLite; nullptr: the system's. Must suit `vfs`.
  fs::FileSystem* fs = nullptr;
  fs::InPlaceFiles* in_place_files = nullptr;
};

// The store in one SQLite file: relational tables, one for each row type (docs/store.md), written
// by one connection that also checkpoints. Confined to one thread at a time.
//
// After kOutcomeUnknown or kCorruptStore every call fails and nothing is written any more, not even
// on destruction: the next start finds out what the files hold.
class SqliteStore final : public MetaStore {
 public:
  // Takes the lock, creates the file if there is no store at all (CreateStoreIfAbsent), makes what
  // a crash left in the log durable, migrates. The directory must exist. Errors, with the
  // exit code that suits a daemon: kStoreBusy (69; metadata pid, since: another daemon),
  // kStorageUnwritable (77 for errno EACCES, EPERM and EROFS, else 73; metadata path, errno),
  // kNotSupported (78: the schema is newer, or older without auto_migrate, or the filesystem cannot
  // carry it), kStoreFull, kCorruptStore and kInternal (74).
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const SqliteOptions& options);
  // The same in two steps, for one that looks at files beside the store before it is touched.
  static absl::StatusOr<LockFile> Lock(const SqliteOptions& options);
  static absl::StatusOr<std::unique_ptr<SqliteStore>> OpenLocked(const SqliteOptions& options,
                                                                 LockFile lock);
  ~SqliteStore() override;

  absl::StatusOr<StoredState> Load() override;
  // Beyond the port's errors: kInternal for a value that cannot be stored, with nothing of the unit
  // stored.
  absl::Status Append(const Effects& effects) override;
  bool HasRoom() override { return true; }
  Lag TablesLag() const override { return {}; }
  void Idle() override;

  // The sequence of the newest unit in the tables; 0 before the first.
  absl::StatusOr<CommitSeq> Sequence();
  // A number that no other store has.
  absl::StatusOr<uint64_t> StoreId();

  // What SQLite itself finds wrong with the file; empty if nothing. Reads all of it.
  enum class Depth { kQuick, kDeep };
  absl::StatusOr<std::vector<std::string>> CheckFile(Depth depth);

 private:
  SqliteStore(const SqliteOptions& options, LockFile lock, std::unique_ptr<Database> db);
  absl::Status Recover();
  absl::Status PrepareUnits();
  absl::Status Checkpoint();
  absl::Status WriteUnit(const std::vector<const Effect*>& net);
  absl::Status Commit();
  // Ends the open transaction without it. Returns `cause`, or worse if that fails.
  absl::Status RollBack(absl::Status cause);
  // Remembers an error after which nothing more may be written.
  absl::Status GiveUp(absl::Status cause);

  const int checkpoint_frames_;
  LockFile lock_;  // goes last
  std::unique_ptr<Database> db_;
  std::unique_ptr<UnitWriter> writer_;
  Statement begin_;
  Statement commit_;
  Statement rollback_;
  StoredIds stored_ids_;
  absl::Status broken_;
};

// Logs which SQLite is in use, as a warning if it is older than the repair of its rare fault with
// two connections that write one file. For the start of a daemon.
void LogSqliteVersion();

}  // namespace skep::meta
