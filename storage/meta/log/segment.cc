#include "storage/meta/log/segment.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "storage/base/crc32c.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/meta/log/little_endian.h"
#include "storage/meta/sqlite/file_care.h"
#include "storage/model/errors.h"

namespace skep::meta {
namespace {

constexpr std::string_view kMagic{"SKEPLOG\0", 8};
constexpr size_t kCrcAt = 60;

absl::Status Damaged(const std::string& path, int64_t offset, std::string_view what) {
  return MakeError(ErrorReason::kCorruptStore,
                   fmt::format("{}: {} at offset {}; keep a copy of the data directory and restore "
                               "the last backup",
                               Printable(path),
                               what,
                               offset),
                   {{"path", path}, {"offset", std::to_string(offset)}});
}

absl::Status OfAnotherProgram(const std::string& path,
                              std::string_view what,
                              uint32_t found,
                              uint32_t known) {
  return MakeError(
      ErrorReason::kNotSupported,
      fmt::format(
          "{} has {} {}, this program reads {}; start the program that wrote it and stop it "
          "in order, which empties the log",
          Printable(path),
          what,
          found,
          known),
      {{"what", fmt::format("{} {}", what, found)},
       {"found", std::to_string(found)},
       {"known", std::to_string(known)},
       {"path", path}});
}

std::optional<ScannedRecord> RecordAt(std::string_view bytes, size_t at, uint64_t salt) {
  const std::string_view rest = bytes.substr(at);
  const std::optional<RecordHeader> header = ReadRecordHeader(rest, salt);
  if (!header) return std::nullopt;
  const std::optional<std::string_view> body = BodyOf(*header, rest);
  if (!body) return std::nullopt;
  return ScannedRecord{*header, *body, static_cast<int64_t>(at)};
}

// No unit of an earlier life is newer than `last`, so a record of this life shows by its sequences
// even where its checksum is wrong.
bool LooksBegun(std::string_view rest, uint64_t salt, CommitSeq last) {
  if (rest.size() < kRecordHeaderSize) return false;
  if (ReadRecordHeader(rest, salt)) return true;
  const auto before = static_cast<int64_t>(GetNumber<uint64_t>(rest, 24));
  const auto seq = static_cast<int64_t>(GetNumber<uint64_t>(rest, 32));
  return (before == last.value() && before != 0) ||
         (rest.starts_with("SKRU") && seq > last.value());
}

}  // namespace

std::string EncodeSegmentHeader(const SegmentHeader& header) {
  std::string bytes(kSegmentHeaderSize, '\0');
  bytes.replace(0, kMagic.size(), kMagic);
  PutNumber(bytes, 8, kLogFormat);
  PutNumber(bytes, 12, kRecordSchema);
  PutNumber(bytes, 16, header.store_id);
  PutNumber(bytes, 24, header.number);
  PutNumber(bytes, 32, header.salt);
  PutNumber(bytes, 40, header.length);
  PutNumber(bytes, 48, uint32_t{header.used_before ? 1u : 0u});
  PutNumber(bytes, kCrcAt, Crc32c(std::string_view(bytes).substr(0, kCrcAt)));
  return bytes;
}

absl::StatusOr<SegmentHeader> DecodeSegmentHeader(std::string_view bytes, const std::string& path) {
  if (bytes.size() < kSegmentHeaderSize || !bytes.starts_with(kMagic)) {
    return Damaged(path, 0, "no header of a log");
  }
  // The place of the version is for ever, the rest of the header is this version's.
  const auto format = GetNumber<uint32_t>(bytes, 8);
  if (GetNumber<uint32_t>(bytes, kCrcAt) != Crc32c(bytes.substr(0, kCrcAt))) {
    return format == kLogFormat ? Damaged(path, 0, "a damaged header")
                                : OfAnotherProgram(path, "log format", format, kLogFormat);
  }
  if (format != kLogFormat) return OfAnotherProgram(path, "log format", format, kLogFormat);
  const auto schema = GetNumber<uint32_t>(bytes, 12);
  if (schema != kRecordSchema)
    return OfAnotherProgram(path, "schema version", schema, kRecordSchema);
  return SegmentHeader{GetNumber<uint64_t>(bytes, 16),
                       GetNumber<uint64_t>(bytes, 24),
                       GetNumber<uint64_t>(bytes, 32),
                       GetNumber<uint64_t>(bytes, 40),
                       GetNumber<uint32_t>(bytes, 48) != 0};
}

absl::StatusOr<std::vector<ScannedRecord>> ScanSegment(std::string_view bytes,
                                                       const SegmentHeader& header,
                                                       const std::string& path) {
  if (bytes.size() < header.length) {
    return Damaged(path,
                   static_cast<int64_t>(bytes.size()),
                   fmt::format("the end of a file that was made {} bytes long", header.length));
  }
  std::vector<ScannedRecord> records;
  size_t at = kSegmentHeaderSize;
  while (at < bytes.size()) {
    const std::optional<ScannedRecord> record = RecordAt(bytes, at, header.salt);
    if (!record) break;
    if (!records.empty() && record->header.before != records.back().header.seq) {
      return Damaged(path, static_cast<int64_t>(at), "a unit that does not follow the one before");
    }
    records.push_back(*record);
    at += static_cast<size_t>(record->header.size());
  }
  // Each record was synced before the next was written: behind a torn one there is none.
  for (size_t later = at + kRecordAlignment; later < bytes.size(); later += kRecordAlignment) {
    if (RecordAt(bytes, later, header.salt)) {
      return Damaged(path,
                     static_cast<int64_t>(at),
                     fmt::format("a damaged unit (a later one, at offset {}, is whole)", later));
    }
  }
  return records;
}

std::optional<BrokenTail> FindBrokenTail(std::string_view bytes,
                                         const SegmentHeader& header,
                                         const std::vector<ScannedRecord>& records,
                                         CommitSeq last) {
  int64_t end = kSegmentHeaderSize;
  for (const ScannedRecord& record : records) end += record.header.size();
  const std::string_view rest = bytes.substr(std::min(static_cast<size_t>(end), bytes.size()));
  const auto zeros = std::count(rest.begin(), rest.end(), '\0');
  const int64_t not_zero = static_cast<int64_t>(rest.size()) - zeros;
  if (not_zero == 0) return std::nullopt;
  if (header.used_before && !LooksBegun(rest, header.salt, last)) return std::nullopt;
  return BrokenTail{end, not_zero};
}

std::string SegmentPath(const std::string& store_path, uint64_t number) {
  return fmt::format("{}-log.{}", store_path, number);
}

std::string NewSegmentPath(const std::string& store_path) { return store_path + "-log.new"; }

std::string OpenMarkPath(const std::string& store_path) { return store_path + "-log.open"; }

absl::Status MarkLogOpen(fs::FileSystem& fs, const std::string& store_path) {
  SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<fs::WritableFile> file,
                        fs.Create(OpenMarkPath(store_path)));
  SKEP_RETURN_IF_ERROR(file->Close());
  return fs.SyncDirectory(DirectoryOf(store_path));
}

absl::StatusOr<std::vector<SegmentFile>> ListSegments(fs::FileSystem& fs,
                                                      const std::string& store_path) {
  const std::string dir = DirectoryOf(store_path);
  const std::string prefix = fs::BaseName(store_path) + "-log.";
  SKEP_ASSIGN_OR_RETURN(const std::vector<fs::DirEntry> entries, fs.List(dir));
  std::vector<SegmentFile> segments;
  for (const fs::DirEntry& entry : entries) {
    if (!entry.name.starts_with(prefix)) continue;
    const std::optional<int64_t> number = ParseInt64(entry.name.substr(prefix.size()));
    if (!number || *number < 1) continue;
    segments.push_back({static_cast<uint64_t>(*number), fs::JoinPath(dir, entry.name)});
  }
  std::sort(segments.begin(), segments.end(), [](const SegmentFile& a, const SegmentFile& b) {
    return a.number < b.number;
  });
  return segments;
}

absl::Status RemoveSegments(fs::FileSystem& fs, const std::string& store_path) {
  SKEP_ASSIGN_OR_RETURN(const std::vector<SegmentFile> segments, ListSegments(fs, store_path));
  SKEP_RETURN_IF_ERROR(fs.RemoveFile(OpenMarkPath(store_path)));
  SKEP_RETURN_IF_ERROR(fs.SyncDirectory(DirectoryOf(store_path)));
  for (const SegmentFile& segment : segments) SKEP_RETURN_IF_ERROR(fs.RemoveFile(segment.path));
  SKEP_RETURN_IF_ERROR(fs.RemoveFile(NewSegmentPath(store_path)));
  return fs.SyncDirectory(DirectoryOf(store_path));
}

absl::Status StoreError(const absl::Status& status) {
  if (status.ok()) return status;
  const ErrorMetadata metadata = MetadataOf(status);
  const auto error = metadata.find("errno");
  if (error != metadata.end() && (error->second == "ENOSPC" || error->second == "EDQUOT")) {
    return MakeError(ErrorReason::kStoreFull, MessageOf(status), metadata);
  }
  if (absl::IsNotFound(status) || ReasonOf(status) == ErrorReason::kCorruptFile) {
    return MakeError(ErrorReason::kCorruptStore, MessageOf(status), metadata);
  }
  return status;
}

}  // namespace skep::meta
