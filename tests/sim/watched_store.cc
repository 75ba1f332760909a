#include "tests/sim/watched_store.h"

#include <utility>

#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::sim {

absl::StatusOr<StoredState> WatchedStore::Load() {
  SKEP_ASSIGN_OR_RETURN(StoredState state, store_->Load());
  truth_.Loaded(state);
  return state;
}

absl::Status WatchedStore::Append(const Effects& effects) {
  const absl::Status status = store_->Append(effects);
  const ErrorReason reason = ReasonOf(status);
  if (status.ok()) {
    truth_.Stored(effects);
  } else if (reason != ErrorReason::kStoreFull && reason != ErrorReason::kStoreBusy) {
    truth_.Unknown(effects);
  }
  return status;
}

}  // namespace skep::sim
