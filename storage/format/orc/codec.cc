#include "storage/format/orc/codec.h"

#include "storage/base/status_macros.h"
#include "storage/format/orc/decompress.h"

namespace skep::orc {

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

}  // namespace skep::orc
