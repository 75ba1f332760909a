#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>

#include "server/duties/command_port.h"
#include "storage/base/clock.h"
#include "storage/model/ids.h"

namespace skep::duties {

// Renews a claim while a job runs, and knows when it is lost. Shared by the job and by renewals
// that are under way, which may outlive it. Thread-safe.
class ClaimWatch : public std::enable_shared_from_this<ClaimWatch> {
 public:
  // `clock` and `port` must outlive the job, not the renewals' answers.
  ClaimWatch(CommandPort& port,
             const Clock& clock,
             CompactionId id,
             int64_t claim,
             std::chrono::milliseconds period)
      : port_(port),
        clock_(clock),
        id_(id),
        claim_(claim),
        period_(period),
        next_(clock.MonoNow() + period) {}

  // Sends a renewal if one is due and none is under way. Not OK: the claim is lost, the job must
  // end.
  absl::Status Beat() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Answered(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  CommandPort& port_;
  const Clock& clock_;
  const CompactionId id_;
  const int64_t claim_;
  const std::chrono::milliseconds period_;

  absl::Mutex mutex_;
  MonoTime next_ ABSL_GUARDED_BY(mutex_);
  bool under_way_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status lost_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skep::duties
