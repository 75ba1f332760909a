#pragma once

// The words that values are written in: durations with a unit, sizes with a unit.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skep::daemon {

// "300s", "5m", "12h", "7d", "200ms". No sign, no fraction, no blank.
std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text);
std::string FormatDuration(std::chrono::milliseconds duration);

// "64MiB", "4KiB", "512B", "1GiB".
std::optional<int64_t> ParseSize(std::string_view text);
std::string FormatSize(int64_t bytes);

// The known name that `text` is nearest to, if it is near at all; else empty.
template <class Names>
std::string NearestName(std::string_view text, const Names& names);
int64_t EditDistance(std::string_view a, std::string_view b);

template <class Names>
std::string NearestName(std::string_view text, const Names& names) {
  std::string nearest;
  int64_t best = static_cast<int64_t>(text.size()) / 3 + 1;
  for (const auto& name : names) {
    const int64_t distance = EditDistance(text, name);
    if (distance <= best) {
      best = distance - 1;
      nearest = std::string(name);
    }
  }
  return nearest;
}

}  // namespace skep::daemon
