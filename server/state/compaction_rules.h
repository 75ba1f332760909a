#pragma once

// Decisions about the compaction queue: pure functions over the rows of one table or partition,
// ascending by id, or over all that are ready.

#include <optional>
#include <span>
#include <vector>

#include "server/state/state.h"
#include "storage/model/rows.h"

namespace skep::state {

// The entry that makes a new request of `type` pointless (ST-1, Q-2): one that is initiated or
// working; or one that waits for the cleaner, did at least as much and saw every write up to
// `highest_write_id`, the highest that a compactor would see now.
const CompactionRow* FindDuplicate(std::span<const CompactionRow> of_object,
                                   CompactionType type,
                                   WriteId highest_write_id);

// Which finished entries of one object are too many (HR-1, HR-3): all but the newest of each group.
// Cancelled counts as refused.
std::vector<CompactionId> HistoryToDrop(std::span<const CompactionRow> of_object,
                                        const Options& options);

// Finished entries of one object without a result that a newer success makes old news (HR-2): a
// major those of any type, another type those of its own. They go when they are old enough.
std::vector<const CompactionRow*> Outdated(std::span<const CompactionRow> of_object);
// From when on their age counts: the start, or the request where it never started.
Timestamp BirthOf(const CompactionRow& row);

// It was published, and what it replaced could not be removed (RB-1).
bool CleaningWasGivenUp(const CompactionRow& row);

// Which of the entries that wait for the cleaner may be cleaned now (CL-1, CL-2): their time has
// come, and of each object only the one with the lowest highest write id. Ascending.
std::vector<CompactionId> SelectReady(std::span<const CompactionRow> ready, Timestamp now);

}  // namespace skep::state
