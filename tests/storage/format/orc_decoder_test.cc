// The decoders against examples written by hand from the format's description, and against a slow
// decoder on random bytes.

#include <limits>
#include <numeric>
#include <random>

#include "storage/format/orc/bit_unpack.h"
#include "storage/format/orc/byte_stream.h"
#include "storage/format/orc/rle.h"
#include "storage/format/orc/spread.h"
#include "tests/storage/format/bytes_file.h"
#include "tests/storage/format/slow_rle.h"
#include "tests/testing/status_matchers.h"

namespace skep::orc {
namespace {

using ::skep::testing::BytesFile;
using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::skep::testing::SlowIntegers;
using ::skep::testing::SlowResult;
using ::testing::HasSubstr;

std::string Hex(std::string_view text) {
  std::string bytes;
  std::string digits;
  for (const char c : text) {
    if (c != ' ') digits += c;
  }
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// A stream of `bytes`, framed in stored chunks of `block` bytes where that is not zero.
struct Streamed {
  explicit Streamed(const std::string& bytes, size_t block = 0)
      : file(block == 0 ? bytes : Framed(bytes, block)), framed(block != 0) {}

  static std::string Framed(const std::string& bytes, size_t block) {
    std::string out;
    for (size_t at = 0; at < bytes.size(); at += block) {
      const std::string body = bytes.substr(at, block);
      const size_t header = body.size() << 1 | 1;
      for (int shift = 0; shift < 24; shift += 8) {
        out.push_back(static_cast<char>(header >> shift & 0xff));
      }
      out += body;
    }
    return out;
  }

  ByteStream Open() const {
    StreamSpec spec;
    spec.file = &file;
    spec.compression = framed ? Compression::kSnappy : Compression::kNone;
    spec.block_size = 1 << 18;
    spec.length = static_cast<uint64_t>(file.size());
    spec.column = "c";
    return ByteStream(std::move(spec));
  }

  BytesFile file;
  bool framed;
};

std::vector<int64_t> Range(int64_t first, int64_t step, int64_t count) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(first + i * step);
  return values;
}

struct IntegerCase {
  const char* name;
  const char* bytes;
  bool version2;
  Signedness signedness;
  std::vector<int64_t> values;
};

std::vector<IntegerCase> IntegerCases() {
  const auto kS = Signedness::kSigned, kU = Signedness::kUnsigned;
  std::vector<int64_t> patched{2030, 2000, 2020, 1000000};
  for (int64_t v = 2040; v <= 2190; v += 10) patched.push_back(v);
  std::vector<int64_t> negative = patched;
  for (size_t i = 0; i < negative.size(); ++i) negative[i] -= i == 3 ? 0 : 3000;
  return {
      {"v1 run", "61 00 07", false, kU, std::vector<int64_t>(100, 7)},
      {"v1 descending run", "61 ff 64", false, kU, Range(100, -1, 100)},
      {"v1 literals", "fb 02 03 06 07 0b", false, kU, {2, 3, 6, 7, 11}},
      {"short repeat of two bytes", "0a 27 10", true, kU, std::vector<int64_t>(5, 10000)},
      {"short repeat, negative", "01 09", true, kS, std::vector<int64_t>(4, -5)},
      {"direct, 16 bits", "5e 03 5c a1 ab 1e de ad be ef", true, kU, {23713, 43806, 57005, 48879}},
      {"patched base",
       "8e 13 2b 21 07 d0 1e 00 14 70 28 32 3c 46 50 5a 64 6e 78 82 8c 96 a0 aa b4 be fc e8",
       true,
       kU,
       patched},
      {"patched base, negative",
       "8e 13 2b 21 83 e8 1e 00 14 28 28 32 3c 46 50 5a 64 6e 78 82 8c 96 a0 aa b4 be fd 18",
       true,
       kS,
       negative},
      {"delta", "c6 09 02 02 22 42 42 46", true, kU, {2, 3, 5, 7, 11, 13, 17, 19, 23, 29}},
      {"delta, descending", "c6 05 c8 01 03 34 1a", true, kS, {100, 98, 95, 91, 90, 80}},
      {"fixed delta", "c0 04 02 02", true, kS, {1, 2, 3, 4, 5}},
      {"long constant run", "c0 0a 0e 00", true, kS, std::vector<int64_t>(11, 7)},
      {"deltas of one bit, widened", "c2 03 01 02 10", true, kU, {1, 2, 2, 3}},
      {"two zeros", "40 01 00", true, kS, {0, 0}},
      {"three runs", "46 00 a0 00 0c 46 00 f0", true, kU, {10, 12, 12, 12, 15}},
      {"one value as delta", "c0 00 0e 00", true, kS, {7}},
      {"64 bits",
       "7e 01 80 00 00 00 00 00 00 00 ff ff ff ff ff ff ff ff",
       true,
       kU,
       {std::numeric_limits<int64_t>::min(), -1}},
  };
}

TEST(IntDecoder, DecodesTheWorkedExamples) {
  for (const IntegerCase& c : IntegerCases()) {
    for (const size_t block : {0, 1, 3, 1000}) {
      SCOPED_TRACE(std::string(c.name) + ", blocks of " + std::to_string(block));
      const Streamed stream(Hex(c.bytes), block);
      IntDecoder decoder(stream.Open(), c.version2, c.signedness);
      std::vector<int64_t> values(c.values.size());
      ASSERT_THAT(decoder.Next(values.data(), values.size()), IsOk());
      EXPECT_EQ(values, c.values);
      EXPECT_THAT(decoder.Next(values.data(), 1), HasReason(ErrorReason::kCorruptFile));
    }
  }
}

TEST(IntDecoder, NarrowsToTheLowBits) {
  // 65535 and 32768 as 16-bit columns of some writers (RL-8).
  const Streamed stream(Hex("60 01 ff ff 40 00 00"));
  IntDecoder decoder(stream.Open(), true, Signedness::kSigned);
  std::array<int16_t, 2> values{};
  ASSERT_THAT(decoder.Next(values.data(), values.size()), IsOk());
  EXPECT_EQ(values[0], -1);
  EXPECT_EQ(values[1], INT16_MIN);
}

TEST(IntDecoder, RefusesWhatNoWriterMakes) {
  const std::pair<const char*, const char*> kCases[] = {
      {"8e 00 2b 20 00 00", "without a patch"},
      {"8e 00 3f 21 00 00 00 00 00 00 00 00 00 00 00", "more than 64 bits"},
      {"8e 00 00 21 00 00 ff", "behind its run"},
      {"c2 00 00 00", "one value with packed deltas"},
      {"c0 00 ff ff ff ff ff ff ff ff ff ff 01", "more than 10 bytes"},
      {"5e 03 5c", "ends early"},
      {"", "ends early"},
  };
  for (const auto& [bytes, message] : kCases) {
    SCOPED_TRACE(bytes);
    const Streamed stream(Hex(bytes));
    IntDecoder decoder(stream.Open(), true, Signedness::kUnsigned);
    int64_t value = 0;
    const absl::Status status = decoder.Next(&value, 1);
    EXPECT_THAT(status, HasReason(ErrorReason::kCorruptFile));
    EXPECT_THAT(status, HasMessage(HasSubstr(message)));
    EXPECT_THAT(status, HasMessage(HasSubstr("/in-memory: column c: ")));
    EXPECT_THAT(status, HasMessage(HasSubstr("(offset ")));
  }
}

// Whole, in pieces, as runs, with skips and with returns to a saved place: always the same values.
TEST(IntDecoder, AgreesWithASlowDecoderOnRandomBytes) {
  size_t good = 0;
  for (uint64_t seed = 1; seed <= 4000; ++seed) {
    std::mt19937_64 random(seed);
    std::string bytes(1 + random() % 300, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    const bool version2 = seed % 4 != 0;
    const bool is_signed = seed % 2 == 0;
    const auto signedness = is_signed ? Signedness::kSigned : Signedness::kUnsigned;
    // Random bytes end in the middle of a run, or are damaged there.
    const SlowResult slow = SlowIntegers(bytes, version2, is_signed);
    if (slow.values.empty()) continue;
    const std::vector<int64_t>& expected = slow.values;
    bytes.resize(slow.bytes);
    ++good;
    const Streamed stream(bytes, seed % 3 == 0 ? 1 + random() % 40 : 0);
    IntDecoder decoder(stream.Open(), version2, signedness);
    std::vector<int64_t> values;
    IntDecoder::Place place;
    size_t saved = 0;
    decoder.Save(&place);
    while (values.size() < expected.size()) {
      const size_t left = expected.size() - values.size();
      const size_t count = std::min<size_t>(left, 1 + random() % 700);
      switch (random() % 5) {
        case 0: {
          const absl::StatusOr<IntRun> run = decoder.NextRun(count);
          ASSERT_THAT(run, IsOk()) << seed;
          for (size_t i = 0; i < run->count; ++i) {
            values.push_back(static_cast<int64_t>(static_cast<uint64_t>(run->first) +
                                                  i * static_cast<uint64_t>(run->step)));
          }
          break;
        }
        case 1:
          ASSERT_THAT(decoder.Skip(count), IsOk()) << seed;
          values.insert(values.end(),
                        expected.begin() + static_cast<ptrdiff_t>(values.size()),
                        expected.begin() + static_cast<ptrdiff_t>(values.size() + count));
          break;
        case 2:
          decoder.Save(&place);
          saved = values.size();
          break;
        case 3:
          if (random() % 4 != 0) break;
          ASSERT_THAT(decoder.Restore(place), IsOk()) << seed;
          values.resize(saved);
          break;
        default:
          values.resize(values.size() + count);
          ASSERT_THAT(decoder.Next(values.data() + values.size() - count, count), IsOk()) << seed;
      }
    }
    ASSERT_EQ(values, expected) << seed;
  }
  EXPECT_GT(good, 1000U);
}

TEST(UnpackBits, TakesEveryWidthAndCount) {
  std::mt19937_64 random(7);
  for (uint32_t width = 1; width <= 64; ++width) {
    for (const size_t count : {1, 7, 8, 9, 31, 512}) {
      std::vector<uint8_t> packed(PackedBytes(count, width) + 8);
      for (uint8_t& byte : packed) byte = static_cast<uint8_t>(random());
      std::vector<uint64_t> values(count);
      UnpackBits(packed.data(), width, count, values.data());
      for (size_t i = 0; i < count; ++i) {
        uint64_t expected = 0;
        for (size_t bit = i * width; bit < (i + 1) * width; ++bit) {
          expected = expected << 1 | (packed[bit / 8] >> (7 - bit % 8) & 1U);
        }
        ASSERT_EQ(values[i], expected) << width << " " << count << " " << i;
      }
    }
  }
}

TEST(ByteDecoder, DecodesRunsAndLiterals) {
  const Streamed stream(Hex("61 00 fe 44 45 00 01 fe ff 02"), 2);
  ByteDecoder decoder(stream.Open());
  std::vector<uint8_t> values(107);
  ASSERT_THAT(decoder.Next(values.data(), 50), IsOk());
  ASSERT_THAT(decoder.Next(values.data() + 50, 57), IsOk());
  std::vector<uint8_t> expected(100, 0);
  for (const int value : {0x44, 0x45, 1, 1, 1, 0xff, 2}) {
    expected.push_back(static_cast<uint8_t>(value));
  }
  EXPECT_EQ(values, expected);
  EXPECT_THAT(decoder.Next(values.data(), 1), HasReason(ErrorReason::kCorruptFile));
}

TEST(BitDecoder, DeliversArrowsOrderInAnyPieces) {
  // 16 bytes of literals and a run of 20 bytes: 288 bits, most significant first.
  std::mt19937_64 random(3);
  std::vector<uint8_t> packed(16);
  for (uint8_t& byte : packed) byte = static_cast<uint8_t>(random());
  std::string bytes(1, static_cast<char>(256 - 16));
  bytes.append(packed.begin(), packed.end());
  bytes += Hex("11 a5");
  packed.resize(36, 0xa5);
  const auto bit_at = [&](size_t i) { return (packed[i / 8] >> (7 - i % 8) & 1) != 0; };
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 dice(seed);
    const Streamed stream(bytes, seed % 5);
    BitDecoder decoder(stream.Open());
    BitDecoder::Place place;
    decoder.Save(&place);
    size_t saved = 0;
    for (size_t at = 0; at < packed.size() * 8;) {
      const size_t count = std::min<size_t>(packed.size() * 8 - at, dice() % 50);
      if (dice() % 4 == 0) {
        size_t set = 0;
        for (size_t i = 0; i < count; ++i) set += bit_at(at + i) ? 1 : 0;
        SKEP_ASSERT_OK_AND_ASSIGN(const uint64_t skipped, decoder.Skip(count));
        ASSERT_EQ(skipped, set);
      } else {
        std::vector<uint8_t> out(8, 0xff);
        ASSERT_THAT(decoder.Next(out.data(), count), IsOk());
        for (size_t i = 0; i < count; ++i) {
          ASSERT_EQ(BitAt(out.data(), static_cast<int64_t>(i)), bit_at(at + i))
              << seed << " " << at;
        }
        for (size_t i = count;
             i < static_cast<size_t>(BitmapBytes(static_cast<int64_t>(count))) * 8;
             ++i) {
          ASSERT_FALSE(BitAt(out.data(), static_cast<int64_t>(i)));
        }
      }
      at += count;
      if (dice() % 8 == 0) {
        decoder.Save(&place);
        saved = at;
      } else if (dice() % 16 == 0) {
        ASSERT_THAT(decoder.Restore(place), IsOk());
        at = saved;
      }
    }
  }
}

TEST(ByteStream, SeeksWhereverATellPointed) {
  std::string bytes(5000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 256);
  for (const size_t block : {0, 1, 100, 4999, 6000}) {
    SCOPED_TRACE(block);
    const Streamed framed(bytes, block);
    ByteStream stream = framed.Open();
    std::mt19937_64 random(block + 1);
    std::vector<std::pair<ByteStream::Position, size_t>> places;
    size_t at = 0;
    for (int step = 0; step < 2000; ++step) {
      places.emplace_back(stream.Tell(), at);
      if (random() % 3 == 0 || at == bytes.size()) {
        const auto& [position, where] = places[random() % places.size()];
        ASSERT_THAT(stream.Seek(position), IsOk());
        at = where;
        continue;
      }
      const size_t count = std::min<size_t>(bytes.size() - at, 1 + random() % 200);
      if (random() % 2 == 0) {
        ASSERT_THAT(stream.Need(count), IsOk());
        ASSERT_EQ(std::string(reinterpret_cast<const char*>(stream.data()), count),
                  bytes.substr(at, count));
        stream.Advance(count);
      } else {
        std::string out(count, '\0');
        ASSERT_THAT(stream.Read(reinterpret_cast<uint8_t*>(out.data()), count), IsOk());
        ASSERT_EQ(out, bytes.substr(at, count));
      }
      at += count;
      ASSERT_GE(stream.MostLeft(), bytes.size() - at);
    }
    EXPECT_THAT(stream.Seek({1 << 30, 1 << 30}), HasReason(ErrorReason::kCorruptFile));
  }
}

TEST(Spread, MovesValuesToTheirSlots) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const auto length = static_cast<int64_t>(random() % 300);
    std::vector<uint8_t> valid(static_cast<size_t>(BitmapBytes(length)) + 8);
    // Long stretches of one kind as well as noise.
    for (size_t i = 0; i < valid.size(); ++i) {
      valid[i] = seed % 3 == 0 ? static_cast<uint8_t>(random())
                               : static_cast<uint8_t>((i / (1 + seed % 11)) % 2 == 0 ? 0xff : 0);
    }
    const int64_t count = CountBits(valid.data(), length);
    std::vector<int32_t> values(static_cast<size_t>(length));
    std::iota(values.begin(), values.begin() + count, 1);
    std::vector<int32_t> expected;
    for (int64_t i = 0, next = 1; i < length; ++i) {
      expected.push_back(BitAt(valid.data(), i) ? static_cast<int32_t>(next++) : 0);
    }
    std::vector<uint8_t> bits(valid.size()), spread(valid.size());
    for (uint8_t& byte : bits) byte = static_cast<uint8_t>(random());
    SpreadBits(bits.data(), valid.data(), length, spread.data());
    for (int64_t i = 0; i < length; ++i) {
      const int32_t dense = expected[static_cast<size_t>(i)];
      ASSERT_EQ(BitAt(spread.data(), i), dense > 0 && BitAt(bits.data(), dense - 1));
    }
    Spread(values.data(), length, valid.data(), count);
    ASSERT_EQ(values, expected) << seed;
  }
}

}  // namespace
}  // namespace skep::orc
