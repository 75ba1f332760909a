#include "tests/sim/shrink.h"

#include <algorithm>

namespace skep::sim {

const std::set<std::string>& KindsOfActors() {
  static const std::set<std::string> kinds = {"events",
                                              "faults",
                                              "hostile",
                                              "late",
                                              "operator",
                                              "patient",
                                              "raw",
                                              "session",
                                              "stream",
                                              "view",
                                              "worker"};
  return kinds;
}

Shrunk Shrink(
    std::chrono::seconds length,
    const RunOutcome& failed,
    const std::function<RunOutcome(std::chrono::seconds, const std::set<std::string>&)>& again,
    const std::function<bool()>& go_on) {
  Shrunk least{length, {}, failed.failure};
  const auto fails = [&](std::chrono::seconds with, const std::set<std::string>& without) {
    const RunOutcome outcome = again(with, without);
    if (outcome.failure.empty()) return false;
    // What went wrong after the end of the run needs all of it.
    least = {std::min(with, outcome.needed), without, outcome.failure};
    return true;
  };
  if (failed.needed < length) fails(failed.needed, {});
  for (const std::string& kind : KindsOfActors()) {
    if (!go_on()) return least;
    std::set<std::string> without = least.without;
    without.insert(kind);
    fails(least.length, without);
  }
  // Once too short is too short: what happens until then does not depend on when a run ends.
  std::chrono::seconds too_short(0);
  while (least.length - too_short > std::chrono::seconds(1) && go_on()) {
    const std::chrono::seconds middle = too_short + (least.length - too_short) / 2;
    if (!fails(middle, least.without)) too_short = middle;
  }
  return least;
}

}  // namespace skep::sim
