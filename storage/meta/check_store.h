#pragma once

#include <string>
#include <vector>

#include "storage/model/stored_state.h"

namespace skep::meta {

// What contradicts itself in `state`, one sentence each, naming the rows; empty for a sound store.
//
// Looked at: counters and sequences are above everything that was given out; what belongs to a
// table leads to one that is there; a transaction has one write id for each table and an id has one
// fate; no lock, write or write id of a transaction that is not open; no two granted locks that
// exclude each other (LCM-2, LCM-3, LCM-4); lock and compaction states are legal; names and
// locations of tables are unique and none lies inside another.
std::vector<std::string> CheckInvariants(const StoredState& state);

}  // namespace skep::meta
