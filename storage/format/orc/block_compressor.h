#pragma once

// The writing half of the chunk framing (CF-1, CF-3): blocks become chunks, with the codecs'
// contexts kept between them.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <absl/status/status.h>

#include "storage/format/orc/tail.h"

namespace skep::orc {

// Confined to one thread. Compression::kLzo is kNotSupported.
class BlockCompressor {
 public:
  explicit BlockCompressor(Compression compression);
  ~BlockCompressor();
  BlockCompressor(const BlockCompressor&) = delete;
  BlockCompressor& operator=(const BlockCompressor&) = delete;

  Compression compression() const { return compression_; }

  // Appends `block` (not empty, below 8 MiB) as one chunk: stored where it does not shrink. Without
  // compression there are no chunks: the bytes alone.
  absl::Status Append(std::string_view block, std::string* out);

 private:
  struct Contexts;
  // The length of the body in scratch_; 0 where it is not shorter than the block.
  absl::StatusOr<size_t> Compress(std::string_view block);

  const Compression compression_;
  std::unique_ptr<Contexts> contexts_;  // made with the first block
  std::unique_ptr<char[]> scratch_;
  size_t scratch_size_ = 0;
};

}  // namespace skep::orc
