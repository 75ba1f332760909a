#pragma once

#include <chrono>
#include <memory>

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>

#include "storage/base/clock.h"
#include "storage/model/ids.h"

namespace skep::client {

// What a client knows about the life of one transaction without asking: until when its lease lasts
// by the client's own clock, and the final state that a heartbeat brought. Shared by the
// transaction, its readers and the heartbeater. Thread-safe.
//
// The lease is counted from the moment a renewing call was *sent*: the server began to count later,
// so the client never believes in a lease that is over.
class Lease {
 public:
  // `clock` must outlive the lease.
  Lease(TxnId txn, std::chrono::milliseconds timeout, MonoTime sent, Clock& clock)
      : txn_(txn), timeout_(timeout), clock_(clock), renewed_(sent) {}

  TxnId txn() const { return txn_; }
  std::chrono::milliseconds timeout() const { return timeout_; }

  // A call that was sent at `sent` renewed the lease.
  void Renew(MonoTime sent);
  // The server said that the transaction ended; the first word stays. `final` is not OK.
  void End(absl::Status final);

  // The final state, if a heartbeat brought one; OK otherwise.
  absl::Status final_state() const;
  // OK while the transaction is open as far as the client knows and the lease lasts; TXN_ABORTED
  // otherwise.
  absl::Status Check() const;

 private:
  const TxnId txn_;
  const std::chrono::milliseconds timeout_;
  Clock& clock_;
  mutable absl::Mutex mutex_;
  MonoTime renewed_ ABSL_GUARDED_BY(mutex_);
  absl::Status final_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skep::client
