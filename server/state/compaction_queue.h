#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/state/state.h"
#include "storage/model/rows.h"

namespace skep::state {

// Compactions by id, object and state. Keeps rows; decides nothing. Confined to the loop thread.
class CompactionQueue {
 public:
  const CompactionRow* Find(CompactionId id) const;
  // A new row or a changed one.
  void Save(CompactionRow row, Unit& unit);
  void Erase(CompactionId id, Unit& unit);

  const std::map<CompactionId, CompactionRow>& rows() const { return rows_; }
  const std::set<CompactionId>& InState(CompactionState state) const;
  std::vector<CompactionRow> OfObject(TableId table, const std::string& partition) const;
  std::vector<CompactionId> OfTable(TableId table) const;  // ascending by id
  // Those of the command's filter, ascending. `table`: the one that the command names, if it names
  // one. Looks at nothing that id, object, table, states (without any of these) or page rule out.
  std::vector<CompactionRow> List(const ListCompactions& command, TableId table) const;
  int64_t looks() const { return looks_; }

  void Load(const StoredState& stored);

 private:
  void Link(const CompactionRow& row);
  void Unlink(const CompactionRow& row);
  // visit(id) for ids above `after` in one of the states, ascending, until it returns false.
  void Merge(const std::vector<CompactionState>& states,
             CompactionId after,
             const std::function<bool(CompactionId)>& visit) const;

  std::map<CompactionId, CompactionRow> rows_;
  std::map<std::pair<TableId, std::string>, std::set<CompactionId>> by_object_;
  std::map<CompactionState, std::set<CompactionId>> by_state_;
  mutable int64_t looks_ = 0;  // rows that List held against a filter
};

}  // namespace skep::state
