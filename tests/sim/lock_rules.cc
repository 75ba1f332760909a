#include "tests/sim/lock_rules.h"

#include <string>

namespace skep::sim {
namespace {

bool Meet(const std::string& a, const std::string& b) { return a.empty() || b.empty() || a == b; }

bool IsDatabaseReader(const HeldLock& lock) {
  return lock.resource.table.empty() && lock.kind == LockKind::kSharedRead;
}

bool IsBelowDatabase(const HeldLock& lock) { return !lock.resource.table.empty(); }

}  // namespace

bool MayHoldTogether(const HeldLock& a, const HeldLock& b) {
  // Rows and columns by strength: a reader, a writer, one writer, nobody else.
  constexpr bool kTogether[4][4] = {
      {true, true, true, false},
      {true, true, false, false},
      {true, false, false, false},
      {false, false, false, false},
  };
  if (a.resource.database != b.resource.database) return true;
  if (!Meet(a.resource.table, b.resource.table)) return true;
  if (!Meet(a.resource.partition, b.resource.partition)) return true;
  if (kTogether[static_cast<int>(a.kind)][static_cast<int>(b.kind)]) return true;
  // Who reads the database does not keep anybody from a table of it, nor the other way round.
  return (IsDatabaseReader(a) && IsBelowDatabase(b)) || (IsDatabaseReader(b) && IsBelowDatabase(a));
}

}  // namespace skep::sim
