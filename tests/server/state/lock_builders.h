#pragma once

// Short words for lock tests: Table("a") is table db.a, Part("a", "p=1") a partition of it.

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "server/state/lock_table.h"

namespace skep::state {

inline std::ostream& operator<<(std::ostream& out, const LockOwner& owner) {
  return out << owner.ToString();
}

namespace locktest {

inline constexpr LockKind kSR = LockKind::kSharedRead;
inline constexpr LockKind kSW = LockKind::kSharedWrite;
inline constexpr LockKind kEW = LockKind::kExclWrite;
inline constexpr LockKind kEX = LockKind::kExclusive;

inline LockResource Database(std::string database = "db") { return {std::move(database), "", ""}; }
inline LockResource Table(std::string table) { return {"db", std::move(table), ""}; }
inline LockResource Part(std::string table, std::string partition) {
  return {"db", std::move(table), std::move(partition)};
}

// A lock table that numbers its requests.
class Locks {
 public:
  LockAdded Ask(LockOwner owner,
                std::vector<LockTarget> targets,
                IfBlocked if_blocked = IfBlocked::kWait) {
    return table.Add({LockId(++last), owner, std::move(targets)}, if_blocked);
  }
  LockAdded Ask(int64_t txn, LockKind kind, const LockResource& resource) {
    return Ask(LockOwner::OfTxn(TxnId(txn)), {{resource, kind}});
  }
  LockState StateAfter(int64_t txn, LockKind kind, const LockResource& resource) {
    return Ask(txn, kind, resource).state;
  }
  LockState State(int64_t lock) const {
    return table.StateOf(LockId(lock)).value_or(LockState::kNotAcquired);
  }
  std::vector<LockId> End(int64_t txn) { return table.ReleaseAll(LockOwner::OfTxn(TxnId(txn))); }

  LockTable table;
  int64_t last = 0;
};

inline std::vector<LockId> Ids(std::vector<int64_t> ids) {
  std::vector<LockId> result;
  for (const int64_t id : ids) result.emplace_back(id);
  return result;
}

}  // namespace locktest
}  // namespace skep::state
