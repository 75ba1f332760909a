// What it costs to make a unit durable in the two places that were considered for the log: segment
// files, and a table of its own database with its own connection. Beside them a bare write and
// fdatasync of as many bytes. One record a unit, made by the same encoder. Run as store_bench.

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "storage/base/random.h"
#include "storage/fs/posix_file_system.h"
#include "storage/fs/posix_in_place_file.h"
#include "storage/meta/log/segment_log.h"
#include "storage/meta/sqlite/database.h"
#include "tests/bench/store/traffic.h"

namespace skep::meta {
namespace {

[[noreturn]] void Die(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  ::abort();
}
void Must(const absl::Status& status) {
  if (!status.ok()) Die(status);
}
template <class T>
T Must(absl::StatusOr<T> result) {
  if (!result.ok()) Die(result.status());
  return *std::move(result);
}

class Directory {
 public:
  Directory() {
    path_ = (std::filesystem::temp_directory_path() / "skep-bench-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) ::abort();
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class SegmentPlace {
 public:
  explicit SegmentPlace(const Directory& dir) {
    SegmentLog::Options options;
    options.store_path = dir / "skep.db";
    options.first_bytes = options.largest_bytes;
    log_ = Must(SegmentLog::Create({&fs_, &files_, &random_}, options));
    place_ = log_->begin();
  }
  void Append(RecordWriter& record) { Must(log_->Append(record)); }
  // The other thread's work.
  void Tidy() {
    if (++units_ % 512 != 0) return;
    for (;;) {
      const SegmentLog::Piece piece = Must(log_->Read(place_, int64_t{1} << 20));
      if (piece.bytes == 0) break;
      place_ = piece.next;
    }
    log_->Release(place_);
  }

 private:
  fs::PosixFileSystem fs_;
  fs::PosixInPlaceFiles files_;
  SystemRandom random_;
  std::unique_ptr<SegmentLog> log_;
  SegmentLog::Place place_;
  int64_t units_ = 0;
};

class TablePlace {
 public:
  explicit TablePlace(const Directory& dir) {
    DatabaseOptions options;
    options.path = dir / "log.db";
    options.create = true;
    db_ = Must(Database::Open(options));
    Must(db_->UseWriteAheadLog());
    Must(db_->Execute("CREATE TABLE log (seq INTEGER PRIMARY KEY, body BLOB NOT NULL)", "create"));
    insert_ = Must(db_->Prepare("INSERT INTO log VALUES (?1, ?2)"));
    trim_ = Must(db_->Prepare("DELETE FROM log WHERE seq <= ?1"));
    begin_ = Must(db_->Prepare("BEGIN IMMEDIATE"));
    commit_ = Must(db_->Prepare("COMMIT"));
  }
  void Append(RecordWriter& record) {
    const std::string_view bytes = record.Seal(0, CommitSeq(0));
    if (db_->uncopied_frames() > 400) db_->Checkpoint();
    begin_.Run();
    sqlite3_bind_int64(insert_.get(), 1, ++units_);
    sqlite3_bind_blob64(insert_.get(), 2, bytes.data(), bytes.size(), SQLITE_STATIC);
    insert_.Run();
    if (units_ % 512 == 0) {
      sqlite3_bind_int64(trim_.get(), 1, units_ - 256);
      trim_.Run();
    }
    if (commit_.Run() != SQLITE_OK) ::abort();
  }
  void Tidy() {}  // one connection writes and trims

 private:
  std::unique_ptr<Database> db_;
  Statement insert_;
  Statement trim_;
  Statement begin_;
  Statement commit_;
  int64_t units_ = 0;
};

class BarePlace {
 public:
  explicit BarePlace(const Directory& dir) {
    const std::string path = dir / "bare";
    auto file = Must(fs_.Create(path));
    Must(file->Append(std::string(kSize, '\0')));
    Must(file->Close());
    file_ = Must(fs::PosixInPlaceFiles().OpenInPlace(path));
  }
  void Append(RecordWriter& record) {
    const std::string_view bytes = record.Seal(0, CommitSeq(0));
    if (at_ + record.size() > kSize) at_ = 0;
    Must(file_->WriteAt(at_, bytes));
    Must(file_->SyncData());
    at_ += record.size();
  }
  void Tidy() {}

 private:
  static constexpr int64_t kSize = int64_t{16} << 20;
  fs::PosixFileSystem fs_;
  std::unique_ptr<fs::InPlaceFile> file_;
  int64_t at_ = 0;
};

template <class Place>
void BM_Log(benchmark::State& state) {
  const Directory dir;
  Place place(dir);
  Traffic traffic;
  RecordWriter record;
  for (auto _ : state) {
    state.PauseTiming();
    place.Tidy();
    const Effects unit = traffic.Opens(state.range(0));
    state.ResumeTiming();
    Must(record.Encode(unit));
    place.Append(record);
  }
  state.counters["bytes"] = static_cast<double>(record.size());
}
BENCHMARK_TEMPLATE(BM_Log, BarePlace)->Arg(1)->Arg(64)->Arg(256)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Log, SegmentPlace)->Arg(1)->Arg(64)->Arg(256)->UseRealTime();
BENCHMARK_TEMPLATE(BM_Log, TablePlace)->Arg(1)->Arg(64)->Arg(256)->UseRealTime();

// The loop's work on a unit before it is written.
void BM_Encode(benchmark::State& state) {
  Traffic traffic;
  const Effects unit = traffic.Opens(state.range(0));
  RecordWriter record;
  for (auto _ : state) {
    Must(record.Encode(unit));
    benchmark::DoNotOptimize(record.Seal(1, CommitSeq(0)));
  }
  state.SetBytesProcessed(state.iterations() * record.size());
}
BENCHMARK(BM_Encode)->Arg(1)->Arg(64)->Arg(256);

}  // namespace
}  // namespace skep::meta
