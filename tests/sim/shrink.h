#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>

namespace skep::sim {

// How a run that failed can be had with less.
struct Shrunk {
  std::chrono::seconds length{0};
  std::set<std::string> without;  // kinds of actors that it does not need
  std::string failure;            // of that run
};

// What a run comes to.
struct RunOutcome {
  std::string failure;             // empty: nothing is wrong
  std::chrono::seconds needed{0};  // until it failed, rounded up
};

// The shortest time after which the seed fails still, and as few kinds of actors as possible with
// it, one left out after the other. What fails need not be the same thing: the run of a seed is
// another one where somebody is left out. `again` runs it; false from `go_on` ends the search with
// what was found.
Shrunk Shrink(
    std::chrono::seconds length,
    const RunOutcome& failed,
    const std::function<RunOutcome(std::chrono::seconds, const std::set<std::string>&)>& again,
    const std::function<bool()>& go_on);

// Kinds that a run can do without.
const std::set<std::string>& KindsOfActors();

}  // namespace skep::sim
