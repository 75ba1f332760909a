// A short run of every fuzzer: its corpus, and inputs near it.

#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "storage/meta/log/little_endian.h"
#include "storage/meta/log/segment.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/fuzz_entries.h"

namespace skep::fuzz {
namespace {

constexpr int kRounds = 100'000;

using Entry = int (*)(const uint8_t*, size_t);

void RunShortly(const std::string& name, Entry entry, int rounds = kRounds) {
  const std::vector<std::string> corpus = CorpusOf(name);
  ASSERT_GE(corpus.size(), 3u) << name;
  const auto run = [entry](const std::string& input) {
    entry(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  };
  for (const std::string& input : corpus) run(input);
  const uint64_t seed = std::random_device()();
  printf("seed %llu\n", static_cast<unsigned long long>(seed));  // an entry aborts
  std::mt19937_64 random(seed);
  for (int round = 0; round < rounds; ++round) run(NextInput(corpus, random));
}

TEST(Fuzz, LogRecords) { RunShortly("log_record", FuzzLogRecord); }
TEST(Fuzz, LogSegments) { RunShortly("log_segment", FuzzLogSegment); }
TEST(Fuzz, OrcFiles) { RunShortly("orc_file", FuzzOrcFile, kRounds / 5); }
TEST(Fuzz, OrcStripeFooters) { RunShortly("orc_stripe_footer", FuzzOrcStripeFooter); }
TEST(Fuzz, OrcIntegers) { RunShortly("orc_integers", FuzzOrcIntegers); }
TEST(Fuzz, OrcBytes) { RunShortly("orc_bytes", FuzzOrcBytes); }

// A corpus of an older format is refused at the door: it would reach nothing.
TEST(FuzzCorpus, HasRecordsOfThisFormatWithEveryEffect) {
  std::set<size_t> kinds;
  int units = 0;
  for (const std::string& input : CorpusOf("log_record")) {
    if (input.size() < 2) continue;
    meta::RecordHeader header;
    header.effects = meta::GetNumber<uint16_t>(input, 0);
    Effects effects;
    if (!meta::DecodeBody(header, std::string_view(input).substr(2), effects).ok()) continue;
    ++units;
    for (const Effect& effect : effects) kinds.insert(effect.index());
  }
  EXPECT_GE(units, 2);
  EXPECT_EQ(kinds.size(), std::variant_size_v<Effect>);
}

TEST(FuzzCorpus, HasSegmentsOfThisFormat) {
  int whole = 0;
  int torn = 0;
  for (const std::string& input : CorpusOf("log_segment")) {
    const std::string_view file = std::string_view(input).substr(1);
    const auto header = meta::DecodeSegmentHeader(file, "corpus");
    if (!header.ok()) continue;
    const auto records = meta::ScanSegment(file, *header, "corpus");
    if (!records.ok() || records->empty()) continue;
    const CommitSeq last = records->back().header.seq;
    ++(meta::FindBrokenTail(file, *header, *records, last) ? torn : whole);
  }
  EXPECT_GE(whole, 1);
  EXPECT_GE(torn, 1);
}

}  // namespace
}  // namespace skep::fuzz
