// Reading ORC: ours against Arrow's adapter, on the same bytes in memory, by turns, on one core, in
// time of that core.

#include <sched.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/adapters/orc/adapter.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>

#include "storage/base/check.h"
#include "storage/format/orc/byte_stream.h"
#include "storage/format/orc/reader.h"
#include "storage/format/orc/stripe.h"
#include "tests/bench/orc/bench_rows.h"
#include "tests/bench/rpc/figure.h"

namespace skep::bench {
namespace {

// A view: what is measured copies what it reads, as from a file in the cache.
class MemoryFile final : public fs::RandomAccessFile {
 public:
  explicit MemoryFile(const std::string& bytes) : bytes_(bytes) {}
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  const std::string& path() const override { return path_; }
  absl::Status ReadAt(int64_t offset, int64_t length, void* out) const override {
    SKEP_CHECK(offset >= 0 && length <= size() - offset);
    std::memcpy(out, bytes_.data() + offset, static_cast<size_t>(length));
    return absl::OkStatus();
  }

 private:
  const std::string& bytes_;
  std::string path_ = "/in-memory";
};

// Of this process on its core: all that is measured is one thread in memory, and the machine is
// used by others.
double CpuMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double MillisecondsOf(const std::function<void()>& work) {
  const double begin = CpuMilliseconds();
  work();
  return CpuMilliseconds() - begin;
}

template <class T>
T Must(arrow::Result<T> result) {
  SKEP_CHECK(result.ok());
  return *std::move(result);
}

using Columns = std::optional<std::vector<std::string>>;

int64_t ReadByArrow(const std::string& bytes, const std::vector<std::string>& columns) {
  auto file = std::make_shared<arrow::io::BufferReader>(std::make_shared<arrow::Buffer>(
      reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int64_t>(bytes.size())));
  const auto reader =
      Must(arrow::adapters::orc::ORCFileReader::Open(file, arrow::default_memory_pool()));
  const auto batches = columns.empty() ? Must(reader->GetRecordBatchReader(65536, {}))
                                       : Must(reader->GetRecordBatchReader(65536, columns));
  int64_t rows = 0;
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    SKEP_CHECK(batches->ReadNext(&batch).ok());
    if (batch == nullptr) return rows;
    rows += batch->num_rows();
  }
}

int64_t ReadByUs(const std::string& bytes, const Columns& columns, bool as_runs) {
  const auto reader = orc::OpenReader(std::make_unique<MemoryFile>(bytes), {});
  SKEP_CHECK(reader.ok());
  orc::ReadOptions options;
  options.columns = columns;
  options.acid_runs = as_runs;
  const auto stream = (*reader)->Read(options);
  SKEP_CHECK(stream.ok());
  static orc::Batch batch;  // recycled
  int64_t rows = 0;
  while (true) {
    const absl::StatusOr<bool> more = (*stream)->Next(&batch);
    SKEP_CHECK(more.ok());
    if (!*more) return rows;
    rows += batch.length;
  }
}

// Decompressing every data stream, and nothing else.
void Decompress(const std::string& bytes) {
  const MemoryFile file(bytes);
  const auto tail = orc::ReadTail(file, file.size());
  SKEP_CHECK(tail.ok());
  for (size_t i = 0; i < tail->stripes.size(); ++i) {
    const auto layout = orc::ReadStripeLayout(file, *tail, i);
    SKEP_CHECK(layout.ok());
    for (const orc::StreamRange& range : layout->streams) {
      if (range.kind == orc::StreamKind::kRowIndex) continue;
      orc::StreamSpec spec;
      spec.file = &file;
      spec.compression = tail->compression;
      spec.block_size = tail->block_size;
      spec.offset = range.offset;
      spec.length = range.length;
      orc::ByteStream stream(std::move(spec));
      while (true) {
        SKEP_CHECK(stream.Want(1).ok());
        if (stream.available() == 0) break;
        stream.Advance(stream.available());
      }
    }
  }
}

std::string Milliseconds(const char* what, double ms) {
  char text[64];
  std::snprintf(text, sizeof(text), "%s %.1f ms", what, ms);
  return text;
}

// `slow` ÷ `fast`, by turns.
Figure Ratio(Figure figure,
             int rounds,
             const std::function<void()>& slow,
             const std::function<void()>& fast,
             const std::string& note) {
  std::vector<double> slows, fasts;
  slow();
  fast();
  for (int i = 0; i < rounds; ++i) {
    slows.push_back(MillisecondsOf(slow));
    fasts.push_back(MillisecondsOf(fast));
    figure.values.push_back(slows.back() / fasts.back());
  }
  figure.note =
      Milliseconds("comparator", Median(slows)) + ", " + Milliseconds("ours", Median(fasts)) + note;
  return figure;
}

Figure AtLeast(const std::string& name, double floor, double goal) {
  return Figure{.name = name, .bound = Figure::Bound::kAtLeast, .floor = floor, .goal = goal};
}

struct Codec {
  const char* name;
  arrow::Compression::type type;
  double floor;
  double goal;
};

std::vector<Figure> Run(int64_t rows, int rounds) {
  constexpr Codec kCodecs[] = {{"zlib", arrow::Compression::GZIP, 1.6, 2.2},
                               {"zstd", arrow::Compression::ZSTD, 1.5, 2.5},
                               {"snappy", arrow::Compression::SNAPPY, 1.5, 2.2},
                               {"none", arrow::Compression::UNCOMPRESSED, 2, 4}};
  std::vector<Figure> figures;
  const auto acid = AcidRows(rows);
  for (const Codec& codec : kCodecs) {
    const std::string bytes = WrittenByArrow(*acid, codec.type);
    SKEP_CHECK(ReadByUs(bytes, {}, false) == rows);
    std::vector<double> bare;
    for (int i = 0; i < rounds; ++i) {
      bare.push_back(MillisecondsOf([&] { Decompress(bytes); }));
    }
    figures.push_back(Ratio(
        AtLeast(std::string("read the ACID schema, ") + codec.name, codec.floor, codec.goal),
        rounds,
        [&] { ReadByArrow(bytes, {}); },
        [&] { ReadByUs(bytes, {}, false); },
        ", " + Milliseconds("decompression alone", Median(bare))));
    Print(figures.back());
    if (codec.type != arrow::Compression::GZIP) continue;
    const std::vector<std::string> five{
        "operation", "originalTransaction", "bucket", "rowId", "currentTransaction"};
    const Columns none = std::vector<std::string>();
    for (const bool as_runs : {false, true}) {
      figures.push_back(Ratio(
          AtLeast(as_runs ? "the five ACID columns as runs, zlib" : "the five ACID columns, zlib",
                  as_runs ? 10 : 3,
                  as_runs ? 20 : 5),
          rounds,
          [&] { ReadByArrow(bytes, five); },
          [&] { ReadByUs(bytes, none, as_runs); },
          ""));
      Print(figures.back());
    }
  }
  const std::string ten = WrittenByArrow(*TenColumns(rows), arrow::Compression::ZSTD);
  Figure one = Ratio(
      Figure{.name = "one of ten bigint columns ÷ all ten",
             .bound = Figure::Bound::kAtMost,
             .floor = 0.25,
             .goal = 0.13},
      rounds,
      [&] { ReadByUs(ten, std::vector<std::string>{"c4"}, false); },
      [&] { ReadByUs(ten, {}, false); },
      "");
  figures.push_back(std::move(one));
  Print(figures.back());
  return figures;
}

void PinToThisProcessor() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0) std::puts("not pinned: no permission");
}

}  // namespace
}  // namespace skep::bench

int main(int argc, char** argv) {
  int64_t rows = 1'000'000;
  int rounds = 5;
  bool floors = true;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--no-floors") == 0) {
      floors = false;
    } else if (std::strcmp(argv[i], "--rows") == 0 && i + 1 < argc) {
      rows = std::atoll(argv[++i]);
    } else if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
      rounds = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: orc_bench [--rows N] [--rounds N] [--no-floors]\n");
      return 2;
    }
  }
  skep::bench::PinToThisProcessor();
  bool holds = true;
  for (const skep::bench::Figure& figure : skep::bench::Run(rows, rounds)) {
    holds = holds && figure.holds();
  }
  return holds || !floors ? 0 : 1;
}
