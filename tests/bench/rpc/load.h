#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "tests/bench/rpc/histogram.h"

namespace skep::bench {

struct Request {
  const char* method;  // "/skep.v1.TransactionService/OpenTransactions"
  std::string bytes;
};

// What is asked i-th, and what to do with the answer.
struct Workload {
  std::function<Request(int64_t i)> request;
  std::function<void(int64_t i, const std::string& answer)> answer;  // may be empty
};

struct LoadResult {
  int64_t calls = 0;
  int64_t errors = 0;
  std::string first_error;
  double seconds = 0;
  Histogram latency;
  double rate() const { return static_cast<double>(calls) / seconds; }
};

// Closed loop: `in_flight` calls at one time over `connections` connections, each of a client
// process of its own to the server, the next begins when one ends, until `calls` were made. One
// thread.
class LoadGenerator {
 public:
  LoadGenerator(const std::string& endpoint, int connections);

  LoadResult Run(const Workload& workload, int64_t calls, int in_flight);

  const std::shared_ptr<grpc::Channel>& channel(size_t i) const { return channels_[i]; }

 private:
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  std::vector<std::unique_ptr<grpc::GenericStub>> stubs_;
};

}  // namespace skep::bench
