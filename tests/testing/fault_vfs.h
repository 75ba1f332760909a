#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sqlite3.h>

namespace skep::testing {

// The calls of SQLite's file layer that can be made to fail.
enum class VfsCall : uint32_t {
  kOpen = 1,
  kRead = 2,
  kWrite = 4,
  kSync = 8,
  kTruncate = 16,
  kDelete = 32,
  kFileSize = 64,
  kShmMap = 128,
};
constexpr uint32_t Mask(VfsCall call) { return static_cast<uint32_t>(call); }
inline constexpr uint32_t kAllVfsCalls = 255;

// An SQLite VFS over the default one that fails chosen calls, and knows what the disk would hold if
// the power failed now: for each file its content at its last sync. Names count as durable at once,
// since the store syncs the directory itself. Register one, open databases with its name; it must
// outlive them. Confined to one thread, as the store is.
class FaultVfs {
 public:
  enum class Span { kOnce, kFromThere };

  FaultVfs();
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  const std::string& name() const { return name_; }

  // Fails the nth call (from 1, counted from now) among `calls` with `code`. A write that fails
  // puts half of its bytes down first.
  void Fail(uint32_t calls, int nth, int code, Span span = Span::kOnce);
  void Heal() { calls_ = 0; }
  bool fired() const { return fired_; }
  int syncs() const { return syncs_; }

  // The database at `path` and its log as they are now count as synced: they survived until here.
  void TakeAsSynced(const std::string& path);
  // Puts the files into `dir` as they would be after a power cut: what was not synced is gone.
  void SaveSyncedImage(const std::string& dir) const;

 private:
  friend struct FaultVfsHooks;
  // SQLITE_OK, or the code with which this call is to fail.
  int Enter(VfsCall call);
  // SQLite knows nothing of it: the store makes a new file as "<path>.new" and renames it.
  void NoteRename(const std::string& path);

  std::string name_;
  sqlite3_vfs* base_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  uint32_t calls_ = 0;
  int nth_ = 0;
  int code_ = SQLITE_OK;
  Span span_ = Span::kOnce;
  int count_ = 0;
  bool fired_ = false;
  int syncs_ = 0;
  std::map<std::string, std::string> synced_;  // path → content
};

}  // namespace skep::testing
