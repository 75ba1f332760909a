#pragma once

#include <cstdint>
#include <string>

#include <grpcpp/support/status.h>

#include "tests/bench/rpc/load.h"
#include "tests/bench/rpc/processes.h"

namespace skep::bench {

// A program that measures ends at the first call that fails, with what failed on stderr: a figure
// of refusals says nothing.
void Must(const grpc::Status& status, const char* what);
LoadResult Checked(LoadResult result);

struct Measured {
  LoadResult load;
  double cpu_us = 0;  // of the server, per call
};
Measured Measure(const Child& server,
                 LoadGenerator& load,
                 const Workload& workload,
                 int64_t calls,
                 int in_flight);

// The same request again and again.
Workload Repeated(const char* method, const std::string& bytes);

}  // namespace skep::bench
