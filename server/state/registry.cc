#include "server/state/registry.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "server/state/errors.h"
#include "storage/base/status_macros.h"

namespace skep::state {

namespace {

std::string PartitionForm(const TableRow& table) {
  std::string form;
  for (const Column& column : table.schema.partition_columns) {
    form += (form.empty() ? "" : "/") + column.name + "=…";
  }
  return form;
}

absl::Status NameTaken(const TableName& name, std::string_view how) {
  return MakeError(ErrorReason::kAlreadyExists,
                   fmt::format("{} {}; choose another name", name.ToString(), how),
                   {{"name", name.ToString()}});
}

absl::Status LocationTaken(const std::string& location,
                           std::string_view other,
                           std::string_view how) {
  return MakeError(
      ErrorReason::kLocationNotAllowed,
      fmt::format("{} overlaps {}, {}; choose another directory", location, other, how),
      {{"path", location}});
}

}  // namespace

bool IsInside(std::string_view inner, std::string_view outer) {
  if (!inner.starts_with(outer)) return false;
  return inner.size() == outer.size() || outer.ends_with('/') || inner[outer.size()] == '/';
}

absl::StatusOr<std::string> CanonicalPartition(const TableRow& table, std::string_view partition) {
  SKEP_ASSIGN_OR_RETURN(const PartitionSpec spec, ParsePartition(partition));
  const auto& columns = table.schema.partition_columns;
  bool fits = spec.values.size() == columns.size();
  for (size_t i = 0; fits && i < columns.size(); ++i) {
    fits = spec.values[i].first == columns[i].name;
  }
  if (fits) return FormatPartition(spec);
  const std::string wanted = columns.empty()
                                 ? std::string("it has no partitions")
                                 : fmt::format("its partitions are {}", PartitionForm(table));
  return InvalidField(
      "partition",
      fmt::format("\"{}\" is no partition of {}: {}", partition, table.name.ToString(), wanted));
}

const TableRow* Registry::Find(TableId id) const {
  const auto it = tables_.find(id);
  return it == tables_.end() ? nullptr : &it->second.row;
}

const TableRow* Registry::Find(const TableName& name) const {
  const auto it = names_.find(name);
  return it == names_.end() ? nullptr : &tables_.at(it->second).row;
}

TableRow* Registry::Change(TableId id) {
  const auto it = tables_.find(id);
  if (it == tables_.end()) return nullptr;
  changed_.insert(id);
  return &it->second.row;
}

std::shared_ptr<const TableName> Registry::SharedName(TableId id) const {
  const auto it = tables_.find(id);
  return it == tables_.end() ? nullptr : it->second.name;
}

void Registry::Save(TableId id, Unit& unit) {
  changed_.erase(id);
  unit.Add(Put<TableRow>{tables_.at(id).row});
}

absl::Status Registry::CheckFree(const TableName& name,
                                 const std::string& location,
                                 const RequestKey& by) const {
  if (names_.contains(name)) return NameTaken(name, "exists");
  for (const auto& [other, reservation] : reserved_) {
    if (by.given() && reservation.by.id == by.id) continue;
    if (other == name) return NameTaken(name, "is being registered right now");
    if (IsInside(location, reservation.location) || IsInside(reservation.location, location)) {
      return LocationTaken(location,
                           reservation.location,
                           fmt::format("where {} is being registered", other.ToString()));
    }
  }
  return CheckLocation(name, location);
}

absl::Status Registry::CheckLocation(const TableName& name, const std::string& location) const {
  const auto taken = [&](TableId id) {
    const TableRow& row = tables_.at(id).row;
    return LocationTaken(
        location, row.location, fmt::format("the place of {}", row.name.ToString()));
  };
  // Tables do not nest, so a table around the location is an ancestor directory, and one inside it
  // comes right after it among those that begin with it and a slash.
  for (std::string_view up = location; !up.empty(); up = up.substr(0, up.rfind('/'))) {
    const auto it = locations_.find(std::string(up));
    if (it != locations_.end()) return taken(it->second);
  }
  const auto inside = locations_.lower_bound(location.ends_with('/') ? location : location + "/");
  if (inside != locations_.end() && IsInside(inside->first, location)) return taken(inside->second);
  for (const auto& [id, row] : dropped_) {
    if (!IsInside(location, row.location) && !IsInside(row.location, location)) continue;
    return MakeError(
        ErrorReason::kLocationNotAllowed,
        fmt::format("{} cannot be given to {} yet: {} was dropped there at sequence {} and a "
                    "transaction with an older snapshot may still read it; wait for its end "
                    "(`skepctl show transactions`; where that shows none, one that the server "
                    "ended keeps its files for one more lease) or choose another directory",
                    location,
                    name.ToString(),
                    row.name.ToString(),
                    row.dropped_seq.value()),
        {{"path", location}, {"table", row.name.ToString()}});
  }
  return absl::OkStatus();
}

void Registry::Reserve(const TableName& name, const std::string& location, const RequestKey& by) {
  reserved_[name] = {location, by};
}

bool Registry::IsReservedBy(const TableName& name, const RequestKey& by) const {
  const auto it = reserved_.find(name);
  return by.given() && it != reserved_.end() && it->second.by.id == by.id;
}

void Registry::Add(TableRow row, Unit& unit) {
  names_[row.name] = row.id;
  locations_[row.location] = row.id;
  unit.Add(Put<TableRow>{row});
  const TableId id = row.id;
  Table& table = tables_[id];
  table.name = std::make_shared<const TableName>(row.name);
  table.row = std::move(row);
}

void Registry::Drop(TableId id, Unit& unit) {
  const auto it = tables_.find(id);
  if (it == tables_.end()) return;
  const TableRow& row = it->second.row;
  LinkDropped({id, row.name, row.location, unit.seq()});
  names_.erase(row.name);
  locations_.erase(row.location);
  if (changed_.contains(id)) Save(id, unit);
  kept_[id] = std::move(it->second);
  tables_.erase(it);
}

const DroppedTableRow* Registry::DroppedAfter(const TableName& name, CommitSeq seq) const {
  const auto it = dropped_names_.find(name);
  if (it == dropped_names_.end()) return nullptr;
  for (TableId id : it->second) {
    const DroppedTableRow& row = dropped_.at(id);
    if (row.dropped_seq > seq) return &row;
  }
  return nullptr;
}

const DroppedTableRow* Registry::Dropped(TableId id) const {
  const auto it = dropped_.find(id);
  return it == dropped_.end() ? nullptr : &it->second;
}

const TableRow* Registry::RowOfDropped(TableId id) const {
  const auto it = kept_.find(id);
  return it == kept_.end() ? nullptr : &it->second.row;
}

void Registry::AddPartition(TableId table, const std::string& name, Unit& unit) {
  const auto it = tables_.find(table);
  if (it == tables_.end() || !it->second.partitions.try_emplace(name, unit.seq()).second) return;
  unit.Add(Put<PartitionRow>{{table, name, unit.seq()}});
  unit.events().PartitionAdded({table, it->second.name}, name);
}

bool Registry::HasPartition(TableId table, const std::string& name) const {
  return Partitions(table).contains(name);
}

const Registry::PartitionMap& Registry::Partitions(TableId table) const {
  static const auto* const kNone = new PartitionMap();
  if (const auto it = tables_.find(table); it != tables_.end()) return it->second.partitions;
  const auto it = kept_.find(table);
  return it == kept_.end() ? *kNone : it->second.partitions;
}

std::vector<TableId> Registry::Seal(CommitSeq oldest, Unit& unit) {
  for (TableId id : changed_) unit.Add(Put<TableRow>{tables_.at(id).row});
  changed_.clear();
  if (oldest < unit.seq()) {
    const auto fresh = dropped_by_age_.lower_bound({unit.seq(), TableId()});
    for (auto it = fresh; it != dropped_by_age_.end(); ++it) {
      unit.Add(Put<DroppedTableRow>{dropped_.at(it->second)});
    }
  }
  std::vector<TableId> forgotten;
  while (!dropped_by_age_.empty() && dropped_by_age_.begin()->first <= oldest) {
    const auto [seq, id] = *dropped_by_age_.begin();
    dropped_by_age_.erase(dropped_by_age_.begin());
    unit.Add(EraseTable{id});
    if (seq < unit.seq()) unit.Add(EraseDroppedTable{id});
    forgotten.push_back(id);
    kept_.erase(id);
    const auto name = dropped_names_.find(dropped_.at(id).name);
    name->second.erase(id);
    if (name->second.empty()) dropped_names_.erase(name);
    dropped_.erase(id);
  }
  return forgotten;
}

void Registry::LinkDropped(DroppedTableRow row) {
  dropped_names_[row.name].insert(row.id);
  dropped_by_age_.insert({row.dropped_seq, row.id});
  const TableId id = row.id;
  dropped_[id] = std::move(row);
}

void Registry::Load(const StoredState& stored) {
  for (const auto& [id, row] : stored.dropped_tables) LinkDropped(row);
  const auto table_of = [&](TableId id) -> Table& {
    return dropped_.contains(id) ? kept_[id] : tables_[id];
  };
  for (const auto& [id, row] : stored.tables) {
    Table& table = table_of(id);
    table.row = row;
    table.name = std::make_shared<const TableName>(row.name);
    if (dropped_.contains(id)) continue;
    names_[row.name] = id;
    locations_[row.location] = id;
  }
  for (const auto& [key, row] : stored.partitions) {
    table_of(row.table).partitions[row.name] = row.created_seq;
  }
}

void Registry::Store(StoredState& out) const {
  for (const auto* tables : {&tables_, &kept_}) {
    for (const auto& [id, table] : *tables) {
      out.tables[id] = table.row;
      for (const auto& [name, seq] : table.partitions) out.partitions[{id, name}] = {id, name, seq};
    }
  }
  out.dropped_tables = dropped_;
}

}  // namespace skep::state
