#include "tests/testing/fault_vfs.h"

#include <string.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace skep::testing {
// SQLite allocates one for each open file; the file of the VFS below follows it.
struct FaultVfsFile {
  sqlite3_file base;
  FaultVfs* vfs;
  const char* path;  // SQLite keeps it as long as the file is open; null for temporary files
  sqlite3_file* real;
};

// What SQLite calls. Each passes on what Enter lets through.
struct FaultVfsHooks {
  static FaultVfsFile& Of(sqlite3_file* file) { return *reinterpret_cast<FaultVfsFile*>(file); }
  static sqlite3_file* Real(sqlite3_file* file) { return Of(file).real; }
  static FaultVfs& Vfs(sqlite3_vfs* vfs) { return *static_cast<FaultVfs*>(vfs->pAppData); }

  static int Close(sqlite3_file* file) { return Real(file)->pMethods->xClose(Real(file)); }
  static int Read(sqlite3_file* file, void* out, int size, sqlite3_int64 at) {
    if (const int code = Of(file).vfs->Enter(VfsCall::kRead)) return code;
    return Real(file)->pMethods->xRead(Real(file), out, size, at);
  }
  static int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
    if (const int code = Of(file).vfs->Enter(VfsCall::kWrite)) {
      Real(file)->pMethods->xWrite(Real(file), bytes, size / 2, at);
      return code;
    }
    return Real(file)->pMethods->xWrite(Real(file), bytes, size, at);
  }
  static int Truncate(sqlite3_file* file, sqlite3_int64 size) {
    if (const int code = Of(file).vfs->Enter(VfsCall::kTruncate)) return code;
    return Real(file)->pMethods->xTruncate(Real(file), size);
  }
  static int Sync(sqlite3_file* file, int flags) {
    FaultVfsFile& self = Of(file);
    if (const int code = self.vfs->Enter(VfsCall::kSync)) return code;
    ++self.vfs->syncs_;
    const int code = self.real->pMethods->xSync(self.real, flags);
    if (code == SQLITE_OK && self.path != nullptr) {
      // Read through this connection's file: another descriptor, once closed, would drop its locks.
      sqlite3_int64 size = 0;
      self.real->pMethods->xFileSize(self.real, &size);
      std::string content(static_cast<size_t>(size), '\0');
      if (size > 0)
        self.real->pMethods->xRead(self.real, content.data(), static_cast<int>(size), 0);
      self.vfs->synced_[self.path] = std::move(content);
    }
    return code;
  }
  static int FileSize(sqlite3_file* file, sqlite3_int64* size) {
    if (const int code = Of(file).vfs->Enter(VfsCall::kFileSize)) return code;
    return Real(file)->pMethods->xFileSize(Real(file), size);
  }
  static int Lock(sqlite3_file* file, int lock) {
    return Real(file)->pMethods->xLock(Real(file), lock);
  }
  static int Unlock(sqlite3_file* file, int lock) {
    return Real(file)->pMethods->xUnlock(Real(file), lock);
  }
  static int CheckReservedLock(sqlite3_file* file, int* out) {
    return Real(file)->pMethods->xCheckReservedLock(Real(file), out);
  }
  static int FileControl(sqlite3_file* file, int op, void* arg) {
    return Real(file)->pMethods->xFileControl(Real(file), op, arg);
  }
  static int SectorSize(sqlite3_file* file) {
    return Real(file)->pMethods->xSectorSize(Real(file));
  }
  static int DeviceCharacteristics(sqlite3_file* file) {
    return Real(file)->pMethods->xDeviceCharacteristics(Real(file));
  }
  static int ShmMap(sqlite3_file* file, int page, int size, int extend, volatile void** out) {
    if (const int code = Of(file).vfs->Enter(VfsCall::kShmMap)) return code;
    return Real(file)->pMethods->xShmMap(Real(file), page, size, extend, out);
  }
  static int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
    return Real(file)->pMethods->xShmLock(Real(file), offset, count, flags);
  }
  static void ShmBarrier(sqlite3_file* file) { Real(file)->pMethods->xShmBarrier(Real(file)); }
  static int ShmUnmap(sqlite3_file* file, int remove) {
    return Real(file)->pMethods->xShmUnmap(Real(file), remove);
  }

  static int Open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out) {
    static const sqlite3_io_methods kMethods = {2,
                                                Close,
                                                Read,
                                                Write,
                                                Truncate,
                                                Sync,
                                                FileSize,
                                                Lock,
                                                Unlock,
                                                CheckReservedLock,
                                                FileControl,
                                                SectorSize,
                                                DeviceCharacteristics,
                                                ShmMap,
                                                ShmLock,
                                                ShmBarrier,
                                                ShmUnmap,
                                                nullptr,
                                                nullptr};
    FaultVfs& self = Vfs(vfs);
    FaultVfsFile& fault = Of(file);
    memset(&fault, 0, sizeof fault);
    if (const int code = self.Enter(VfsCall::kOpen)) return code;
    fault.vfs = &self;
    fault.path = path;
    if (path != nullptr) self.NoteRename(path);
    fault.real = reinterpret_cast<sqlite3_file*>(&fault + 1);
    const int code = self.base_->xOpen(self.base_, path, fault.real, flags, out);
    if (fault.real->pMethods != nullptr) fault.base.pMethods = &kMethods;
    return code;
  }
  static int Delete(sqlite3_vfs* vfs, const char* path, int sync_directory) {
    FaultVfs& self = Vfs(vfs);
    if (const int code = self.Enter(VfsCall::kDelete)) return code;
    self.synced_.erase(path);
    return self.base_->xDelete(self.base_, path, sync_directory);
  }
};

FaultVfs::FaultVfs() : base_(sqlite3_vfs_find(nullptr)) {
  static std::atomic<int> next{1};
  name_ = "fault-" + std::to_string(next++);
  vfs_ = std::make_unique<sqlite3_vfs>(*base_);
  vfs_->zName = name_.c_str();
  vfs_->pNext = nullptr;
  vfs_->pAppData = this;
  vfs_->szOsFile = static_cast<int>(sizeof(FaultVfsFile)) + base_->szOsFile;
  vfs_->xOpen = FaultVfsHooks::Open;
  vfs_->xDelete = FaultVfsHooks::Delete;
  EXPECT_EQ(sqlite3_vfs_register(vfs_.get(), 0), SQLITE_OK);
}

FaultVfs::~FaultVfs() { sqlite3_vfs_unregister(vfs_.get()); }

void FaultVfs::Fail(uint32_t calls, int nth, int code, Span span) {
  calls_ = calls;
  nth_ = nth;
  code_ = code;
  span_ = span;
  count_ = 0;
  fired_ = false;
}

int FaultVfs::Enter(VfsCall call) {
  if ((calls_ & Mask(call)) == 0) return SQLITE_OK;
  ++count_;
  const bool fails = span_ == Span::kOnce ? count_ == nth_ : count_ >= nth_;
  if (!fails) return SQLITE_OK;
  fired_ = true;
  return code_;
}

void FaultVfs::NoteRename(const std::string& path) {
  const auto made = synced_.find(path + ".new");
  if (made == synced_.end() || synced_.contains(path)) return;
  synced_[path] = std::move(made->second);
  synced_.erase(made);
}

void FaultVfs::TakeAsSynced(const std::string& path) {
  for (const std::string& name : {path, path + "-wal"}) {
    std::ifstream file(name, std::ios::binary);
    if (!file) continue;
    synced_[name] = {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
}

void FaultVfs::SaveSyncedImage(const std::string& dir) const {
  for (const auto& [path, content] : synced_) {
    const std::filesystem::path target =
        std::filesystem::path(dir) / std::filesystem::path(path).filename();
    std::ofstream(target, std::ios::binary) << content;
  }
}

}  // namespace skep::testing
