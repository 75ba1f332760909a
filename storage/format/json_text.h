#pragma once

// Scalars as JSON and decimals as text. Inside the room.

#include <cstdint>
#include <string>
#include <string_view>

namespace skep::format {

// A JSON string with quotes; bytes that are not UTF-8 become U+FFFD.
void AppendJsonString(std::string_view text, std::string* out);
// The shortest text that reads back as the same value; NaN and infinities as strings.
void AppendJsonFloat(float value, std::string* out);
void AppendJsonDouble(double value, std::string* out);

// `digits` = an integer's text ("-123"), `scale` ≥ 0: "-1.23". Hive prints no trailing zeros of the
// fraction.
std::string DecimalText(std::string_view digits, int32_t scale);

// Characters (code points) of `text`; every byte that is no continuation byte counts.
int64_t CharacterCount(std::string_view text);
// The longest prefix of at most `characters` characters.
std::string_view CharacterPrefix(std::string_view text, int64_t characters);

}  // namespace skep::format
