#include "storage/model/known_properties.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include <fmt/format.h>

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep {
namespace {

constexpr std::string_view kBooleans[] = {"true", "false"};
constexpr std::string_view kForms[] = {"default", "insert_only"};
constexpr std::string_view kCompressions[] = {"none", "zlib", "snappy", "lz4", "zstd"};

// Words, or whole numbers of a range, or any number from 0 on, or one between 0 and 1.
struct Known {
  std::string_view name;
  std::span<const std::string_view> words = {};
  std::optional<std::pair<int64_t, int64_t>> range = {};
  bool fraction = false;
};

constexpr int64_t kMebi = 1 << 20;
constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();

const Known kKnown[] = {
    {.name = "transactional", .words = kBooleans},
    {.name = "transactional_properties", .words = kForms},
    {.name = "NO_AUTO_COMPACTION", .words = kBooleans},
    {.name = "NO_CLEANUP", .words = kBooleans},
    {.name = "compactorthreshold.hive.compactor.delta.num.threshold", .range = {{0, kNoEnd}}},
    {.name = "compactorthreshold.hive.compactor.delta.pct.threshold"},
    {.name = "orc.compress", .words = kCompressions},
    {.name = "orc.stripe.size", .range = {{64 << 10, 2047 * kMebi}}},
    // A chunk's length has 23 bits.
    {.name = "orc.compress.size", .range = {{1 << 10, (1 << 23) - 1}}},
    {.name = "orc.row.index.stride", .range = {{1000, std::numeric_limits<int32_t>::max()}}},
    {.name = "orc.bloom.filter.fpp", .fraction = true},
};

bool IsAllowed(const Known& known, std::string_view value) {
  if (!known.words.empty()) {
    for (const std::string_view word : known.words) {
      if (AsciiEqualsIgnoreCase(value, word)) return true;
    }
    return false;
  }
  if (known.range) {
    const std::optional<int64_t> number = ParseInt64(value);
    return number && *number >= known.range->first && *number <= known.range->second;
  }
  const std::optional<double> number = ParseDouble(value);
  if (known.fraction) return number && *number > 0 && *number < 1;
  return number && *number >= 0;
}

std::string AllowedOf(const Known& known) {
  if (!known.words.empty()) {
    std::string text;
    for (size_t i = 0; i < known.words.size(); ++i) {
      if (i > 0) text += i + 1 < known.words.size() ? ", " : " or ";
      text += known.words[i];
    }
    return text;
  }
  if (known.fraction) return "a number between 0 and 1";
  if (!known.range) return "a number of at least 0";
  if (known.range->second == kNoEnd)
    return fmt::format("a whole number of at least {}", known.range->first);
  return fmt::format("a whole number from {} to {}", known.range->first, known.range->second);
}

absl::Status Check(const Known& known, const std::string& value) {
  const std::string_view trimmed = TrimBlanks(value);
  if (trimmed.empty() || IsAllowed(known, trimmed)) return absl::OkStatus();
  return MakeError(ErrorReason::kInvalidRequest,
                   fmt::format("table property {} is \"{}\"; it takes {}",
                               known.name,
                               Printable(value),
                               AllowedOf(known)),
                   {{"field", std::string(known.name)}});
}

}  // namespace

absl::Status CheckPropertyValues(const Properties& properties) {
  for (const auto& [name, value] : properties) {
    for (const Known& known : kKnown) {
      if (!AsciiEqualsIgnoreCase(name, known.name)) continue;
      const absl::Status status = Check(known, value);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPropertyValue(const Properties& properties, std::string_view name) {
  return CheckPropertyValues({{std::string(name), PropertyIgnoreCase(properties, name)}});
}

}  // namespace skep
