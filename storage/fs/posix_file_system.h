#pragma once

#include "storage/fs/file_system.h"

namespace skep::fs {

// The local or mounted filesystem. Stateless, thread-safe.
class PosixFileSystem final : public FileSystem {
 public:
  absl::StatusOr<std::vector<DirEntry>> List(const std::string& dir) override;
  absl::StatusOr<FileInfo> Stat(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> Create(const std::string& path) override;
  absl::Status CreateDirectories(const std::string& dir) override;
  absl::Status RenameNoReplace(const std::string& from, const std::string& to) override;
  absl::Status RemoveFile(const std::string& path) override;
  absl::Status RemoveTree(const std::string& path) override;
  absl::Status SyncDirectory(const std::string& dir) override;
  absl::StatusOr<std::string> Canonical(const std::string& path) override;
};

}  // namespace skep::fs
