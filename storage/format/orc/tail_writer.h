#pragma once

// The tail of a file of ours: metadata, footer, postscript.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/format/orc/block_compressor.h"
#include "storage/format/orc/orc.pb.h"
#include "storage/format/orc/tail.h"

namespace skep::orc {

// What says of a file that we wrote it: an unregistered writer code, which Hive, Trino and Impala
// read as "some other writer", with the last writer version that all of them know.
inline constexpr uint32_t kSkepWriter = 10;
inline constexpr uint32_t kSkepWriterVersion = 6;

struct TailContents {
  Compression compression = Compression::kZlib;
  uint64_t block_size = 256 << 10;
  uint32_t row_index_stride = 10000;
  Calendar calendar = Calendar::kProleptic;
  std::vector<TypeNode> types;
  std::vector<Stripe> stripes;                                          // with offsets
  std::vector<std::vector<proto::ColumnStatistics>> stripe_statistics;  // by stripe, column
  std::map<std::string, std::string> user_metadata;
};

// A section (footer, metadata, index stream) as chunks.
absl::StatusOr<std::string> FrameSection(BlockCompressor* compressor,
                                         size_t block_size,
                                         std::string_view bytes);

// The bytes to write at `body_length`, the end of the last stripe. File statistics are merged from
// the stripes'.
absl::StatusOr<std::string> SerializeTail(const TailContents& contents, uint64_t body_length);

}  // namespace skep::orc
