#include "storage/meta/log/recovery.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/meta/log/segment.h"
#include "storage/model/errors.h"

namespace skep::meta {
namespace {

constexpr size_t kEffectsAtOnce = 4096;

absl::StatusOr<std::string> ReadFront(fs::FileSystem& fs, const std::string& path, int64_t limit) {
  SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<fs::RandomAccessFile> file, fs.OpenForRead(path));
  std::string bytes(static_cast<size_t>(std::min(limit, file->size())), '\0');
  SKEP_RETURN_IF_ERROR(file->ReadAt(0, static_cast<int64_t>(bytes.size()), bytes.data()));
  return bytes;
}

absl::Status OfAnotherStore(const std::string& path) {
  return MakeError(
      ErrorReason::kCorruptStore,
      fmt::format("{} belongs to another store than the tables beside it; move it away "
                  "if they were put here on purpose, else bring back what was here",
                  Printable(path)),
      {{"path", path}});
}

absl::Status LogIsMissing(const std::string& store_path) {
  const std::string mark = OpenMarkPath(store_path);
  return MakeError(
      ErrorReason::kCorruptStore,
      fmt::format("the log of store {} is missing, and the store was not stopped in order: its "
                  "newest units are in no other file; bring back {}-log.<number>, or remove {} to "
                  "go on without them",
                  Printable(store_path),
                  Printable(store_path),
                  Printable(mark)),
      {{"path", mark}});
}

absl::Status DoesNotFollow(const std::string& path, const RecordHeader& header, CommitSeq last) {
  return MakeError(
      ErrorReason::kCorruptStore,
      fmt::format("{} goes on after unit {}, but the tables and the log before it end at unit {}; "
                  "if the tables are a backup that was put back, move the files of the log away, "
                  "else bring back the files that are missing",
                  Printable(path),
                  header.before.value(),
                  last.value()),
      {{"path", path}, {"seq", last.ToString()}});
}

// The same refusal, with the place that it speaks of.
absl::Status At(const std::string& path, int64_t offset, const absl::Status& status) {
  ErrorMetadata metadata = MetadataOf(status);
  metadata["path"] = path;
  metadata["offset"] = std::to_string(offset);
  return MakeError(ReasonOf(status),
                   fmt::format("{}, offset {}: {}", Printable(path), offset, MessageOf(status)),
                   metadata);
}

// The start goes on: a unit that the power tore was never answered. One that rotted was, and its
// bytes go with the file, so this line is all that is left of it.
void WarnOfBrokenTail(const std::string& path,
                      std::string_view bytes,
                      const SegmentHeader& header,
                      const std::vector<ScannedRecord>& records,
                      CommitSeq last) {
  const std::optional<BrokenTail> tail = FindBrokenTail(bytes, header, records, last);
  if (!tail) return;
  Log(LogLevel::kWarn,
      "store.log_torn",
      {{"path", path},
       {"offset", tail->offset},
       {"bytes_not_zero", tail->bytes_not_zero},
       {"after_seq", last.value()},
       {"message",
        "the last unit is not whole and is left out: the power went while it was written, or the "
        "file was damaged since"}});
}

// Takes the units that the tables lack.
class Replay {
 public:
  Replay(SqliteStore& tables, CommitSeq last) : tables_(tables), last_(last) {}

  absl::Status Take(const ScannedRecord& record, const std::string& path) {
    if (record.header.seq <= last_) return absl::OkStatus();
    if (record.header.before != last_) return DoesNotFollow(path, record.header, last_);
    if (const absl::Status status = DecodeBody(record.header, record.body, effects_);
        !status.ok()) {
      return At(path, record.offset, status);
    }
    last_ = record.header.seq;
    ++units_;
    return effects_.size() < kEffectsAtOnce ? absl::OkStatus() : Apply();
  }
  absl::Status Apply() {
    SKEP_RETURN_IF_ERROR(tables_.Append(effects_));
    effects_.clear();
    return absl::OkStatus();
  }
  int64_t units() const { return units_; }
  CommitSeq last() const { return last_; }

 private:
  SqliteStore& tables_;
  CommitSeq last_;
  Effects effects_;
  int64_t units_ = 0;
};

}  // namespace

absl::Status CheckSegments(fs::FileSystem& fs, const std::string& store_path) {
  SKEP_ASSIGN_OR_RETURN(const std::vector<SegmentFile> segments, ListSegments(fs, store_path));
  if (segments.empty()) {
    const absl::Status marked = fs.Stat(OpenMarkPath(store_path)).status();
    return marked.ok()                ? LogIsMissing(store_path)
           : absl::IsNotFound(marked) ? absl::OkStatus()
                                      : marked;
  }
  for (const SegmentFile& segment : segments) {
    const absl::StatusOr<std::string> front = ReadFront(fs, segment.path, kSegmentHeaderSize);
    if (!front.ok()) return StoreError(front.status());
    SKEP_RETURN_IF_ERROR(DecodeSegmentHeader(*front, segment.path).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> RecoverLog(fs::FileSystem& fs,
                                    const std::string& store_path,
                                    SqliteStore& tables) {
  SKEP_ASSIGN_OR_RETURN(const std::vector<SegmentFile> segments, ListSegments(fs, store_path));
  SKEP_ASSIGN_OR_RETURN(const uint64_t store_id, tables.StoreId());
  SKEP_ASSIGN_OR_RETURN(const CommitSeq sequence, tables.Sequence());
  Replay replay(tables, sequence);
  uint64_t highest = 0;
  for (const SegmentFile& segment : segments) {
    const absl::StatusOr<std::string> bytes = ReadFront(fs, segment.path, INT64_MAX);
    if (!bytes.ok()) return StoreError(bytes.status());
    SKEP_ASSIGN_OR_RETURN(const SegmentHeader header, DecodeSegmentHeader(*bytes, segment.path));
    if (header.store_id != store_id) return OfAnotherStore(segment.path);
    SKEP_ASSIGN_OR_RETURN(const std::vector<ScannedRecord> records,
                          ScanSegment(*bytes, header, segment.path));
    for (const ScannedRecord& record : records) {
      SKEP_RETURN_IF_ERROR(replay.Take(record, segment.path));
    }
    SKEP_RETURN_IF_ERROR(replay.Apply());
    WarnOfBrokenTail(segment.path,
                     *bytes,
                     header,
                     records,
                     records.empty() ? replay.last() : records.back().header.seq);
    highest = segment.number;
  }
  if (replay.units() > 0) {
    Log(LogLevel::kInfo,
        "store.log_replayed",
        {{"path", store_path}, {"units", replay.units()}, {"seq", replay.last().value()}});
  }
  return highest;
}

absl::StatusOr<RecoveredTables> OpenTablesAfterLog(fs::FileSystem& fs,
                                                   const SqliteOptions& options) {
  SKEP_ASSIGN_OR_RETURN(LockFile lock, SqliteStore::Lock(options));
  SKEP_RETURN_IF_ERROR(CheckSegments(fs, options.path));
  RecoveredTables recovered;
  SKEP_ASSIGN_OR_RETURN(recovered.tables, SqliteStore::OpenLocked(options, std::move(lock)));
  SKEP_ASSIGN_OR_RETURN(recovered.highest_segment, RecoverLog(fs, options.path, *recovered.tables));
  if (recovered.highest_segment != 0) {
    // Durable in the tables by now, so the log may go.
    SKEP_RETURN_IF_ERROR(StoreError(RemoveSegments(fs, options.path)));
  }
  return recovered;
}

}  // namespace skep::meta
