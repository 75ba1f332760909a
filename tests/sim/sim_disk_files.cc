// The disk as the filesystem ports show it.

#include <string.h>

#include <algorithm>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/model/errors.h"
#include "tests/sim/sim_disk.h"

namespace skep::sim {
namespace {

absl::Status NotThere(const std::string& path) { return absl::NotFoundError(path + " is absent"); }

absl::Status Taken(const std::string& path) {
  return MakeError(ErrorReason::kAlreadyExists, path + " exists", {{"path", path}});
}

absl::Status NoRoom(const std::string& what) {
  return MakeError(ErrorReason::kStorageUnwritable, what + ": no room", {{"errno", "ENOSPC"}});
}

absl::Status ReadBytes(SimDisk& disk,
                       const DiskFile& file,
                       const std::string& path,
                       int64_t offset,
                       int64_t length,
                       void* out) {
  SKEP_RETURN_IF_ERROR(disk.Step());
  const auto size = static_cast<int64_t>(file.data.size());
  if (offset < 0 || length < 0 || offset + length > size) {
    return MakeError(ErrorReason::kCorruptFile, path + " ends too soon", {{"path", path}});
  }
  if (length > 0) {
    ::memcpy(out, file.data.data() + offset, static_cast<size_t>(length));
  }
  return absl::OkStatus();
}

class Reader final : public fs::RandomAccessFile {
 public:
  Reader(SimDisk& disk, std::string path, SimDisk::FilePtr file)
      : disk_(disk), path_(std::move(path)), file_(std::move(file)) {}
  int64_t size() const override { return static_cast<int64_t>(file_->data.size()); }
  const std::string& path() const override { return path_; }
  absl::Status ReadAt(int64_t offset, int64_t length, void* out) const override {
    return ReadBytes(disk_, *file_, path_, offset, length, out);
  }

 private:
  SimDisk& disk_;
  const std::string path_;
  const SimDisk::FilePtr file_;
};

class Writer final : public fs::WritableFile {
 public:
  Writer(SimDisk& disk, std::string path, SimDisk::FilePtr file)
      : disk_(disk), path_(std::move(path)), file_(std::move(file)) {}
  ~Writer() override {
    // A machine that stands still removes nothing.
    if (!closed_ && disk_.on()) disk_.Unlink(path_);
  }
  absl::Status Append(std::string_view bytes) override {
    SKEP_RETURN_IF_ERROR(broken_);
    if (!disk_.Grow(std::ssize(bytes))) return broken_ = NoRoom(path_);
    return broken_ = disk_.Write(*file_, size(), bytes);
  }
  int64_t size() const override { return static_cast<int64_t>(file_->data.size()); }
  absl::Status Sync() override {
    SKEP_RETURN_IF_ERROR(broken_);
    return broken_ = disk_.Sync(*file_, path_);
  }
  absl::Status Close() override {
    SKEP_RETURN_IF_ERROR(Sync());
    closed_ = true;
    return absl::OkStatus();
  }

 private:
  SimDisk& disk_;
  const std::string path_;
  const SimDisk::FilePtr file_;
  bool closed_ = false;
  absl::Status broken_;
};

class InPlace final : public fs::InPlaceFile {
 public:
  InPlace(SimDisk& disk, std::string path, SimDisk::FilePtr file)
      : disk_(disk), path_(std::move(path)), file_(std::move(file)) {}
  int64_t size() const override { return static_cast<int64_t>(file_->data.size()); }
  const std::string& path() const override { return path_; }
  absl::Status ReadAt(int64_t offset, int64_t length, void* out) const override {
    return ReadBytes(disk_, *file_, path_, offset, length, out);
  }
  absl::Status WriteAt(int64_t offset, std::string_view bytes) override {
    SKEP_RETURN_IF_ERROR(broken_);
    return broken_ = disk_.Write(*file_, offset, bytes);
  }
  absl::Status SyncData() override {
    SKEP_RETURN_IF_ERROR(broken_);
    return broken_ = disk_.Sync(*file_, path_);
  }

 private:
  SimDisk& disk_;
  const std::string path_;
  const SimDisk::FilePtr file_;
  absl::Status broken_;
};

}  // namespace

absl::StatusOr<std::vector<fs::DirEntry>> SimDisk::List(const std::string& dir) {
  SKEP_RETURN_IF_ERROR(Step());
  if (!directories_.contains(dir)) return NotThere(dir);
  const std::string prefix = dir == "/" ? dir : dir + "/";
  std::vector<fs::DirEntry> entries;
  const auto add = [&](const std::string& path, fs::EntryKind kind) {
    const std::string name = path.substr(prefix.size());
    if (!name.empty() && name.find('/') == std::string::npos) entries.push_back({name, kind});
  };
  for (auto it = files_.lower_bound(prefix); it != files_.end() && it->first.starts_with(prefix);
       ++it) {
    add(it->first, fs::EntryKind::kFile);
  }
  for (auto it = directories_.lower_bound(prefix);
       it != directories_.end() && it->starts_with(prefix);
       ++it) {
    add(*it, fs::EntryKind::kDirectory);
  }
  std::ranges::sort(entries, {}, [](const fs::DirEntry& entry) { return entry.name; });
  return entries;
}

absl::StatusOr<fs::FileInfo> SimDisk::Stat(const std::string& path) {
  SKEP_RETURN_IF_ERROR(Step());
  if (directories_.contains(path)) return fs::FileInfo{fs::EntryKind::kDirectory, 0, {}};
  const FilePtr file = Find(path);
  if (file == nullptr) return NotThere(path);
  return fs::FileInfo{fs::EntryKind::kFile, static_cast<int64_t>(file->data.size()), {}};
}

absl::StatusOr<std::unique_ptr<fs::RandomAccessFile>> SimDisk::OpenForRead(
    const std::string& path) {
  SKEP_RETURN_IF_ERROR(Step());
  FilePtr file = Find(path);
  if (file == nullptr) return NotThere(path);
  return std::make_unique<Reader>(*this, path, std::move(file));
}

absl::StatusOr<std::unique_ptr<fs::WritableFile>> SimDisk::Create(const std::string& path) {
  SKEP_RETURN_IF_ERROR(Step());
  if (Exists(path)) return Taken(path);
  if (!Grow(0)) return NoRoom(path);
  return std::make_unique<Writer>(*this, path, Make(path));
}

absl::StatusOr<std::unique_ptr<fs::InPlaceFile>> SimDisk::OpenInPlace(const std::string& path) {
  SKEP_RETURN_IF_ERROR(Step());
  FilePtr file = Find(path);
  if (file == nullptr) return NotThere(path);
  return std::make_unique<InPlace>(*this, path, std::move(file));
}

absl::Status SimDisk::CreateDirectories(const std::string& dir) {
  SKEP_RETURN_IF_ERROR(Step());
  for (std::string path = dir; path != "/"; path = fs::ParentPath(path)) directories_.insert(path);
  return absl::OkStatus();
}

absl::Status SimDisk::RenameNoReplace(const std::string& from, const std::string& to) {
  SKEP_RETURN_IF_ERROR(Step());
  if (!Exists(from)) return NotThere(from);
  if (Exists(to)) return Taken(to);
  if (const FilePtr file = Find(from)) {
    Record(from, true);
    Record(to);
    files_.erase(from);
    files_[to] = file;
    return absl::OkStatus();
  }
  const std::string prefix = from + "/";
  std::vector<std::pair<std::string, FilePtr>> moved;
  for (auto it = files_.lower_bound(prefix); it != files_.end() && it->first.starts_with(prefix);) {
    moved.emplace_back(it->first.substr(prefix.size()), it->second);
    it = files_.erase(it);
  }
  for (auto& [name, file] : moved) files_[to + "/" + name] = std::move(file);
  directories_.erase(from);
  directories_.insert(to);
  return absl::OkStatus();
}

absl::Status SimDisk::RemoveFile(const std::string& path) {
  SKEP_RETURN_IF_ERROR(Step());
  Unlink(path);
  return absl::OkStatus();
}

absl::Status SimDisk::RemoveTree(const std::string& path) {
  SKEP_RETURN_IF_ERROR(Step());
  trees_removed_ += Exists(path);
  Unlink(path);
  const std::string prefix = path + "/";
  for (auto it = files_.lower_bound(prefix); it != files_.end() && it->first.starts_with(prefix);) {
    names_.push_back({it->first, it->second});
    it = files_.erase(it);
  }
  std::erase_if(directories_,
                [&](const std::string& dir) { return dir == path || dir.starts_with(prefix); });
  return absl::OkStatus();
}

absl::Status SimDisk::SyncDirectory(const std::string& dir) {
  SKEP_RETURN_IF_ERROR(Step());
  ++syncs_;
  std::erase_if(names_,
                [&](const NameChange& change) { return fs::ParentPath(change.path) == dir; });
  return absl::OkStatus();
}

absl::StatusOr<std::string> SimDisk::Canonical(const std::string& path) {
  SKEP_RETURN_IF_ERROR(Step());
  if (!Exists(path)) return NotThere(path);
  return path;
}

}  // namespace skep::sim
