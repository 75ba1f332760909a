#pragma once

// One stream of a stripe while it is written: bytes fill a block, full blocks become chunks.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>

#include "storage/format/orc/block_compressor.h"

namespace skep::orc {

// Positions of a row index entry, in the order of RI-2.
using Positions = std::vector<uint64_t>;

// Confined to one thread.
class OutStream {
 public:
  // `compressor` must outlive it.
  OutStream(BlockCompressor* compressor, size_t block_size)
      : compressor_(compressor), block_size_(block_size) {}

  void Append(const void* bytes, size_t count);
  void Append(std::string_view bytes) { Append(bytes.data(), bytes.size()); }

  // Where the next byte goes (RI-3): its offset, or that of its chunk and the offset within.
  void AddPosition(Positions* out) const;

  // Ends the last block: parts() are the stream as it goes into the file, length() is how long they
  // are. Errors: what a codec reported since the last Clear.
  absl::Status Finish();
  std::vector<std::string_view> parts() const;  // valid until Clear
  uint64_t length() const { return full_length_ + part_.size(); }
  std::string ToString() const;

  // Bytes held, as an estimate of what the finished stream takes.
  uint64_t size() const { return length() + block_.size(); }
  void Clear();  // for the next stripe

 private:
  void EndBlock();
  void EndPart();

  BlockCompressor* compressor_;
  const size_t block_size_;
  std::string block_;  // not compressed yet; unused without compression
  // In parts, because one string that grows to many megabytes would take twice as much.
  std::vector<std::string> full_;
  uint64_t full_length_ = 0;
  std::string part_;
  absl::Status failure_;
};

}  // namespace skep::orc
