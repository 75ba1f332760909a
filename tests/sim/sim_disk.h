#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/functional/any_invocable.h>

#include "storage/fs/file_system.h"
#include "storage/fs/in_place_file.h"
#include "tests/sim/scheduler.h"

namespace skep::sim {

// One file: what programs see, and how to take back what is not synced.
struct DiskFile {
  // Bytes [offset, offset + old.size()) held `old` before a write that is not synced; `size` is the
  // length before it.
  struct Undo {
    int64_t offset = 0;
    std::string old;
    int64_t length = 0;  // of the write
    int64_t size = 0;
    bool shortened = false;  // not a write: the file was cut at `offset`
    // A sync failed over it: the system calls it clean, and no later sync carries it.
    bool clean = false;
  };
  std::string data;
  std::vector<Undo> unsynced;  // oldest first
};

// A disk in memory behind the filesystem ports (and behind SQLite, sim_vfs.h).
//
// What is written is seen at once and durable after a sync. When the power goes, any subset of the
// unsynced 512-byte sectors is there; names that no SyncDirectory made durable go from some moment
// on (the journal of a filesystem is ordered). When only the process dies, everything stays as
// programs saw it, and unsynced.
//
// Every call is a step at which the machine can stop: StopAt(n) stops it in front of the nth call
// from now on. A machine that stands still refuses every call until Start. Confined to one thread.
class SimDisk final : public fs::FileSystem, public fs::InPlaceFiles {
 public:
  explicit SimDisk(Dice& dice) : dice_(dice) { directories_.insert("/"); }

  // ---- faults ----

  enum class Loss { kProcess, kPower };
  // `stopped` is called once, inside that call, which fails like all that follow.
  void StopAt(int64_t calls, absl::AnyInvocable<void()> stopped);
  // Now.
  void Stop() { on_ = false; }
  bool on() const { return on_; }
  // The machine is there again, with what `loss` leaves.
  void Start(Loss loss);
  // The next sync of a file fails. What it was to carry is seen as before and called clean: only
  // what is written once more is carried by a later sync.
  // `of`: of a file whose path ends so.
  void FailNextSync(std::string of = "") { fail_sync_ = std::move(of); }
  // Only `room` bytes more: then nothing grows.
  void SetFull(int64_t room) {
    full_ = true;
    room_ = room;
  }
  void SetRoomy() { full_ = false; }
  bool full() const { return full_; }
  // Somebody gives back what he held of a full disk.
  void GiveRoom(int64_t bytes) { room_ += bytes; }
  // False: there is no room for so many bytes more.
  bool Grow(int64_t bytes);
  // Nothing that was asked for above happens any more.
  void Heal();
  // A bug in the disk, for tests of the simulation: syncs say they are done and are not.
  void LieAboutSyncs() { lies_ = true; }

  int64_t calls() const { return calls_; }
  int64_t syncs() const { return syncs_; }
  int64_t failed_syncs() const { return failed_syncs_; }
  int64_t trees_removed() const { return trees_removed_; }

  // ---- fs::FileSystem, fs::InPlaceFiles ----

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

  // ---- the parts, for SQLite's view and for the files of this class ----

  using FilePtr = std::shared_ptr<DiskFile>;
  // A step; an error where the machine stands still.
  absl::Status Step();
  FilePtr Find(const std::string& path) const;
  FilePtr Make(const std::string& path);
  void Unlink(const std::string& path);
  absl::Status Write(DiskFile& file, int64_t offset, std::string_view bytes);
  void Truncate(DiskFile& file, int64_t size);
  absl::Status Sync(DiskFile& file, const std::string& path);
  // The name is durable, too.
  void SyncName(const std::string& path);

 private:
  struct NameChange {
    std::string path;
    FilePtr before;  // null: was not there
    bool directory = false;
    bool with_next = false;  // both or neither: the first half of a rename
  };

  bool Exists(const std::string& path) const {
    return files_.contains(path) || directories_.contains(path);
  }
  void Record(const std::string& path, bool with_next = false);
  void CallClean(DiskFile& file);
  void TearWrites(DiskFile& file);
  void TearNames();

  Dice& dice_;
  std::map<std::string, FilePtr> files_;
  std::set<std::string> directories_;
  std::vector<NameChange> names_;  // not durable, oldest first
  bool on_ = true;
  bool full_ = false;
  int64_t room_ = 0;
  std::optional<std::string> fail_sync_;
  bool lies_ = false;
  int64_t calls_ = 0;
  int64_t syncs_ = 0;
  int64_t failed_syncs_ = 0;
  int64_t trees_removed_ = 0;
  int64_t stop_at_ = -1;
  absl::AnyInvocable<void()> stopped_;
};

}  // namespace skep::sim
