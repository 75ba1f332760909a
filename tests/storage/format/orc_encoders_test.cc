#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "storage/format/orc/bloom_filter.h"
#include "storage/format/orc/byte_encoder.h"
#include "storage/format/orc/decimal_text.h"
#include "storage/format/orc/int_encoder.h"
#include "storage/format/orc/text_range.h"
#include "storage/format/orc/time_code.h"
#include "tests/storage/format/slow_rle.h"
#include "tests/testing/status_matchers.h"

namespace skep::orc {
namespace {

using ::skep::testing::IsOk;
using ::skep::testing::SlowBytes;
using ::skep::testing::SlowIntegers;
using ::skep::testing::SlowResult;

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

std::string Hex(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += kDigits[static_cast<uint8_t>(byte) >> 4];
    out += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return out;
}

std::string Encoded(const std::vector<int64_t>& values,
                    Signedness signedness,
                    Packing packing = Packing::kTight) {
  BlockCompressor compressor(Compression::kNone);
  IntEncoder encoder(&compressor, 1 << 16, signedness, packing);
  encoder.Add(values.data(), values.size());
  EXPECT_THAT(encoder.Finish(), IsOk());
  return encoder.stream().ToString();
}

struct IntCase {
  const char* name;
  std::vector<int64_t> values;
  Signedness signedness;
  const char* hex;
};

std::vector<int64_t> Of(int64_t value, size_t count) { return std::vector<int64_t>(count, value); }

// The values of the format's example of patched base, `less` subtracted from all but the outlier.
std::vector<int64_t> Outlier(int64_t less) {
  std::vector<int64_t> values{2030 - less, 2000 - less, 2020 - less, 1000000};
  for (int64_t v = 2040; v <= 2190; v += 10) values.push_back(v - less);
  return values;
}

TEST(IntEncoder, WritesTheExamplesOfTheFormat) {
  const Signedness s = Signedness::kSigned, u = Signedness::kUnsigned;
  const IntCase kCases[] = {
      {"a short repeat", Of(-5, 4), s, "0109"},
      {"direct", {23713, 43806, 57005, 48879}, u, "5e035ca1ab1edeadbeef"},
      {"growing", {2, 3, 5, 7, 11, 13, 17, 19, 23, 29}, u, "c609020222424246"},
      {"falling", {100, 98, 95, 91, 90, 80}, s, "c605c80103341a"},
      {"a fixed difference", {1, 2, 3, 4, 5}, s, "c0040202"},
      {"a long constant", Of(7, 11), s, "c00a0e00"},
      {"two zeros", {0, 0}, s, "400100"}};
  for (const IntCase& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Hex(Encoded(c.values, c.signedness, Packing::kAligned)), c.hex);
  }
  // The examples of patched base: steps of ten follow the outlier, and are a run of their own here.
  for (const int64_t less : {0, 3000}) {
    const std::vector<int64_t> values = Outlier(less);
    EXPECT_LT(Encoded(values, s).size(), 28U);
    EXPECT_EQ(SlowIntegers(Encoded(values, s), true, true).values, values);
  }
  // 512 values make a run at most.
  EXPECT_EQ(SlowIntegers(Encoded(Of(5, 10000), u), true, false).values, Of(5, 10000));
  EXPECT_EQ(Encoded(Of(5, 10000), u).size(), 20U * 4);
}

// What encoders meet: runs, near-runs, steps, outliers, extremes, and changes between them.
std::vector<int64_t> Adversarial(std::mt19937_64& random, bool is_signed) {
  std::vector<int64_t> values;
  const size_t parts = 1 + random() % 6;
  for (size_t p = 0; p < parts; ++p) {
    const int shift = static_cast<int>(random() % 64);
    const size_t count = random() % 3 == 0 ? random() % 1200 : random() % 40;
    const auto any = [&] { return static_cast<int64_t>(random()) >> shift; };
    int64_t value = any();
    const int64_t step = static_cast<int64_t>(random() % 7) - 3;
    const uint64_t shape = random() % 8, rare = 2 + random() % 60;
    for (size_t i = 0; i < count; ++i) {
      const auto wrap = [&](int64_t by) {
        value = static_cast<int64_t>(static_cast<uint64_t>(value) + static_cast<uint64_t>(by));
      };
      switch (shape) {
        case 0:  // one value, sometimes another
          values.push_back(random() % rare == 0 ? any() : value);
          break;
        case 1:  // one step, sometimes another
          wrap(random() % rare == 0 ? step * 5 : step);
          values.push_back(value);
          break;
        case 2:  // growing
          wrap(static_cast<int64_t>(random() % 100));
          values.push_back(value);
          break;
        case 3:  // falling, with pauses
          wrap(-static_cast<int64_t>(random() % 3));
          values.push_back(value);
          break;
        case 4:  // narrow around some base, with outliers
          values.push_back(
              random() % rare == 0
                  ? any()
                  : static_cast<int64_t>(static_cast<uint64_t>(value) + random() % 50));
          break;
        case 5:
          values.push_back(random() % 2 == 0 ? kLowest : kHighest);
          break;
        case 6:
          values.push_back(static_cast<int64_t>(random() % 3));
          break;
        default:
          values.push_back(any());
      }
    }
  }
  if (!is_signed) {
    for (int64_t& value : values) value &= kHighest;
  }
  return values;
}

TEST(IntEncoder, KeepsWhateverItGets) {
  std::set<int> kinds;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const bool is_signed = seed % 2 == 0;
    const std::vector<int64_t> values = Adversarial(random, is_signed);
    const std::string bytes = Encoded(values,
                                      is_signed ? Signedness::kSigned : Signedness::kUnsigned,
                                      seed % 3 == 0 ? Packing::kTight : Packing::kAligned);
    const SlowResult found = SlowIntegers(bytes, true, is_signed);
    ASSERT_EQ(found.bytes, bytes.size());
    ASSERT_EQ(found.values, values);
    kinds.insert(found.kinds.begin(), found.kinds.end());
  }
  EXPECT_EQ(kinds, (std::set<int>{0, 1, 2, 3}));
}

TEST(IntEncoder, KeepsPatchesAtEveryDistance) {
  for (const size_t second : {1, 2, 255, 256, 257, 510, 511}) {
    for (const int width : {1, 7, 20, 40, 55}) {
      SCOPED_TRACE(std::to_string(second) + " " + std::to_string(width));
      for (const int64_t base : {int64_t{0}, int64_t{-1000}, int64_t{1} << 55}) {
        std::vector<int64_t> values;
        for (size_t i = 0; i < 512; ++i) values.push_back(base + static_cast<int64_t>(i * 7 % 5));
        for (const size_t at : {size_t{0}, second}) values[at] = base + (int64_t{1} << width) + 9;
        ASSERT_EQ(SlowIntegers(Encoded(values, Signedness::kSigned), true, true).values, values);
      }
    }
  }
}

// Runs that come as such mix with values that do not.
TEST(IntEncoder, KeepsRunsAmongValues) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    BlockCompressor compressor(Compression::kNone);
    IntEncoder encoder(&compressor, 1 << 16, Signedness::kSigned, Packing::kAligned);
    std::vector<int64_t> expected;
    Positions before;
    for (int part = 0; part < 8; ++part) {
      encoder.AddPosition(&before);
      ASSERT_LT(before.back(), kMaxIntRun);
      if (random() % 2 == 0) {
        const std::vector<int64_t> values = Adversarial(random, true);
        encoder.Add(values.data(), values.size());
        expected.insert(expected.end(), values.begin(), values.end());
        continue;
      }
      int64_t first = static_cast<int64_t>(random() % 5);
      if (random() % 2 == 0 && !expected.empty()) first = expected.back();
      const int64_t step = static_cast<int64_t>(random() % 3);
      const size_t count = random() % 2 == 0 ? random() % 10 : random() % 2000;
      encoder.AddArithmetic(first, step, count);
      // Wraps, as the format's arithmetic does.
      for (size_t i = 0; i < count; ++i) {
        expected.push_back(
            static_cast<int64_t>(static_cast<uint64_t>(first) + static_cast<uint64_t>(step) * i));
      }
    }
    ASSERT_THAT(encoder.Finish(), IsOk());
    const std::string bytes = encoder.stream().ToString();
    const SlowResult found = SlowIntegers(bytes, true, true);
    ASSERT_EQ(found.bytes, bytes.size());
    ASSERT_EQ(found.values, expected);
    // From each position on lie the values that were added after it.
    for (size_t i = 0; i < before.size(); i += 2) {
      const SlowResult rest = SlowIntegers(bytes.substr(before[i]), true, true);
      ASSERT_EQ(rest.bytes, bytes.size() - before[i]);
      ASSERT_GE(rest.values.size(), before[i + 1]);
      ASSERT_EQ(std::vector<int64_t>(rest.values.begin() + static_cast<ptrdiff_t>(before[i + 1]),
                                     rest.values.end()),
                std::vector<int64_t>(
                    expected.end() - static_cast<ptrdiff_t>(rest.values.size() - before[i + 1]),
                    expected.end()));
    }
  }
}

std::string EncodedBytes(const std::vector<uint8_t>& bytes) {
  BlockCompressor compressor(Compression::kNone);
  ByteEncoder encoder(&compressor, 1 << 16);
  encoder.Add(bytes.data(), bytes.size());
  EXPECT_THAT(encoder.Finish(), IsOk());
  return encoder.stream().ToString();
}

TEST(ByteEncoder, WritesTheExamplesOfTheFormat) {
  EXPECT_EQ(Hex(EncodedBytes(std::vector<uint8_t>(100, 0))), "6100");
  EXPECT_EQ(Hex(EncodedBytes({0x44, 0x45})), "fe4445");
  EXPECT_EQ(Hex(EncodedBytes({1, 1, 1, 0xff, 2})), "0001feff02");
}

TEST(ByteEncoder, KeepsWhateverItGets) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    BlockCompressor compressor(Compression::kNone);
    ByteEncoder encoder(&compressor, 1 << 16);
    std::vector<uint8_t> expected;
    for (int part = 0; part < 10; ++part) {
      const auto byte = static_cast<uint8_t>(random() % 3);
      const size_t count = random() % 300;
      if (random() % 2 == 0) {
        encoder.AddRun(byte, count);
        expected.insert(expected.end(), count, byte);
      } else {
        std::vector<uint8_t> bytes;
        for (size_t i = 0; i < count; ++i) bytes.push_back(random() % 4 == 0 ? 9 : byte);
        encoder.Add(bytes.data(), bytes.size());
        expected.insert(expected.end(), bytes.begin(), bytes.end());
      }
    }
    ASSERT_THAT(encoder.Finish(), IsOk());
    ASSERT_EQ(SlowBytes(encoder.stream().ToString()), expected);
  }
}

TEST(BitEncoder, PutsTheFirstBitFirst) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::vector<uint8_t> bitmap(64);
    for (uint8_t& byte : bitmap) byte = static_cast<uint8_t>(random());
    BlockCompressor compressor(Compression::kNone);
    BitEncoder encoder(&compressor, 1 << 16);
    std::vector<bool> expected;
    for (int part = 0; part < 10; ++part) {
      const int64_t from = static_cast<int64_t>(random() % 200);
      const int64_t count = static_cast<int64_t>(random() % 300);
      if (random() % 3 == 0) {
        encoder.AddRun(from % 2 == 0, count);
        expected.insert(expected.end(), static_cast<size_t>(count), from % 2 == 0);
        continue;
      }
      encoder.Add(bitmap.data(), from, count);
      for (int64_t i = from; i < from + count; ++i)
        expected.push_back((bitmap[static_cast<size_t>(i / 8)] >> (i % 8) & 1) != 0);
    }
    ASSERT_THAT(encoder.Finish(), IsOk());
    const std::vector<uint8_t> bytes = SlowBytes(encoder.stream().ToString());
    ASSERT_EQ(bytes.size(), (expected.size() + 7) / 8);
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ((bytes[i / 8] >> (7 - i % 8) & 1) != 0, expected[i]) << i;
  }
}

TEST(NanosCode, LeavesTrailingZerosOut) {
  const std::pair<uint32_t, uint64_t> kCases[] = {{0, 0},
                                                  {1000, 0x0a},
                                                  {100000, 0x0c},
                                                  {500000000, 47},
                                                  {400000000, 39},
                                                  {999500000, 79964},
                                                  {120, 960},
                                                  {123456789, 987654312}};
  for (const auto& [nanos, code] : kCases) EXPECT_EQ(NanosCode(nanos), code) << nanos;
}

TEST(DecimalText, IsPlain) {
  EXPECT_EQ(DecimalText(0, 2), "0");
  EXPECT_EQ(DecimalText(-150, 2), "-1.5");
  EXPECT_EQ(DecimalText(1, 18), "0.000000000000000001");
  EXPECT_EQ(DecimalText(12300, 0), "12300");
  EXPECT_EQ(DecimalText(-7, 1), "-0.7");
}

struct BoundCase {
  const char* name;
  std::string text;
  std::string lower;
  std::optional<std::string> upper;
};

TEST(TextBounds, AreWholeCharactersAndNeverTooTight) {
  const std::string many(1023, 'a');
  const BoundCase kCases[] = {
      {"ASCII", many + "bc", many + "b", many + "c"},
      {"a character across the cut", many + "é", many, std::string(1022, 'a') + "b"},
      {"two bytes",
       std::string(1022, 'a') + "éx",
       std::string(1022, 'a') + "é",
       std::string(1022, 'a') + "ê"},
      {"before the surrogates", "\xED\x9F\xBF\xFF", "\xED\x9F\xBF", "\xEE\x80\x80"},
      {"the last character", "a\xF4\x8F\xBF\xBF\xFF", "a\xF4\x8F\xBF\xBF", "b"},
      {"nothing to count up", "\xF4\x8F\xBF\xBF\xFF", "\xF4\x8F\xBF\xBF", std::nullopt},
      {"no UTF-8", "ab\xFF", "ab", "ac"},
      {"no UTF-8 at all", "\xFF", "", std::nullopt}};
  for (const BoundCase& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(LowerTextBound(c.text), c.lower);
    EXPECT_EQ(UpperTextBound(c.text), c.upper);
    EXPECT_LE(c.lower, c.text);
    if (c.upper) {
      EXPECT_GT(*c.upper, c.text);
    }
  }
}

TEST(TextRange, FindsTheExtremesByBytes) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    TextRange range;
    std::set<std::string> texts;
    for (int i = 0; i < 20; ++i) {
      std::string text;
      for (uint64_t n = random() % 12; n > 0; --n)
        text += static_cast<char>(random() % 3 + 'a' - 1);
      if (random() % 4 == 0) text += '\0';
      texts.insert(text);
      range.Add(text);
    }
    proto::ColumnStatistics statistics;
    range.Take(&statistics);
    ASSERT_EQ(statistics.string_statistics().minimum(), *texts.begin()) << seed;
    ASSERT_EQ(statistics.string_statistics().maximum(), *texts.rbegin()) << seed;
  }
}

TEST(BloomFilter, HasTheSizesAndHashesOfTheFormat) {
  EXPECT_EQ(BloomFilter(10000, 0.05).bits().size() * 8, 62400U);
  EXPECT_EQ(BloomFilter(10000, 0.05).hash_functions(), 4U);
  EXPECT_EQ(BloomFilter(10000, 0.01).bits().size() * 8, 95872U);
  EXPECT_EQ(BloomFilter(10000, 0.01).hash_functions(), 7U);
  BloomFilter filter(100, 0.01);
  for (int i = 0; i < 100; ++i) filter.AddBytes("text " + std::to_string(i));
  int wrong = 0;
  for (int i = 0; i < 1000; ++i) {
    const bool found = filter.MayContainBytes("text " + std::to_string(i));
    ASSERT_TRUE(found || i >= 100);
    wrong += found && i >= 100 ? 1 : 0;
  }
  EXPECT_LT(wrong, 40);
}

}  // namespace
}  // namespace skep::orc
