#pragma once

#include <memory>
#include <string>
#include <vector>

#include <grpcpp/channel.h>

#include "tests/bench/rpc/load.h"

namespace skep::bench {

// The calls that are measured, against a real skepd, and what they need before.
class Workloads {
 public:
  // `calls`: how many of each kind one round makes.
  Workloads(const std::string& endpoint, int64_t calls);

  // A partitioned table with one partition a call, so that no two commits of a round conflict; and
  // a plain table with nothing open. Once.
  void Prepare();

  // OpenTransactions(1); notes the ids.
  Workload Open();
  // Write ids for all that Open opened: untimed.
  void AllocateForAll();
  // CommitTransaction of one update each, of what Open opened.
  Workload Commit();
  // GetValidWriteIds of the plain table by one transaction.
  Workload ValidWriteIds();

 private:
  std::shared_ptr<grpc::Channel> channel_;
  const int64_t calls_;
  std::vector<int64_t> opened_;
  int64_t reader_ = 0;
};

}  // namespace skep::bench
