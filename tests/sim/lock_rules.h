#pragma once

#include "storage/model/lock.h"

namespace skep::sim {

struct HeldLock {
  LockResource resource;
  LockKind kind = LockKind::kSharedRead;
};

// May two owners hold these at once? Written from the rules (LCM-2, LCM-6 and the exceptions for
// databases), not taken from the product, which is judged by it.
bool MayHoldTogether(const HeldLock& a, const HeldLock& b);

}  // namespace skep::sim
