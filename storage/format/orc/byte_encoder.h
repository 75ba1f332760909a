#pragma once

// Byte and bit streams while they are written (RL-2, RL-3).

#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/format/orc/out_stream.h"

namespace skep::orc {

// Confined to one thread.
class ByteEncoder {
 public:
  ByteEncoder(BlockCompressor* compressor, size_t block_size) : stream_(compressor, block_size) {}

  void Add(const uint8_t* bytes, size_t count);
  void AddRun(uint8_t byte, size_t count);

  void AddPosition(Positions* out) const {
    stream_.AddPosition(out);
    out->push_back(pending_ + run_count_);
  }

  absl::Status Finish();
  const OutStream& stream() const { return stream_; }  // what was written, after Finish
  uint64_t size() const { return stream_.size() + pending_; }
  void Clear();

 private:
  static constexpr size_t kBuffer = 512;

  void EncodeBuffer();
  void EncodeLiterals(size_t from, size_t end);
  void EncodeRun(uint8_t byte, size_t count);
  void EndRun();

  OutStream stream_;
  // Either the buffer or the run holds bytes, never both.
  size_t pending_ = 0;
  std::vector<uint8_t> buffer_;  // made when it is needed: PRESENT is mostly a run
  uint8_t run_byte_ = 0;
  size_t run_count_ = 0;
};

// Confined to one thread.
class BitEncoder {
 public:
  BitEncoder(BlockCompressor* compressor, size_t block_size) : bytes_(compressor, block_size) {}

  // Bits of an Arrow bitmap (least significant first).
  void Add(const uint8_t* bitmap, int64_t from, int64_t count);
  void AddRun(bool bit, int64_t count);

  void AddPosition(Positions* out) const {
    bytes_.AddPosition(out);
    out->push_back(used_);
  }

  absl::Status Finish();
  const OutStream& stream() const { return bytes_.stream(); }
  uint64_t size() const { return bytes_.size(); }
  void Clear();

 private:
  void AddBit(bool bit);

  ByteEncoder bytes_;
  uint32_t used_ = 0;    // bits of the byte that is not full yet
  uint8_t partial_ = 0;  // they are its upper ones
};

}  // namespace skep::orc
