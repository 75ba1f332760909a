#pragma once

// The framing of compressed sections: a sequence of chunks, each with a 3-byte little-endian header
// (length << 1 | stored) and at most one block of uncompressed bytes (CF-1…CF-4). Without
// compression there is no framing at all.

#include <cstdint>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "storage/format/orc/tail.h"
#include "storage/fs/file_system.h"

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

// Reads one stream of a stripe forward, chunk by chunk: memory is one block, whatever the stream's
// length. Thread-compatible. `file` must outlive it.
class ChunkReader {
 public:
  ChunkReader(const fs::RandomAccessFile& file,
              Compression compression,
              uint64_t block_size,
              uint64_t offset,
              uint64_t length);

  // The next bytes of the stream, valid until the next call; empty at its end. Errors:
  // kCorruptFile.
  absl::StatusOr<std::string_view> NextBlock();

 private:
  absl::Status Fill(size_t wanted);

  const fs::RandomAccessFile* file_;
  Compression compression_;
  uint64_t block_size_;
  uint64_t offset_;  // of the first byte that is not in input_
  uint64_t left_;    // bytes of the stream that are not in input_
  std::string input_;
  size_t input_used_ = 0;
  std::string block_;
};

}  // namespace skep::orc
