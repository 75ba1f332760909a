#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/check.h"
#include "storage/base/crc32c.h"
#include "storage/meta/log/little_endian.h"
#include "storage/meta/log/segment.h"
#include "tests/fuzz/fuzz_entries.h"

namespace skep::fuzz {
namespace {

using meta::GetNumber;
using meta::PutNumber;

constexpr size_t kHeaderCrcAt = 60;
constexpr size_t kSaltAt = 32;

// As whoever wrote the file on purpose would have them: docs/store.md, "The log".
void MakeChecksumsRight(std::string& file) {
  if (file.size() < meta::kSegmentHeaderSize) return;
  PutNumber(file, kHeaderCrcAt, Crc32c(std::string_view(file).substr(0, kHeaderCrcAt)));
  const std::string salt = file.substr(kSaltAt, 8);
  size_t at = meta::kSegmentHeaderSize;
  while (at + meta::kRecordHeaderSize <= file.size()) {
    const std::string_view rest = std::string_view(file).substr(at);
    const uint64_t length = GetNumber<uint32_t>(rest, 8);
    if (meta::kRecordHeaderSize + length > rest.size()) return;
    PutNumber(file, at + 12, Crc32c(rest.substr(meta::kRecordHeaderSize, length)));
    const std::string_view header = std::string_view(file).substr(at + 8, 32);
    PutNumber(file, at + 4, Crc32c(header, Crc32c(salt)));
    at += (meta::kRecordHeaderSize + length + 7) / 8 * 8;
  }
}

}  // namespace

int FuzzLogSegment(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  std::string file(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((data[0] & 1) != 0) MakeChecksumsRight(file);
  const auto header = meta::DecodeSegmentHeader(file, "fuzz");
  if (!header.ok()) return 0;
  const auto records = meta::ScanSegment(file, *header, "fuzz");
  if (!records.ok()) return 0;
  SKEP_CHECK(header->length <= file.size());
  int64_t end = meta::kSegmentHeaderSize;
  CommitSeq last;
  for (const meta::ScannedRecord& record : *records) {
    SKEP_CHECK(record.header.seq > record.header.before);
    SKEP_CHECK(&record == &records->front() || record.header.before == last);
    SKEP_CHECK(record.body.data() == file.data() + end + meta::kRecordHeaderSize);
    last = record.header.seq;
    end += record.header.size();
    SKEP_CHECK(end <= static_cast<int64_t>(file.size()));
    Effects effects;
    if (meta::DecodeBody(record.header, record.body, effects).ok()) {
      SKEP_CHECK(effects.size() == record.header.effects);
    }
  }
  const auto tail = meta::FindBrokenTail(file, *header, *records, last);
  if (tail) {
    SKEP_CHECK(tail->offset == end);
    SKEP_CHECK(tail->bytes_not_zero > 0 &&
               tail->bytes_not_zero <= static_cast<int64_t>(file.size()) - end);
  }
  return 0;
}

}  // namespace skep::fuzz
