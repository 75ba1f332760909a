#include "server/state/compaction_queue.h"

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
  return ids;
}

void CompactionQueue::Load(const StoredState& stored) {
  rows_ = stored.compactions;
  for (const auto& [id, row] : rows_) Link(row);
}

}  // namespace skep::state
