#include "storage/format/orc/codec.h"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <lz4.h>

#include "storage/base/status_macros.h"
#include "storage/format/orc/decompress.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

constexpr int kRawDeflate = -15;

absl::StatusOr<std::string> Deflate(std::string_view body) {
  z_stream stream{};
  if (deflateInit2(
          &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kRawDeflate, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return MakeError(ErrorReason::kInternal, "zlib cannot start");
  }
  std::string out(deflateBound(&stream, body.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END)
    return MakeError(ErrorReason::kInternal, "zlib did not finish a block");
  return out;
}

}  // namespace

absl::Status DecompressBlock(Compression compression,
                             std::string_view body,
                             size_t limit,
                             std::string* out) {
  out->resize(MostDecompressed(compression, body, limit));
  SKEP_ASSIGN_OR_RETURN(
      const size_t length,
      Decompress(compression, body, reinterpret_cast<uint8_t*>(out->data()), out->size()));
  out->resize(length);
  return absl::OkStatus();
}

absl::StatusOr<std::string> CompressBlock(Compression compression, std::string_view body) {
  switch (compression) {
    case Compression::kNone:
      return std::string(body);
    case Compression::kZlib:
      return Deflate(body);
    case Compression::kSnappy: {
      std::string out;
      snappy::Compress(body.data(), body.size(), &out);
      return out;
    }
    case Compression::kLz4: {
      std::string out(static_cast<size_t>(LZ4_compressBound(static_cast<int>(body.size()))), '\0');
      const int length = LZ4_compress_default(
          body.data(), out.data(), static_cast<int>(body.size()), static_cast<int>(out.size()));
      out.resize(static_cast<size_t>(length));
      return out;
    }
    case Compression::kZstd: {
      std::string out(ZSTD_compressBound(body.size()), '\0');
      const size_t length =
          ZSTD_compress(out.data(), out.size(), body.data(), body.size(), ZSTD_CLEVEL_DEFAULT);
      if (ZSTD_isError(length) != 0) return MakeError(ErrorReason::kInternal, "zstd failed");
      out.resize(length);
      return out;
    }
    case Compression::kLzo:
      break;
  }
  return MakeError(
      ErrorReason::kNotSupported, "lzo compression is not supported", {{"what", "lzo"}});
}

}  // namespace skep::orc
