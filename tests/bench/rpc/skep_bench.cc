// The transaction server against a bare echo of the same messages: ratios, since absolute numbers
// say little about a machine that others use too. See ../README.md for how to read them.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "storage/base/text.h"
#include "tests/bench/rpc/bed.h"
#include "tests/bench/rpc/echo_server.h"
#include "tests/bench/rpc/figure.h"
#include "tests/bench/rpc/load.h"
#include "tests/bench/rpc/measure.h"
#include "tests/bench/rpc/processes.h"
#include "tests/bench/rpc/workloads.h"

namespace skep::bench {
namespace {

struct Options {
  std::string self;
  std::string skepd = SKEPD_PATH;
  std::string dir;
  int pairs = 5;
  int64_t calls = 20'000;
  int in_flight = 64;
  int connections = 4;
  int starts = 5;
  bool floors = true;
  std::string json;
};

struct Line {
  const char* name;
  double floor;
  std::vector<double> ratios;
  std::vector<double> real_rates;
  std::vector<double> echo_rates;
  std::vector<double> real_cpu_us;
  std::vector<double> echo_cpu_us;
  Histogram latency;
};

void Add(const Measured& echo, const Measured& real, Line* line) {
  line->ratios.push_back(real.load.rate() / echo.load.rate());
  line->real_rates.push_back(real.load.rate());
  line->echo_rates.push_back(echo.load.rate());
  line->real_cpu_us.push_back(real.cpu_us);
  line->echo_cpu_us.push_back(echo.cpu_us);
  line->latency = real.load.latency;
}

std::vector<std::string> SkepdArguments(const Options& options, const std::string& name) {
  std::vector<std::string> arguments =
      DaemonArguments({options.self, options.skepd, options.dir}, name);
  for (const char* more : {"--log.level", "warn"}) arguments.emplace_back(more);
  return arguments;
}

void Print(const Line& line, double sync_us) {
  const auto [low, high] = std::minmax_element(line.ratios.begin(), line.ratios.end());
  std::printf(
      "%-28s ratio %.2f (%.2f–%.2f, floor %.2f)  %8.0f/s of %8.0f/s  p50 %5.0f µs  p99 %6.0f µs  "
      "cpu %4.1f of %4.1f µs  sync %3.0f µs\n",
      line.name,
      Median(line.ratios),
      *low,
      *high,
      line.floor,
      Median(line.real_rates),
      Median(line.echo_rates),
      static_cast<double>(line.latency.Percentile(0.5)) / 1000,
      static_cast<double>(line.latency.Percentile(0.99)) / 1000,
      Median(line.real_cpu_us),
      Median(line.echo_cpu_us),
      sync_us);
}

struct StartFigures {
  double start_ms = 0;
  double idle_mib = 0;
};

StartFigures MeasureStarts(const Options& options) {
  std::vector<double> times;
  std::vector<double> memory;
  for (int i = 0; i < options.starts; ++i) {
    const std::string name = fmt::format("start{}", i);
    const Child skepd(SkepdArguments(options, name));
    times.push_back(AwaitSocket(options.dir + "/" + name + ".sock"));
    // One call: it serves, and its threads have run.
    Workloads workloads("unix:" + options.dir + "/" + name + ".sock", 1);
    workloads.Prepare();
    memory.push_back(static_cast<double>(skepd.ResidentKilobytes()) / 1024);
  }
  return {Median(times), Median(memory)};
}

bool Within(bool good, const char* what, const Options& options) {
  if (good || !options.floors) return true;
  std::printf("below its floor: %s\n", what);
  return false;
}

int Run(const Options& options) {
  const StartFigures start = MeasureStarts(options);
  std::printf("start %.0f ms (floor: under 100), idle memory %.1f MiB (floor: under 40)\n",
              start.start_ms,
              start.idle_mib);
  const std::string echo_socket = options.dir + "/echo.sock";
  const Child echo({options.self, "--serve-echo", "unix:" + echo_socket});
  const Child skepd(SkepdArguments(options, "real"));
  AwaitSocket(echo_socket);
  AwaitSocket(options.dir + "/real.sock");
  LoadGenerator echo_load("unix:" + echo_socket, options.connections);
  LoadGenerator real_load("unix:" + options.dir + "/real.sock", options.connections);
  Workloads workloads("unix:" + options.dir + "/real.sock", options.calls);
  workloads.Prepare();
  Line open{"OpenTransactions(1)", 0.35, {}, {}, {}, {}, {}, {}};
  Line commit{"CommitTransaction(1 update)", 0.35, {}, {}, {}, {}, {}, {}};
  Line valid{"GetValidWriteIds(1 table)", 0.80, {}, {}, {}, {}, {}, {}};
  const double sync_us = ProbeSync(options.dir, 500);
  for (int pair = -1; pair < options.pairs; ++pair) {  // the first one warms up
    const auto measure = [&](const Workload& workload, Line* line) {
      const Measured bare = Measure(echo, echo_load, workload, options.calls, options.in_flight);
      const Measured real = Measure(skepd, real_load, workload, options.calls, options.in_flight);
      if (pair >= 0) Add(bare, real, line);
    };
    measure(workloads.ValidWriteIds(), &valid);
    measure(workloads.Open(), &open);
    // The echo has answered with ids of its own: what skepd gave is what counts.
    workloads.AllocateForAll();
    measure(workloads.Commit(), &commit);
  }
  bool good = Within(start.start_ms < 100, "start", options) &
              Within(start.idle_mib < 40, "memory", options);
  nlohmann::ordered_json json = {
      {"start_ms", start.start_ms}, {"idle_mib", start.idle_mib}, {"sync_us", sync_us}};
  for (const Line* line : {&open, &commit, &valid}) {
    Print(*line, sync_us);
    good &= Within(Median(line->ratios) >= line->floor, line->name, options);
    json[line->name] = {{"ratio", Median(line->ratios)},
                        {"ratios", line->ratios},
                        {"rates", line->real_rates},
                        {"echo_rates", line->echo_rates}};
  }
  if (!options.json.empty()) {
    std::FILE* file = std::fopen(options.json.c_str(), "w");
    if (file != nullptr) {
      std::fputs((json.dump(2) + "\n").c_str(), file);
      std::fclose(file);
    }
  }
  return good ? 0 : 1;
}

int Usage() {
  std::fputs(
      "usage: skep_bench [--pairs N] [--calls N] [--in-flight N] [--connections N] [--starts N]\n"
      "                  [--dir DIR] [--skepd PATH] [--json FILE] [--no-floors]\n",
      stderr);
  return 64;
}

int Main(int argc, char** argv) {
  Options options;
  options.self = std::filesystem::read_symlink("/proc/self/exe").string();
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--no-floors") {
      options.floors = false;
      continue;
    }
    if (i + 1 >= argc) return Usage();
    const std::string value = argv[++i];
    const int64_t number = ParseInt64(value).value_or(0);
    if (flag == "--serve-echo") return ServeEcho({value}, 0);
    if (flag == "--dir")
      options.dir = value;
    else if (flag == "--skepd")
      options.skepd = value;
    else if (flag == "--json")
      options.json = value;
    else if (number <= 0)
      return Usage();
    else if (flag == "--pairs")
      options.pairs = static_cast<int>(number);
    else if (flag == "--calls")
      options.calls = number;
    else if (flag == "--in-flight")
      options.in_flight = static_cast<int>(number);
    else if (flag == "--connections")
      options.connections = static_cast<int>(number);
    else if (flag == "--starts")
      options.starts = static_cast<int>(number);
    else
      return Usage();
  }
  if (!options.dir.empty()) {
    std::filesystem::create_directories(options.dir);
    return Run(options);
  }
  std::string dir = (std::filesystem::temp_directory_path() / "skep-bench-XXXXXX").string();
  if (::mkdtemp(dir.data()) == nullptr) return 1;
  options.dir = dir;
  const int code = Run(options);
  std::filesystem::remove_all(dir);
  return code;
}

}  // namespace
}  // namespace skep::bench

int main(int argc, char** argv) { return skep::bench::Main(argc, argv); }
