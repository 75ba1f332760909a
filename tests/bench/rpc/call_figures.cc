#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "tests/bench/rpc/cycles.h"
#include "tests/bench/rpc/figures.h"
#include "tests/bench/rpc/measure.h"
#include "tests/bench/rpc/methods.h"

#include "proto/skep/v1/transaction_service.pb.h"

namespace skep::bench {
namespace {

using Bound = Figure::Bound;

double P(const Measured& run, double fraction) {
  return static_cast<double>(run.load.latency.Percentile(fraction)) / 1000;
}

// The same cycles against the daemon and the echo, by turns.
class Pairs {
 public:
  Pairs(Bed& real, Bed& echo, const Effort& effort) : real_(real), echo_(echo), effort_(effort) {}

  void Each(const Workload& real,
            const Workload& echo,
            bool tcp,
            int in_flight,
            int64_t calls,
            const std::function<void(const Measured& real, const Measured& echo)>& take) {
    for (int round = -1; round < effort_.rounds; ++round) {  // the first one warms up
      const Measured bare =
          Measure(echo_.server(), tcp ? echo_.tcp_load() : echo_.load(), echo, calls, in_flight);
      const Measured run =
          Measure(real_.server(), tcp ? real_.tcp_load() : real_.load(), real, calls, in_flight);
      if (round >= 0) take(run, bare);
    }
  }

 private:
  Bed& real_;
  Bed& echo_;
  const Effort& effort_;
};

std::string Note(const Measured& real, const Measured& echo, double sync_us) {
  return fmt::format(
      "{:.0f}/s of {:.0f}/s, cpu {:.1f} of {:.1f} µs, p50 {:.0f} µs, p99 {:.0f} of {:.0f} µs, sync "
      "{:.0f} µs",
      real.load.rate(),
      echo.load.rate(),
      real.cpu_us,
      echo.cpu_us,
      P(real, 0.5),
      P(real, 0.99),
      P(echo, 0.99),
      sync_us);
}

}  // namespace

std::vector<Figure> CallFigures(const Places& places, const Effort& effort) {
  const auto echo = Bed::Echo(places);
  const auto real = Bed::Daemon(places, "calls");
  real->MakeTables();
  const double sync_us = ProbeSync(places.dir, 500);
  Pairs pairs(*real, *echo, effort);
  std::vector<Figure> figures;

  Figure p99{"p99 at 64 in flight ÷ echo", Bound::kAtMost, 4, 2};
  struct Rate {
    const char* name;
    bool allocate, tcp;
    int in_flight;
    double floor, goal;
  };
  for (const Rate& rate :
       {Rate{"durable call ÷ echo, 64 in flight", false, false, 64, 0.50, 0.70},
        Rate{"durable call ÷ echo, 256 in flight", false, false, 256, 0.65, 0.90},
        Rate{"durable call ÷ echo, 64 in flight, TCP", false, true, 64, 0.50, 0.70},
        Rate{"durable call ÷ echo, 256 in flight, TCP", false, true, 256, 0.65, 0.90},
        Rate{"open, allocate, commit ÷ echo, 64 in flight", true, false, 64, 0.50, 0.70}}) {
    Figure figure{rate.name, Bound::kAtLeast, rate.floor, rate.goal};
    Cycles real_cycles(rate.allocate);
    Cycles echo_cycles(rate.allocate);
    pairs.Each(real_cycles.Calls(),
               echo_cycles.Calls(),
               rate.tcp,
               rate.in_flight,
               effort.calls,
               [&](const Measured& run, const Measured& bare) {
                 figure.values.push_back(run.load.rate() / bare.load.rate());
                 figure.note = Note(run, bare, sync_us);
                 if (rate.in_flight == 64 && !rate.allocate && !rate.tcp) {
                   p99.values.push_back(P(run, 0.99) / P(bare, 0.99));
                   p99.note = figure.note;
                 }
               });
    figures.push_back(std::move(figure));
  }
  figures.push_back(std::move(p99));

  Figure p50{"p50 at 1 in flight ÷ (echo + sync)", Bound::kAtMost, 1.6, 1.25};
  Cycles one(false);
  Cycles bare_one(false);
  pairs.Each(one.Calls(),
             bare_one.Calls(),
             false,
             1,
             std::min<int64_t>(effort.calls, 3000),
             [&](const Measured& run, const Measured& bare) {
               p50.values.push_back(P(run, 0.5) / (P(bare, 0.5) + sync_us));
               p50.note = fmt::format(
                   "{:.0f} µs against {:.0f} + {:.0f} µs", P(run, 0.5), P(bare, 0.5), sync_us);
             });
  figures.push_back(std::move(p50));

  v1::GetTransactionRequest get;
  get.set_txn_id(real->OpenOne());
  v1::HeartbeatTransactionsRequest beat;
  beat.add_txn_ids(get.txn_id());
  for (const auto& [name, workload] :
       {std::pair("GetTransaction ÷ echo", Repeated(kGetTransaction, get.SerializeAsString())),
        std::pair("heartbeat of one ÷ echo", Repeated(kHeartbeat, beat.SerializeAsString()))}) {
    Figure figure{name, Bound::kAtLeast, 0.85, 0.95};
    pairs.Each(workload,
               workload,
               false,
               64,
               effort.calls,
               [&](const Measured& run, const Measured& bare) {
                 figure.values.push_back(run.load.rate() / bare.load.rate());
                 figure.note = Note(run, bare, sync_us);
               });
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace skep::bench
