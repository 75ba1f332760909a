#include <fmt/format.h>

#include "tests/bench/rpc/figures.h"
#include "tests/bench/rpc/measure.h"
#include "tests/bench/rpc/methods.h"

#include "proto/skep/v1/lock_service.pb.h"
#include "proto/skep/v1/table_service.pb.h"
#include "proto/skep/v1/transaction_service.pb.h"

namespace skep::bench {
namespace {

using Bound = Figure::Bound;

constexpr int64_t kBeatIds = 1000;
constexpr double kBeatSeconds = 60;

// Server CPU of a call, in microseconds.
double CpuOf(Bed& bed, const Workload& workload, int64_t calls) {
  return Measure(bed.server(), bed.load(), workload, calls, 64).cpu_us;
}

Workload ValidWriteIds(int64_t txn) {
  v1::GetValidWriteIdsRequest request;
  request.set_txn_id(txn);
  request.add_tables()->set_database("bench");
  request.mutable_tables(0)->set_table("quiet");
  return Repeated(kGetValidWriteIds, request.SerializeAsString());
}

v1::OpenTransactionsRequest Open(int32_t count) {
  v1::OpenTransactionsRequest request;
  request.set_count(count);
  request.set_user("bench");
  request.set_host("host.example");
  request.set_agent("core_bench");
  return request;
}

// Bytes that the daemon grew by, for each of `count`.
double Growth(Bed& bed, int64_t before_kb, int64_t count) {
  return static_cast<double>(bed.server().ResidentKilobytes() - before_kb) * 1024 /
         static_cast<double>(count);
}

// What one open transaction takes, each kind in a daemon of its own.
void Memory(const Places& places, const Effort& effort, std::vector<Figure>& figures) {
  struct Kind {
    const char* name;
    bool batch, hold;
    double floor, goal;
  };
  for (const Kind& kind :
       {Kind{"bytes per open transaction, singly", false, false, 320, 160},
        Kind{"bytes per open transaction, in batches", true, false, 192, 96},
        Kind{"bytes per open one with write id and lock", false, true, 640, 320}}) {
    const auto bed = Bed::Daemon(places, fmt::format("memory{}{}", kind.batch, kind.hold));
    bed->MakeTables();
    // What a run of calls leaves behind for good (buffers, threads) is there before.
    std::vector<int64_t> ids;
    const Workload opens{[&](int64_t) {
                           return Request{kOpen, Open(kind.batch ? 1000 : 1).SerializeAsString()};
                         },
                         [&](int64_t, const std::string& answer) {
                           v1::OpenTransactionsResponse response;
                           if (response.ParseFromString(answer))
                             ids.push_back(response.first_txn_id());
                         }};
    Checked(bed->load().Run(opens, kind.batch ? 2 : 2000, 64));
    ids.clear();
    const int64_t before = bed->server().ResidentKilobytes();
    Checked(bed->load().Run(opens, kind.batch ? effort.open / 1000 : effort.open, 64));
    if (kind.hold) {
      const auto hold = [&](const char* method, const auto& make) {
        const Workload workload{
            [&](int64_t i) {
              return Request{method, make(ids[static_cast<size_t>(i)]).SerializeAsString()};
            },
            {}};
        Checked(bed->load().Run(workload, static_cast<int64_t>(ids.size()), 64));
      };
      hold(kAllocate, [](int64_t txn) {
        v1::AllocateWriteIdsRequest request;
        request.mutable_table()->set_database("bench");
        request.mutable_table()->set_table("busy");
        request.add_txn_ids(txn);
        return request;
      });
      hold("/skep.v1.LockService/AcquireLocks", [](int64_t txn) {
        v1::AcquireLocksRequest request;
        request.set_txn_id(txn);
        auto* component = request.add_components();
        component->mutable_resource()->set_database("bench");
        component->mutable_resource()->set_table("busy");
        component->set_kind(v1::LOCK_KIND_SHARED_WRITE);
        component->set_operation(v1::WRITE_OPERATION_INSERT);
        return request;
      });
    }
    figures.push_back(
        {kind.name, Bound::kAtMost, kind.floor, kind.goal, {Growth(*bed, before, effort.open)}});
  }
}

}  // namespace

std::vector<Figure> OpenFigures(const Places& places, const Effort& effort) {
  std::vector<Figure> figures;
  const auto few = Bed::Daemon(places, "few");
  const auto many = Bed::Daemon(places, "many");
  few->MakeTables();
  many->MakeTables();
  few->OpenMany(10);
  const int64_t first = many->OpenMany(effort.open);

  const auto echo = Bed::Echo(places, effort.open);
  v1::GetSnapshotRequest get;
  get.set_txn_id(many->OpenOne());
  const Workload snapshot = Repeated(kGetSnapshot, get.SerializeAsString());
  Figure of_all{"snapshot of 100 000 open ÷ echo of its size", Bound::kAtLeast, 0.6, 0.9};
  for (int round = -1; round < effort.rounds; ++round) {
    const LoadResult bare = Checked(echo->load().Run(snapshot, 1000, 16));
    const LoadResult real = Checked(many->load().Run(snapshot, 1000, 16));
    if (round < 0) continue;
    of_all.values.push_back(real.rate() / bare.rate());
    of_all.note = fmt::format("{:.0f}/s of {:.0f}/s", real.rate(), bare.rate());
  }
  figures.push_back(std::move(of_all));

  Figure of_table{"table snapshot, CPU: 100 000 open ÷ 10", Bound::kAtMost, 1.2, 1.02};
  const Workload of_few = ValidWriteIds(few->OpenOne());
  const Workload of_many = ValidWriteIds(get.txn_id());
  for (int round = -1; round < effort.rounds; ++round) {
    const double little = CpuOf(*few, of_few, effort.calls);
    const double much = CpuOf(*many, of_many, effort.calls);
    if (round < 0) continue;
    of_table.values.push_back(much / little);
    of_table.note = fmt::format("{:.1f} of {:.1f} µs", much, little);
  }
  figures.push_back(std::move(of_table));

  Figure beats{"100 000 heartbeats a minute, % of a core", Bound::kAtMost, 2, 0.5};
  const Workload beat{[&](int64_t i) {
                        v1::HeartbeatTransactionsRequest request;
                        for (int64_t id = 0; id < kBeatIds; ++id)
                          request.add_txn_ids(first + (i * kBeatIds + id) % effort.open);
                        return Request{kHeartbeat, request.SerializeAsString()};
                      },
                      {}};
  for (int round = -1; round < effort.rounds; ++round) {
    const double us = CpuOf(*many, beat, 10 * effort.open / kBeatIds);  // ten minutes' worth
    const double calls_a_second = static_cast<double>(effort.open / kBeatIds) / kBeatSeconds;
    if (round >= 0) beats.values.push_back(us * calls_a_second / 1e6 * 100);
  }
  figures.push_back(std::move(beats));
  Memory(places, effort, figures);
  return figures;
}

}  // namespace skep::bench
