#include "server/state/compaction_queue.h"

#include <algorithm>
#include <iterator>
#include <memory>

namespace skep::state {

const CompactionRow* CompactionQueue::Find(CompactionId id) const {
  const auto it = rows_.find(id);
  return it == rows_.end() ? nullptr : &it->second;
}

void CompactionQueue::Link(const CompactionRow& row) {
  by_object_[{row.table, row.partition}].insert(row.id);
  by_state_[row.state].insert(row.id);
}

void CompactionQueue::Unlink(const CompactionRow& row) {
  const auto it = by_object_.find({row.table, row.partition});
  it->second.erase(row.id);
  if (it->second.empty()) by_object_.erase(it);
  by_state_[row.state].erase(row.id);
}

void CompactionQueue::Save(CompactionRow row, Unit& unit) {
  const auto it = rows_.find(row.id);
  if (it == rows_.end() || it->second.state != row.state) {
    unit.events().Add(CompactionEvent{std::make_shared<const CompactionRow>(row)});
  }
  if (it != rows_.end()) Unlink(it->second);
  Link(row);
  unit.Add(Put<CompactionRow>{row});
  const CompactionId id = row.id;
  rows_[id] = std::move(row);
}

void CompactionQueue::Erase(CompactionId id, Unit& unit) {
  const auto it = rows_.find(id);
  if (it == rows_.end()) return;
  Unlink(it->second);
  rows_.erase(it);
  unit.Add(EraseCompaction{id});
}

const std::set<CompactionId>& CompactionQueue::InState(CompactionState state) const {
  static const auto* const kNone = new std::set<CompactionId>();
  const auto it = by_state_.find(state);
  return it == by_state_.end() ? *kNone : it->second;
}

std::vector<CompactionRow> CompactionQueue::OfObject(TableId table,
                                                     const std::string& partition) const {
  std::vector<CompactionRow> rows;
  const auto it = by_object_.find({table, partition});
  if (it == by_object_.end()) return rows;
  for (CompactionId id : it->second) rows.push_back(rows_.at(id));
  return rows;
}

std::vector<CompactionId> CompactionQueue::OfTable(TableId table) const {
  std::vector<CompactionId> ids;
  for (auto it = by_object_.lower_bound({table, ""});
       it != by_object_.end() && it->first.first == table;
       ++it) {
    ids.insert(ids.end(), it->second.begin(), it->second.end());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

void CompactionQueue::Merge(const std::vector<CompactionState>& states,
                            CompactionId after,
                            const std::function<bool(CompactionId)>& visit) const {
  using Place = std::set<CompactionId>::const_iterator;
  std::map<CompactionId, std::pair<Place, Place>> next;  // an id is in one state only
  for (CompactionState state : std::set<CompactionState>(states.begin(), states.end())) {
    const std::set<CompactionId>& ids = InState(state);
    const Place first = ids.upper_bound(after);
    if (first != ids.end()) next[*first] = {first, ids.end()};
  }
  while (!next.empty()) {
    auto [place, end] = next.begin()->second;
    next.erase(next.begin());
    if (!visit(*place)) return;
    if (++place != end) next[*place] = {place, end};
  }
}

std::vector<CompactionRow> CompactionQueue::List(const ListCompactions& command,
                                                 TableId table) const {
  std::vector<CompactionRow> found;
  const auto matches = [&](const CompactionRow& row) {
    if (command.table && row.table != table) return false;
    if (command.partition && row.partition != *command.partition) return false;
    return command.states.empty() ||
           std::find(command.states.begin(), command.states.end(), row.state) !=
               command.states.end();
  };
  const auto take = [&](CompactionId id) {
    if (std::ssize(found) >= command.limit) return false;
    ++looks_;
    const CompactionRow& row = rows_.at(id);
    if (matches(row)) found.push_back(row);
    return true;
  };
  if (command.id) {
    if (rows_.contains(*command.id)) take(*command.id);
  } else if (command.table) {
    std::vector<CompactionId> ids;
    if (!command.partition) {
      ids = OfTable(table);
    } else if (const auto it = by_object_.find({table, *command.partition});
               it != by_object_.end()) {
      ids.assign(it->second.begin(), it->second.end());
    }
    for (CompactionId id : ids) {
      if (id > command.after && !take(id)) break;
    }
  } else if (!command.states.empty()) {
    Merge(command.states, command.after, take);
  } else {
    for (auto it = rows_.upper_bound(command.after); it != rows_.end() && take(it->first); ++it) {
    }
  }
  return found;
}

void CompactionQueue::Load(const StoredState& stored) {
  rows_ = stored.compactions;
  for (const auto& [id, row] : rows_) Link(row);
}

}  // namespace skep::state
