#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include <absl/status/statusor.h>

namespace skep::loop {

enum class CallClass {
  kOrdinary,
  kOperator,  // the questions by which one finds out who is in the way: also the slots that are
              // kept from ordinary calls
  kReserved,  // commit, abort, heartbeat, release: always let through, so that nobody loses a
              // transaction to load
};

// How many calls may be in flight. Ordinary calls may take three quarters of the slots and each
// client its share; reserved ones always get through. Confined to the loop's thread.
class Admission {
 public:
  struct Limits {
    int64_t in_flight = 512;
    int64_t per_client = 64;
  };
  explicit Admission(const Limits& limits) : limits_(limits) {}

  // The client's slot: the call is counted until it is given back by Leave.
  // Errors: kOverloaded; kShuttingDown while draining.
  absl::StatusOr<int64_t*> Enter(CallClass call_class, std::string_view client);
  void Leave(int64_t* slot);

  // From now on ordinary calls are refused.
  void Drain() { draining_ = true; }
  bool draining() const { return draining_; }
  int64_t in_flight() const { return in_flight_; }

 private:
  const Limits limits_;
  bool draining_ = false;
  int64_t in_flight_ = 0;
  int64_t* SlotOf(std::string_view client);

  // Calls in flight of each client seen; those at zero go when it grows.
  std::unordered_map<std::string, int64_t> clients_;
};

}  // namespace skep::loop
