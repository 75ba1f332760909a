#pragma once

// The block codecs of ORC: one call decompresses one chunk's body. Pure functions;
// what a chunk is stands in chunks.h.

#include <cstddef>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "storage/format/orc/tail.h"

namespace skep::orc {

// Replaces `out` by the decompressed body, at most `limit` bytes of it.
// Errors: kCorruptFile (without a path: the caller annotates) where the body is damaged or longer
// than `limit`; kNotSupported for LZO.
absl::Status DecompressBlock(Compression compression,
                             std::string_view body,
                             size_t limit,
                             std::string* out);

}  // namespace skep::orc
