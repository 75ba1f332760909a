#pragma once

#include <string>
#include <vector>

#include "storage/fs/file_system.h"

namespace skep::testing {

// Passes calls on and keeps, in order, those that matter for durability: "create P", "sync P",
// "close P", "rename P -> Q", "mkdir P", "syncdir P", "rmtree P"; paths relative to `root`. Not
// thread-safe.
class RecordingFs final : public fs::FileSystem {
 public:
  RecordingFs(fs::FileSystem& base, std::string root) : base_(base), root_(std::move(root)) {}

  const std::vector<std::string>& calls() const { return calls_; }
  void Note(const std::string& call, const std::string& path) {
    calls_.push_back(call + " " + Short(path));
  }

  absl::StatusOr<std::vector<fs::DirEntry>> List(const std::string& dir) override {
    return base_.List(dir);
  }
  absl::StatusOr<fs::FileInfo> Stat(const std::string& path) override { return base_.Stat(path); }
  absl::StatusOr<std::unique_ptr<fs::RandomAccessFile>> OpenForRead(
      const std::string& path) override {
    return base_.OpenForRead(path);
  }
  absl::StatusOr<std::unique_ptr<fs::WritableFile>> Create(const std::string& path) override;
  absl::Status CreateDirectories(const std::string& dir) override {
    Note("mkdir", dir);
    return base_.CreateDirectories(dir);
  }
  absl::Status RenameNoReplace(const std::string& from, const std::string& to) override {
    calls_.push_back("rename " + Short(from) + " -> " + Short(to));
    return base_.RenameNoReplace(from, to);
  }
  absl::Status RemoveFile(const std::string& path) override { return base_.RemoveFile(path); }
  absl::Status RemoveTree(const std::string& path) override {
    Note("rmtree", path);
    return base_.RemoveTree(path);
  }
  absl::Status SyncDirectory(const std::string& dir) override {
    Note("syncdir", dir);
    return base_.SyncDirectory(dir);
  }
  absl::StatusOr<std::string> Canonical(const std::string& path) override {
    return base_.Canonical(path);
  }

 private:
  class File;
  std::string Short(const std::string& path) const {
    return path.size() > root_.size() ? path.substr(root_.size() + 1) : std::string(".");
  }

  fs::FileSystem& base_;
  const std::string root_;
  std::vector<std::string> calls_;
};

class RecordingFs::File final : public fs::WritableFile {
 public:
  File(RecordingFs& owner, std::string path, std::unique_ptr<fs::WritableFile> base)
      : owner_(owner), path_(std::move(path)), base_(std::move(base)) {}
  absl::Status Append(std::string_view bytes) override { return base_->Append(bytes); }
  int64_t size() const override { return base_->size(); }
  absl::Status Sync() override {
    owner_.Note("sync", path_);
    return base_->Sync();
  }
  absl::Status Close() override {
    owner_.Note("close", path_);
    return base_->Close();
  }

 private:
  RecordingFs& owner_;
  const std::string path_;
  std::unique_ptr<fs::WritableFile> base_;
};

inline absl::StatusOr<std::unique_ptr<fs::WritableFile>> RecordingFs::Create(
    const std::string& path) {
  Note("create", path);
  auto file = base_.Create(path);
  if (!file.ok()) return file.status();
  return std::make_unique<File>(*this, path, *std::move(file));
}

}  // namespace skep::testing
