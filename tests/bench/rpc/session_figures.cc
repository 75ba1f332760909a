#include <fmt/format.h>

#include "tests/bench/rpc/cycles.h"
#include "tests/bench/rpc/figures.h"
#include "tests/bench/rpc/measure.h"
#include "tests/bench/rpc/session_load.h"

namespace skep::bench {
namespace {

constexpr int kSessions = 4;
constexpr int kEchoInFlight = 64;
// A stream does so many operations for each call of the echo that both take about as long.
constexpr int kOperationsPerCall = 5;

double P(const LoadResult& result, double fraction) {
  return static_cast<double>(result.latency.Percentile(fraction)) / 1000;
}

}  // namespace

std::vector<Figure> SessionFigures(const Places& places, const Effort& effort) {
  const auto echo = Bed::Echo(places);
  const auto real = Bed::Daemon(places, "sessions");
  SessionLoad sessions(real->endpoint(), kSessions);
  struct Line {
    Figure figure;
    SessionShape shape;
  };
  Line lines[] = {
      {{"session stream, durable operations ÷ echo", Figure::Bound::kAtLeast, 5, 8},
       {kSessions, 2, 256}},
      {{"the same, 64 operations in flight", Figure::Bound::kNone}, {kSessions, 2, 8}},
      {{"the same, one session", Figure::Bound::kNone}, {1, 2, 1024}},
  };
  const int64_t operations = effort.calls * kOperationsPerCall;
  for (int round = -1; round < effort.rounds; ++round) {  // the first one warms up
    Cycles cycles(false);
    const LoadResult bare = Checked(echo->load().Run(cycles.Calls(), effort.calls, kEchoInFlight));
    for (Line& line : lines) {
      const double before = real->server().CpuSeconds();
      const LoadResult run = Checked(sessions.Run(line.shape, operations));
      const double cpu_us =
          (real->server().CpuSeconds() - before) / static_cast<double>(run.calls) * 1e6;
      if (round < 0) continue;
      line.figure.values.push_back(run.rate() / bare.rate());
      line.figure.note = fmt::format(
          "{:.0f}/s of {:.0f}/s, {} in flight, cpu {:.2f} µs, p50 of a message {:.0f} µs, p99 "
          "{:.0f} "
          "µs",
          run.rate(),
          bare.rate(),
          line.shape.in_flight(),
          cpu_us,
          P(run, 0.5),
          P(run, 0.99));
    }
  }
  std::vector<Figure> figures;
  for (Line& line : lines) figures.push_back(std::move(line.figure));
  return figures;
}

}  // namespace skep::bench
