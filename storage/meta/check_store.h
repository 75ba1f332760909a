#pragma once

#include <string>
#include <vector>

#include <absl/status/status.h>

#include "storage/model/stored_state.h"

namespace skep::meta {

// What contradicts itself in `state`, one sentence each, naming the rows; empty for a sound store.
//
// Looked at: counters and sequences are above everything that was given out; what belongs to a
// table leads to one that is there; a transaction has one write id for each table and an id has one
// fate; no lock, write or write id of a transaction that is not open; no two granted locks that
// exclude each other (LCM-2, LCM-3, LCM-4); lock and compaction states are legal; names and
// locations of tables are unique and none lies inside another. Of many locks that exclude each
// other some pairs are told, each lock at least once. Takes a sort of the rows, no more.
std::vector<std::string> CheckInvariants(const StoredState& state);

// For a start: what goes on from a state that contradicts itself gives ids out twice. Errors:
// kCorruptStore with the first sentences of CheckInvariants.
absl::Status RequireSound(const StoredState& state);

}  // namespace skep::meta
