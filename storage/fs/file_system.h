#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/base/clock.h"

namespace skep::fs {

enum class EntryKind { kFile, kDirectory, kOther };

struct DirEntry {
  std::string name;
  EntryKind kind = EntryKind::kFile;
  friend bool operator==(const DirEntry&, const DirEntry&) = default;
};

struct FileInfo {
  EntryKind kind = EntryKind::kFile;
  int64_t size = 0;
  Timestamp modified{};
};

// Random reads of a file whose length does not change. Thread-safe.
class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;
  virtual int64_t size() const = 0;
  virtual const std::string& path() const = 0;
  // Exactly `length` bytes from `offset`; fewer is kCorruptFile ("ends at …").
  virtual absl::Status ReadAt(int64_t offset, int64_t length, void* out) const = 0;
};

// Appends to a new file. Not closed = removed by the destructor. Thread-compatible.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual absl::Status Append(std::string_view bytes) = 0;
  virtual int64_t size() const = 0;
  virtual absl::Status Sync() = 0;
  // Syncs, closes and keeps the file.
  virtual absl::Status Close() = 0;
};

// The port to the shared filesystem: paths are absolute. Thread-safe.
//
// Errors: absl NOT_FOUND (no reason of its own) where the path is absent; kStorageUnwritable with path and
// errno for EROFS, EACCES, EPERM, ENOSPC, EDQUOT on a write; kAlreadyExists; kInternal with errno otherwise.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Entries of one directory, without "." and "..", in byte order of the names. Opens the directory anew
  // each time: never from a cache.
  virtual absl::StatusOr<std::vector<DirEntry>> List(const std::string& dir) = 0;
  virtual absl::StatusOr<FileInfo> Stat(const std::string& path) = 0;  // follows links
  virtual absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(const std::string& path) = 0;
  // Fails if the file exists. The parent must exist.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> Create(const std::string& path) = 0;
  virtual absl::Status CreateDirectories(const std::string& dir) = 0;
  // Fails with kAlreadyExists if `to` exists, never replaces or moves into it.
  virtual absl::Status RenameNoReplace(const std::string& from, const std::string& to) = 0;
  virtual absl::Status RemoveFile(const std::string& path) = 0;   // absent: OK
  virtual absl::Status RemoveTree(const std::string& path) = 0;   // absent: OK; does not follow links
  virtual absl::Status SyncDirectory(const std::string& dir) = 0;
  // The path with links resolved, for the check against warehouse roots.
  virtual absl::StatusOr<std::string> Canonical(const std::string& path) = 0;
};

// Small whole files: markers such as _orc_acid_version and _metadata_acid. `limit` bytes at most.
absl::StatusOr<std::string> ReadSmallFile(FileSystem& fs, const std::string& path, int64_t limit);
// Creates, syncs file and directory.
absl::Status WriteSmallFile(FileSystem& fs, const std::string& path, std::string_view bytes);

std::string JoinPath(std::string_view dir, std::string_view name);
std::string ParentPath(std::string_view path);
std::string BaseName(std::string_view path);
// Removes "." components and doubled slashes, keeps it absolute. Errors: kLocationNotAllowed for relative
// paths, "..", invalid UTF-8 and control characters.
absl::StatusOr<std::string> NormalizePath(std::string_view path);
bool IsInside(std::string_view root, std::string_view path);  // root itself counts

}  // namespace skep::fs
