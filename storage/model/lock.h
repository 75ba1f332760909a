#pragma once

#include <string>
#include <string_view>

namespace skep {

// Strength grows with the number (LCM-6).
enum class LockKind { kSharedRead = 0, kSharedWrite = 1, kExclWrite = 2, kExclusive = 3 };

enum class LockState { kAcquired, kWaiting, kNotAcquired, kAborted };

// Lock compatibility (LCM-6): what blocks what when resources overlap. Symmetric: SHARED_READ is
// stopped by EXCLUSIVE only; SHARED_WRITE by EXCL_WRITE and EXCLUSIVE; EXCL_WRITE by SHARED_WRITE,
// EXCL_WRITE and EXCLUSIVE; EXCLUSIVE by everything.
bool LocksConflict(LockKind a, LockKind b);

// What a lock names: a database, a table of it, or a partition of that. Lower-case names; partition
// in canonical form.
struct LockResource {
  std::string database;
  std::string table;      // empty: the whole database
  std::string partition;  // empty: the whole table

  std::string ToString() const;
  friend auto operator<=>(const LockResource&, const LockResource&) = default;
};

// Same database and, at each level, equal or one of them absent (LCM-2).
bool ResourcesOverlap(const LockResource& a, const LockResource& b);
// `outer` names `inner` or something that contains it.
bool ResourceCovers(const LockResource& outer, const LockResource& inner);

std::string_view LockKindName(LockKind kind);     // "SHARED_READ", …
std::string_view LockStateName(LockState state);  // "ACQUIRED", …

}  // namespace skep
