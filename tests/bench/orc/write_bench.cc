// Writing the ACID rows: ours against Arrow's ORC writer, on the same rows, by turns, on one core,
// in time of that core. Both write into memory. Usage: orc_write_bench [ROWS [ROUNDS]]. Below a
// million rows the floors are not judged.

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <arrow/adapters/orc/adapter.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>

#include "storage/base/check.h"
#include "storage/format/orc/block_compressor.h"
#include "storage/format/orc/writer.h"
#include "tests/bench/orc/counting_fs.h"
#include "tests/bench/orc/event_batches.h"

namespace skep::bench {
namespace {

namespace adapters = arrow::adapters::orc;

constexpr int64_t kBatchRows = 65536;
constexpr uint64_t kBlock = 256 << 10;

// Of this process on its core: both writers are one thread and touch no disk, and the machine is
// used by others.
double CpuMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void PinToOneCore() {
  cpu_set_t all, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof(all), &all) != 0) return;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
    return;
  }
}

struct Line {
  const char* name;
  orc::Compression ours;
  arrow::Compression::type adapters;
  double floor, goal;
};

constexpr Line kLines[] = {
    {"zlib", orc::Compression::kZlib, arrow::Compression::GZIP, 2, 3.5},
    {"zstd", orc::Compression::kZstd, arrow::Compression::ZSTD, 1.3, 2},
    {"none", orc::Compression::kNone, arrow::Compression::UNCOMPRESSED, 2, 4},
    {"snappy", orc::Compression::kSnappy, arrow::Compression::SNAPPY, 0, 0},
};

double WriteOurs(const std::vector<orc::Batch>& batches, orc::Compression codec, CountingFs* fs) {
  const double start = CpuMilliseconds();
  orc::WriterOptions options;
  options.compression = codec;
  options.block_size = kBlock;
  auto writer = orc::CreateAcidWriter(*fs, "/f", EventColumns(), options);
  SKEP_CHECK(writer.ok());
  for (const orc::Batch& batch : batches) SKEP_CHECK((*writer)->Append(batch).ok());
  SKEP_CHECK((*writer)->Close().ok());
  return CpuMilliseconds() - start;
}

double WriteAdapters(const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches,
                     arrow::Compression::type codec,
                     int64_t* bytes) {
  const double start = CpuMilliseconds();
  auto out = *arrow::io::BufferOutputStream::Create();
  adapters::WriteOptions options;
  options.compression = codec;
  options.compression_block_size = kBlock;
  options.dictionary_key_size_threshold = 0.8;  // as Java has it; off by default
  auto writer = *adapters::ORCFileWriter::Open(out.get(), options);
  for (const auto& batch : batches) SKEP_CHECK(writer->Write(*batch).ok());
  SKEP_CHECK(writer->Close().ok());
  *bytes = *out->Tell();
  return CpuMilliseconds() - start;
}

// What the codec alone takes for as many bytes in blocks as the columns had.
double BareCompression(const std::string& raw, orc::Compression codec) {
  orc::BlockCompressor compressor(codec);
  std::string out;
  out.reserve(raw.size());
  const double start = CpuMilliseconds();
  for (size_t at = 0; at < raw.size(); at += kBlock)
    SKEP_CHECK(compressor.Append(std::string_view(raw).substr(at, kBlock), &out).ok());
  return CpuMilliseconds() - start;
}

int Run(int64_t rows, int rounds) {
  PinToOneCore();
  const std::vector<orc::Batch> batches = EventBatches(rows, kBatchRows);
  std::vector<std::shared_ptr<arrow::RecordBatch>> for_adapter;
  for (const orc::Batch& batch : batches) for_adapter.push_back(ForAdapter(batch));
  CountingFs fs;
  WriteOurs(batches, orc::Compression::kNone, &fs);
  const std::string raw = fs.bytes();
  bool holds = true;
  for (const Line& line : kLines) {
    std::vector<double> ours, adapters, ratios;
    int64_t adapter_bytes = 0;
    for (int round = 0; round < rounds; ++round) {
      ours.push_back(WriteOurs(batches, line.ours, &fs));
      adapters.push_back(WriteAdapters(for_adapter, line.adapters, &adapter_bytes));
      ratios.push_back(adapters.back() / ours.back());
    }
    const double bare = BareCompression(raw, line.ours);
    const double size = static_cast<double>(fs.bytes().size()) / static_cast<double>(adapter_bytes);
    const bool line_holds = Median(ratios) >= line.floor && size <= 1.02;
    holds &= line_holds;
    std::printf(
        "write %-7s %6.2f (%.2f–%.2f)  floor %g, goal %g  %.0f ms against %.0f ms, the codec alone "
        "%.0f ms%s\n"
        "size  %-7s %6.3f  floor ≤ 1.02, goal ≤ 0.98  %zu against %lld bytes\n",
        line.name,
        Median(ratios),
        *std::min_element(ratios.begin(), ratios.end()),
        *std::max_element(ratios.begin(), ratios.end()),
        line.floor,
        line.goal,
        Median(ours),
        Median(adapters),
        bare,
        line_holds ? "" : "  BELOW ITS FLOOR",
        line.name,
        size,
        fs.bytes().size(),
        static_cast<long long>(adapter_bytes));
    std::fflush(stdout);
  }
  return holds || rows < 1'000'000 ? 0 : 1;
}

}  // namespace
}  // namespace skep::bench

int main(int argc, char** argv) {
  const int64_t rows = argc > 1 ? atoll(argv[1]) : 1'000'000;
  const int rounds = argc > 2 ? atoi(argv[2]) : 5;
  if (rows < 1 || rounds < 1) {
    std::fprintf(stderr, "usage: orc_write_bench [ROWS [ROUNDS]]\n");
    return 2;
  }
  return skep::bench::Run(rows, rounds);
}
