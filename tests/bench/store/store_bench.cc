// What one unit costs in each form of the store: per_record is the whole unit, sync included, over
// its effects; per_call over the calls that made them. CPU is that of the
// appending thread. Run where the data directory would be, the forms by turns:
//   TMPDIR=/var/tmp build/dev/tests/bench/store/store_bench
//       --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true
// On tmpfs (TMPDIR=/dev/shm) the sync costs nothing and the rest is CPU.

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "storage/meta/open_store.h"
#include "tests/bench/store/traffic.h"

namespace skep::meta {
namespace {

class BenchStore {
 public:
  explicit BenchStore(StoreForm form) {
    std::string name = (std::filesystem::temp_directory_path() / "skep-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) ::abort();
    dir_ = name;
    LogStoreOptions options;
    options.tables.path = dir_ + "/skep.db";
    auto store = OpenStore(form, options);
    if (!store.ok()) {
      std::fprintf(stderr, "%s\n", store.status().ToString().c_str());
      ::abort();
    }
    store_ = *std::move(store);
  }
  ~BenchStore() {
    store_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(dir_, ignored);
  }
  BenchStore(const BenchStore&) = delete;
  BenchStore& operator=(const BenchStore&) = delete;

  void Append(const Effects& effects) {
    const absl::Status status = store_->Append(effects);
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      ::abort();
    }
  }

 private:
  std::string dir_;
  std::unique_ptr<MetaStore> store_;
};

StoreForm FormOf(benchmark::State& state) {
  const bool log = state.range(0) == 1;
  state.SetLabel(log ? "log" : "tables");
  return log ? StoreForm::kLog : StoreForm::kTables;
}

void Report(benchmark::State& state, size_t records, int64_t calls) {
  using benchmark::Counter;
  const auto flags = Counter::kIsRate | Counter::kInvert;
  state.counters["per_record"] = Counter(static_cast<double>(records), flags);
  state.counters["per_call"] = Counter(static_cast<double>(calls), flags);
}

void BM_UnitOfOpens(benchmark::State& state) {
  BenchStore store(FormOf(state));
  Traffic traffic;
  size_t records = 0;
  int64_t calls = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const int64_t first = traffic.next_txn();
    const Effects opens = traffic.Opens(state.range(1));
    const Effects commits = traffic.Commits(first, state.range(1));
    state.ResumeTiming();
    store.Append(opens);
    state.PauseTiming();
    store.Append(
        commits);  // so that the table of open transactions stays as small as it is in life
    records += opens.size();
    calls += state.range(1);
    state.ResumeTiming();
  }
  Report(state, records, calls);
}
BENCHMARK(BM_UnitOfOpens)
    ->ArgsProduct({{0, 1}, {1, 64, 512}})
    ->ArgNames({"log", "calls"})
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

void BM_UnitOfCommits(benchmark::State& state) {
  BenchStore store(FormOf(state));
  Traffic traffic;
  size_t records = 0;
  int64_t calls = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const int64_t first = traffic.next_txn();
    store.Append(traffic.Opens(state.range(1)));
    store.Append(traffic.Allocations(first, state.range(1)));
    const Effects commits = traffic.Commits(first, state.range(1));
    state.ResumeTiming();
    store.Append(commits);
    records += commits.size();
    calls += state.range(1);
  }
  Report(state, records, calls);
}
BENCHMARK(BM_UnitOfCommits)
    ->ArgsProduct({{0, 1}, {1, 64, 512}})
    ->ArgNames({"log", "calls"})
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

// Opened and committed within one unit: the net effect leaves little to write.
void BM_UnitOfWholeTransactions(benchmark::State& state) {
  BenchStore store(FormOf(state));
  Traffic traffic;
  size_t records = 0;
  int64_t calls = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const int64_t first = traffic.next_txn();
    Effects unit = traffic.Opens(state.range(1));
    unit.pop_back();
    for (Effect& effect : traffic.Commits(first, state.range(1))) unit.push_back(std::move(effect));
    state.ResumeTiming();
    store.Append(unit);
    records += unit.size();
    calls += 2 * state.range(1);
  }
  Report(state, records, calls);
}
BENCHMARK(BM_UnitOfWholeTransactions)
    ->ArgsProduct({{0, 1}, {64}})
    ->ArgNames({"log", "calls"})
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

}  // namespace
}  // namespace skep::meta

BENCHMARK_MAIN();
