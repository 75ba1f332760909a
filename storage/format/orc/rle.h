#pragma once

// Decoders of the run-length encodings: integers of both versions, bytes, bits. Whole runs at a
// time, straight into the caller's memory where they fit. All are confined to one thread; all
// errors are kCorruptFile naming file, column and offset.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/format/orc/byte_stream.h"

namespace skep::orc {

enum class Signedness { kSigned, kUnsigned };

// Values first, first + step, …; a literal value is a run of one. Arithmetic wraps.
struct IntRun {
  size_t count = 0;
  int64_t first = 0;
  int64_t step = 0;
};

// Integer runs, version 1 (RL-5) or 2 (RL-6, RL-7); arithmetic wraps at 64 bits.
class IntDecoder {
 public:
  IntDecoder() = default;  // of a stream without values
  IntDecoder(ByteStream stream, bool version2, Signedness signedness);

  // The next `count` values. Narrow types keep the low bits (RL-8).
  template <class T>
  absl::Status Next(T* out, size_t count);
  absl::Status Skip(uint64_t count);
  // At least one and at most `most` of the next values, as a run.
  absl::StatusOr<IntRun> NextRun(size_t most);

  // To a row index's place: of a run, and values to skip from there, which may reach beyond that
  // run (RI-5).
  absl::Status Seek(ByteStream::Position position, uint64_t skip);

  ByteStream& stream() { return stream_; }
  const ByteStream& stream() const { return stream_; }

  // A place to come back to, for the same decoder. Pending values are kept, not decoded again.
  struct Place {
    ByteStream::Position position;
    size_t left = 0;
    bool is_linear = false;
    int64_t value = 0, step = 0;
    std::array<int64_t, 512> literals;  // the first `left`
  };
  void Save(Place* place) const;
  absl::Status Restore(const Place& place);

 private:
  static constexpr size_t kMaxRun = 512;

  // Reads the next run's header and values: into `direct` if it is literal and not longer than
  // `room`, else kept. Returns how many values went into `direct`.
  absl::StatusOr<size_t> OpenRun(int64_t* direct, size_t room);
  absl::StatusOr<size_t> OpenV1(int64_t* out, size_t room);
  absl::Status ShortRepeat(uint8_t first);
  absl::StatusOr<size_t> Direct(uint8_t first, int64_t* direct, size_t room);
  absl::StatusOr<size_t> Patched(uint8_t first, int64_t* direct, size_t room);
  absl::StatusOr<size_t> Delta(uint8_t first, int64_t* direct, size_t room);
  // Where `count` literal values go.
  int64_t* Target(size_t count, int64_t* direct, size_t room);
  size_t Keep(size_t count, const int64_t* target);
  void SetLinear(size_t count, int64_t first, int64_t step);
  absl::StatusOr<uint64_t> ReadVarint();
  absl::StatusOr<size_t> ReadRunLength(uint8_t first);
  int64_t Unsign(uint64_t value) const;

  ByteStream stream_;
  bool version2_ = true;
  Signedness signedness_ = Signedness::kSigned;
  // The current run: either value_, value_ + step_, … or literals from next_.
  size_t left_ = 0;
  bool is_linear_ = false;
  int64_t value_ = 0;
  int64_t step_ = 0;
  size_t next_ = 0;
  std::array<int64_t, kMaxRun> literals_;
};

extern template absl::Status IntDecoder::Next(int8_t*, size_t);
extern template absl::Status IntDecoder::Next(int16_t*, size_t);
extern template absl::Status IntDecoder::Next(int32_t*, size_t);
extern template absl::Status IntDecoder::Next(int64_t*, size_t);

// Byte runs (RL-2).
class ByteDecoder {
 public:
  ByteDecoder() = default;
  explicit ByteDecoder(ByteStream stream) : stream_(std::move(stream)) {}

  absl::Status Next(uint8_t* out, size_t count);
  absl::Status Skip(uint64_t count);
  absl::Status Seek(ByteStream::Position position, uint64_t skip);

  const ByteStream& stream() const { return stream_; }

  struct Place {
    ByteStream::Position position;
    size_t left = 0;
    bool repeats = false;
    uint8_t value = 0;
  };
  void Save(Place* place) const { *place = {stream_.Tell(), left_, repeats_, value_}; }
  absl::Status Restore(const Place& place);

 private:
  absl::Status OpenRun();

  ByteStream stream_;
  size_t left_ = 0;
  bool repeats_ = false;
  uint8_t value_ = 0;
};

// Bits in byte runs (RL-3), delivered in Arrow's order.
class BitDecoder {
 public:
  BitDecoder() = default;
  explicit BitDecoder(ByteStream stream) : bytes_(std::move(stream)) {}

  // The next `count` bits into the bytes from `out`, ⌈count / 8⌉ of them; bits behind the last are
  // zero.
  absl::Status Next(uint8_t* out, size_t count);
  // Returns how many of the skipped bits were set.
  absl::StatusOr<uint64_t> Skip(uint64_t count);
  absl::Status Seek(ByteStream::Position position, uint64_t skip_bytes, uint64_t skip_bits);

  const ByteStream& stream() const { return bytes_.stream(); }

  struct Place {
    ByteDecoder::Place bytes;
    uint8_t pending = 0;
    uint32_t pending_bits = 0;
  };
  void Save(Place* place) const;
  absl::Status Restore(const Place& place);

 private:
  ByteDecoder bytes_;
  uint8_t pending_ = 0;  // bits of a byte that was begun, the next one lowest
  uint32_t pending_bits_ = 0;
};

}  // namespace skep::orc
