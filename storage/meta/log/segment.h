#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/fs/file_system.h"
#include "storage/meta/log/record.h"

namespace skep::meta {

// The format that this program writes and reads: of the files, and of the rows in the records (the
// schema of the tables).
inline constexpr uint32_t kLogFormat = 3;
inline constexpr uint32_t kRecordSchema = 5;

// One file of the log: a header, then records without gaps, then zeros or what an earlier life of
// the file left. Little-endian:
//
//    0  magic "SKEPLOG", 0
//    8  u32  format of the log
//   12  u32  schema of the rows
//   16  u64  id of the store it belongs to
//   24  u64  number of the segment; higher ones are newer
//   32  u64  salt of its records, another one for each life of the file
//   40  u64  length of the file, which never changes
//   48  u32  1 if the file had an earlier life
//   52       zeros
//   60  u32  CRC-32C of bytes 0 to 59
inline constexpr int64_t kSegmentHeaderSize = 64;

struct SegmentHeader {
  uint64_t store_id = 0;
  uint64_t number = 0;
  uint64_t salt = 0;
  uint64_t length = 0;
  bool used_before = false;
};

std::string EncodeSegmentHeader(const SegmentHeader& header);
// `path` is for the message. Errors: kNotSupported for another format or schema; kCorruptStore for
// what is no header at all.
absl::StatusOr<SegmentHeader> DecodeSegmentHeader(std::string_view bytes, const std::string& path);

// The records of a segment. `bytes` is the whole file and must outlive the result.
struct ScannedRecord {
  RecordHeader header;
  std::string_view body;
  int64_t offset = 0;  // in its file
};
// The last record may be torn: it ends the list. Errors: kCorruptStore where a later record is
// whole, where the sequences have a gap or where the file is shorter than it was made; metadata
// path, offset.
absl::StatusOr<std::vector<ScannedRecord>> ScanSegment(std::string_view bytes,
                                                       const SegmentHeader& header,
                                                       const std::string& path);

// What was begun behind the last record and is no record. A unit that the power tore looks like
// that, and so does one that was whole and rotted: nobody can tell, so a person should know.
struct BrokenTail {
  int64_t offset = 0;          // where the next record would begin
  int64_t bytes_not_zero = 0;  // from there to the end of the file
};
// Behind `records`, of which the last, or the last unit stored before them, is `last`. Bytes of an
// earlier life of the file are none: they hold units up to `last` only.
std::optional<BrokenTail> FindBrokenTail(std::string_view bytes,
                                         const SegmentHeader& header,
                                         const std::vector<ScannedRecord>& records,
                                         CommitSeq last);

// "<store>-log.<number>"; "<store>-log.new" is a segment in the making and holds nothing.
std::string SegmentPath(const std::string& store_path, uint64_t number);
std::string NewSegmentPath(const std::string& store_path);

// "<store>-log.open" says that there is a segment: made after the first, gone before the last. With
// it and without one, the log was lost. It has the log's name, so that whoever moves a log away on
// purpose takes it along.
std::string OpenMarkPath(const std::string& store_path);
// Errors: as fs::FileSystem; the name is durable on return.
absl::Status MarkLogOpen(fs::FileSystem& fs, const std::string& store_path);

struct SegmentFile {
  uint64_t number = 0;
  std::string path;
};
// Those that lie beside the tables, oldest first. Errors: as fs::FileSystem::List.
absl::StatusOr<std::vector<SegmentFile>> ListSegments(fs::FileSystem& fs,
                                                      const std::string& store_path);

// Removes all of them and what was in the making; the names are gone for good on return.
absl::Status RemoveSegments(fs::FileSystem& fs, const std::string& store_path);

// An error of the filesystem in the words of the store's port: a full disk is kStoreFull, a file
// that is gone kCorruptStore, else what it was.
absl::Status StoreError(const absl::Status& status);

}  // namespace skep::meta
