#pragma once

// Decompression of one chunk's body into memory of the caller. What a chunk is stands in chunks.h.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <absl/status/statusor.h>

#include "storage/format/orc/tail.h"

namespace skep::orc {

// The most that a body can decompress to, never more than `block_size`: what to have room for.
// A hostile header cannot make it larger than what the codec's best ratio allows.
size_t MostDecompressed(Compression compression, std::string_view body, size_t block_size);

// Decompresses `body` into `out`, which has room for `capacity` bytes; returns how many it filled.
// Thread-safe. Errors: kCorruptFile (without a path: the caller annotates) where the body is
// damaged or longer than `capacity`; kNotSupported for LZO.
absl::StatusOr<size_t> Decompress(Compression compression,
                                  std::string_view body,
                                  uint8_t* out,
                                  size_t capacity);

}  // namespace skep::orc
