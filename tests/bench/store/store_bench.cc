// What one unit of the store costs: per_record is the whole unit, sync included, over its
// effects; per_call over the calls that made them. Run where the data directory would be:
//   TMPDIR=/var/tmp build/dev/tests/bench/store/store_bench
// On tmpfs (TMPDIR=/dev/shm) the sync costs nothing and the rest is CPU.

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "storage/meta/sqlite/sqlite_store.h"

namespace skep::meta {
namespace {

constexpr int64_t kTables = 16;

class BenchStore {
 public:
  BenchStore() {
    std::string name = (std::filesystem::temp_directory_path() / "skep-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) ::abort();
    dir_ = name;
    SqliteOptions options;
    options.path = dir_ + "/skep.db";
    auto store = SqliteStore::Open(options);
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
  std::unique_ptr<SqliteStore> store_;
};

// Opens and commits as the state machine records them, with a reader that stays open, so that ended
// rows are kept for a while.
class Traffic {
 public:
  Effects Opens(int64_t count) {
    Effects unit;
    for (int64_t i = 0; i < count; ++i) {
      TxnRow txn;
      txn.id = TxnId(next_txn_++);
      txn.opened_seq = txn.snapshot_seq = CommitSeq(seq_ + 1);
      txn.open_time = Timestamp(std::chrono::milliseconds(1'790'812'800'000 + seq_));
      txn.user = "alice";
      txn.host = "host-1.example.com";
      txn.agent = "loader";
      txn.timeout_ms = 300'000;
      RequestRow request;
      request.slot = slot_++ % 100'000;
      request.request_id.fill(static_cast<uint8_t>(slot_));
      request.first_id = txn.id.value();
      request.count = 1;
      request.time = txn.open_time;
      unit.push_back(Put<TxnRow>{std::move(txn)});
      unit.push_back(Put<RequestRow>{request});
    }
    return Sealed(std::move(unit));
  }

  // Write ids and the declared update of transactions [first, first + count).
  Effects Allocations(int64_t first, int64_t count) {
    Effects unit;
    for (int64_t txn = first; txn < first + count; ++txn) {
      const TableId table(1 + txn % kTables);
      unit.push_back(
          Put<WriteIdRow>{{table, WriteId(1 + txn / kTables), TxnId(txn), CommitSeq(seq_ + 1)}});
      unit.push_back(Put<ComponentRow>{{TxnId(txn), table, "", WriteOp::kUpdate, false}});
    }
    return Sealed(std::move(unit));
  }

  Effects Commits(int64_t first, int64_t count) {
    Effects unit;
    const CommitSeq end(seq_ + 1);
    for (int64_t txn = first; txn < first + count; ++txn) {
      const TableId table(1 + txn % kTables);
      const WriteId write_id(1 + txn / kTables);
      unit.push_back(EraseTxn{TxnId(txn)});
      unit.push_back(EraseComponents{TxnId(txn)});
      unit.push_back(EraseWriteId{table, write_id});
      unit.push_back(Put<ResolvedTxnRow>{{end, TxnId(txn), CommitSeq(seq_), true}});
      unit.push_back(Put<ResolvedWriteIdRow>{{end, table, write_id, CommitSeq(seq_), true}});
      WriteMarkRow mark;
      mark.table = table;
      mark.update_seq = end;
      mark.update_txn = TxnId(txn);
      unit.push_back(Put<WriteMarkRow>{mark});
    }
    if (end.value() > 30) unit.push_back(ForgetResolved{CommitSeq(end.value() - 30)});
    return Sealed(std::move(unit));
  }

  int64_t next_txn() const { return next_txn_; }

 private:
  Effects Sealed(Effects unit) {
    ++seq_;
    unit.push_back(Put<CounterRow>{
        {CommitSeq(seq_), TxnId(next_txn_), LockId(1), CompactionId(1), TableId(99), slot_}});
    return unit;
  }

  int64_t seq_ = 0;
  int64_t next_txn_ = 1;
  int64_t slot_ = 0;
};

void Report(benchmark::State& state, size_t records, int64_t calls) {
  using benchmark::Counter;
  const auto flags = Counter::kIsRate | Counter::kInvert;
  state.counters["per_record"] = Counter(static_cast<double>(records), flags);
  state.counters["per_call"] = Counter(static_cast<double>(calls), flags);
}

void BM_UnitOfOpens(benchmark::State& state) {
  BenchStore store;
  Traffic traffic;
  size_t records = 0;
  int64_t calls = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const int64_t first = traffic.next_txn();
    const Effects opens = traffic.Opens(state.range(0));
    const Effects commits = traffic.Commits(first, state.range(0));
    state.ResumeTiming();
    store.Append(opens);
    state.PauseTiming();
    store.Append(
        commits);  // so that the table of open transactions stays as small as it is in life
    records += opens.size();
    calls += state.range(0);
    state.ResumeTiming();
  }
  Report(state, records, calls);
}
BENCHMARK(BM_UnitOfOpens)->Arg(1)->Arg(64)->Arg(512)->Unit(benchmark::kMicrosecond)->UseRealTime();

void BM_UnitOfCommits(benchmark::State& state) {
  BenchStore store;
  Traffic traffic;
  size_t records = 0;
  int64_t calls = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const int64_t first = traffic.next_txn();
    store.Append(traffic.Opens(state.range(0)));
    store.Append(traffic.Allocations(first, state.range(0)));
    const Effects commits = traffic.Commits(first, state.range(0));
    state.ResumeTiming();
    store.Append(commits);
    records += commits.size();
    calls += state.range(0);
  }
  Report(state, records, calls);
}
BENCHMARK(BM_UnitOfCommits)
    ->Arg(1)
    ->Arg(64)
    ->Arg(512)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

// Opened and committed within one unit: the net effect leaves little to write.
void BM_UnitOfWholeTransactions(benchmark::State& state) {
  BenchStore store;
  Traffic traffic;
  size_t records = 0;
  int64_t calls = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const int64_t first = traffic.next_txn();
    Effects unit = traffic.Opens(state.range(0));
    unit.pop_back();
    for (Effect& effect : traffic.Commits(first, state.range(0))) unit.push_back(std::move(effect));
    state.ResumeTiming();
    store.Append(unit);
    records += unit.size();
    calls += 2 * state.range(0);
  }
  Report(state, records, calls);
}
BENCHMARK(BM_UnitOfWholeTransactions)->Arg(64)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace skep::meta

BENCHMARK_MAIN();
