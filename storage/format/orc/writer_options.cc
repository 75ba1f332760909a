#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/orc/writer.h"
#include "storage/model/known_properties.h"

namespace skep::orc {

namespace {

// `name` was checked.
void Set(const Properties& properties,
         std::string_view name,
         const std::function<void(int64_t)>& take) {
  const std::string text = PropertyIgnoreCase(properties, name);
  if (const std::optional<int64_t> value = ParseInt64(TrimBlanks(text))) take(*value);
}

void SetBloomFilters(const Properties& properties, WriterOptions* options) {
  for (const std::string_view name :
       SplitText(PropertyIgnoreCase(properties, "orc.bloom.filter.columns"), ',')) {
    if (!TrimBlanks(name).empty()) options->bloom_columns.push_back(AsciiLower(TrimBlanks(name)));
  }
  const std::string text = PropertyIgnoreCase(properties, "orc.bloom.filter.fpp");
  if (const std::optional<double> value = ParseDouble(TrimBlanks(text)))
    options->bloom_false_positives = *value;
}

}  // namespace

absl::StatusOr<WriterOptions> WriterOptionsOf(const Properties& properties) {
  for (const std::string_view name : {"orc.compress",
                                      "orc.stripe.size",
                                      "orc.compress.size",
                                      "orc.row.index.stride",
                                      "orc.bloom.filter.fpp"}) {
    SKEP_RETURN_IF_ERROR(CheckPropertyValue(properties, name));
  }
  WriterOptions options;
  const std::string compress = PropertyIgnoreCase(properties, "orc.compress");
  if (const std::string_view word = TrimBlanks(compress); !word.empty()) {
    SKEP_ASSIGN_OR_RETURN(options.compression, ParseCompression(word));
  }
  Set(properties, "orc.stripe.size", [&](int64_t v) {
    options.stripe_size = static_cast<uint64_t>(v);
  });
  Set(properties, "orc.compress.size", [&](int64_t v) {
    options.block_size = static_cast<uint64_t>(v);
  });
  Set(properties, "orc.row.index.stride", [&](int64_t v) {
    options.row_index_stride = static_cast<uint32_t>(v);
  });
  SetBloomFilters(properties, &options);
  return options;
}

}  // namespace skep::orc
