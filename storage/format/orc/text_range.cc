#include "storage/format/orc/text_range.h"

#include <utility>

namespace skep::orc {

namespace {

constexpr uint32_t kMaxCodePoint = 0x10FFFF, kSurrogates = 0xD800, kAfterSurrogates = 0xE000;

struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: no UTF-8
};

Character Decode(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[i])); };
  const uint32_t first = at(0);
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  uint32_t code = first & (0xFFU >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (at(i) & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= kSurrogates && code < kAfterSurrogates;
  if (code < kLeast[bytes] || code > kMaxCodePoint || surrogate) return {};
  return {code, bytes};
}

void AppendUtf8(uint32_t code, std::string* out) {
  const auto tail = [&](uint32_t shift) {
    out->push_back(static_cast<char>(0x80 | (code >> shift & 0x3F)));
  };
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out->push_back(static_cast<char>(0xC0 | code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | code >> 12));
    tail(6);
    tail(0);
  } else {
    out->push_back(static_cast<char>(0xF0 | code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

std::string_view LowerTextBound(std::string_view text) {
  size_t end = 0;
  while (end < text.size()) {
    const Character next = Decode(text.substr(end));
    if (next.bytes == 0 || end + next.bytes > kMaxTextBound) break;
    end += next.bytes;
  }
  return text.substr(0, end);
}

std::optional<std::string> UpperTextBound(std::string_view text) {
  std::string_view rest = LowerTextBound(text);
  while (!rest.empty()) {
    size_t begin = rest.size() - 1;
    while ((static_cast<uint8_t>(rest[begin]) & 0xC0) == 0x80) --begin;
    const uint32_t code = Decode(rest.substr(begin)).code;
    rest = rest.substr(0, begin);
    if (code == kMaxCodePoint) continue;
    std::string out(rest);
    AppendUtf8(code + 1 == kSurrogates ? kAfterSurrogates : code + 1, &out);
    return out;
  }
  return std::nullopt;
}

void SetTextBounds(std::string_view minimum,
                   std::string_view maximum,
                   proto::StringStatistics* out) {
  const std::string_view high = LowerTextBound(maximum);
  if (high.size() == maximum.size()) {
    out->set_maximum(maximum.data(), maximum.size());
  } else {
    std::optional<std::string> upper = UpperTextBound(maximum);
    if (!upper) return;
    out->set_upper_bound(*std::move(upper));
  }
  const std::string_view low = LowerTextBound(minimum);
  if (low.size() == minimum.size()) {
    out->set_minimum(minimum.data(), minimum.size());
  } else {
    out->set_lower_bound(low.data(), low.size());
  }
}

void TextRange::Take(proto::ColumnStatistics* out) {
  proto::StringStatistics strings;
  SetTextBounds(low_, high_, &strings);
  if (strings.has_maximum() || strings.has_upper_bound()) {
    strings.set_sum(total_);
    *out->mutable_string_statistics() = std::move(strings);
  }
  *this = TextRange();
}

}  // namespace skep::orc
