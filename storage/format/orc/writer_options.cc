#include <functional>
#include <optional>

#include "storage/base/text.h"
#include "storage/format/orc/writer.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

absl::Status Set(const Properties& properties,
                 std::string_view key,
                 int64_t low,
                 int64_t high,
                 const std::function<void(int64_t)>& take) {
  const std::string text = PropertyIgnoreCase(properties, key);
  if (text.empty()) return absl::OkStatus();
  const std::optional<int64_t> value = ParseInt64(TrimBlanks(text));
  if (!value || *value < low || *value > high) {
    return MakeError(ErrorReason::kInvalidRequest,
                     "property " + std::string(key) + " is \"" + text +
                         "\"; it takes a number from " + std::to_string(low) + " to " +
                         std::to_string(high),
                     {{"field", std::string(key)}});
  }
  take(*value);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WriterOptions> WriterOptionsOf(const Properties& properties) {
  WriterOptions options;
  if (const std::string text = PropertyIgnoreCase(properties, "orc.compress"); !text.empty()) {
    const absl::StatusOr<Compression> compression = ParseCompression(TrimBlanks(text));
    if (!compression.ok()) return compression.status();
    if (*compression == Compression::kLzo) {
      return MakeError(
          ErrorReason::kInvalidRequest,
          "property orc.compress is lzo, which is not supported: none, zlib, snappy, lz4 or zstd",
          {{"field", "orc.compress"}});
    }
    options.compression = *compression;
  }
  constexpr int64_t kMebi = 1 << 20;
  for (const absl::Status& status :
       {Set(properties,
            "orc.stripe.size",
            64 << 10,
            2047 * kMebi,
            [&](int64_t v) { options.stripe_size = static_cast<uint64_t>(v); }),
        // A chunk's length has 23 bits.
        Set(properties,
            "orc.compress.size",
            1 << 10,
            (1 << 23) - 1,
            [&](int64_t v) { options.block_size = static_cast<uint64_t>(v); }),
        Set(properties, "orc.row.index.stride", 1000, INT32_MAX, [&](int64_t v) {
          options.row_index_stride = static_cast<uint32_t>(v);
        })}) {
    if (!status.ok()) return status;
  }
  return options;
}

}  // namespace skep::orc
