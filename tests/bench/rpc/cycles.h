#pragma once

#include <cstdint>
#include <deque>

#include "tests/bench/rpc/load.h"

namespace skep::bench {

// Transactions that live their life call by call, each step as soon as the one before was answered:
// open, then (with `allocate`) a write id of bench.quiet, then commit. The answers of an echo do as
// well: its ids are all the same.
class Cycles {
 public:
  explicit Cycles(bool allocate) : allocate_(allocate) {}

  Workload Calls();

 private:
  struct Step {
    enum class Kind { kOpen, kAllocate, kCommit };
    Kind kind = Kind::kOpen;
    int64_t txn = 0;
  };
  Request Next(int64_t i);
  void Took(int64_t i, const std::string& answer);

  const bool allocate_;
  std::deque<Step> ready_;
  std::deque<Step> sent_;  // by the number of the call, from first_
  int64_t first_ = 0;
};

}  // namespace skep::bench
