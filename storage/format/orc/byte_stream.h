#pragma once

// One stream of a stripe as a window of decompressed bytes that moves forward: what every decoder
// reads from. Values may straddle chunks (CF-4): Need makes what one decoding step looks at
// contiguous, so that the step itself has no seams.
//
// Memory: one block, one piece of read-ahead, and what a step asked for.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/format/orc/tail.h"
#include "storage/fs/file_system.h"

namespace skep::orc {

// Where a stream lies. The file must outlive its streams.
struct StreamSpec {
  const fs::RandomAccessFile* file = nullptr;
  Compression compression = Compression::kNone;
  uint64_t block_size = 0;
  uint64_t offset = 0;  // in the file
  uint64_t length = 0;
  std::shared_ptr<const std::string> loaded;  // if set: bytes of the file from `loaded_at`, which
  uint64_t loaded_at = 0;                     // hold the stream and kSlack bytes more
  std::string column;                         // for errors
};

// Confined to one thread.
class ByteStream {
 public:
  // Bytes behind the window that may be read, though they mean nothing: decoders load words.
  static constexpr size_t kSlack = 16;

  // Where the window begins, in the words of a row index (RI-3): the chunk's offset in the stream
  // and the offset in its decompressed bytes; without compression the offset alone.
  struct Position {
    uint64_t chunk = 0;
    uint64_t offset = 0;
  };

  ByteStream() = default;  // a stream without bytes
  explicit ByteStream(StreamSpec spec);
  ByteStream(ByteStream&&) noexcept = default;
  ByteStream& operator=(ByteStream&&) noexcept = default;

  const uint8_t* data() const { return at_; }
  size_t available() const { return static_cast<size_t>(end_ - at_); }
  void Advance(size_t count) { at_ += count; }  // at most available()

  // Makes at least `count` bytes available. Errors: kCorruptFile where the stream ends before.
  absl::Status Need(size_t count) {
    if (available() >= count) [[likely]]
      return absl::OkStatus();
    return FillOrFail(count);
  }
  // Makes `count` bytes available, or all that are left.
  absl::Status Want(size_t count) { return available() >= count ? absl::OkStatus() : Fill(count); }

  absl::StatusOr<uint8_t> NextByte() {
    if (at_ == end_) {
      if (absl::Status status = FillOrFail(1); !status.ok()) return status;
    }
    return *at_++;
  }
  absl::Status Read(uint8_t* out, size_t count);
  absl::Status Skip(uint64_t count);
  absl::StatusOr<bool> AtEnd();

  Position Tell() const;
  // Errors: kCorruptFile where the stream has no such place. The end of a chunk counts as the start
  // of the next one, the end of the stream as a place (RI-6).
  absl::Status Seek(Position position);

  bool compressed() const { return spec_.compression != Compression::kNone; }
  // At least as many bytes as are still to come: what a length can be held against.
  uint64_t MostLeft() const;

  // kCorruptFile: "PATH: column NAME: WHAT (offset N)".
  absl::Status Bad(std::string_view what) const;

 private:
  // A place in the window where a chunk's bytes begin or go on.
  struct Mark {
    size_t at = 0;  // in the window's buffer
    Position position;
  };

  absl::Status FillOrFail(size_t count);
  absl::Status Fill(size_t count);
  absl::Status FillPlain(size_t count);
  absl::StatusOr<bool> AppendChunk();
  absl::Status NeedInput(size_t count);
  void KeepRest();  // moves what is left of the window to the front of block_
  void Reserve(size_t count);
  size_t input_available() const { return static_cast<size_t>(input_end_ - input_at_); }
  void SetWindow(const uint8_t* begin, size_t size) {
    begin_ = at_ = begin;
    end_ = begin + size;
  }

  StreamSpec spec_;
  // The stored bytes: read ahead into input_, or those of spec_.loaded.
  std::unique_ptr<uint8_t[]> input_;
  size_t input_capacity_ = 0;
  const uint8_t* input_at_ = nullptr;
  const uint8_t* input_end_ = nullptr;
  uint64_t fetched_ = 0;  // bytes of the stream up to input_end_

  std::unique_ptr<uint8_t[]> block_;
  size_t block_capacity_ = 0;
  const uint8_t* begin_ = nullptr;  // the window's buffer: block_ or the stored bytes
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
  std::vector<Mark> marks_;
};

}  // namespace skep::orc
