#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <absl/container/btree_map.h>

#include "server/state/state.h"
#include "storage/model/rows.h"

namespace skep::state {

// `inner` is `outer` or lies inside it. Both absolute and normalised.
bool IsInside(std::string_view inner, std::string_view outer);

// The partition in its canonical form, if `table` can have it: exactly its partition columns, in
// order; empty for a table without any. Errors: kInvalidRequest naming what is expected.
absl::StatusOr<std::string> CanonicalPartition(const TableRow& table, std::string_view partition);

// Tables by id, name and location, with their partitions; dropped ones as long as an older snapshot
// lives; and names held for a registration under way. Confined to the loop thread.
class Registry {
 public:
  const TableRow* Find(TableId id) const;
  const TableRow* Find(const TableName& name) const;
  // For a change that comes with another effect: written once, when the unit is sealed. nullptr if
  // unknown.
  TableRow* Change(TableId id);
  // For events; nullptr if unknown.
  std::shared_ptr<const TableName> SharedName(TableId id) const;
  // Writes a changed row at once.
  void Save(TableId id, Unit& unit);
  const std::map<TableName, TableId>& names() const { return names_; }
  int64_t count() const { return static_cast<int64_t>(tables_.size()); }

  // Name and location are free: no table, no reservation but the caller's own, no dropped table
  // that an older snapshot may still read; a location is not free inside another's, nor
  // around it. Errors: kAlreadyExists, kLocationNotAllowed.
  absl::Status CheckFree(const TableName& name,
                         const std::string& location,
                         const RequestKey& by) const;
  void Reserve(const TableName& name, const std::string& location, const RequestKey& by);
  // This very request holds the name: its first attempt is still under way.
  bool IsReservedBy(const TableName& name, const RequestKey& by) const;
  void DropReservation(const TableName& name) { reserved_.erase(name); }

  void Add(TableRow row, Unit& unit);
  // The table is gone for Find, and its name can be given again; row, partitions and location stay
  // for those whose snapshot is older, until none of them lives.
  void Drop(TableId id, Unit& unit);
  // A table of this name was dropped after `seq`.
  const DroppedTableRow* DroppedAfter(const TableName& name, CommitSeq seq) const;
  const DroppedTableRow* Dropped(TableId id) const;
  // What the dropped table was; nullptr if it is not known any more.
  const TableRow* RowOfDropped(TableId id) const;

  // No-op if it is there.
  void AddPartition(TableId table, const std::string& name, Unit& unit);
  bool HasPartition(TableId table, const std::string& name) const;
  // By name, with the unit that added each; of a dropped table as it was. Empty for unknown tables.
  using PartitionMap = absl::btree_map<std::string, CommitSeq>;
  const PartitionMap& Partitions(TableId table) const;

  // Writes changed rows; forgets dropped tables that no snapshot at or above `oldest` can know, in
  // the store with all their rows (EraseTable). Returns them.
  std::vector<TableId> Seal(CommitSeq oldest, Unit& unit);

  void Load(const StoredState& stored);
  void Store(StoredState& out) const;

 private:
  struct Table {
    TableRow row;
    PartitionMap partitions;
    std::shared_ptr<const TableName> name;  // sharers: events of the table
  };
  struct Reservation {
    std::string location;
    RequestKey by;
  };
  absl::Status CheckLocation(const TableName& name, const std::string& location) const;
  void LinkDropped(DroppedTableRow row);

  std::unordered_map<TableId, Table> tables_;
  std::map<TableName, TableId> names_;
  std::map<std::string, TableId> locations_;
  std::map<TableId, DroppedTableRow> dropped_;
  std::unordered_map<TableId, Table> kept_;  // of the dropped ones
  std::map<TableName, std::set<TableId>> dropped_names_;
  std::set<std::pair<CommitSeq, TableId>> dropped_by_age_;
  std::map<TableName, Reservation> reserved_;
  std::set<TableId> changed_;
};

}  // namespace skep::state
