#pragma once

#include <cstdint>
#include <vector>

#include "tests/bench/rpc/bed.h"
#include "tests/bench/rpc/figure.h"

namespace skep::bench {

struct Effort {
  int rounds = 5;         // of each ratio: real and comparator by turns
  int64_t calls = 60000;  // of one measurement
  int64_t open = 100'000;
  int64_t waiters = 10'000;
  int64_t history = 10'000'000;
  int64_t tables = 100'000;
};

// Calls against the echo: rates, latencies, reads.
std::vector<Figure> CallFigures(const Places& places, const Effort& effort);
// Session streams against the echo.
std::vector<Figure> SessionFigures(const Places& places, const Effort& effort);
// What a hundred thousand open transactions cost: snapshots, memory, heartbeats.
std::vector<Figure> OpenFigures(const Places& places, const Effort& effort);
// How long a lock takes from hand to hand in a long queue.
std::vector<Figure> LockFigures(const Places& places, const Effort& effort);
// What ten million ended transactions cost: CPU per call, start, bytes.
std::vector<Figure> HistoryFigures(const Places& places, const Effort& effort);

}  // namespace skep::bench
