#include "tests/sim/sim_vfs.h"

#include <string.h>

#include <algorithm>
#include <new>
#include <vector>

#include "storage/base/check.h"

namespace skep::sim {
namespace {

// SQLite allocates one for each open file and lets us construct what is behind its first member.
struct OpenFile {
  sqlite3_file base;
  SimVfs* vfs;
  SimDisk* disk;
  SimDisk::FilePtr file;
  std::string path;
  bool temporary = false;
  std::vector<std::unique_ptr<char[]>> index;  // of a write-ahead log
};

}  // namespace

struct SimVfsHooks {
  static OpenFile& Of(sqlite3_file* file) { return *reinterpret_cast<OpenFile*>(file); }
  static SimVfs& Vfs(sqlite3_vfs* vfs) { return *static_cast<SimVfs*>(vfs->pAppData); }

  static int Close(sqlite3_file* file) {
    OpenFile& self = Of(file);
    self.file.~shared_ptr();
    self.path.~basic_string();
    self.index.~vector();
    return SQLITE_OK;
  }
  static int Read(sqlite3_file* file, void* out, int size, sqlite3_int64 at) {
    OpenFile& self = Of(file);
    if (!self.disk->Step().ok()) return SQLITE_IOERR_READ;
    const std::string& data = self.file->data;
    const auto there = static_cast<int64_t>(data.size());
    const int64_t got = std::clamp<int64_t>(there - at, 0, size);
    if (got > 0) memcpy(out, data.data() + at, static_cast<size_t>(got));
    if (got == size) return SQLITE_OK;
    memset(static_cast<char*>(out) + got, 0, static_cast<size_t>(size - got));
    return SQLITE_IOERR_SHORT_READ;
  }
  static int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
    OpenFile& self = Of(file);
    const auto there = static_cast<int64_t>(self.file->data.size());
    if (at + size > there && !self.disk->Grow(at + size - there)) return SQLITE_FULL;
    const std::string_view what(static_cast<const char*>(bytes), static_cast<size_t>(size));
    return self.disk->Write(*self.file, at, what).ok() ? SQLITE_OK : SQLITE_IOERR_WRITE;
  }
  static int Truncate(sqlite3_file* file, sqlite3_int64 size) {
    OpenFile& self = Of(file);
    if (!self.disk->Step().ok()) return SQLITE_IOERR_TRUNCATE;
    self.disk->Truncate(*self.file, size);
    return SQLITE_OK;
  }
  static int Sync(sqlite3_file* file, int) {
    OpenFile& self = Of(file);
    if (!self.disk->Sync(*self.file, self.path).ok()) return SQLITE_IOERR_FSYNC;
    self.disk->SyncName(self.path);
    return SQLITE_OK;
  }
  static int FileSize(sqlite3_file* file, sqlite3_int64* size) {
    *size = static_cast<sqlite3_int64>(Of(file).file->data.size());
    return SQLITE_OK;
  }
  static int Lock(sqlite3_file*, int) { return SQLITE_OK; }
  static int CheckReservedLock(sqlite3_file*, int* out) {
    *out = 0;
    return SQLITE_OK;
  }
  static int FileControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int SectorSize(sqlite3_file*) { return 512; }
  static int DeviceCharacteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }
  static int ShmMap(sqlite3_file* file, int page, int size, int extend, volatile void** out) {
    OpenFile& self = Of(file);
    *out = nullptr;
    while (static_cast<int>(self.index.size()) <= page) {
      if (extend == 0) return SQLITE_OK;
      self.index.emplace_back(new char[static_cast<size_t>(size)]());
    }
    *out = self.index[static_cast<size_t>(page)].get();
    return SQLITE_OK;
  }
  static int ShmLock(sqlite3_file*, int, int, int) { return SQLITE_OK; }
  static void ShmBarrier(sqlite3_file*) {}
  static int ShmUnmap(sqlite3_file* file, int) {
    Of(file).index.clear();
    return SQLITE_OK;
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
                                                Lock,
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
    SimVfs& self = Vfs(vfs);
    file->pMethods = nullptr;
    if (!self.disk_.Step().ok()) return SQLITE_CANTOPEN;
    SimDisk::FilePtr node;
    if (path == nullptr) {
      node = std::make_shared<DiskFile>();
    } else {
      node = self.disk_.Find(path);
      if (node == nullptr && (flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
      if (node == nullptr) node = self.disk_.Make(path);
    }
    auto* open = new (file) OpenFile{};
    open->vfs = &self;
    open->disk = &self.disk_;
    open->file = std::move(node);
    if (path != nullptr) open->path = path;
    open->base.pMethods = &kMethods;
    if (out != nullptr) *out = flags;
    return SQLITE_OK;
  }
  static int Delete(sqlite3_vfs* vfs, const char* path, int sync_directory) {
    SimVfs& self = Vfs(vfs);
    if (!self.disk_.Step().ok()) return SQLITE_IOERR_DELETE;
    self.disk_.Unlink(path);
    if (sync_directory != 0) self.disk_.SyncName(path);
    return SQLITE_OK;
  }
  static int Access(sqlite3_vfs* vfs, const char* path, int flags, int* out) {
    SimVfs& self = Vfs(vfs);
    if (!self.disk_.Step().ok()) return SQLITE_IOERR_ACCESS;
    const SimDisk::FilePtr file = self.disk_.Find(path);
    *out = file != nullptr && (flags != SQLITE_ACCESS_EXISTS || !file->data.empty());
    return SQLITE_OK;
  }
  static int FullPathname(sqlite3_vfs*, const char* path, int size, char* out) {
    if (static_cast<int>(strlen(path)) >= size) return SQLITE_CANTOPEN;
    strcpy(out, path);  // NOLINT: the length was just checked
    return SQLITE_OK;
  }
  static int Randomness(sqlite3_vfs*, int size, char* out) {
    memset(out, 7, static_cast<size_t>(size));
    return size;
  }
  static int Sleep(sqlite3_vfs*, int micros) { return micros; }
  static int CurrentTime(sqlite3_vfs* vfs, sqlite3_int64* out) {
    constexpr sqlite3_int64 kUnixEpochInJulianMillis = 210866760000000;
    *out = kUnixEpochInJulianMillis + Vfs(vfs).clock_.Now().time_since_epoch().count();
    return SQLITE_OK;
  }
};

SimVfs::SimVfs(SimDisk& disk, SimClock& clock) : disk_(disk), clock_(clock) {
  static int next = 1;
  name_ = "sim-" + std::to_string(next++);
  vfs_.iVersion = 2;
  vfs_.szOsFile = sizeof(OpenFile);
  vfs_.mxPathname = 512;
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = SimVfsHooks::Open;
  vfs_.xDelete = SimVfsHooks::Delete;
  vfs_.xAccess = SimVfsHooks::Access;
  vfs_.xFullPathname = SimVfsHooks::FullPathname;
  vfs_.xRandomness = SimVfsHooks::Randomness;
  vfs_.xSleep = SimVfsHooks::Sleep;
  vfs_.xCurrentTimeInt64 = SimVfsHooks::CurrentTime;
  SKEP_CHECK(sqlite3_vfs_register(&vfs_, 0) == SQLITE_OK);
}

SimVfs::~SimVfs() { sqlite3_vfs_unregister(&vfs_); }

}  // namespace skep::sim
