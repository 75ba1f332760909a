#include "tests/sim/sim_disk.h"

#include <algorithm>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::sim {
namespace {

constexpr int64_t kSector = 512;

absl::Status Off() { return absl::InternalError("the machine stands still"); }

absl::Status SyncFailed() {
  return MakeError(ErrorReason::kInternal, "the disk failed a sync", {{"errno", "EIO"}});
}
// Bytes [from, to) of the file as they were before the write.
void TakeBack(DiskFile& file, const DiskFile::Undo& undo, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; ++i) {
    const int64_t at = i - undo.offset;
    const bool had = at < static_cast<int64_t>(undo.old.size());
    file.data[static_cast<size_t>(i)] = had ? undo.old[static_cast<size_t>(at)] : '\0';
  }
}

}  // namespace

// ---- faults ----

void SimDisk::StopAt(int64_t calls, absl::AnyInvocable<void()> stopped) {
  stop_at_ = calls_ + calls;
  stopped_ = std::move(stopped);
}

absl::Status SimDisk::Step() {
  if (!on_) return Off();
  ++calls_;
  if (calls_ != stop_at_) return absl::OkStatus();
  on_ = false;
  stop_at_ = -1;
  auto stopped = std::exchange(stopped_, nullptr);
  stopped();
  return Off();
}

void SimDisk::Heal() {
  stop_at_ = -1;
  stopped_ = nullptr;
  fail_sync_.reset();
  full_ = false;
}

void SimDisk::Start(Loss loss) {
  on_ = true;
  stop_at_ = -1;
  stopped_ = nullptr;
  fail_sync_.reset();
  if (loss == Loss::kProcess) return;
  TearNames();
  for (auto& [path, file] : files_) TearWrites(*file);
}

// From the newest write back: a sector whose write is kept hides what older ones did to it.
void SimDisk::TearWrites(DiskFile& file) {
  if (file.unsynced.empty()) return;
  enum Mode { kNothingLost, kAllLost, kAny };
  const Mode mode = std::min(static_cast<Mode>(dice_.Below(4)), kAny);
  const bool keeps_length = mode == kAny ? dice_.OneIn(2) : mode == kNothingLost;
  const int64_t length =
      keeps_length ? static_cast<int64_t>(file.data.size()) : file.unsynced.front().size;
  int64_t longest = static_cast<int64_t>(file.data.size());
  for (const DiskFile::Undo& undo : file.unsynced) longest = std::max(longest, undo.size);
  file.data.resize(static_cast<size_t>(longest), '\0');
  std::set<int64_t> kept;
  for (auto undo = file.unsynced.rbegin(); undo != file.unsynced.rend(); ++undo) {
    const int64_t end = undo->offset + undo->length;
    if (undo->shortened) {
      if (!keeps_length) TakeBack(file, *undo, undo->offset, end);
      continue;
    }
    for (int64_t at = undo->offset, next = at; at < end; at = next) {
      const int64_t sector = at / kSector;
      next = std::min(end, (sector + 1) * kSector);
      if (kept.contains(sector)) continue;
      if (mode == kNothingLost || (mode == kAny && dice_.OneIn(2))) {
        kept.insert(sector);
      } else {
        TakeBack(file, *undo, at, next);
      }
    }
  }
  file.data.resize(static_cast<size_t>(length));
  file.unsynced.clear();
}

void SimDisk::TearNames() {
  const auto count = static_cast<int64_t>(names_.size());
  int64_t kept = count == 0 ? 0 : dice_.Below(count + 1);
  if (kept > 0 && names_[static_cast<size_t>(kept - 1)].with_next) --kept;
  for (int64_t i = count - 1; i >= kept; --i) {
    const NameChange& change = names_[static_cast<size_t>(i)];
    if (change.directory) {
      directories_.insert(change.path);
    } else if (change.before == nullptr) {
      files_.erase(change.path);
    } else {
      files_[change.path] = change.before;
    }
  }
  names_.clear();
}

// ---- parts ----

SimDisk::FilePtr SimDisk::Find(const std::string& path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : found->second;
}

void SimDisk::Record(const std::string& path, bool with_next) {
  names_.push_back({path, Find(path), false, with_next});
}

SimDisk::FilePtr SimDisk::Make(const std::string& path) {
  Record(path);
  return files_[path] = std::make_shared<DiskFile>();
}

void SimDisk::Unlink(const std::string& path) {
  if (!files_.contains(path)) return;
  Record(path);
  files_.erase(path);
}

absl::Status SimDisk::Write(DiskFile& file, int64_t offset, std::string_view bytes) {
  SKEP_RETURN_IF_ERROR(Step());
  const auto size = static_cast<int64_t>(file.data.size());
  const int64_t end = offset + static_cast<int64_t>(bytes.size());
  DiskFile::Undo undo{offset, {}, static_cast<int64_t>(bytes.size()), size};
  if (offset < size) {
    undo.old = file.data.substr(static_cast<size_t>(offset), bytes.size());
  }
  file.unsynced.push_back(std::move(undo));
  if (end > size) file.data.resize(static_cast<size_t>(end), '\0');
  file.data.replace(static_cast<size_t>(offset), bytes.size(), bytes);
  return absl::OkStatus();
}

bool SimDisk::Grow(int64_t bytes) {
  if (!full_) return true;
  if (bytes > room_) return false;
  room_ -= bytes;
  return true;
}

void SimDisk::Truncate(DiskFile& file, int64_t size) {
  const auto before = static_cast<int64_t>(file.data.size());
  if (size < before) {
    file.unsynced.push_back(
        {size, file.data.substr(static_cast<size_t>(size)), before - size, before, true});
  } else {
    file.unsynced.push_back({before, {}, 0, before});
  }
  file.data.resize(static_cast<size_t>(size), '\0');
}

absl::Status SimDisk::Sync(DiskFile& file, const std::string& path) {
  SKEP_RETURN_IF_ERROR(Step());
  if (fail_sync_ && path.ends_with(*fail_sync_)) {
    fail_sync_.reset();
    ++failed_syncs_;
    CallClean(file);
    return SyncFailed();
  }
  ++syncs_;
  if (lies_) return absl::OkStatus();
  std::set<int64_t> carried;
  for (const DiskFile::Undo& undo : file.unsynced) {
    if (undo.clean) continue;
    for (int64_t at = undo.offset; at < undo.offset + undo.length; at += kSector) {
      carried.insert(at / kSector);
    }
    if (undo.length > 0) carried.insert((undo.offset + undo.length - 1) / kSector);
  }
  std::erase_if(file.unsynced, [&](const DiskFile::Undo& undo) {
    return !undo.clean || carried.contains(undo.offset / kSector);
  });
  return absl::OkStatus();
}

// In sectors, so that each can be written again by itself.
void SimDisk::CallClean(DiskFile& file) {
  std::vector<DiskFile::Undo> sectors;
  for (DiskFile::Undo& undo : file.unsynced) {
    if (undo.clean || undo.shortened || undo.length == 0) {
      undo.clean = true;
      sectors.push_back(std::move(undo));
      continue;
    }
    const int64_t end = undo.offset + undo.length;
    for (int64_t at = undo.offset, next = at; at < end; at = next) {
      next = std::min(end, (at / kSector + 1) * kSector);
      const auto from = static_cast<size_t>(at - undo.offset);
      DiskFile::Undo sector{at, {}, next - at, undo.size, false, true};
      if (from < undo.old.size())
        sector.old = undo.old.substr(from, static_cast<size_t>(next - at));
      sectors.push_back(std::move(sector));
    }
  }
  file.unsynced = std::move(sectors);
}

void SimDisk::SyncName(const std::string& path) {
  std::erase_if(names_, [&](const NameChange& change) { return change.path == path; });
}

}  // namespace skep::sim
