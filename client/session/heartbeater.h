#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include "client/session/lease.h"
#include "client/session/transport.h"
#include "storage/base/executor.h"
#include "storage/base/random.h"
#include "storage/model/txn.h"

#include "proto/skep/v1/transaction_service.pb.h"

namespace skep::client {

// Keeps the transactions of a session alive: all of them in one call, at a third of the shortest
// lease ± 10 %.
//
// A beat that fails is sent again after a short pause, whatever the failure: only the server's word
// about a transaction ends its beating, and its owner finds that word in the lease. A transaction
// that was removed is named by no call sent afterwards, and what a beat under way says about it is
// dropped. Thread-safe.
class Heartbeater {
 public:
  // The transport is the heartbeater's own, the executor has a thread of its own: nothing that
  // another call waits for may delay a beat. All must outlive the heartbeater's last call (Stop,
  // then destroy the transport).
  Heartbeater(Transport& transport, Executor& executor, Clock& clock, Random& random);

  void Add(std::shared_ptr<Lease> lease);
  void Remove(TxnId txn);
  // The server's word, by whatever way it came: like a beat's.
  void EndedByServer(TxnId txn, AbortCause cause);
  // No beat begins after it.
  void Stop();

  size_t size() const;

 private:
  struct Sent {
    MonoTime time;
    std::vector<int64_t> txns;
    std::shared_ptr<v1::HeartbeatTransactionsResponse> response;
  };

  void Beat(uint64_t schedule);
  void Answered(const Sent& sent, const absl::Status& status);
  void ScheduleLocked(MonoTime when) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::chrono::nanoseconds PeriodLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndLocked(int64_t txn, absl::Status final) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Transport& transport_;
  Executor& executor_;
  Clock& clock_;
  Random& random_;

  mutable absl::Mutex mutex_;
  std::map<int64_t, std::shared_ptr<Lease>> leases_ ABSL_GUARDED_BY(mutex_);
  std::optional<Executor::TimerId> timer_ ABSL_GUARDED_BY(mutex_);
  MonoTime timer_time_ ABSL_GUARDED_BY(mutex_);
  uint64_t schedule_ ABSL_GUARDED_BY(mutex_) = 0;  // a timer of an older number is void
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace skep::client
