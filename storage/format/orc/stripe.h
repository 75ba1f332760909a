#pragma once

// One stripe's footer as plain values: where its streams lie and how its columns are encoded.

#include <cstdint>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/format/orc/tail.h"
#include "storage/fs/file_system.h"

namespace skep::orc {

enum class StreamKind : uint32_t {
  kPresent = 0,
  kData = 1,
  kLength = 2,
  kDictionaryData = 3,
  kSecondary = 5,
  kRowIndex = 6,
  kBloomFilter = 7,
  kBloomFilterUtf8 = 8,
};

enum class EncodingKind : uint32_t {
  kDirect = 0,
  kDictionary = 1,
  kDirectV2 = 2,
  kDictionaryV2 = 3
};

struct StreamRange {
  StreamKind kind = StreamKind::kData;  // a kind that is unknown here is kept as its number
  uint32_t column = 0;
  uint64_t offset = 0;  // in the file
  uint64_t length = 0;
};

// ColumnEncoding.bloom_encoding: text as UTF-8, instants in UTC (RI-9).
inline constexpr uint32_t kUtf8AndUtc = 1;

struct Encoding {
  EncodingKind kind = EncodingKind::kDirect;
  uint32_t dictionary_size = 0;
  bool bloom_in_utc = false;  // RI-9: how the column's bloom filters took timestamps

  bool is_v2() const {
    return kind == EncodingKind::kDirectV2 || kind == EncodingKind::kDictionaryV2;
  }
};

struct StripeLayout {
  std::vector<StreamRange> streams;  // in the order of the file
  std::vector<Encoding> encodings;   // by column id
  std::string writer_zone;           // "" = none written

  // nullptr where the stripe has no such stream or an empty one.
  const StreamRange* Find(uint32_t column, StreamKind kind) const;
};

// Errors: kCorruptFile (a footer that does not parse or does not fit the stripe), kNotSupported
// (encryption, an unknown encoding).
absl::StatusOr<StripeLayout> ReadStripeLayout(const fs::RandomAccessFile& file,
                                              const Tail& tail,
                                              size_t stripe);

}  // namespace skep::orc
