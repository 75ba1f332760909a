#include "server/state/replicas.h"

namespace skep::state {

void Replicas::Add(ReplicaRow row, Unit& unit) {
  unit.Add(Put<ReplicaRow>{row});
  Key key{row.policy, row.source};
  by_txn_[row.txn] = key;
  by_source_[std::move(key)] = std::move(row);
}

void Replicas::End(TxnId txn, Unit& unit) {
  const auto it = by_txn_.find(txn);
  if (it == by_txn_.end()) return;
  unit.Add(EraseReplica{it->second.first, it->second.second});
  by_source_.erase(it->second);
  by_txn_.erase(it);
}

std::optional<TxnId> Replicas::Find(const std::string& policy, TxnId source) const {
  const auto it = by_source_.find({policy, source});
  if (it == by_source_.end()) return std::nullopt;
  return it->second.txn;
}

const ReplicaRow* Replicas::Of(TxnId txn) const {
  const auto it = by_txn_.find(txn);
  return it == by_txn_.end() ? nullptr : &by_source_.at(it->second);
}

void Replicas::Load(const StoredState& stored) {
  for (const auto& [key, row] : stored.replicas) {
    by_txn_[row.txn] = key;
    by_source_[key] = row;
  }
}

void Replicas::Store(StoredState& out) const {
  for (const auto& [key, row] : by_source_) out.replicas[key] = row;
}

}  // namespace skep::state
