#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/status.h>

#include "storage/model/effect.h"

namespace skep::meta {

// One unit as bytes: header, body, zeros up to a multiple of kRecordAlignment. All numbers are
// little-endian.
//
//    0  u32  magic "SKRU"
//    4  u32  CRC-32C of the segment's salt (8 bytes) and of bytes 8 to 39
//    8  u32  length of the body
//   12  u32  CRC-32C of the body
//   16  u32  number of effects
//   20  u32  0
//   24  i64  sequence of the unit before
//   32  i64  sequence of the unit
//   40       body: of each effect its tag (one byte) and its fields (field_io.h, columns.h)
//
// The salt ties a record to one life of its file: what an earlier life left there, or what a client
// put into a text, is never taken for a record.
inline constexpr int64_t kRecordHeaderSize = 40;
inline constexpr int64_t kRecordAlignment = 8;
inline constexpr uint64_t kMaxRecordBody = uint64_t{1} << 30;

struct RecordHeader {
  uint32_t body_length = 0;
  uint32_t body_crc = 0;
  uint32_t effects = 0;
  uint32_t reserved = 0;
  CommitSeq before;
  CommitSeq seq;

  // Of the whole record.
  int64_t size() const {
    const int64_t end = kRecordHeaderSize + int64_t{body_length};
    return (end + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
  }
};

// Makes records, one at a time, in a buffer that it keeps. Confined to one thread.
class RecordWriter {
 public:
  // Takes the unit's effects and its sequence from its counters. Errors: kInternal for a unit
  // without counters, for text that the tables could not hold, for more than 1 GiB.
  absl::Status Encode(const Effects& effects);
  const RecordHeader& header() const { return header_; }
  int64_t size() const { return static_cast<int64_t>(bytes_.size()); }
  // The whole record of what was encoded last, for a segment with this salt; valid until the next
  // Encode or Seal.
  std::string_view Seal(uint64_t salt, CommitSeq before);

 private:
  RecordHeader header_;
  std::string bytes_;
};

// The header at the front of `bytes`; nothing if there is none of this salt, or if its numbers make
// no sense.
std::optional<RecordHeader> ReadRecordHeader(std::string_view bytes, uint64_t salt);

// The body that follows `header` at the front of `bytes`; nothing if it is not whole.
std::optional<std::string_view> BodyOf(const RecordHeader& header, std::string_view bytes);

// Appends the effects of a body to `effects`. Errors: kCorruptStore for a tag, a value or a
// reserved field that no program of this schema writes; `effects` may hold part of the body then.
absl::Status DecodeBody(const RecordHeader& header, std::string_view body, Effects& effects);

}  // namespace skep::meta
