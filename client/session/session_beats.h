#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <absl/container/flat_hash_set.h>

#include "proto/skep/v1/transaction_service.pb.h"

namespace skep::client {

// Which transactions a beat of the session keeps alive without naming them: those that the present
// session opened, until their end was answered or the client has left them. Thread-compatible.
//
// The server keeps the same set. An id that a beat does not name any more was left: the server is
// told with each beat until one that says so was answered, and an id that was left once is named
// again like one that the session did not open.
class SessionBeats {
 public:
  using Beat = v1::HeartbeatTransactionsRequest;

  void Opened(int64_t first, int64_t count);
  void Ended(int64_t txn) { kept_.erase(txn); }
  // The session is another one.
  void Forget();

  // `beats`, which go in one message, without the ids that the first of them keeps for the session.
  std::vector<std::shared_ptr<const Beat>> Shorten(const std::vector<const Beat*>& beats);
  // `sent`, as it was shortened, was handled.
  void Answered(const Beat& sent);

 private:
  absl::flat_hash_set<int64_t> kept_;
  absl::flat_hash_set<int64_t> leaving_;
};

}  // namespace skep::client
