#pragma once

// The framing of compressed sections: a sequence of chunks, each with a 3-byte little-endian header
// (length << 1 | stored) and at most one block of uncompressed bytes (CF-1…CF-4). Without
// compression there is no framing at all.

#include <cstdint>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "storage/format/orc/tail.h"

namespace skep::orc {

// One whole section (footer, metadata, stripe footer), decompressed; at most `limit` bytes.
// Errors: kCorruptFile without a path.
absl::StatusOr<std::string> DecodeSection(Compression compression,
                                          uint64_t block_size,
                                          std::string_view section,
                                          size_t limit);

// The framed form of `bytes`. A chunk that does not shrink is stored.
absl::StatusOr<std::string> EncodeSection(Compression compression,
                                          uint64_t block_size,
                                          std::string_view bytes);
// The framed form with every chunk stored: what a synthetic tail needs, without the cost of a
// codec.
std::string StoreSection(Compression compression, uint64_t block_size, std::string_view bytes);

}  // namespace skep::orc
