#include "server/state/pins.h"

namespace skep::state {

namespace {

template <class Map, class Key>
void EraseFrom(Map& map, const Key& key, const std::pair<CommitSeq, TxnId>& holder) {
  const auto it = map.find(key);
  if (it == map.end()) return;
  it->second.erase(holder);
  if (it->second.empty()) map.erase(it);
}

}  // namespace

void Pins::Link(TxnId txn, const Pin& pin) {
  if (IsEverywhere(pin)) everywhere_.insert({pin.snapshot, txn});
  for (TableId table : pin.tables) tables_[table].insert({pin.snapshot, txn});
  for (const std::string& database : pin.databases)
    databases_[database].insert({pin.snapshot, txn});
}

void Pins::Unlink(TxnId txn, const Pin& pin) {
  everywhere_.erase({pin.snapshot, txn});
  for (TableId table : pin.tables) EraseFrom(tables_, table, {pin.snapshot, txn});
  for (const auto& database : pin.databases) EraseFrom(databases_, database, {pin.snapshot, txn});
}

void Pins::Narrow(TxnId txn, Pin& pin) {
  pin.reach = Reach::kNamed;
  everywhere_.erase({pin.snapshot, txn});
}

void Pins::Add(TxnId txn, CommitSeq snapshot, Reach reach) {
  Remove(txn);
  Pin& pin = pins_[txn];
  pin = {snapshot, reach, {}, {}};
  Link(txn, pin);
}

void Pins::Name(TxnId txn, TableId table) {
  const auto it = pins_.find(txn);
  if (it == pins_.end()) return;
  Pin& pin = it->second;
  if (pin.tables.insert(table).second) tables_[table].insert({pin.snapshot, txn});
  if (pin.reach == Reach::kAllUntilNamed) Narrow(txn, pin);
}

void Pins::NameDatabase(TxnId txn, const std::string& database) {
  const auto it = pins_.find(txn);
  if (it == pins_.end()) return;
  Pin& pin = it->second;
  if (pin.databases.insert(database).second) databases_[database].insert({pin.snapshot, txn});
  if (pin.reach == Reach::kAllUntilNamed) Narrow(txn, pin);
}

void Pins::NamedAll(TxnId txn) {
  const auto it = pins_.find(txn);
  if (it != pins_.end() && it->second.reach == Reach::kAllUntilAllNamed) Narrow(txn, it->second);
}

void Pins::Refresh(TxnId txn, CommitSeq snapshot) {
  const auto it = pins_.find(txn);
  if (it == pins_.end()) return;
  Unlink(txn, it->second);
  it->second.snapshot = snapshot;
  Link(txn, it->second);
}

void Pins::Remove(TxnId txn) {
  const auto it = pins_.find(txn);
  if (it == pins_.end()) return;
  Unlink(txn, it->second);
  pins_.erase(it);
}

bool Pins::PinsEveryTable(TxnId txn) const {
  const auto it = pins_.find(txn);
  return it != pins_.end() && IsEverywhere(it->second);
}

std::vector<TxnId> Pins::Of(TableId table, const std::string& database, CommitSeq below) const {
  std::set<TxnId> found;
  const auto collect = [&](const Holders& holders) {
    for (const auto& [snapshot, txn] : holders) {
      if (snapshot >= below) break;
      found.insert(txn);
    }
  };
  collect(everywhere_);
  if (const auto it = tables_.find(table); it != tables_.end()) collect(it->second);
  if (const auto it = databases_.find(database); it != databases_.end()) collect(it->second);
  return {found.begin(), found.end()};
}

}  // namespace skep::state
