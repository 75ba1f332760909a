#include "storage/format/orc/decompress.h"

#include <libdeflate.h>
#include <snappy.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include <lz4.h>

#include "storage/model/errors.h"

namespace skep::orc {

namespace {

// Bytes out of one byte in, at most: a deflate match of 258 bytes takes two bits, a length of lz4
// grows by 255 with each byte.
constexpr size_t kBestDeflate = 1032;
constexpr size_t kBestLz4 = 255;

absl::Status Damaged(std::string_view codec) {
  return MakeError(ErrorReason::kCorruptFile, "damaged " + std::string(codec) + " block");
}

// A chunk is a whole buffer, which is what libdeflate takes; it needs half of zlib's time.
absl::StatusOr<size_t> Inflate(std::string_view body, uint8_t* out, size_t capacity) {
  struct Free {
    void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
  };
  thread_local const std::unique_ptr<libdeflate_decompressor, Free> decompressor(
      libdeflate_alloc_decompressor());
  if (decompressor == nullptr) {
    return MakeError(ErrorReason::kInternal, "libdeflate cannot start");
  }
  size_t produced = 0;
  const libdeflate_result result = libdeflate_deflate_decompress(
      decompressor.get(), body.data(), body.size(), out, capacity, &produced);
  if (result != LIBDEFLATE_SUCCESS) return Damaged("zlib");
  return produced;
}

absl::StatusOr<size_t> Unzstd(std::string_view body, uint8_t* out, size_t capacity) {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  if (context == nullptr) return MakeError(ErrorReason::kInternal, "zstd cannot start");
  const size_t produced =
      ZSTD_decompressDCtx(context.get(), out, capacity, body.data(), body.size());
  if (ZSTD_isError(produced) != 0) return Damaged("zstd");
  return produced;
}

absl::StatusOr<size_t> Unsnap(std::string_view body, uint8_t* out, size_t capacity) {
  size_t length = 0;
  if (!snappy::GetUncompressedLength(body.data(), body.size(), &length) || length > capacity ||
      !snappy::RawUncompress(body.data(), body.size(), reinterpret_cast<char*>(out))) {
    return Damaged("snappy");
  }
  return length;
}

}  // namespace

size_t MostDecompressed(Compression compression, std::string_view body, size_t block_size) {
  switch (compression) {
    case Compression::kNone:
      return body.size();
    case Compression::kZlib:
      return std::min(block_size, body.size() * kBestDeflate + kBestDeflate);
    case Compression::kLz4:
      return std::min(block_size, body.size() * kBestLz4 + kBestLz4);
    case Compression::kSnappy: {
      size_t length = 0;
      if (!snappy::GetUncompressedLength(body.data(), body.size(), &length)) return 0;
      return std::min(block_size, length);
    }
    case Compression::kZstd: {
      // Unknown and damaged are numbers beyond any block.
      const unsigned long long length =  // NOLINT(google-runtime-int): zstd's own type
          ZSTD_getFrameContentSize(body.data(), body.size());
      return length < block_size ? static_cast<size_t>(length) : block_size;
    }
    case Compression::kLzo:
      break;
  }
  return block_size;
}

absl::StatusOr<size_t> Decompress(Compression compression,
                                  std::string_view body,
                                  uint8_t* out,
                                  size_t capacity) {
  constexpr size_t kMost = std::numeric_limits<int>::max();
  if (capacity > kMost || body.size() > kMost) {
    return MakeError(ErrorReason::kCorruptFile, "block of more than 2 GiB");
  }
  switch (compression) {
    case Compression::kNone:
      if (body.size() > capacity) return Damaged("stored");
      std::memcpy(out, body.data(), body.size());
      return body.size();
    case Compression::kZlib:
      return Inflate(body, out, capacity);
    case Compression::kSnappy:
      return Unsnap(body, out, capacity);
    case Compression::kZstd:
      return Unzstd(body, out, capacity);
    case Compression::kLz4: {
      const int length = LZ4_decompress_safe(body.data(),
                                             reinterpret_cast<char*>(out),
                                             static_cast<int>(body.size()),
                                             static_cast<int>(capacity));
      if (length < 0) return Damaged("lz4");
      return static_cast<size_t>(length);
    }
    case Compression::kLzo:
      break;
  }
  return MakeError(
      ErrorReason::kNotSupported, "lzo compression is not supported", {{"what", "lzo"}});
}

}  // namespace skep::orc
