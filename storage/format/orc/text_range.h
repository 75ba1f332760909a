#pragma once

// Minimum and maximum of texts in unsigned byte order, and the bounds that statistics may hold.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/format/orc/orc.pb.h"

namespace skep::orc {

inline constexpr size_t kMaxTextBound = 1024;

// What goes into statistics of a text that is too long or no UTF-8, which some readers would change
// to something else: the longest beginning that is whole characters, in at most 1024 bytes.
std::string_view LowerTextBound(std::string_view text);
// The successor of that beginning: its last character that has one, plus one. nullopt: none has.
std::optional<std::string> UpperTextBound(std::string_view text);

// Sets minimum or lower bound, maximum or upper bound; nothing where there is no upper one.
void SetTextBounds(std::string_view minimum,
                   std::string_view maximum,
                   proto::StringStatistics* out);

// Collects. Thread-compatible.
class TextRange {
 public:
  void Add(std::string_view text) {
    total_ += static_cast<int64_t>(text.size());
    const uint64_t prefix = Prefix(text);
    if (prefix < low_prefix_ || (prefix == low_prefix_ && (!any_ || text < low_)))
      SetLow(text, prefix);
    if (prefix > high_prefix_ || (prefix == high_prefix_ && (!any_ || text > high_)))
      SetHigh(text, prefix);
    any_ = true;
  }
  void Take(proto::ColumnStatistics* out);  // starts anew

 private:
  // The first eight bytes as a number that compares like them.
  static uint64_t Prefix(std::string_view text) {
    uint64_t word = 0;
    if (text.size() >= sizeof(word)) {
      __builtin_memcpy(&word, text.data(), sizeof(word));
      return __builtin_bswap64(word);
    }
    for (const char byte : text) word = word << 8 | static_cast<uint8_t>(byte);
    return text.empty() ? 0 : word << (8 * (sizeof(word) - text.size()));
  }
  void SetLow(std::string_view text, uint64_t prefix) {
    low_ = text;
    low_prefix_ = prefix;
  }
  void SetHigh(std::string_view text, uint64_t prefix) {
    high_ = text;
    high_prefix_ = prefix;
  }

  bool any_ = false;
  std::string low_, high_;
  uint64_t low_prefix_ = ~uint64_t{0}, high_prefix_ = 0;
  int64_t total_ = 0;
};

}  // namespace skep::orc
