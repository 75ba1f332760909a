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

}  // namespace skep::orc
