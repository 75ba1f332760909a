#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "storage/base/clock.h"
#include "storage/meta/open_store.h"
#include "tests/bench/rpc/cycles.h"
#include "tests/bench/rpc/figures.h"
#include "tests/bench/rpc/measure.h"

namespace skep::bench {
namespace {

using Bound = Figure::Bound;

struct Past {
  int64_t ended = 0;   // transactions, of which every hundredth aborted
  int64_t tables = 0;  // of one column
  int64_t open = 0;
};

void Must(const absl::Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", what, std::string(status.message()).c_str());
  std::exit(1);
}

class Writer {
 public:
  explicit Writer(meta::MetaStore& store) : store_(store) {}

  void Add(Effect effect) {
    unit_.push_back(std::move(effect));
    if (unit_.size() >= 10'000) Flush();
  }
  void Flush() {
    counters_.seq = counters_.seq.Next();
    unit_.push_back(Put<CounterRow>{counters_});
    Must(store_.Append(unit_), "write the past");
    unit_.clear();
  }
  CounterRow& counters() { return counters_; }

 private:
  meta::MetaStore& store_;
  Effects unit_;
  CounterRow counters_;
};

// A store as a long life leaves it, through the store's port.
void MakePast(const Places& places, const std::string& name, const Past& past) {
  const std::string home = places.dir + "/" + name;
  std::filesystem::create_directories(home);
  SystemClock clock;
  meta::LogStoreOptions options;
  options.tables.path = home + "/skep.db";
  absl::StatusOr<std::unique_ptr<meta::MetaStore>> store =
      meta::OpenStore(meta::StoreForm::kLog, options);
  Must(store.status(), "open a store");
  Must((*store)->Load().status(), "load a store");
  Writer writer(**store);
  writer.counters().next_txn = TxnId(past.ended + past.open + 1);
  writer.counters().next_table = TableId(past.tables + 1);
  writer.counters().seq = CommitSeq(past.ended);
  for (int64_t id = 100; id <= past.ended; id += 100)
    writer.Add(Put<AbortedTxnsRow>{{TxnId(id), TxnId(id), AbortCause::kUser}});
  for (int64_t i = 1; i <= past.tables; ++i) {
    TableRow table;
    table.id = TableId(i);
    table.name = {"past", fmt::format("t{}", i)};
    table.location = places.dir + "/" + name + fmt::format("/w/t{}", i);
    table.format = FileFormat::kOrc;
    table.next_write_id = WriteId(1);
    table.created_seq = CommitSeq(1);
    writer.Add(Put<TableRow>{std::move(table)});
  }
  for (int64_t i = 1; i <= past.open; ++i) {
    TxnRow txn;
    txn.id = TxnId(past.ended + i);
    txn.opened_seq = txn.snapshot_seq = CommitSeq(past.ended);
    txn.open_time = clock.Now();
    txn.user = "bench";
    txn.host = "host.example";
    txn.agent = "past";
    txn.timeout_ms = 86'400'000;
    txn.from_batch = true;
    writer.Add(Put<TxnRow>{std::move(txn)});
  }
  writer.Flush();
}

int64_t BytesOf(const Places& places, const std::string& name) {
  std::error_code error;
  return static_cast<int64_t>(
      std::filesystem::file_size(places.dir + "/" + name + "/skep.db", error));
}

double CpuOf(Bed& bed, Cycles& cycles, int64_t calls) {
  return Measure(bed.server(), bed.load(), cycles.Calls(), calls, 64).cpu_us;
}

// To the answer of a first call, in milliseconds.
double StartOf(const Places& places, const std::string& name) {
  const auto begin = std::chrono::steady_clock::now();
  const auto bed = Bed::Daemon(places, name);
  bed->OpenOne();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace

std::vector<Figure> HistoryFigures(const Places& places, const Effort& effort) {
  Figure flat{"CPU per durable call, long life ÷ empty", Bound::kAtMost, 1.25, 1.05};
  Figure start{"start to first answer, long life ÷ empty", Bound::kAtMost, 2, 1.1};
  Figure bytes{"store bytes per finished transaction", Bound::kAtMost, 16, 2};
  MakePast(places, "past", {effort.history, 0, 0});
  MakePast(places, "fresh", {0, 0, 0});
  bytes.values.push_back(static_cast<double>(BytesOf(places, "past") - BytesOf(places, "fresh")) /
                         static_cast<double>(effort.history));
  for (int round = -1; round < effort.rounds; ++round) {
    const double empty = StartOf(places, "fresh");
    const double full = StartOf(places, "past");
    if (round < 0) continue;
    start.values.push_back(full / empty);
    start.note = fmt::format("{:.0f} of {:.0f} ms", full, empty);
  }
  MakePast(places, "life", {effort.history, effort.tables, effort.open});
  const auto life = Bed::Daemon(places, "life");
  const auto fresh = Bed::Daemon(places, "fresh");
  Cycles in_life(false);
  Cycles in_fresh(false);
  for (int round = -1; round < effort.rounds; ++round) {
    const double little = CpuOf(*fresh, in_fresh, effort.calls);
    const double much = CpuOf(*life, in_life, effort.calls);
    if (round < 0) continue;
    flat.values.push_back(much / little);
    flat.note = fmt::format("{:.1f} of {:.1f} µs", much, little);
  }
  return {std::move(flat), std::move(start), std::move(bytes)};
}

}  // namespace skep::bench
