#include "server/state/pins.h"

#include <set>

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

Pins::More& Pins::MoreOf(Pin& pin) {
  if (pin.more == nullptr) pin.more = std::make_unique<More>();
  return *pin.more;
}

template <class OnTable, class OnDatabase>
void Pins::ForEachNamed(const Pin& pin, OnTable on_table, OnDatabase on_database) {
  if (!pin.table.is_none()) on_table(pin.table);
  if (pin.more == nullptr) return;
  for (TableId table : pin.more->tables) on_table(table);
  for (const std::string& database : pin.more->databases) on_database(database);
}

void Pins::Link(TxnId txn, const Pin& pin) {
  const Holder holder{pin.snapshot, txn};
  if (pin.is_everywhere()) everywhere_.insert(holder);
  ForEachNamed(
      pin,
      [&](TableId table) { tables_[table].insert(holder); },
      [&](const std::string& database) { databases_[database].insert(holder); });
}

void Pins::Unlink(TxnId txn, const Pin& pin) {
  const Holder holder{pin.snapshot, txn};
  if (pin.is_everywhere()) everywhere_.erase(holder);
  ForEachNamed(
      pin,
      [&](TableId table) { EraseFrom(tables_, table, holder); },
      [&](const std::string& database) { EraseFrom(databases_, database, holder); });
}

void Pins::Narrow(TxnId txn, Pin& pin) {
  pin.reach = Reach::kNamed;
  everywhere_.erase({pin.snapshot, txn});
}

Pins::Pin& Pins::PinOf(TxnId txn, CommitSeq snapshot) {
  if (Pin* known = pins_.Find(txn)) return *known;
  Pin& pin = pins_.Insert(txn);
  pin.snapshot = snapshot;
  return pin;
}

void Pins::Add(TxnId txn, CommitSeq snapshot, Reach reach) {
  Remove(txn);
  if (reach == Reach::kNamed) return;
  PinOf(txn, snapshot).reach = reach;
  everywhere_.insert({snapshot, txn});
}

void Pins::Name(TxnId txn, CommitSeq snapshot, TableId table) {
  Pin& pin = PinOf(txn, snapshot);
  // The index knows what the transaction named: its own list needs no search.
  if (tables_[table].insert({snapshot, txn}).second) {
    if (pin.table.is_none()) {
      pin.table = table;
    } else {
      MoreOf(pin).tables.push_back(table);
    }
  }
  if (pin.reach == Reach::kAllUntilNamed) Narrow(txn, pin);
}

void Pins::NameDatabase(TxnId txn, CommitSeq snapshot, const std::string& database) {
  Pin& pin = PinOf(txn, snapshot);
  if (databases_[database].insert({snapshot, txn}).second) {
    MoreOf(pin).databases.push_back(database);
  }
  if (pin.reach == Reach::kAllUntilNamed) Narrow(txn, pin);
}

void Pins::NamedAll(TxnId txn) {
  Pin* const pin = pins_.Find(txn);
  if (pin == nullptr || pin->reach != Reach::kAllUntilAllNamed) return;
  Narrow(txn, *pin);
  if (pin->is_nothing()) pins_.Erase(txn);
}

void Pins::Refresh(TxnId txn, CommitSeq snapshot) {
  Pin* const pin = pins_.Find(txn);
  if (pin == nullptr) return;
  Unlink(txn, *pin);
  pin->snapshot = snapshot;
  Link(txn, *pin);
}

void Pins::Remove(TxnId txn) {
  const Pin* const pin = pins_.Find(txn);
  if (pin == nullptr) return;
  Unlink(txn, *pin);
  pins_.Erase(txn);
}

bool Pins::PinsEveryTable(TxnId txn) const {
  const Pin* const pin = pins_.Find(txn);
  return pin != nullptr && pin->is_everywhere();
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
