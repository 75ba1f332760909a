#include "tests/bench/rpc/measure.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace skep::bench {

void Must(const grpc::Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", what, status.error_message().c_str());
  std::exit(1);
}

LoadResult Checked(LoadResult result) {
  if (result.errors == 0) return result;
  std::fprintf(stderr,
               "%ld errors, first: %s\n",
               static_cast<long>(result.errors),
               result.first_error.c_str());
  std::exit(1);
}

Measured Measure(const Child& server,
                 LoadGenerator& load,
                 const Workload& workload,
                 int64_t calls,
                 int in_flight) {
  const double before = server.CpuSeconds();
  Measured measured{Checked(load.Run(workload, calls, in_flight)), 0};
  measured.cpu_us = (server.CpuSeconds() - before) / static_cast<double>(calls) * 1e6;
  return measured;
}

Workload Repeated(const char* method, const std::string& bytes) {
  return {[method, bytes](int64_t) { return Request{method, bytes}; }, {}};
}

}  // namespace skep::bench
