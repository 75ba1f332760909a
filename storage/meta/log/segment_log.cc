#include "storage/meta/log/segment_log.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/meta/sqlite/file_care.h"
#include "storage/model/errors.h"

namespace skep::meta {
namespace {

constexpr size_t kZerosAtOnce = 512 << 10;

}  // namespace

absl::StatusOr<std::unique_ptr<SegmentLog>> SegmentLog::Create(const Ports& ports,
                                                               const Options& options) {
  std::unique_ptr<SegmentLog> log(new SegmentLog(ports, options));
  absl::MutexLock making(&log->making_);
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<Segment> first,
                        log->Make(options.first_number, options.first_bytes));
  SKEP_RETURN_IF_ERROR(StoreError(MarkLogOpen(*ports.fs, options.store_path)));
  log->writing_ = first.get();
  log->begin_ = {options.first_number, kSegmentHeaderSize};
  absl::MutexLock lock(&log->mutex_);
  log->segments_.push_back(std::move(first));
  return log;
}

SegmentHeader SegmentLog::HeaderOf(uint64_t number, int64_t length) {
  return {options_.store_id, number, random_.NextUint64(), static_cast<uint64_t>(length), false};
}

// Under another name until it is whole, so that a segment that is found is one.
absl::StatusOr<std::unique_ptr<SegmentLog::Segment>> SegmentLog::Make(uint64_t number,
                                                                      int64_t size) {
  auto segment = std::make_unique<Segment>();
  segment->header = HeaderOf(number, size);
  segment->path = SegmentPath(options_.store_path, number);
  const std::string making = NewSegmentPath(options_.store_path);
  const auto write = [&]() -> absl::Status {
    SKEP_RETURN_IF_ERROR(fs_.RemoveFile(making));
    SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<fs::WritableFile> file, fs_.Create(making));
    SKEP_RETURN_IF_ERROR(file->Append(EncodeSegmentHeader(segment->header)));
    // In pieces: a unit's sync meanwhile waits behind one of them at most.
    const std::string zeros(kZerosAtOnce, '\0');
    while (file->size() < size) {
      const auto left = static_cast<size_t>(size - file->size());
      SKEP_RETURN_IF_ERROR(file->Append(std::string_view(zeros).substr(0, left)));
      if (left > kZerosAtOnce) SKEP_RETURN_IF_ERROR(file->Sync());
    }
    SKEP_RETURN_IF_ERROR(file->Close());
    SKEP_RETURN_IF_ERROR(MoveTo(making, segment->path));
    SKEP_ASSIGN_OR_RETURN(segment->file, files_.OpenInPlace(segment->path));
    return absl::OkStatus();
  };
  SKEP_RETURN_IF_ERROR(StoreError(write()));
  return segment;
}

absl::Status SegmentLog::MoveTo(const std::string& from, const std::string& to) {
  SKEP_RETURN_IF_ERROR(fs_.RenameNoReplace(from, to));
  return fs_.SyncDirectory(DirectoryOf(options_.store_path));
}

// The file goes through the name of those in the making: at no moment does a segment's name lead to
// another one's header.
absl::Status SegmentLog::Recycle(Segment& segment, uint64_t number) {
  const std::string making = NewSegmentPath(options_.store_path);
  const std::string path = SegmentPath(options_.store_path, number);
  SKEP_RETURN_IF_ERROR(fs_.RemoveFile(making));
  SKEP_RETURN_IF_ERROR(MoveTo(std::exchange(segment.path, making), making));
  segment.header = HeaderOf(number, segment.file->size());
  segment.header.used_before = true;
  SKEP_RETURN_IF_ERROR(segment.file->WriteAt(0, EncodeSegmentHeader(segment.header)));
  SKEP_RETURN_IF_ERROR(segment.file->SyncData());
  SKEP_RETURN_IF_ERROR(MoveTo(making, path));
  segment.path = path;
  segment.end = kSegmentHeaderSize;
  return absl::OkStatus();
}

absl::Status SegmentLog::Append(RecordWriter& record) {
  SKEP_RETURN_IF_ERROR(broken_);
  if (record.header().seq <= last_) {
    return MakeError(ErrorReason::kInternal,
                     fmt::format("unit {} comes after unit {}; this is a fault of the program",
                                 record.header().seq.value(),
                                 last_.value()));
  }
  if (writing_->file->size() - writing_end_ < record.size()) {
    SKEP_RETURN_IF_ERROR(Switch(record.size()));
  }
  const std::string_view bytes = record.Seal(writing_->header.salt, last_);
  if (const absl::Status written = writing_->file->WriteAt(writing_end_, bytes); !written.ok()) {
    // What was put down is not whole; the next unit takes its place.
    const absl::Status status = StoreError(written);
    return ReasonOf(status) == ErrorReason::kStoreFull ? status : GiveUp(written);
  }
  if (const absl::Status synced = writing_->file->SyncData(); !synced.ok()) return GiveUp(synced);
  writing_end_ += record.size();
  last_ = record.header().seq;
  {
    absl::MutexLock lock(&mutex_);
    writing_->end = writing_end_;
  }
  appended_.fetch_add(record.size());
  return absl::OkStatus();
}

absl::Status SegmentLog::GiveUp(const absl::Status& cause) {
  broken_ = MakeError(
      ErrorReason::kOutcomeUnknown,
      fmt::format("{}; whether the unit is stored shows after a restart", MessageOf(cause)),
      MetadataOf(cause));
  return broken_;
}

absl::Status SegmentLog::Switch(int64_t record_size) {
  absl::MutexLock making(&making_);
  const int64_t needed = kSegmentHeaderSize + record_size;
  std::unique_ptr<Segment> made;
  uint64_t number = writing_->header.number + 1;
  int64_t size = std::min(options_.largest_bytes, 4 * writing_->file->size());
  {
    absl::MutexLock lock(&mutex_);
    if (next_ && next_->file->size() >= needed) {
      made = std::move(next_);
    } else if (next_) {
      number = next_->header.number + 1;  // the unit is too long for what was made beforehand
    }
  }
  if (!made) {
    absl::StatusOr<std::unique_ptr<Segment>> segment = Make(number, std::max(size, needed));
    // What is left of the disk may still hold a short one.
    const int64_t least = std::max(options_.first_bytes, needed);
    if (ReasonOf(segment.status()) == ErrorReason::kStoreFull && least < size) {
      segment = Make(number, least);
    }
    SKEP_RETURN_IF_ERROR(segment.status());
    made = *std::move(segment);
  }
  absl::MutexLock lock(&mutex_);
  if (next_) segments_.push_back(std::move(next_));
  writing_ = made.get();
  writing_end_ = kSegmentHeaderSize;
  segments_.push_back(std::move(made));
  return absl::OkStatus();
}

namespace {

// How many effects the whole records at the front of `bytes` have by their headers, which nobody
// has checked: no more than there are bytes.
size_t EffectsIn(std::string_view bytes, uint64_t salt) {
  size_t effects = 0;
  for (std::string_view rest = bytes;;) {
    const std::optional<RecordHeader> header = ReadRecordHeader(rest, salt);
    if (!header || static_cast<int64_t>(rest.size()) < header->size()) break;
    effects += header->effects;
    rest.remove_prefix(static_cast<size_t>(header->size()));
  }
  return std::min(effects, bytes.size());
}

}  // namespace

absl::StatusOr<SegmentLog::Piece> SegmentLog::Read(Place from, int64_t bytes) const {
  Piece piece{{}, from, 0};
  const Segment* segment = nullptr;
  int64_t end = 0;
  {
    absl::MutexLock lock(&mutex_);
    auto at = std::find_if(segments_.begin(), segments_.end(), [&](const auto& candidate) {
      return candidate->header.number == from.segment;
    });
    while (at != segments_.end() && piece.next.offset >= (*at)->end) {
      if (++at != segments_.end()) piece.next = {(*at)->header.number, kSegmentHeaderSize};
    }
    if (at == segments_.end()) {
      piece.next = from;
      return piece;
    }
    segment = at->get();
    end = segment->end;
  }
  const int64_t begin = piece.next.offset;
  std::string buffer;
  const auto fill = [&](int64_t length) {
    buffer.resize(static_cast<size_t>(std::min(length, end - begin)));
    return StoreError(
        segment->file->ReadAt(begin, static_cast<int64_t>(buffer.size()), buffer.data()));
  };
  SKEP_RETURN_IF_ERROR(fill(bytes));
  piece.effects.reserve(EffectsIn(buffer, segment->header.salt));
  for (std::string_view rest = buffer; !rest.empty();) {
    const std::optional<RecordHeader> header = ReadRecordHeader(rest, segment->header.salt);
    const bool first = piece.bytes == 0;
    if (header && static_cast<int64_t>(rest.size()) < header->size()) {
      if (!first || static_cast<int64_t>(buffer.size()) == end - begin) break;
      SKEP_RETURN_IF_ERROR(fill(header->size()));
      rest = buffer;
    }
    if (!header && !first && static_cast<int64_t>(rest.size()) < kRecordHeaderSize) break;
    const std::optional<std::string_view> body = header ? BodyOf(*header, rest) : std::nullopt;
    if (!body) {
      return MakeError(
          ErrorReason::kCorruptStore,
          fmt::format("{}: the unit at offset {} is not what was written there; look at the disk "
                      "and the kernel's log before starting again",
                      Printable(segment->path),
                      begin + piece.bytes),
          {{"path", segment->path}, {"offset", std::to_string(begin + piece.bytes)}});
    }
    SKEP_RETURN_IF_ERROR(DecodeBody(*header, *body, piece.effects));
    piece.bytes += header->size();
    piece.next.offset += header->size();
    rest.remove_prefix(static_cast<size_t>(header->size()));
  }
  return piece;
}

void SegmentLog::Release(Place place) {
  absl::MutexLock making(&making_);
  std::deque<std::unique_ptr<Segment>> free;
  int64_t bytes = place.offset - begin_.offset;
  {
    absl::MutexLock lock(&mutex_);
    while (segments_.front()->header.number < place.segment) {
      bytes += segments_.front()->end - kSegmentHeaderSize;
      free.push_back(std::move(segments_.front()));
      segments_.pop_front();
    }
  }
  begin_ = place;
  released_.fetch_add(bytes);
  std::unique_ptr<Segment> spare;
  for (std::unique_ptr<Segment>& segment : free) {
    if (segment->file->size() == options_.largest_bytes && !spare) {
      spare = std::move(segment);
    } else if (const absl::Status removed = fs_.RemoveFile(segment->path); !removed.ok()) {
      // It holds what the tables hold: a start that finds it passes over it.
      Log(LogLevel::kWarn, "store.log_remove", {{"error", MessageOf(removed)}});
    }
  }
  PrepareNext(std::move(spare));
}

void SegmentLog::PrepareNext(std::unique_ptr<Segment> spare) {
  uint64_t number = 0;
  int64_t size = 0;
  {
    absl::MutexLock lock(&mutex_);
    const Segment& last = *segments_.back();
    const bool soon = last.end > last.file->size() / 2;
    if (!next_ && (spare || soon)) {
      number = last.header.number + 1;
      size = std::min(options_.largest_bytes, 4 * last.file->size());
    }
  }
  absl::Status status;
  std::unique_ptr<Segment> made;
  if (number != 0 && spare && spare->file->size() == size) {
    status = StoreError(Recycle(*spare, number));
    if (status.ok()) made = std::move(spare);
  } else if (number != 0) {
    absl::StatusOr<std::unique_ptr<Segment>> segment = Make(number, size);
    status = segment.status();
    if (status.ok()) made = *std::move(segment);
  }
  if (status.ok() && spare) status = fs_.RemoveFile(spare->path);
  if (!status.ok()) Log(LogLevel::kWarn, "store.log_prepare", {{"error", MessageOf(status)}});
  absl::MutexLock lock(&mutex_);
  if (made) next_ = std::move(made);
}

absl::Status SegmentLog::RemoveAll() { return RemoveSegments(fs_, options_.store_path); }

}  // namespace skep::meta
