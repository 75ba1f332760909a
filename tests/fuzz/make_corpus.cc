// make_fuzz_corpus DIR: writes the checked-in inputs anew, after a change of the format.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "storage/meta/log/little_endian.h"
#include "storage/meta/log/segment.h"
#include "tests/fuzz/orc_corpus.h"
#include "tests/storage/meta/sample_state.h"
#include "tests/testing/random_effects.h"

namespace skep::fuzz {
namespace {

constexpr int64_t kSegmentBytes = 2048;
constexpr uint64_t kSalt = 0x1122334455667788;

void Save(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string RecordOf(const Effects& unit, CommitSeq before) {
  meta::RecordWriter writer;
  const absl::Status status = writer.Encode(unit);
  if (!status.ok()) fprintf(stderr, "%s\n", status.ToString().c_str());
  return std::string(writer.Seal(kSalt, before));
}

// For log_record.
std::string BodyInput(const Effects& unit) {
  const std::string record = RecordOf(unit, CommitSeq(0));
  const auto header = meta::ReadRecordHeader(record, kSalt);
  std::string input(2, '\0');
  meta::PutNumber(input, 0, static_cast<uint16_t>(header->effects));
  return input.append(*meta::BodyOf(*header, record));
}

void MakeRecords(const std::filesystem::path& dir) {
  Save(dir / "sample", BodyInput(meta::SampleUnit()));
  Save(dir / "nothing", std::string());
  testing::RandomEffects random(1);
  for (int size : {0, 3, 20, 60, 120}) {
    Save(dir / ("unit_of_" + std::to_string(size)), BodyInput(random.NextUnit(size)));
  }
}

struct Segment {
  meta::SegmentHeader header;
  std::vector<std::string> records;
};

Segment MakeSegment(bool used_before) {
  Segment segment;
  segment.header.store_id = 99;
  segment.header.number = 3;
  segment.header.salt = kSalt;
  segment.header.length = kSegmentBytes;
  segment.header.used_before = used_before;
  testing::RandomEffects random(2);
  for (int64_t seq = 1; seq <= 4; ++seq) {
    segment.records.push_back(RecordOf(random.NextUnit(3), CommitSeq(seq - 1)));
  }
  return segment;
}

// For log_segment, with checksums as they are.
std::string FileInput(const Segment& segment) {
  std::string file = meta::EncodeSegmentHeader(segment.header);
  for (const std::string& record : segment.records) file += record;
  file.resize(kSegmentBytes, '\0');
  return std::string(1, '\0') + file;
}

void MakeSegments(const std::filesystem::path& dir) {
  const Segment whole = MakeSegment(false);
  Save(dir / "whole", FileInput(whole));
  Save(dir / "nothing", FileInput({whole.header, {}}));
  Segment torn = whole;
  torn.records.back().resize(torn.records.back().size() / 2);
  Save(dir / "torn", FileInput(torn));
  Segment damaged = whole;
  damaged.records[1][50] ^= 1;
  Save(dir / "damaged", FileInput(damaged));
  // Behind the newest record lies one of the life before.
  Segment again = MakeSegment(true);
  again.records.back()[4] ^= 1;
  Save(dir / "used_again", FileInput(again));
  std::string repaired = FileInput(whole);
  repaired[0] = 1;
  Save(dir / "with_checksums_made_right", repaired);
}

}  // namespace
}  // namespace skep::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: make_fuzz_corpus DIR\n");
    return 2;
  }
  skep::fuzz::MakeRecords(std::filesystem::path(argv[1]) / "log_record");
  skep::fuzz::MakeSegments(std::filesystem::path(argv[1]) / "log_segment");
  skep::fuzz::MakeOrcCorpus(argv[1]);
  return 0;
}
