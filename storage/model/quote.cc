#include "storage/model/quote.h"

#include <algorithm>

#include "storage/base/text.h"

namespace skep {

namespace {

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string Quoted(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return Printable(text);
  size_t end = max_bytes;
  while (end > 0 && ContinuesCharacter(text[end])) --end;
  return Printable(text.substr(0, end)) + "…";
}

std::string QuotedCharacter(std::string_view text, size_t at) {
  constexpr size_t kLongest = 4;
  size_t end = std::min(at + 1, text.size());
  while (end < text.size() && end < at + kLongest && ContinuesCharacter(text[end])) ++end;
  return Printable(text.substr(at, end - at));
}

std::string OwnerText(std::string_view user, std::string_view host) {
  std::string text(user);
  if (!host.empty()) text.append("@").append(host);
  return text;
}

}  // namespace skep
