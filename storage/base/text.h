#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>

namespace skep {

// The whole of `text` as a decimal number: no sign unless negative, no blanks, no overflow.
std::optional<int64_t> ParseInt64(std::string_view text);
std::optional<double> ParseDouble(std::string_view text);

// ASCII only: names are compared as Hive compares them.
std::string AsciiLower(std::string_view text);
bool AsciiEqualsIgnoreCase(std::string_view a, std::string_view b);

std::vector<std::string_view> SplitText(std::string_view text, char separator);
std::string JoinText(std::span<const std::string> parts, std::string_view separator);
std::string_view TrimBlanks(std::string_view text);

bool IsValidUtf8(std::string_view bytes);
// Invalid sequences become U+FFFD; control characters become \xNN: safe to show on a terminal or in
// a log.
std::string Printable(std::string_view bytes);

std::string BytesToHex(std::string_view bytes);
std::string Base64Encode(std::string_view bytes);

// status.message() as a std::string (the distribution's Abseil has a string_view of its own).
std::string MessageOf(const absl::Status& status);

}  // namespace skep
