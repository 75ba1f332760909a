#pragma once

// Decoders of the run-length encodings that this room reads itself: the integers of timestamps and
// the bits and bytes of unions. Everything else is the adapter's. All are thread-compatible.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/format/orc/chunks.h"

namespace skep::orc {

// A stream as single bytes. Errors: kCorruptFile at the end of the stream.
class ByteSource {
 public:
  explicit ByteSource(ChunkReader chunks) : chunks_(std::move(chunks)) {}
  ByteSource(const ByteSource&) = delete;  // block_ points into chunks_
  ByteSource& operator=(const ByteSource&) = delete;

  absl::StatusOr<uint8_t> Next() {
    if (used_ == block_.size()) {
      if (absl::Status status = Refill(); !status.ok()) return status;
    }
    return static_cast<uint8_t>(block_[used_++]);
  }

  // Nothing is left.
  absl::StatusOr<bool> AtEnd();

 private:
  absl::Status Refill();

  ChunkReader chunks_;
  std::string_view block_;
  size_t used_ = 0;
};

enum class Signedness { kSigned, kUnsigned };

// Integer runs, version 1 (RL-5) or 2 (RL-6, RL-7); arithmetic wraps at 64 bits.
class IntDecoder {
 public:
  IntDecoder(ChunkReader chunks, bool version2, Signedness signedness);

  // The next `count` values into `out`. Errors: kCorruptFile.
  absl::Status Next(size_t count, int64_t* out);
  // The rest of the current run, or the next one, valid until the next call; empty at the end of
  // the stream. Errors: kCorruptFile.
  absl::StatusOr<std::span<const int64_t>> NextRun();

 private:
  absl::Status ReadRun();
  absl::Status ReadRunV1();
  absl::Status ReadShortRepeat(uint8_t first);
  absl::Status ReadDirect(uint8_t first);
  absl::Status ReadPatched(uint8_t first);
  absl::Status ReadDelta(uint8_t first);
  absl::StatusOr<uint64_t> ReadVarint();
  absl::StatusOr<uint64_t> ReadBigEndian(size_t bytes);
  absl::StatusOr<size_t> ReadRunLength(uint8_t first);
  absl::Status ReadPacked(size_t count, uint32_t width, uint64_t* out);
  int64_t Unsign(uint64_t value) const;

  ByteSource bytes_;
  bool version2_;
  Signedness signedness_;
  std::array<int64_t, 512> run_;
  size_t run_size_ = 0;
  size_t run_used_ = 0;
};

// Byte runs (RL-2).
class ByteDecoder {
 public:
  explicit ByteDecoder(ChunkReader chunks) : bytes_(std::move(chunks)) {}
  absl::StatusOr<uint8_t> Next();
  absl::StatusOr<bool> AtEnd() { return left_ > 0 ? absl::StatusOr<bool>(false) : bytes_.AtEnd(); }

 private:
  ByteSource bytes_;
  size_t left_ = 0;
  bool repeat_ = false;
  uint8_t value_ = 0;
};

// Bits, most significant first, in byte runs (RL-3).
class BitDecoder {
 public:
  explicit BitDecoder(ChunkReader chunks) : bytes_(std::move(chunks)) {}
  absl::StatusOr<bool> Next();

 private:
  ByteDecoder bytes_;
  uint8_t byte_ = 0;
  int left_ = 0;
};

}  // namespace skep::orc
