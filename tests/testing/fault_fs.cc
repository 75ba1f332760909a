#include "tests/testing/fault_fs.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::testing {

using fs::IsInside;
using fs::JoinPath;
using fs::ParentPath;

// Remembers what a crash would leave of the content beside passing everything on.
class FaultFile final : public fs::WritableFile {
 public:
  FaultFile(FaultFs& owner, std::unique_ptr<fs::WritableFile> file, std::string path)
      : owner_(owner), file_(std::move(file)), path_(std::move(path)) {}
  ~FaultFile() override {
    absl::MutexLock lock(&owner_.mutex_);
    if (owner_.writers_.erase(this) != 0) {
      auto& pending = owner_.pending_;
      pending.erase(std::remove_if(pending.begin(),
                                   pending.end(),
                                   [&](const auto& change) { return change.path == path_; }),
                    pending.end());
    }
    file_.reset();
  }

  absl::Status Append(std::string_view bytes) override {
    absl::MutexLock lock(&owner_.mutex_);
    SKEP_RETURN_IF_ERROR(Enter(FsCall::kAppend));
    SKEP_RETURN_IF_ERROR(Keep(file_->Append(bytes)));
    content_ += bytes;
    return absl::OkStatus();
  }
  int64_t size() const override { return static_cast<int64_t>(content_.size()); }
  absl::Status Sync() override {
    absl::MutexLock lock(&owner_.mutex_);
    SKEP_RETURN_IF_ERROR(Enter(FsCall::kSync));
    SKEP_RETURN_IF_ERROR(Keep(file_->Sync()));
    synced_ = content_.size();
    return absl::OkStatus();
  }
  absl::Status Close() override {
    absl::MutexLock lock(&owner_.mutex_);
    SKEP_RETURN_IF_ERROR(Enter(FsCall::kClose));
    SKEP_RETURN_IF_ERROR(Keep(file_->Close()));
    owner_.writers_.erase(this);
    return absl::OkStatus();
  }

  std::string& path() { return path_; }
  // Ends the writer for good; gives what the disk holds of the content.
  std::string Die() {
    failure_ = MakeError(ErrorReason::kInternal, "the writer died in a simulated crash");
    file_.reset();
    return content_.substr(0, synced_);
  }

 private:
  absl::Status Enter(FsCall kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(owner_.mutex_) {
    SKEP_RETURN_IF_ERROR(failure_);
    return Keep(owner_.Enter(kind));
  }
  absl::Status Keep(absl::Status status) {
    if (!status.ok()) failure_ = status;
    return status;
  }

  FaultFs& owner_;
  std::unique_ptr<fs::WritableFile> file_;
  std::string path_;
  std::string content_;
  size_t synced_ = 0;
  absl::Status failure_;
};

class FaultReader final : public fs::RandomAccessFile {
 public:
  FaultReader(FaultFs& owner, std::unique_ptr<fs::RandomAccessFile> file)
      : owner_(owner), file_(std::move(file)) {}

  int64_t size() const override { return file_->size(); }
  const std::string& path() const override { return file_->path(); }
  absl::Status ReadAt(int64_t offset, int64_t length, void* out) const override {
    absl::MutexLock lock(&owner_.mutex_);
    SKEP_RETURN_IF_ERROR(owner_.Enter(FsCall::kRead));
    return file_->ReadAt(offset, length, out);
  }

 private:
  FaultFs& owner_;
  std::unique_ptr<fs::RandomAccessFile> file_;
};

// Keeps what was there before each write until a sync makes the new bytes durable. Writes that did
// not get one outlive the object: closing a file syncs nothing.
class FaultInPlace final : public fs::InPlaceFile {
 public:
  FaultInPlace(FaultFs& owner, std::unique_ptr<fs::InPlaceFile> file)
      : owner_(owner),
        file_(std::move(file)),
        path_(std::make_shared<std::string>(file_->path())) {}

  int64_t size() const override { return file_->size(); }
  const std::string& path() const override { return file_->path(); }
  absl::Status ReadAt(int64_t offset, int64_t length, void* out) const override {
    absl::MutexLock lock(&owner_.mutex_);
    SKEP_RETURN_IF_ERROR(owner_.Enter(FsCall::kRead));
    return file_->ReadAt(offset, length, out);
  }
  // A write that fails puts half of its bytes down first.
  absl::Status WriteAt(int64_t offset, std::string_view bytes) override {
    absl::MutexLock lock(&owner_.mutex_);
    const absl::Status status = Enter(FsCall::kWriteAt);
    if (owner_.crashed_) return status;
    if (!status.ok()) bytes = bytes.substr(0, bytes.size() / 2);
    FaultFs::Overwritten write{path_, offset, std::string(bytes.size(), '\0')};
    SKEP_RETURN_IF_ERROR(
        file_->ReadAt(offset, static_cast<int64_t>(bytes.size()), write.before.data()));
    SKEP_RETURN_IF_ERROR(file_->WriteAt(offset, bytes));
    owner_.overwritten_.push_back(std::move(write));
    return status;
  }
  absl::Status SyncData() override {
    absl::MutexLock lock(&owner_.mutex_);
    SKEP_RETURN_IF_ERROR(failure_);
    failure_ = Enter(FsCall::kSyncData);
    SKEP_RETURN_IF_ERROR(failure_);
    SKEP_RETURN_IF_ERROR(file_->SyncData());
    std::erase_if(owner_.overwritten_, [&](const auto& write) { return *write.path == *path_; });
    return absl::OkStatus();
  }

  const std::shared_ptr<std::string>& moving_path() const { return path_; }

 private:
  absl::Status Enter(FsCall kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(owner_.mutex_) {
    SKEP_RETURN_IF_ERROR(failure_);
    return owner_.Enter(kind);
  }

  FaultFs& owner_;
  std::unique_ptr<fs::InPlaceFile> file_;
  const std::shared_ptr<std::string> path_;  // with the owner's list of unsynced writes
  absl::Status failure_;
};

FaultFs::FaultFs(fs::FileSystem& base, std::string attic) : base_(base), attic_(std::move(attic)) {}

FaultFs::~FaultFs() = default;

void FaultFs::FailCall(FsCall kind, int nth, absl::Status error, FaultSpan span) {
  Heal();
  absl::MutexLock lock(&mutex_);
  plan_ = Plan{kind, nth, std::move(error), span};
}

void FaultFs::FailAnyCall(int nth, absl::Status error, FaultSpan span) {
  Heal();
  absl::MutexLock lock(&mutex_);
  plan_ = Plan{std::nullopt, nth, std::move(error), span};
}

void FaultFs::Heal() {
  absl::MutexLock lock(&mutex_);
  plan_.reset();
  calls_.clear();
  all_calls_ = 0;
  fired_ = false;
}

bool FaultFs::Fired() const {
  absl::MutexLock lock(&mutex_);
  return fired_;
}

int FaultFs::Calls() const {
  absl::MutexLock lock(&mutex_);
  return all_calls_;
}

int FaultFs::Calls(FsCall kind) const {
  absl::MutexLock lock(&mutex_);
  const auto found = calls_.find(kind);
  return found == calls_.end() ? 0 : found->second;
}

absl::Status FaultFs::Enter(FsCall kind) {
  if (crashed_) return MakeError(ErrorReason::kInternal, "the filesystem is down: simulated crash");
  const int of_kind = ++calls_[kind];
  ++all_calls_;
  if (!plan_ || (plan_->kind && *plan_->kind != kind)) return absl::OkStatus();
  const int count = plan_->kind ? of_kind : all_calls_;
  const bool fails = plan_->span == FaultSpan::kOnce ? count == plan_->nth : count >= plan_->nth;
  if (!fails) return absl::OkStatus();
  fired_ = true;
  return plan_->error;
}

void FaultFs::Moved(const std::string& from, const std::string& to) {
  const auto follow = [&](std::string& path) {
    if (IsInside(from, path)) path = to + path.substr(from.size());
  };
  for (Pending& change : pending_) {
    follow(change.path);
    // The old name itself is vacant; only a name below what moved has moved along.
    if (change.other != from) follow(change.other);
  }
  for (FaultFile* writer : writers_) follow(writer->path());
  std::erase_if(in_place_, [](const auto& path) { return path.expired(); });
  for (const auto& path : in_place_) follow(*path.lock());
}

void FaultFs::Undo(const Overwritten& write, Unsynced unsynced) {
  if (unsynced == Unsynced::kKept) return;
  const absl::StatusOr<std::unique_ptr<fs::InPlaceFile>> file =
      base_in_place_.OpenInPlace(*write.path);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  std::string_view back = write.before;
  int64_t offset = write.offset;
  const size_t half = back.size() / 2;
  if (unsynced == Unsynced::kSecondHalf) back = back.substr(0, half);
  if (unsynced == Unsynced::kFirstHalf) {
    back.remove_prefix(half);
    offset += static_cast<int64_t>(half);
  }
  EXPECT_TRUE((*file)->WriteAt(offset, back).ok());
}

void FaultFs::Undo(const Pending& change) {
  if (change.what == Pending::What::kCreated) {
    EXPECT_TRUE(base_.RemoveFile(change.path).ok()) << change.path;
    return;
  }
  const absl::Status back = base_.RenameNoReplace(change.path, change.other);
  // The old name was given away durably meanwhile: then this change has reached the disk as well.
  if (ReasonOf(back) == ErrorReason::kAlreadyExists) return;
  EXPECT_TRUE(back.ok()) << back.ToString();
  Moved(change.path, change.other);
}

void FaultFs::Crash(Unsynced unsynced) {
  absl::MutexLock lock(&mutex_);
  crashed_ = true;
  for (auto write = overwritten_.rbegin(); write != overwritten_.rend(); ++write) {
    Undo(*write, unsynced);
  }
  overwritten_.clear();
  for (FaultFile* writer : std::exchange(writers_, {})) {
    const std::string left = writer->Die();
    EXPECT_TRUE(base_.RemoveFile(writer->path()).ok());
    EXPECT_TRUE(fs::WriteSmallFile(base_, writer->path(), left).ok()) << writer->path();
  }
  while (!pending_.empty()) {
    const Pending change = std::move(pending_.back());
    pending_.pop_back();
    Undo(change);
  }
}

void FaultFs::Restart() {
  absl::MutexLock lock(&mutex_);
  crashed_ = false;
}

absl::StatusOr<std::vector<fs::DirEntry>> FaultFs::List(const std::string& dir) {
  absl::MutexLock lock(&mutex_);
  SKEP_RETURN_IF_ERROR(Enter(FsCall::kList));
  return base_.List(dir);
}

absl::StatusOr<fs::FileInfo> FaultFs::Stat(const std::string& path) {
  absl::MutexLock lock(&mutex_);
  SKEP_RETURN_IF_ERROR(Enter(FsCall::kStat));
  return base_.Stat(path);
}

absl::StatusOr<std::unique_ptr<fs::RandomAccessFile>> FaultFs::OpenForRead(
    const std::string& path) {
  absl::MutexLock lock(&mutex_);
  SKEP_RETURN_IF_ERROR(Enter(FsCall::kOpenForRead));
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<fs::RandomAccessFile> file, base_.OpenForRead(path));
  return std::make_unique<FaultReader>(*this, std::move(file));
}

absl::StatusOr<std::unique_ptr<fs::WritableFile>> FaultFs::Create(const std::string& path) {
  absl::MutexLock lock(&mutex_);
  SKEP_RETURN_IF_ERROR(Enter(FsCall::kCreate));
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<fs::WritableFile> file, base_.Create(path));
  auto writer = std::make_unique<FaultFile>(*this, std::move(file), path);
  writers_.insert(writer.get());
  pending_.push_back({Pending::What::kCreated, path, ""});
  return writer;
}

absl::StatusOr<std::unique_ptr<fs::InPlaceFile>> FaultFs::OpenInPlace(const std::string& path) {
  absl::MutexLock lock(&mutex_);
  SKEP_RETURN_IF_ERROR(Enter(FsCall::kOpenInPlace));
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<fs::InPlaceFile> file, base_in_place_.OpenInPlace(path));
  auto opened = std::make_unique<FaultInPlace>(*this, std::move(file));
  in_place_.push_back(opened->moving_path());
  return opened;
}

absl::Status FaultFs::CreateDirectories(const std::string& dir) {
  absl::MutexLock lock(&mutex_);
  SKEP_RETURN_IF_ERROR(Enter(FsCall::kCreateDirectories));
  return base_.CreateDirectories(dir);
}

absl::Status FaultFs::RenameNoReplace(const std::string& from, const std::string& to) {
  absl::MutexLock lock(&mutex_);
  SKEP_RETURN_IF_ERROR(Enter(FsCall::kRename));
  SKEP_RETURN_IF_ERROR(base_.RenameNoReplace(from, to));
  Moved(from, to);
  pending_.push_back({Pending::What::kRenamed, to, from});
  return absl::OkStatus();
}

absl::Status FaultFs::Remove(const std::string& path) {
  const std::string place = JoinPath(attic_, std::to_string(++attic_names_));
  const absl::Status moved = base_.RenameNoReplace(path, place);
  if (absl::IsNotFound(moved)) return absl::OkStatus();
  SKEP_RETURN_IF_ERROR(moved);
  Moved(path, place);
  pending_.push_back({Pending::What::kRemoved, place, path});
  return absl::OkStatus();
}

absl::Status FaultFs::RemoveFile(const std::string& path) {
  absl::MutexLock lock(&mutex_);
  SKEP_RETURN_IF_ERROR(Enter(FsCall::kRemoveFile));
  const absl::StatusOr<fs::FileInfo> info = base_.Stat(path);
  const bool is_directory = info.ok() && info->kind == fs::EntryKind::kDirectory;
  return is_directory ? base_.RemoveFile(path) : Remove(path);  // the base knows how to refuse
}

absl::Status FaultFs::RemoveTree(const std::string& path) {
  absl::MutexLock lock(&mutex_);
  SKEP_RETURN_IF_ERROR(Enter(FsCall::kRemoveTree));
  return Remove(path);
}

absl::Status FaultFs::SyncDirectory(const std::string& dir) {
  absl::MutexLock lock(&mutex_);
  SKEP_RETURN_IF_ERROR(Enter(FsCall::kSyncDirectory));
  SKEP_RETURN_IF_ERROR(base_.SyncDirectory(dir));
  std::vector<std::string> gone;
  std::vector<Pending> still;
  for (Pending& change : pending_) {
    const bool removed = change.what == Pending::What::kRemoved;
    const bool durable = ParentPath(removed ? change.other : change.path) == dir;
    if (durable && removed) gone.push_back(change.path);
    if (!durable) still.push_back(std::move(change));
  }
  for (const std::string& place : gone) {
    std::erase_if(still, [&](const Pending& change) { return IsInside(place, change.path); });
    SKEP_RETURN_IF_ERROR(base_.RemoveTree(place));
  }
  pending_ = std::move(still);
  return absl::OkStatus();
}

absl::StatusOr<std::string> FaultFs::Canonical(const std::string& path) {
  absl::MutexLock lock(&mutex_);
  SKEP_RETURN_IF_ERROR(Enter(FsCall::kCanonical));
  return base_.Canonical(path);
}

}  // namespace skep::testing
