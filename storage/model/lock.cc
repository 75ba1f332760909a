#include "storage/model/lock.h"

namespace skep {

bool LocksConflict(LockKind a, LockKind b) {
  // Rows and columns: SHARED_READ, SHARED_WRITE, EXCL_WRITE, EXCLUSIVE.
  constexpr bool kConflicts[4][4] = {
      {false, false, false, true},
      {false, false, true, true},
      {false, true, true, true},
      {true, true, true, true},
  };
  return kConflicts[static_cast<int>(a)][static_cast<int>(b)];
}

std::string LockResource::ToString() const {
  std::string text = database;
  if (!table.empty()) text += "." + table;
  if (!partition.empty()) text += "/" + partition;
  return text;
}

bool ResourcesOverlap(const LockResource& a, const LockResource& b) {
  if (a.database != b.database) return false;
  if (a.table.empty() || b.table.empty()) return true;
  if (a.table != b.table) return false;
  return a.partition.empty() || b.partition.empty() || a.partition == b.partition;
}

bool ResourceCovers(const LockResource& outer, const LockResource& inner) {
  if (outer.database != inner.database) return false;
  if (outer.table.empty()) return true;
  if (outer.table != inner.table) return false;
  return outer.partition.empty() || outer.partition == inner.partition;
}

std::string_view LockKindName(LockKind kind) {
  switch (kind) {
    case LockKind::kSharedRead:
      return "SHARED_READ";
    case LockKind::kSharedWrite:
      return "SHARED_WRITE";
    case LockKind::kExclWrite:
      return "EXCL_WRITE";
    case LockKind::kExclusive:
      return "EXCLUSIVE";
  }
  return "UNKNOWN";
}

std::string_view LockStateName(LockState state) {
  switch (state) {
    case LockState::kAcquired:
      return "ACQUIRED";
    case LockState::kWaiting:
      return "WAITING";
    case LockState::kNotAcquired:
      return "NOT_ACQUIRED";
    case LockState::kAborted:
      return "ABORTED";
  }
  return "UNKNOWN";
}

}  // namespace skep
