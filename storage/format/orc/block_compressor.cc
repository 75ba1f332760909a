#include "storage/format/orc/block_compressor.h"

#include <libdeflate.h>
#include <snappy.h>
#include <zstd.h>

#include <algorithm>

#include <lz4.h>

#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

constexpr size_t kHeaderBytes = 3;
// Measured on ACID rows: what a level more gains in size, one less gains in time several times
// over.
constexpr int kZlibLevel = 1;
constexpr int kZstdLevel = 1;

void AppendHeader(size_t length, bool stored, std::string* out) {
  const auto word = static_cast<uint32_t>(length << 1 | (stored ? 1 : 0));
  const char bytes[kHeaderBytes] = {static_cast<char>(word & 0xff),
                                    static_cast<char>(word >> 8 & 0xff),
                                    static_cast<char>(word >> 16 & 0xff)};
  out->append(bytes, kHeaderBytes);
}

}  // namespace

struct BlockCompressor::Contexts {
  libdeflate_compressor* deflate = nullptr;
  ZSTD_CCtx* zstd = nullptr;
  ~Contexts() {
    libdeflate_free_compressor(deflate);
    ZSTD_freeCCtx(zstd);
  }
};

BlockCompressor::BlockCompressor(Compression compression) : compression_(compression) {}
BlockCompressor::~BlockCompressor() = default;

absl::StatusOr<size_t> BlockCompressor::Compress(std::string_view block) {
  if (contexts_ == nullptr) {
    contexts_ = std::make_unique<Contexts>();
    if (compression_ == Compression::kZlib)
      contexts_->deflate = libdeflate_alloc_compressor(kZlibLevel);
    if (compression_ == Compression::kZstd) contexts_->zstd = ZSTD_createCCtx();
  }
  const size_t bound = std::max(block.size(), snappy::MaxCompressedLength(block.size()));
  if (scratch_size_ < bound) {
    scratch_ = std::make_unique_for_overwrite<char[]>(bound);
    scratch_size_ = bound;
  }
  // A body that is not shorter is of no use, so that is all the room the codecs get.
  const size_t room = block.size() - 1;
  size_t length = 0;
  switch (compression_) {
    case Compression::kNone:
      return 0;
    case Compression::kZlib:
      if (contexts_->deflate == nullptr)
        return MakeError(ErrorReason::kInternal, "libdeflate cannot start");
      return libdeflate_deflate_compress(
          contexts_->deflate, block.data(), block.size(), scratch_.get(), room);
    case Compression::kSnappy:
      snappy::RawCompress(block.data(), block.size(), scratch_.get(), &length);
      return length <= room ? length : 0;
    case Compression::kLz4:
      return static_cast<size_t>(LZ4_compress_default(
          block.data(), scratch_.get(), static_cast<int>(block.size()), static_cast<int>(room)));
    case Compression::kZstd:
      if (contexts_->zstd == nullptr) return MakeError(ErrorReason::kInternal, "zstd cannot start");
      length = ZSTD_compressCCtx(
          contexts_->zstd, scratch_.get(), room, block.data(), block.size(), kZstdLevel);
      return ZSTD_isError(length) != 0 ? 0 : length;  // the one error that can be: no room
    case Compression::kLzo:
      break;
  }
  return MakeError(
      ErrorReason::kNotSupported, "lzo compression is not supported", {{"what", "lzo"}});
}

absl::Status BlockCompressor::Append(std::string_view block, std::string* out) {
  if (compression_ == Compression::kNone) {
    out->append(block);
    return absl::OkStatus();
  }
  SKEP_ASSIGN_OR_RETURN(const size_t length, Compress(block));
  const bool stored = length == 0;
  AppendHeader(stored ? block.size() : length, stored, out);
  out->append(stored ? block : std::string_view(scratch_.get(), length));
  return absl::OkStatus();
}

}  // namespace skep::orc
