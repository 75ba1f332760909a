// skep_sim: runs of the deterministic simulation.
//
//   skep_sim --seeds 1-300 --minutes 20 --shard 0/2
//   skep_sim --seed 17 --minutes 20 --trace

#include <charconv>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

#include "storage/base/log.h"
#include "storage/base/text.h"
#include "tests/sim/world.h"
#include "tests/testing/temp_dir.h"

namespace skep::sim {
namespace {

struct Arguments {
  uint64_t first = 1;
  uint64_t last = 1;
  uint64_t shard = 0;
  uint64_t shards = 1;
  int64_t minutes = 20;
  bool trace = false;
  bool summary = false;
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
    bool good = false;
    if (name == "--seed") {
      good = Parse(value, arguments.first);
      arguments.last = arguments.first;
    } else if (name == "--seeds") {
      good = ParsePair(value, '-', arguments.first, arguments.last);
    } else if (name == "--shard") {
      good = ParsePair(value, '/', arguments.shard, arguments.shards) && arguments.shards > 0;
    } else if (name == "--minutes") {
      good = Parse(value, arguments.minutes);
    }
    if (!good) return false;
    ++i;
  }
  return true;
}

using Figures = std::map<std::string, int64_t>;

bool RunSeed(uint64_t seed, const Arguments& arguments, Figures& figures) {
  const testing::TempDir dir = testing::TempDir::InMemory();
  WorldOptions options;
  options.seed = seed;
  options.length = std::chrono::minutes(arguments.minutes);
  options.trace = arguments.trace;
  options.data_dir = dir.path();
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
  std::cout << "seed " << seed << " fails: " << world.failure() << "\nrun again: skep_sim --seed "
            << seed << " --minutes " << arguments.minutes << " --trace" << std::endl;
  return false;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  if (!ParseArguments(argc, argv, arguments)) {
    std::cerr << "usage: skep_sim (--seed N | --seeds FIRST-LAST) [--shard I/N] [--minutes M] "
                 "[--trace] [--summary]\n";
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
  std::cout << runs << " runs of " << arguments.minutes << " simulated minutes in " << took.count()
            << " s, nothing wrong" << std::endl;
  return 0;
}

}  // namespace
}  // namespace skep::sim

int main(int argc, char** argv) { return skep::sim::Main(argc, argv); }
