#pragma once

#include <optional>

#include "server/state/lock_queue.h"

namespace skep::state::locks {

// The shortest cycle of the wait-for graph whose first edge is one of `waiting`'s; what
// LockTable's FindDeadlock promises. Pure: reads the queue only.
std::optional<LockDeadlock> FindCycle(const LockQueue& queue, const Record& waiting);

// A component as it is named; `blocker`'s is the first that conflicts with `wanted`.
LockTarget TargetOf(const Place& place);
LockBlocker DescribeBlocker(const Record& blocker, const Place& wanted);

}  // namespace skep::state::locks
