#pragma once

// The row index of a stripe: where each row group begins in a column's streams, and what its values
// are (RI-1 … RI-8).

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/format/orc/bloom_filter.h"
#include "storage/format/orc/byte_stream.h"
#include "storage/format/orc/stripe_source.h"
#include "storage/format/orc/tail.h"

namespace skep::orc {

struct RowGroup {
  std::vector<uint64_t> positions;
  ColumnStatistics statistics;  // of a group without any: everything unknown
};

// The groups of the columns that were asked for, by column id.
using StripeIndexes = std::unordered_map<uint32_t, std::vector<RowGroup>>;

// The numbers of one entry, taken stream by stream in the order of RI-2. The caller has checked
// their count.
class PositionCursor {
 public:
  PositionCursor(std::span<const uint64_t> numbers, bool compressed)
      : numbers_(numbers), compressed_(compressed) {}

  ByteStream::Position Bytes() {
    ByteStream::Position position;
    if (compressed_) position.chunk = Number();
    position.offset = Number();
    return position;
  }
  uint64_t Number() {
    if (numbers_.empty()) return 0;
    const uint64_t number = numbers_.front();
    numbers_ = numbers_.subspan(1);
    return number;
  }

  // How many numbers a stream has.
  static size_t OfBytes(bool compressed) { return compressed ? 2 : 1; }
  static size_t OfRuns(bool compressed) { return OfBytes(compressed) + 1; }
  static size_t OfBits(bool compressed) { return OfBytes(compressed) + 2; }

 private:
  std::span<const uint64_t> numbers_;
  bool compressed_;
};

// Reads the index of `node`'s column, and with `below` of those under it too. False where one is
// absent, damaged or has not `groups` entries: the stripe is then read without.
bool ReadIndexes(const StripeSource& source,
                 const PlanNode& node,
                 bool below,
                 size_t groups,
                 StripeIndexes* indexes);

// The bloom filters of `node`'s column, one for each of `groups` row groups; nothing where they are
// absent or damaged, or of the kind that hashed text in the writer's own character set (RI-9).
std::vector<BloomFilter> ReadBloomFilters(const StripeSource& source,
                                          const PlanNode& node,
                                          size_t groups);

}  // namespace skep::orc
