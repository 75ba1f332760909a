#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/fs/file_system.h"

namespace skep::bench {

// Takes files and keeps the last one's bytes in memory: what is measured is the writer, not a disk.
// Confined to one thread; it does what a writer of new files needs and refuses the rest.
class CountingFs final : public fs::FileSystem {
 public:
  const std::string& bytes() const { return bytes_; }

  absl::StatusOr<std::unique_ptr<fs::WritableFile>> Create(const std::string& path) override;
  absl::Status RenameNoReplace(const std::string&, const std::string&) override {
    return absl::OkStatus();
  }
  absl::Status RemoveFile(const std::string&) override { return absl::OkStatus(); }
  absl::Status SyncDirectory(const std::string&) override { return absl::OkStatus(); }

  absl::StatusOr<std::vector<fs::DirEntry>> List(const std::string&) override { return Refused(); }
  absl::StatusOr<fs::FileInfo> Stat(const std::string&) override { return Refused(); }
  absl::StatusOr<std::unique_ptr<fs::RandomAccessFile>> OpenForRead(const std::string&) override {
    return Refused();
  }
  absl::Status CreateDirectories(const std::string&) override { return Refused(); }
  absl::Status RemoveTree(const std::string&) override { return Refused(); }
  absl::StatusOr<std::string> Canonical(const std::string&) override { return Refused(); }

 private:
  static absl::Status Refused();

  std::string bytes_;
};

}  // namespace skep::bench
