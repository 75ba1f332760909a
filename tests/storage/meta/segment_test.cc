#include "storage/meta/log/segment.h"

#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/crc32c.h"
#include "storage/fs/posix_file_system.h"
#include "storage/meta/log/little_endian.h"
#include "tests/testing/random_effects.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::meta {
namespace {

using skep::testing::HasMessage;
using skep::testing::HasReason;
using skep::testing::IsOk;
using skep::testing::RandomEffects;
using skep::testing::TempDir;
using ::testing::HasSubstr;

const SegmentHeader kHeader{7, 3, 0xfeedfacecafebeef};
constexpr int kUnits = 6;

// A segment of an earlier life (whole records of another salt), the units of this one, `room` bytes
// behind them.
struct Segment {
  std::string bytes;
  std::vector<size_t> ends;  // of the records
};

Segment MakeSegment(size_t room) {
  Segment segment;
  RandomEffects random(3);
  RecordWriter writer;
  std::string stale;
  segment.bytes = EncodeSegmentHeader(kHeader);
  for (int i = 0; i < kUnits; ++i) {
    EXPECT_THAT(writer.Encode(random.NextUnit(1 + i % 3)), IsOk());
    stale += writer.Seal(kHeader.salt ^ 1, CommitSeq(i));
    segment.bytes += writer.Seal(kHeader.salt, CommitSeq(i));
    segment.ends.push_back(segment.bytes.size());
  }
  stale.resize(room, '\0');
  segment.bytes += stale;
  return segment;
}

absl::StatusOr<std::vector<ScannedRecord>> Scan(std::string_view bytes) {
  const absl::StatusOr<SegmentHeader> header = DecodeSegmentHeader(bytes, "/d/skep.db-log.3");
  if (!header.ok()) return header.status();
  return ScanSegment(bytes, *header, "/d/skep.db-log.3");
}

// The records are the first ones, byte for byte.
void ExpectPrefix(const std::vector<ScannedRecord>& records, const Segment& segment) {
  ASSERT_LE(records.size(), segment.ends.size());
  size_t begin = kSegmentHeaderSize;
  for (size_t i = 0; i < records.size(); ++i) {
    ASSERT_EQ(records[i].header.seq, CommitSeq(static_cast<int64_t>(i) + 1));
    ASSERT_EQ(
        records[i].body,
        std::string_view(segment.bytes).substr(begin + kRecordHeaderSize, records[i].body.size()));
    begin = segment.ends[i];
  }
}

TEST(Segment, HoldsItsUnits) {
  const Segment segment = MakeSegment(400);
  const auto records = Scan(segment.bytes);
  ASSERT_THAT(records, IsOk());
  EXPECT_EQ(records->size(), static_cast<size_t>(kUnits));
  ExpectPrefix(*records, segment);
  EXPECT_THAT(Scan(EncodeSegmentHeader(kHeader) + std::string(5000, '\0')),
              skep::testing::IsOkAndHolds(::testing::IsEmpty()));
}

TEST(Segment, EndsAtATornUnit) {
  const Segment segment = MakeSegment(400);
  const size_t last_begin = segment.ends[kUnits - 2];
  const size_t last_end = segment.ends[kUnits - 1];
  for (size_t cut = last_begin; cut < last_end; ++cut) {
    SCOPED_TRACE(cut);
    std::string torn = segment.bytes;
    for (size_t i = cut; i < last_end; ++i) torn[i] = static_cast<char>(~torn[i]);
    const auto records = Scan(torn);
    ASSERT_THAT(records, IsOk());
    ExpectPrefix(*records, segment);
    // Zeros up to the alignment are not looked at.
    EXPECT_GE(records->size() + 1, static_cast<size_t>(kUnits));
  }
}

TEST(Segment, ThatWasCutShortIsDamaged) {
  const Segment segment = MakeSegment(400);
  SegmentHeader header = kHeader;
  header.length = segment.bytes.size();
  EXPECT_THAT(ScanSegment(segment.bytes, header, "/d/f"), IsOk());
  for (const size_t left : {segment.bytes.size() - 1, segment.ends.back(), segment.ends.front()}) {
    const absl::Status status =
        ScanSegment(std::string_view(segment.bytes).substr(0, left), header, "/d/f").status();
    EXPECT_THAT(status, HasReason(ErrorReason::kCorruptStore));
    EXPECT_EQ(MetadataOf(status)["offset"], std::to_string(left));
  }
}

// Of a file with and without an earlier life: what is told of it when it is whole, and when the
// last unit is not.
TEST(Segment, TellsOfALastUnitThatIsNotWhole) {
  for (const bool used_before : {false, true}) {
    SCOPED_TRACE(used_before);
    Segment segment = MakeSegment(used_before ? 400 : 0);
    segment.bytes.append(256, '\0');
    SegmentHeader header = kHeader;
    header.used_before = used_before;
    const auto tail = [&](const std::string& bytes) {
      const auto records = ScanSegment(bytes, header, "/d/f");
      EXPECT_THAT(records, IsOk());
      return FindBrokenTail(bytes, header, *records, records->back().header.seq);
    };
    EXPECT_EQ(tail(segment.bytes), std::nullopt);
    const size_t begin = segment.ends[kUnits - 2];
    // Every byte of it that any checksum covers.
    const auto last = ScanSegment(segment.bytes, header, "/d/f")->back();
    const size_t size = kRecordHeaderSize + last.header.body_length;
    for (size_t at = begin; at < begin + size; ++at) {
      std::string damaged = segment.bytes;
      damaged[at] ^= 1;
      const auto found = tail(damaged);
      ASSERT_NE(found, std::nullopt) << at - begin;
      EXPECT_EQ(found->offset, static_cast<int64_t>(begin));
      EXPECT_GT(found->bytes_not_zero, 20);
    }
  }
}

TEST(Segment, DamageBeforeTheLastUnitIsNoEnd) {
  const Segment segment = MakeSegment(400);
  size_t begin = kSegmentHeaderSize;
  for (int i = 0; i + 1 < kUnits; ++i) {
    std::string damaged = segment.bytes;
    damaged[begin + kRecordHeaderSize] ^= 1;
    const absl::Status status = Scan(damaged).status();
    EXPECT_THAT(status, HasReason(ErrorReason::kCorruptStore));
    EXPECT_THAT(status, HasMessage(HasSubstr("restore the last backup")));
    EXPECT_EQ(MetadataOf(status)["offset"], std::to_string(begin));
    EXPECT_EQ(MetadataOf(status)["path"], "/d/skep.db-log.3");
    begin = segment.ends[i];
  }
}

// Every bit of every byte, every length, and many changes at random: an error, or some of the first
// units as they were.
TEST(Segment, AnyChangeIsFoundOrEndsTheLog) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const Segment segment = MakeSegment(256);
  int refused = 0;
  int shorter = 0;
  const auto check = [&](const std::string& changed) {
    const auto records = Scan(changed);
    if (!records.ok()) {
      ++refused;
      return;
    }
    // The first unit gone whole leaves no trace here; recovery refuses the gap.
    if (!records->empty() && records->front().header.seq != CommitSeq(1)) {
      EXPECT_GT(records->front().header.before, CommitSeq(0));
      ++refused;
      return;
    }
    if (records->size() < kUnits) ++shorter;
    ExpectPrefix(*records, segment);
  };
  for (size_t at = 0; at < segment.bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = segment.bytes;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      check(changed);
      if (HasFatalFailure()) return;
    }
  }
  for (size_t length = 0; length < segment.bytes.size(); ++length) {
    check(segment.bytes.substr(0, length));
  }
  for (int round = 0; round < 20'000; ++round) {
    std::string changed = segment.bytes;
    const size_t at = random() % changed.size();
    const size_t length = std::min<size_t>(1 + random() % 64, changed.size() - at);
    switch (random() % 4) {
      case 0:  // sectors lost
        std::fill_n(changed.begin() + static_cast<ptrdiff_t>(at), length, '\0');
        break;
      case 1:
        for (size_t i = 0; i < length; ++i) changed[at + i] = static_cast<char>(random());
        break;
      case 2:  // moved
        changed.replace(at, length, changed.substr(random() % (changed.size() - length), length));
        break;
      default:
        changed.erase(at, length);
        break;
    }
    check(changed);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(shorter, 100);
}

TEST(SegmentHeader, OfAnotherVersionNamesTheWayOut) {
  const std::string good = EncodeSegmentHeader(kHeader);
  struct Case {
    size_t at;
    std::string what;
  };
  for (const Case& c : {Case{8, "log format 9"}, Case{12, "schema version 9"}}) {
    std::string other = good;
    PutNumber(other, c.at, uint32_t{9});
    PutNumber(other, 60, Crc32c(std::string_view(other).substr(0, 60)));
    const absl::Status status = DecodeSegmentHeader(other, "/d/f").status();
    EXPECT_THAT(status, HasReason(ErrorReason::kNotSupported));
    EXPECT_THAT(status, HasMessage(HasSubstr("start the program that wrote it")));
    EXPECT_EQ(MetadataOf(status)["what"], c.what);
  }
  // A later format may lay the header out otherwise.
  std::string other = good;
  PutNumber(other, 8, uint32_t{9});
  EXPECT_THAT(DecodeSegmentHeader(other, "/d/f"), HasReason(ErrorReason::kNotSupported));
}

TEST(SegmentHeader, IsWholeOrRefused) {
  const std::string good = EncodeSegmentHeader(kHeader);
  for (size_t at = 0; at < good.size(); ++at) {
    std::string damaged = good;
    damaged[at] ^= 0x10;
    EXPECT_FALSE(DecodeSegmentHeader(damaged, "/d/f").ok()) << at;
    EXPECT_FALSE(DecodeSegmentHeader(good.substr(0, at), "/d/f").ok()) << at;
  }
  const absl::StatusOr<SegmentHeader> header = DecodeSegmentHeader(good, "/d/f");
  ASSERT_THAT(header, IsOk());
  EXPECT_EQ(header->store_id, kHeader.store_id);
  EXPECT_EQ(header->number, kHeader.number);
  EXPECT_EQ(header->salt, kHeader.salt);
  EXPECT_EQ(header->length, 0u);
  SegmentHeader other{1, 2, 3, 4096, true};
  const auto again = DecodeSegmentHeader(EncodeSegmentHeader(other), "/d/f");
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->length, 4096u);
  EXPECT_TRUE(again->used_before);
}

TEST(Segment, FilesAreFoundByNumber) {
  const TempDir dir;
  fs::PosixFileSystem fs;
  for (const char* name : {"skep.db",
                           "skep.db-wal",
                           "skep.db-log.2",
                           "skep.db-log.10",
                           "skep.db-log.new",
                           "skep.db-log.x",
                           "skep.db-log.0",
                           "other-log.1"}) {
    ASSERT_THAT(fs::WriteSmallFile(fs, dir / name, "x"), IsOk());
  }
  const auto found = ListSegments(fs, dir / "skep.db");
  ASSERT_THAT(found, IsOk());
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].path, dir / "skep.db-log.2");
  EXPECT_EQ((*found)[1].number, 10u);
  EXPECT_THAT(RemoveSegments(fs, dir / "skep.db"), IsOk());
  EXPECT_FALSE(fs.Stat(dir / "skep.db-log.10").ok());
  EXPECT_FALSE(fs.Stat(dir / "skep.db-log.new").ok());
  EXPECT_THAT(fs.Stat(dir / "skep.db-wal"), IsOk());
}

}  // namespace
}  // namespace skep::meta
