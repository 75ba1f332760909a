#pragma once

#include <vector>

#include "storage/model/effect.h"

namespace skep::meta {

// The highest ids that any stored row carries: a row with a higher id is not stored yet.
struct StoredIds {
  TxnId txn;            // of TxnRow
  TxnId component_txn;  // of ComponentRow
  LockId lock;
  CompactionId compaction;
};

// What of `effects` is left when changes that a later one of the same unit undoes or repeats are
// taken away, in the order of the list. Applying the result to any state whose ids are within
// `stored` leaves what applying the whole list leaves: the last put of a key wins, a row that is
// put and erased within the unit disappears, an erase of what cannot be stored disappears. Pointers
// lead into `effects`. O(n).
std::vector<const Effect*> NetEffects(const Effects& effects, const StoredIds& stored);

// Raises `stored` to the ids of the puts in `net`.
void RaiseStoredIds(StoredIds& stored, const std::vector<const Effect*>& net);

}  // namespace skep::meta
