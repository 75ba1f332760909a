#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include "storage/fs/file_system.h"
#include "storage/fs/in_place_file.h"
#include "storage/fs/posix_in_place_file.h"

namespace skep::testing {

// The kinds of calls that can be made to fail, each counted on its own and all together.
enum class FsCall {
  kList,
  kStat,
  kOpenForRead,
  kRead,
  kCreate,
  kAppend,
  kSync,
  kClose,
  kCreateDirectories,
  kRename,
  kRemoveFile,
  kRemoveTree,
  kSyncDirectory,
  kCanonical,
  kOpenInPlace,
  kWriteAt,
  kSyncData,
};

enum class FaultSpan { kOnce, kFromThere };

class FaultFile;
class FaultReader;
class FaultInPlace;

// What a crash leaves of bytes that were written in place and not synced: none of them, all, or of
// each write the first half, or the second (the disk may write sectors in any order).
enum class Unsynced { kLost, kKept, kFirstHalf, kSecondHalf };

// A filesystem over another one that fails chosen calls and forgets, at a simulated crash, whatever
// was not synced. A failing call does nothing to the filesystem below. Thread-safe.
//
// What a crash takes back (Crash()):
// - bytes written in place after the last SyncData of the file, as `Unsynced` says;
// - bytes appended after the last Sync or Close of a file; a file that was never closed;
// - names given or taken by Create, RenameNoReplace, RemoveFile and RemoveTree after which the
// parent (the
//   new parent for a rename) got no SyncDirectory. Removed things come back, renamed things go
//   back.
// CreateDirectories is durable at once, as its contract says.
class FaultFs final : public fs::FileSystem, public fs::InPlaceFiles {
 public:
  // Both must outlive this. `attic`: an existing directory outside the tree under test, on the same
  // filesystem; holds what was removed until the removal is durable.
  FaultFs(fs::FileSystem& base, std::string attic);
  ~FaultFs() override;

  // Fails the nth call (from 1, counted from now) of one kind, or of all kinds. Replaces an earlier
  // plan.
  void FailCall(FsCall kind, int nth, absl::Status error, FaultSpan span = FaultSpan::kOnce);
  void FailAnyCall(int nth, absl::Status error, FaultSpan span = FaultSpan::kOnce);
  // No more failures; the counters begin again.
  void Heal();
  // True if a planned failure has happened since it was planned.
  bool Fired() const;
  // Calls since the last plan or Heal.
  int Calls() const;
  int Calls(FsCall kind) const;

  // Power off: every call fails with kInternal until Restart(). Open writers stay dead for good.
  void Crash(Unsynced unsynced = Unsynced::kLost);
  void Restart();

  absl::StatusOr<std::vector<fs::DirEntry>> List(const std::string& dir) override;
  absl::StatusOr<fs::FileInfo> Stat(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<fs::RandomAccessFile>> OpenForRead(
      const std::string& path) override;
  absl::StatusOr<std::unique_ptr<fs::WritableFile>> Create(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<fs::InPlaceFile>> OpenInPlace(const std::string& path) override;
  absl::Status CreateDirectories(const std::string& dir) override;
  absl::Status RenameNoReplace(const std::string& from, const std::string& to) override;
  absl::Status RemoveFile(const std::string& path) override;
  absl::Status RemoveTree(const std::string& path) override;
  absl::Status SyncDirectory(const std::string& dir) override;
  absl::StatusOr<std::string> Canonical(const std::string& path) override;

 private:
  friend class FaultFile;
  friend class FaultReader;
  friend class FaultInPlace;

  struct Plan {
    std::optional<FsCall> kind;
    int nth = 0;
    absl::Status error;
    FaultSpan span = FaultSpan::kOnce;
  };
  // A change of names that a crash would take back.
  struct Pending {
    enum class What { kCreated, kRenamed, kRemoved };
    What what = What::kCreated;
    std::string path;   // where it is now; kRemoved: its place in the attic
    std::string other;  // kRenamed, kRemoved: where it was
  };
  // Bytes written in place and not synced yet.
  struct Overwritten {
    std::shared_ptr<std::string> path;  // of the file, shared with its FaultInPlace
    int64_t offset = 0;
    std::string before;
  };
  absl::Status Enter(FsCall kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Remove(const std::string& path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Keeps the paths of pending changes and open writers right when something moved.
  void Moved(const std::string& from, const std::string& to) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Undo(const Overwritten& write, Unsynced unsynced) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Undo(const Pending& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  fs::FileSystem& base_;
  fs::PosixInPlaceFiles base_in_place_;  // where the base is
  const std::string attic_;
  // Held over each whole call, so that Crash() falls between calls and never into one.
  mutable absl::Mutex mutex_;
  std::optional<Plan> plan_ ABSL_GUARDED_BY(mutex_);
  std::map<FsCall, int> calls_ ABSL_GUARDED_BY(mutex_);
  int all_calls_ ABSL_GUARDED_BY(mutex_) = 0;
  bool fired_ ABSL_GUARDED_BY(mutex_) = false;
  bool crashed_ ABSL_GUARDED_BY(mutex_) = false;
  int attic_names_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Overwritten> overwritten_ ABSL_GUARDED_BY(mutex_);              // oldest first
  std::vector<std::weak_ptr<std::string>> in_place_ ABSL_GUARDED_BY(mutex_);  // paths that move
  std::vector<Pending> pending_ ABSL_GUARDED_BY(mutex_);                      // oldest first
  std::set<FaultFile*> writers_ ABSL_GUARDED_BY(mutex_);                      // not closed yet
};

}  // namespace skep::testing
