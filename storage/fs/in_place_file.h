#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

namespace skep::fs {

// A file whose length stays and whose bytes are written in place: what a log needs, so that a sync
// has nothing but data to carry. ReadAt may run beside WriteAt and SyncData if the ranges differ;
// else thread-compatible.
class InPlaceFile {
 public:
  virtual ~InPlaceFile() = default;
  virtual int64_t size() const = 0;
  virtual const std::string& path() const = 0;  // as it was opened: a rename does not change it
  // Exactly `length` bytes from `offset`; fewer is kCorruptFile.
  virtual absl::Status ReadAt(int64_t offset, int64_t length, void* out) const = 0;
  // Within the length; beyond it is kInternal. After an error any part may have been written.
  virtual absl::Status WriteAt(int64_t offset, std::string_view bytes) = 0;
  // What was written is on the disk on return. After an error of it every write and sync fails (a
  // sync that failed once is never asked again, R-24).
  virtual absl::Status SyncData() = 0;
};

// What a log needs beside FileSystem. A port of its own: files of tables are never written in
// place, and not every filesystem that can hold tables could. Thread-safe.
class InPlaceFiles {
 public:
  virtual ~InPlaceFiles() = default;
  // A regular file that is there. Errors: as FileSystem.
  virtual absl::StatusOr<std::unique_ptr<InPlaceFile>> OpenInPlace(const std::string& path) = 0;
};

}  // namespace skep::fs
