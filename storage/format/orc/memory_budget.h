#pragma once

#include <cstdint>

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

namespace skep::orc {

// Memory that many open writers share: each ends its stripes at its part of the whole, which is as
// large as it wants as long as all of them together want no more than there is (WD-1). Thread-safe;
// must outlive its shares.
class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t bytes) : bytes_(bytes) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // One writer's claim.
  class Share {
   public:
    // Without a budget the part is all that is wanted.
    Share(MemoryBudget* budget, uint64_t wanted) : budget_(budget), wanted_(wanted) {
      if (budget_ != nullptr) budget_->Claim(wanted_);
    }
    ~Share() {
      if (budget_ != nullptr) budget_->Return(wanted_);
    }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    uint64_t bytes() const { return budget_ == nullptr ? wanted_ : budget_->PartOf(wanted_); }

   private:
    MemoryBudget* const budget_;
    const uint64_t wanted_;
  };

 private:
  void Claim(uint64_t wanted) {
    const absl::MutexLock lock(&mutex_);
    wanted_ += wanted;
  }
  void Return(uint64_t wanted) {
    const absl::MutexLock lock(&mutex_);
    wanted_ -= wanted;
  }
  uint64_t PartOf(uint64_t wanted) {
    const absl::MutexLock lock(&mutex_);
    if (wanted_ <= bytes_) return wanted;
    return static_cast<uint64_t>(static_cast<double>(wanted) * static_cast<double>(bytes_) /
                                 static_cast<double>(wanted_));
  }

  const uint64_t bytes_;
  absl::Mutex mutex_;
  uint64_t wanted_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace skep::orc
