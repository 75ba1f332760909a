#include <array>
#include <limits>
#include <string>
#include <vector>

#include "storage/base/text.h"
#include "storage/format/orc/acid_schema.h"
#include "storage/format/orc/tail.h"

namespace skep::orc {

namespace {

const std::string* Find(const Tail& tail, std::string_view key) {
  const auto at = tail.user_metadata.find(std::string(key));
  return at == tail.user_metadata.end() ? nullptr : &at->second;
}

// `count` decimal numbers separated by commas.
std::optional<std::vector<int64_t>> ParseNumbers(std::string_view text, size_t count) {
  std::vector<int64_t> numbers;
  for (const std::string_view part : SplitText(text, ',')) {
    const std::optional<int64_t> number = ParseInt64(part);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.size() != count) return std::nullopt;
  return numbers;
}

}  // namespace

std::optional<std::vector<AcidKey>> KeyIndexOf(const Tail& tail) {
  const std::string* text = Find(tail, kKeyIndexEntry);
  if (text == nullptr) return std::nullopt;
  std::vector<AcidKey> keys;
  for (const std::string_view part : SplitText(*text, ';')) {
    if (part.empty()) continue;  // what follows the last ';'
    const std::optional<std::vector<int64_t>> numbers = ParseNumbers(part, 3);
    if (!numbers || (*numbers)[1] < std::numeric_limits<int32_t>::min() ||
        (*numbers)[1] > std::numeric_limits<int32_t>::max()) {
      return std::nullopt;
    }
    keys.push_back({(*numbers)[0], static_cast<int32_t>((*numbers)[1]), (*numbers)[2]});
  }
  if (keys.size() != tail.stripes.size()) return std::nullopt;  // M-3
  return keys;
}

std::optional<AcidStats> AcidStatsOf(const Tail& tail) {
  const std::string* text = Find(tail, kAcidStatsEntry);
  if (text == nullptr) return std::nullopt;
  const std::optional<std::vector<int64_t>> numbers = ParseNumbers(*text, 3);
  if (!numbers) return std::nullopt;
  return AcidStats{(*numbers)[0], (*numbers)[1], (*numbers)[2]};
}

std::string FormatKeyIndex(const std::vector<AcidKey>& last_key_of_stripe) {
  std::string out;
  for (const AcidKey& key : last_key_of_stripe) {
    out += std::to_string(key.original_write_id) + ',' + std::to_string(key.bucket) + ',' +
           std::to_string(key.row_id) + ';';
  }
  return out;
}

std::string FormatAcidStats(const AcidStats& stats) {
  return std::to_string(stats.inserts) + ',' + std::to_string(stats.updates) + ',' +
         std::to_string(stats.deletes);
}

bool HasAcidSchema(const Tail& tail) {
  if (tail.types.empty() || tail.types[0].type.kind != TypeKind::kStruct) return false;
  const std::vector<std::string>& names = tail.types[0].field_names;
  if (names.size() != kAcidFields.size()) return false;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!AsciiEqualsIgnoreCase(names[i], kAcidFields[i].name)) return false;
  }
  return true;
}

}  // namespace skep::orc
