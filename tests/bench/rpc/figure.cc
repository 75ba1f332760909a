#include "tests/bench/rpc/figure.h"

#include <algorithm>
#include <cstdio>

namespace skep::bench {

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double Figure::median() const { return Median(values); }

bool Figure::holds() const {
  switch (bound) {
    case Bound::kAtLeast:
      return median() >= floor;
    case Bound::kAtMost:
      return median() <= floor;
    case Bound::kNone:
      return true;
  }
  return false;
}

void Print(const Figure& figure) {
  if (figure.values.empty()) return;
  const auto [low, high] = std::minmax_element(figure.values.begin(), figure.values.end());
  std::printf("%-46s %8.3f (%.3f–%.3f)", figure.name.c_str(), figure.median(), *low, *high);
  if (figure.bound != Figure::Bound::kNone) {
    const char* const sign = figure.bound == Figure::Bound::kAtLeast ? "≥" : "≤";
    std::printf("  floor %s %g, goal %s %g", sign, figure.floor, sign, figure.goal);
  }
  std::printf("%s  %s\n", figure.holds() ? "" : "  BELOW ITS FLOOR", figure.note.c_str());
  std::fflush(stdout);
}

}  // namespace skep::bench
