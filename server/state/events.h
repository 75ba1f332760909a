#pragma once

// What a unit did, as those who follow the server are told: the durable facts of it that mean
// something outside. Memory only; names are shared, the rest is moved.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "server/state/commands.h"
#include "storage/model/rows.h"

namespace skep::state {

struct EventTable {
  TableId id;
  // Sharers: the registry and the events of the table.
  std::shared_ptr<const TableName> name;
};

struct OpenedEvent {
  TxnId first;
  TxnId last;
  TxnType type = TxnType::kDefault;
};
// What a transaction wrote to a table: with a write id, declared, or both.
struct TableCommit {
  EventTable table;
  WriteId write_id;                    // none: it had none
  std::vector<PartitionWrite> writes;  // empty: it declared that it wrote nothing
};
struct CommittedEvent {
  TxnId txn;
  TxnType type = TxnType::kDefault;
  bool more = false;  // the next event has the rest of a large one
  std::vector<TableCommit> tables;
};
struct AbortedEvent {
  TxnId txn;
  TxnType type = TxnType::kDefault;
  AbortCause cause = AbortCause::kNone;
  std::vector<EventTable> tables;  // that it had a write id of, or declared to write
};
struct AllocatedEvent {
  EventTable table;
  std::vector<std::pair<TxnId, WriteId>> ids;
};
// Write ids of another server that are nobody's here (RPL-4, WID-10): they count as committed.
struct TakenOverEvent {
  EventTable table;
  WriteId first;
  WriteId last;
};
struct TableAddedEvent {
  EventTable table;
  bool registered = false;  // taken over with what lies in its directory
};
struct TableDroppedEvent {
  EventTable table;
  TxnId txn;
};
struct PropertiesEvent {
  EventTable table;
  std::vector<std::pair<std::string, std::optional<std::string>>> properties;  // nullopt: removed
};
struct PartitionsEvent {
  EventTable table;
  std::vector<std::string> partitions;
};
// A compaction came into the state that the row says.
struct CompactionEvent {
  std::shared_ptr<const CompactionRow> row;  // sharers: whoever copied the event
};

using Event = std::variant<OpenedEvent,
                           CommittedEvent,
                           AbortedEvent,
                           AllocatedEvent,
                           TakenOverEvent,
                           TableAddedEvent,
                           TableDroppedEvent,
                           PropertiesEvent,
                           PartitionsEvent,
                           CompactionEvent>;

// The events of one unit, in order. What one command does to many of one kind is one event where
// nothing came between.
class UnitEvents {
 public:
  // A message of them stays small, whatever one transaction wrote.
  static constexpr size_t kMaxNames = 1'000;

  // `memory`: of an earlier unit.
  explicit UnitEvents(std::vector<Event> memory = {}) : events_(std::move(memory)) {
    events_.clear();
  }

  template <class E>
  void Add(E event) {
    events_.emplace_back(std::move(event));
  }
  // Ids grow.
  void Opened(TxnId txn, TxnType type);
  void Committed(TxnId txn, TxnType type, std::vector<TableCommit> tables);
  void Allocated(const EventTable& table, TxnId txn, WriteId write_id);
  void PartitionAdded(const EventTable& table, const std::string& partition);

  std::vector<Event>& all() { return events_; }
  const std::vector<Event>& all() const { return events_; }

 private:
  std::vector<Event> events_;
};

}  // namespace skep::state
