#include "server/duties/claim_watch.h"

#include <utility>

namespace skep::duties {

absl::Status ClaimWatch::Beat() {
  {
    absl::MutexLock lock(&mutex_);
    if (!lost_.ok()) return lost_;
    if (under_way_ || clock_.MonoNow() < next_) return absl::OkStatus();
    under_way_ = true;
    next_ = clock_.MonoNow() + period_;
  }
  // Shared by the two halves of the call.
  auto answer = std::make_shared<absl::Status>();
  port_.Run(
      [id = id_, claim = claim_, answer](state::State& state, state::Now now, state::Unit& unit) {
        *answer = state.BeatClaim(id, claim, now, unit);
      },
      [self = shared_from_this(), answer](const absl::Status& status) {
        // The loop could not take it: that says nothing about the claim.
        self->Answered(status.ok() ? *answer : absl::OkStatus());
      });
  return absl::OkStatus();
}

void ClaimWatch::Answered(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  under_way_ = false;
  if (!status.ok()) lost_ = status;
}

}  // namespace skep::duties
