#include "server/state/events.h"

#include <algorithm>
#include <iterator>

namespace skep::state {

namespace {

// The last event, if it is an E.
template <class E>
E* Last(std::vector<Event>& events) {
  return events.empty() ? nullptr : std::get_if<E>(&events.back());
}

// Takes `count` writes off the front of `tables`, all of a table's or a part of them.
std::vector<TableCommit> TakeFront(std::vector<TableCommit>& tables, size_t count) {
  std::vector<TableCommit> front;
  while (!tables.empty() && count > 0) {
    TableCommit& table = tables.front();
    const size_t n = std::min(count, table.writes.size());
    const auto end = table.writes.begin() + static_cast<std::ptrdiff_t>(n);
    front.push_back(
        {table.table,
         table.write_id,
         {std::make_move_iterator(table.writes.begin()), std::make_move_iterator(end)}});
    table.writes.erase(table.writes.begin(), end);
    count -= std::max<size_t>(n, 1);
    if (table.writes.empty()) tables.erase(tables.begin());
  }
  return front;
}

}  // namespace

void UnitEvents::Opened(TxnId txn, TxnType type) {
  OpenedEvent* last = Last<OpenedEvent>(events_);
  if (last != nullptr && last->type == type && last->last.Next() == txn) {
    last->last = txn;
  } else {
    Add(OpenedEvent{txn, txn, type});
  }
}

void UnitEvents::Committed(TxnId txn, TxnType type, std::vector<TableCommit> tables) {
  size_t writes = 0;
  for (const TableCommit& table : tables) writes += std::max<size_t>(table.writes.size(), 1);
  for (; writes > kMaxNames; writes -= kMaxNames) {
    Add(CommittedEvent{txn, type, true, TakeFront(tables, kMaxNames)});
  }
  Add(CommittedEvent{txn, type, false, std::move(tables)});
}

void UnitEvents::Allocated(const EventTable& table, TxnId txn, WriteId write_id) {
  AllocatedEvent* last = Last<AllocatedEvent>(events_);
  if (last == nullptr || last->table.id != table.id || last->ids.size() >= kMaxNames) {
    Add(AllocatedEvent{table, {}});
    last = Last<AllocatedEvent>(events_);
  }
  last->ids.emplace_back(txn, write_id);
}

void UnitEvents::PartitionAdded(const EventTable& table, const std::string& partition) {
  PartitionsEvent* last = Last<PartitionsEvent>(events_);
  if (last == nullptr || last->table.id != table.id || last->partitions.size() >= kMaxNames) {
    Add(PartitionsEvent{table, {}});
    last = Last<PartitionsEvent>(events_);
  }
  last->partitions.push_back(partition);
}

}  // namespace skep::state
