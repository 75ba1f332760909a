// What clients were told about locks: no two that exclude each other are in force at one time.

#include <utility>

#include <fmt/format.h>

#include "tests/sim/history.h"

namespace skep::sim {

void History::Granted(LockId lock,
                      TxnId txn,
                      std::vector<HeldLock> held,
                      std::function<bool()> in_force) {
  for (const HeldLock& one : held) {
    log_.Note("granted",
              {{"lock", lock.value()},
               {"txn", txn.value()},
               {"kind", std::string(LockKindName(one.kind))},
               {"what", one.resource.ToString()}});
  }
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
  rebuilds_.clear();
  for (auto& [id, txn] : txns_) txn.lease_lasts = nullptr;
}

void History::Released(LockId lock) {
  log_.Note("released", {{"lock", lock.value()}});
  holds_.erase(lock);
}

void History::TakenAway(LockId lock) {
  log_.Note("taken away", {{"lock", lock.value()}});
  holds_.erase(lock);
  taken_away_.insert(lock);
}

void History::ReleasedAll(TxnId txn) {
  const auto is_its_own = [txn](const auto& entry) { return entry.second.txn == txn; };
  std::erase_if(holds_, is_its_own);
  std::erase_if(rebuilds_, is_its_own);
}

}  // namespace skep::sim
