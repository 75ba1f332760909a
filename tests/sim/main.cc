// skep_sim: runs of the deterministic simulation.
//
//   skep_sim --seeds 1-300 --minutes 20 --shard 0/2
//   skep_sim --seed 17 --minutes 20 --trace
//   skep_sim --seed 17 --seconds 90 --without raw,view --history FILE

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "storage/base/log.h"
#include "storage/base/text.h"
#include "tests/sim/shrink.h"
#include "tests/sim/world.h"
#include "tests/testing/temp_dir.h"

namespace skep::sim {
namespace {

struct Arguments {
  uint64_t first = 1;
  uint64_t last = 1;
  uint64_t shard = 0;
  uint64_t shards = 1;
  std::chrono::seconds length{1200};
  std::set<std::string> without;
  std::string history;  // empty: nowhere
  bool trace = false;
  bool summary = false;
  bool shrink = true;
};

template <class Number>
bool Parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

template <class Number>
bool ParsePair(std::string_view text, char separator, Number& first, Number& second) {
  const auto at = text.find(separator);
  return at != std::string_view::npos && Parse(text.substr(0, at), first) &&
         Parse(text.substr(at + 1), second);
}

bool ParseKinds(std::string_view text, std::set<std::string>& kinds) {
  for (const std::string_view kind : SplitText(text, ',')) kinds.emplace(kind);
  return std::ranges::includes(KindsOfActors(), kinds);
}

bool ParseArguments(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const std::string_view value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--trace") {
      arguments.trace = true;
      continue;
    }
    if (name == "--summary") {
      arguments.summary = true;
      continue;
    }
    if (name == "--no-shrink") {
      arguments.shrink = false;
      continue;
    }
    bool good = false;
    if (name == "--seed") {
      good = Parse(value, arguments.first);
      arguments.last = arguments.first;
    } else if (name == "--seeds") {
      good = ParsePair(value, '-', arguments.first, arguments.last);
    } else if (name == "--shard") {
      good = ParsePair(value, '/', arguments.shard, arguments.shards) && arguments.shards > 0;
    } else if (name == "--minutes" || name == "--seconds") {
      int64_t number = 0;
      good = Parse(value, number);
      arguments.length = std::chrono::seconds(name == "--minutes" ? 60 * number : number);
    } else if (name == "--history") {
      arguments.history = value;
      good = !value.empty();
    } else if (name == "--without") {
      good = ParseKinds(value, arguments.without);
    }
    if (!good) return false;
    ++i;
  }
  return true;
}

using Figures = std::map<std::string, int64_t>;

std::string Joined(const std::set<std::string>& kinds) {
  std::string text;
  for (const std::string& kind : kinds) text += (text.empty() ? "" : ",") + kind;
  return text;
}

std::string CommandOf(uint64_t seed,
                      std::chrono::seconds length,
                      const std::set<std::string>& without) {
  std::string text = fmt::format("skep_sim --seed {} --seconds {}", seed, length.count());
  if (!without.empty()) text += " --without " + Joined(without);
  return text;
}

WorldOptions OptionsOf(uint64_t seed,
                       std::chrono::seconds length,
                       const std::set<std::string>& without,
                       const testing::TempDir& dir) {
  WorldOptions options;
  options.seed = seed;
  options.length = length;
  options.without = without;
  options.data_dir = dir.path();
  return options;
}

RunOutcome OutcomeOf(const World& world) {
  return {world.failure(), std::chrono::ceil<std::chrono::seconds>(world.failed_at())};
}

// For at most a minute.
void TryWithLess(uint64_t seed, const Arguments& arguments, const RunOutcome& failed) {
  const auto begin = std::chrono::steady_clock::now();
  const auto again = [seed](std::chrono::seconds length, const std::set<std::string>& without) {
    const testing::TempDir dir = testing::TempDir::InMemory();
    World world(OptionsOf(seed, length, without, dir));
    world.Run();
    return OutcomeOf(world);
  };
  const Shrunk shrunk = Shrink(arguments.length, failed, again, [begin] {
    return std::chrono::steady_clock::now() - begin < std::chrono::minutes(1);
  });
  std::cout << "with less: " << CommandOf(seed, shrunk.length, shrunk.without)
            << "\nit fails: " << shrunk.failure << std::endl;
}

bool RunSeed(uint64_t seed, const Arguments& arguments, Figures& figures) {
  const testing::TempDir dir = testing::TempDir::InMemory();
  WorldOptions options = OptionsOf(seed, arguments.length, arguments.without, dir);
  options.trace = arguments.trace;
  std::ofstream history;
  if (!arguments.history.empty()) {
    history.open(arguments.history, std::ios::trunc);
    options.history = &history;
  }
  const auto begin = std::chrono::steady_clock::now();
  World world(options);
  world.Run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  for (const auto& [what, times] : world.Figures()) figures[what] += times;
  if (arguments.summary) {
    std::cout << "seed " << seed << ": " << took.count() << " s, fingerprint "
              << world.fingerprint() << std::endl;
  }
  if (world.failure().empty()) return true;
  if (!arguments.trace) {
    for (const std::string& step : world.LastSteps()) std::cout << step << "\n";
  }
  std::cout << "seed " << seed << " fails: " << world.failure()
            << "\nrun again: " << CommandOf(seed, arguments.length, arguments.without)
            << " --trace --history FILE" << std::endl;
  if (arguments.shrink && !arguments.trace && arguments.without.empty()) {
    TryWithLess(seed, arguments, OutcomeOf(world));
  }
  return false;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  if (!ParseArguments(argc, argv, arguments)) {
    std::cerr << "usage: skep_sim (--seed N | --seeds FIRST-LAST) [--shard I/N] [--minutes M | "
                 "--seconds S] [--without KIND,…] [--history FILE] [--trace] [--summary] "
                 "[--no-shrink]\n";
    return 2;
  }
  // A store that dies in the middle warns of it: here that is the normal case.
  LogOptions log;
  log.level = LogLevel::kCritical;
  log.file = "/dev/null";
  ConfigureLogging(log);
  const auto begin = std::chrono::steady_clock::now();
  int64_t runs = 0;
  Figures figures;
  for (uint64_t seed = arguments.first; seed <= arguments.last; ++seed) {
    if (seed % arguments.shards != arguments.shard) continue;
    if (!RunSeed(seed, arguments, figures)) return 1;
    ++runs;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  for (const auto& [what, times] : figures) std::cout << what << ": " << times << "\n";
  std::cout << runs << " runs of " << arguments.length.count() << " simulated seconds in "
            << took.count() << " s, nothing wrong" << std::endl;
  return 0;
}

}  // namespace
}  // namespace skep::sim

int main(int argc, char** argv) { return skep::sim::Main(argc, argv); }
