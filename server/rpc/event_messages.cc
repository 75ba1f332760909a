#include "server/rpc/event_messages.h"

#include <type_traits>
#include <utility>
#include <variant>

#include "proto/wire/base_wire.h"
#include "proto/wire/enums_wire.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"

namespace skep::rpc {
namespace {

using wire::ToProto;

constexpr int64_t kMaxNames = 1'000;

void SetTable(const state::EventTable& from, v1::EventTable* to) {
  to->set_table_id(from.id.value());
  if (!from.name->table.empty()) ToProto(*from.name, to->mutable_name());
}

// One function for each kind of event: fills its message, and says which it is.
struct Write {
  v1::Event* to;

  v1::EventKind operator()(const state::OpenedEvent& e) const {
    auto* const opened = to->mutable_opened();
    opened->set_first_txn_id(e.first.value());
    opened->set_last_txn_id(e.last.value());
    opened->set_type(ToProto(e.type));
    return v1::EVENT_KIND_TRANSACTIONS_OPENED;
  }
  v1::EventKind operator()(const state::CommittedEvent& e) const {
    auto* const committed = to->mutable_committed();
    committed->set_txn_id(e.txn.value());
    committed->set_type(ToProto(e.type));
    committed->set_more(e.more);
    for (const state::TableCommit& table : e.tables) {
      auto* const written = committed->add_tables();
      SetTable(table.table, written->mutable_table());
      written->set_write_id(table.write_id.value());
      for (const state::PartitionWrite& write : table.writes) {
        auto* const w = written->add_writes();
        w->set_partition(write.partition);
        w->set_operation(ToProto(write.op));
      }
    }
    return v1::EVENT_KIND_COMMITTED;
  }
  v1::EventKind operator()(const state::AbortedEvent& e) const {
    auto* const aborted = to->mutable_aborted();
    aborted->set_txn_id(e.txn.value());
    aborted->set_type(ToProto(e.type));
    aborted->set_cause(ToProto(e.cause));
    for (const state::EventTable& table : e.tables) SetTable(table, aborted->add_tables());
    return v1::EVENT_KIND_ABORTED;
  }
  v1::EventKind operator()(const state::AllocatedEvent& e) const {
    auto* const allocated = to->mutable_write_ids_allocated();
    SetTable(e.table, allocated->mutable_table());
    for (const auto& [txn, write_id] : e.ids) {
      auto* const allocation = allocated->add_allocations();
      allocation->set_txn_id(txn.value());
      allocation->set_write_id(write_id.value());
    }
    return v1::EVENT_KIND_WRITE_IDS_ALLOCATED;
  }
  v1::EventKind operator()(const state::TakenOverEvent& e) const {
    auto* const taken = to->mutable_write_ids_taken_over();
    SetTable(e.table, taken->mutable_table());
    taken->set_first_write_id(e.first.value());
    taken->set_last_write_id(e.last.value());
    return v1::EVENT_KIND_WRITE_IDS_TAKEN_OVER;
  }
  v1::EventKind operator()(const state::TableAddedEvent& e) const {
    auto* const added = to->mutable_table_added();
    SetTable(e.table, added->mutable_table());
    added->set_registered(e.registered);
    return v1::EVENT_KIND_TABLE_ADDED;
  }
  v1::EventKind operator()(const state::TableDroppedEvent& e) const {
    auto* const dropped = to->mutable_table_dropped();
    SetTable(e.table, dropped->mutable_table());
    dropped->set_txn_id(e.txn.value());
    return v1::EVENT_KIND_TABLE_DROPPED;
  }
  v1::EventKind operator()(const state::PropertiesEvent& e) const {
    auto* const changed = to->mutable_properties_changed();
    SetTable(e.table, changed->mutable_table());
    for (const auto& [key, value] : e.properties) {
      if (value) {
        (*changed->mutable_set())[key] = *value;
      } else {
        changed->add_unset(key);
      }
    }
    return v1::EVENT_KIND_PROPERTIES_CHANGED;
  }
  v1::EventKind operator()(const state::PartitionsEvent& e) const {
    auto* const added = to->mutable_partitions_added();
    SetTable(e.table, added->mutable_table());
    for (const std::string& partition : e.partitions) added->add_partitions(partition);
    return v1::EVENT_KIND_PARTITIONS_ADDED;
  }
  v1::EventKind operator()(const state::CompactionEvent& e) const {
    auto* const changed = to->mutable_compaction_changed();
    changed->set_compaction_id(e.row->id.value());
    changed->mutable_table()->set_table_id(e.row->table.value());
    ToProto(e.row->name, changed->mutable_table()->mutable_name());
    changed->set_partition(e.row->partition);
    changed->set_type(ToProto(e.row->type));
    changed->set_state(ToProto(e.row->state));
    changed->set_txn_id(e.row->txn.value());
    changed->set_highest_write_id(e.row->highest_write_id.value());
    return v1::EVENT_KIND_COMPACTION_CHANGED;
  }
};

v1::EventKind KindOf(const state::Event& event) {
  // In the order of the variant.
  static constexpr v1::EventKind kKinds[] = {v1::EVENT_KIND_TRANSACTIONS_OPENED,
                                             v1::EVENT_KIND_COMMITTED,
                                             v1::EVENT_KIND_ABORTED,
                                             v1::EVENT_KIND_WRITE_IDS_ALLOCATED,
                                             v1::EVENT_KIND_WRITE_IDS_TAKEN_OVER,
                                             v1::EVENT_KIND_TABLE_ADDED,
                                             v1::EVENT_KIND_TABLE_DROPPED,
                                             v1::EVENT_KIND_PROPERTIES_CHANGED,
                                             v1::EVENT_KIND_PARTITIONS_ADDED,
                                             v1::EVENT_KIND_COMPACTION_CHANGED};
  static_assert(std::size(kKinds) == std::variant_size_v<state::Event>);
  return kKinds[event.index()];
}

// Whether `matches` holds for one of the tables that the event is of.
template <class Matches>
bool AnyTable(const state::Event& event, Matches matches) {
  return std::visit(
      [&](const auto& e) {
        using E = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<E, state::OpenedEvent>) {
          return false;
        } else if constexpr (std::is_same_v<E, state::CommittedEvent>) {
          for (const auto& table : e.tables) {
            if (matches(*table.table.name)) return true;
          }
          return false;
        } else if constexpr (std::is_same_v<E, state::AbortedEvent>) {
          for (const auto& table : e.tables) {
            if (matches(*table.name)) return true;
          }
          return false;
        } else if constexpr (std::is_same_v<E, state::CompactionEvent>) {
          return matches(e.row->name);
        } else {
          return matches(*e.table.name);
        }
      },
      event);
}

}  // namespace

void ToProto(const loop::Revision& from, v1::Revision* to) {
  to->set_seq(from.seq.value());
  to->set_index(from.index);
}

void ToProto(const loop::EventLog::Entry& from, v1::Event* to) {
  ToProto(loop::Revision{from.seq, from.index}, to->mutable_revision());
  wire::ToProto(from.time, to->mutable_time());
  to->set_kind(std::visit(Write{to}, from.event));
}

absl::StatusOr<EventFilter> EventFilter::FromProto(const v1::WatchEventsRequest& request) {
  EventFilter filter;
  for (int i = 0; i < request.kinds_size(); ++i) {
    const v1::EventKind kind = request.kinds(i);
    if (kind == v1::EVENT_KIND_UNSPECIFIED || !v1::EventKind_IsValid(kind)) {
      return wire::BadField(wire::FieldOf("kinds", i),
                            "is no kind of event that this server knows");
    }
    filter.kinds_.insert(kind);
  }
  SKEP_RETURN_IF_ERROR(wire::CheckCount("tables", request.tables_size(), 0, kMaxNames));
  SKEP_RETURN_IF_ERROR(wire::CheckCount("databases", request.databases_size(), 0, kMaxNames));
  for (int i = 0; i < request.tables_size(); ++i) {
    SKEP_ASSIGN_OR_RETURN(TableName name,
                          wire::FromProto(request.tables(i), wire::FieldOf("tables", i)));
    filter.tables_.insert(std::move(name));
  }
  for (int i = 0; i < request.databases_size(); ++i) {
    absl::StatusOr<std::string> name = MakeDatabaseName(request.databases(i));
    if (!name.ok()) {
      return wire::BadField(wire::FieldOf("databases", i), MessageOf(name.status()));
    }
    filter.databases_.insert(*std::move(name));
  }
  return filter;
}

bool EventFilter::MatchesTable(const TableName& name) const {
  return tables_.contains(name) || databases_.contains(name.database);
}

bool EventFilter::Matches(const state::Event& event) const {
  if (!kinds_.empty() && !kinds_.contains(KindOf(event))) return false;
  if (tables_.empty() && databases_.empty()) return true;
  return AnyTable(event, [this](const TableName& name) { return MatchesTable(name); });
}

}  // namespace skep::rpc
