#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <absl/container/flat_hash_map.h>

#include "server/state/state.h"
#include "storage/model/rows.h"

namespace skep::state {

// Which open transaction stands for which one of another server (OPN-11, RPL-1). A pair lives as
// long as its transaction is open. Confined to the loop thread.
class Replicas {
 public:
  void Add(ReplicaRow row, Unit& unit);
  // The transaction is over; no-op for those that stand for none.
  void End(TxnId txn, Unit& unit);

  // nullopt: none stands for it.
  std::optional<TxnId> Find(const std::string& policy, TxnId source) const;
  // nullptr: it stands for none. Valid until the next change.
  const ReplicaRow* Of(TxnId txn) const;

  void Load(const StoredState& stored);
  void Store(StoredState& out) const;

 private:
  using Key = std::pair<std::string, TxnId>;
  std::map<Key, ReplicaRow> by_source_;
  absl::flat_hash_map<TxnId, Key> by_txn_;
};

}  // namespace skep::state
