#include "storage/format/json_text.h"

#include <array>
#include <charconv>
#include <cmath>

#include "storage/base/text.h"

namespace skep::format {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The length of the valid UTF-8 sequence at the start of `text`, 0 if there is none.
size_t ValidSequence(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t length = lead < 0x80    ? 1
                        : lead >= 0xF0 ? 4
                        : lead >= 0xE0 ? 3
                        : lead >= 0xC2 ? 2
                                       : 0;
  if (length == 0 || length > text.size() || !IsValidUtf8(text.substr(0, length))) return 0;
  return length;
}

void AppendControl(uint8_t byte, std::string* out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (byte) {
    case '\n':
      *out += "\\n";
      return;
    case '\r':
      *out += "\\r";
      return;
    case '\t':
      *out += "\\t";
      return;
    default:
      *out += "\\u00";
      out->push_back(kHex[byte >> 4]);
      out->push_back(kHex[byte & 15]);
  }
}

template <class T>
void AppendFloating(T value, std::string* out) {
  if (std::isnan(value)) {
    *out += "\"NaN\"";
    return;
  }
  if (std::isinf(value)) {
    *out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    return;
  }
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  const std::string_view digits(text.data(), static_cast<size_t>(end - text.data()));
  *out += digits;
  if (digits.find_first_of(".e") == std::string_view::npos) *out += ".0";
}

bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  while (!text.empty()) {
    const auto byte = static_cast<uint8_t>(text[0]);
    size_t used = 1;
    if (byte == '"' || byte == '\\') {
      out->push_back('\\');
      out->push_back(text[0]);
    } else if (byte < 0x20 || byte == 0x7F) {
      AppendControl(byte, out);
    } else if (byte < 0x80) {
      out->push_back(text[0]);
    } else if (const size_t valid = ValidSequence(text); valid > 0) {
      *out += text.substr(0, valid);
      used = valid;
    } else {
      *out += kReplacement;
    }
    text.remove_prefix(used);
  }
  out->push_back('"');
}

void AppendJsonFloat(float value, std::string* out) { AppendFloating(value, out); }
void AppendJsonDouble(double value, std::string* out) { AppendFloating(value, out); }

std::string DecimalText(std::string_view digits, int32_t scale) {
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  const auto places = static_cast<size_t>(scale);
  std::string all = digits.size() <= places ? std::string(places + 1 - digits.size(), '0') : "";
  all += digits;
  std::string out = all.substr(0, all.size() - places);
  std::string_view fraction = std::string_view(all).substr(all.size() - places);
  fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
  if (!fraction.empty()) {
    out.push_back('.');
    out += fraction;
  }
  return negative ? "-" + out : out;
}

int64_t CharacterCount(std::string_view text) {
  int64_t count = 0;
  for (const char byte : text) count += IsContinuation(byte) ? 0 : 1;
  return count;
}

std::string_view CharacterPrefix(std::string_view text, int64_t characters) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsContinuation(text[i])) continue;
    if (characters-- == 0) return text.substr(0, i);
  }
  return text;
}

}  // namespace skep::format
