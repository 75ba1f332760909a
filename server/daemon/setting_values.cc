#include "server/daemon/setting_values.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "storage/base/text.h"

namespace skep::daemon {
namespace {

struct Unit {
  std::string_view name;
  int64_t factor;
};
// Largest first: what is written uses the largest that fits.
constexpr std::array<Unit, 5> kDurations{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr std::array<Unit, 4> kSizes{
    {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}};

template <size_t N>
std::optional<int64_t> Parse(std::string_view text, const std::array<Unit, N>& units) {
  const size_t digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return std::nullopt;
  const std::optional<int64_t> number = ParseInt64(text.substr(0, digits));
  if (!number) return std::nullopt;
  for (const Unit& unit : units) {
    if (unit.name != text.substr(digits)) continue;
    if (*number > std::numeric_limits<int64_t>::max() / unit.factor) return std::nullopt;
    return *number * unit.factor;
  }
  return std::nullopt;
}

template <size_t N>
std::string Format(int64_t value, const std::array<Unit, N>& units) {
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0)
      return std::to_string(value / unit.factor) + std::string(unit.name);
  }
  return "0" + std::string(units.back().name);
}

}  // namespace

std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  const std::optional<int64_t> ms = Parse(text, kDurations);
  if (!ms) return std::nullopt;
  return std::chrono::milliseconds(*ms);
}

std::string FormatDuration(std::chrono::milliseconds duration) {
  return Format(duration.count(), kDurations);
}

std::optional<int64_t> ParseSize(std::string_view text) { return Parse(text, kSizes); }

std::string FormatSize(int64_t bytes) { return Format(bytes, kSizes); }

int64_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<int64_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int64_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int64_t diagonal = std::exchange(row[0], static_cast<int64_t>(i));
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

}  // namespace skep::daemon
