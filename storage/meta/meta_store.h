#pragma once

#include <cstdint>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/base/clock.h"
#include "storage/model/effect.h"
#include "storage/model/stored_state.h"

namespace skep::meta {

// The port to the durable store. One owner, one thread at a time (confined to the loop thread after
// Load).
class MetaStore {
 public:
  virtual ~MetaStore() = default;

  // Everything stored. Called at start and after a failed unit.
  virtual absl::StatusOr<StoredState> Load() = 0;

  // Makes `effects` durable as one unit, in order; returns after the sync. The list holds a
  // Put<CounterRow> with the unit's sequence number whenever it is not empty. Errors: kStoreBusy,
  // kStoreFull: nothing of the unit is stored. kOutcomeUnknown: the sync failed, the unit may or
  // may not be there; the process must end. kCorruptStore: likewise must end.
  virtual absl::Status Append(const Effects& effects) = 0;

  // False: the disk is full, and what room is left is for units that end things. Asked before
  // something is made; finds out by itself when there is room again.
  virtual bool HasRoom() = 0;

  // How far the tables that people read are behind what is durable.
  struct Lag {
    int64_t bytes = 0;   // of the log that the tables do not show yet
    int64_t limit = 0;   // of `bytes`, where units are refused; 0: there is no log
    absl::Status cause;  // why the tables do not follow; OK: they do
    Timestamp since{};   // of the cause
  };
  virtual Lag TablesLag() const = 0;

  // Work that is better done when nothing waits (checkpoint). Bounded to a few milliseconds.
  virtual void Idle() = 0;
};

}  // namespace skep::meta
