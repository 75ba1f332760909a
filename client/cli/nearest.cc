#include "client/cli/nearest.h"

#include <algorithm>

#include "storage/base/text.h"

namespace skep::cli {
namespace {

// Damerau's distance: a swap of neighbours counts as one.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      const size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      table[i][j] =
          std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
      }
    }
  }
  return table[a.size()][b.size()];
}

}  // namespace

std::string Nearest(std::string_view typed, const std::vector<std::string>& words) {
  if (typed.size() > 40) return "";
  std::string best;
  size_t best_distance = 3;
  for (const std::string& word : words) {
    const size_t distance = Distance(AsciiLower(typed), word);
    if (distance < best_distance && 2 * distance < word.size()) {
      best = word;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace skep::cli
