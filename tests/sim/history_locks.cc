// What clients were told about locks: no two that exclude each other are in force at one time.

#include <utility>

#include <fmt/format.h>

#include "tests/sim/history.h"

namespace skep::sim {

void History::Granted(LockId lock,
                      TxnId txn,
                      std::vector<HeldLock> held,
                      std::function<bool()> in_force) {
  if (taken_away_.contains(lock) || !in_force()) return;
  // Others ended it while the grant was on its way.
  if (const Txn* const owner = Find(txn); owner != nullptr && owner->ended) return;
  ++counts_.grants;
  std::erase_if(holds_, [](const auto& entry) { return !entry.second.in_force(); });
  for (const auto& [other, hold] : holds_) {
    if (other == lock || (!txn.is_none() && hold.txn == txn)) continue;
    for (const HeldLock& a : held) {
      for (const HeldLock& b : hold.held) {
        if (MayHoldTogether(a, b)) continue;
        report_(
            fmt::format("lock {} ({} {} of transaction {}) was granted while lock {} ({} {} of "
                        "transaction {}) is in force",
                        lock.value(),
                        LockKindName(a.kind),
                        a.resource.ToString(),
                        txn.value(),
                        other.value(),
                        LockKindName(b.kind),
                        b.resource.ToString(),
                        hold.txn.value()));
      }
    }
  }
  holds_[lock] = {txn, std::move(held), std::move(in_force)};
}

void History::LetGo() {
  holds_.clear();
  for (auto& [id, txn] : txns_) txn.lease_lasts = nullptr;
}

void History::Released(LockId lock) { holds_.erase(lock); }

void History::TakenAway(LockId lock) {
  holds_.erase(lock);
  taken_away_.insert(lock);
}

void History::ReleasedAll(TxnId txn) {
  std::erase_if(holds_, [txn](const auto& entry) { return entry.second.txn == txn; });
}

}  // namespace skep::sim
