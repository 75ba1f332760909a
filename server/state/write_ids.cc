#include "server/state/write_ids.h"

#include <algorithm>
#include <iterator>

#include "storage/base/check.h"

namespace skep::state {

void WriteIds::AddAborted(TableId id, Table& table, int64_t write_id, Unit& unit) {
  const AbortedIntervals::Change change = table.aborted.Add(write_id, AbortCause::kNone);
  if (change.erase_first) unit.Add(EraseAbortedWriteIds{id, WriteId(*change.erase_first)});
  unit.Add(Put<AbortedWriteIdsRow>{{id, WriteId(change.put.first), WriteId(change.put.last)}});
}

void WriteIds::AddTable(TableId table, const std::vector<int64_t>& aborted, Unit& unit) {
  Table& t = tables_[table];
  t.changed = unit.seq();
  AbortedIntervals all;
  for (int64_t id : aborted) {
    if (!all.CauseOf(id)) all.Add(id, AbortCause::kNone);
  }
  for (const auto& i : all.Intervals()) {
    t.aborted.Load(i);
    unit.Add(Put<AbortedWriteIdsRow>{{table, WriteId(i.first), WriteId(i.last)}});
  }
}

std::vector<WriteIdRow> WriteIds::DropTable(TableId table) {
  std::vector<WriteIdRow> open;
  const auto it = tables_.find(table);
  if (it == tables_.end()) return open;
  for (const auto& [id, row] : it->second.open) open.push_back(row);
  for (const ResolvedWriteIdRow& row : it->second.resolved) {
    const auto in = resolved_in_.find(row.end_seq);
    if (in == resolved_in_.end()) continue;
    in->second.erase(table);
    if (in->second.empty()) resolved_in_.erase(in);
  }
  tables_.erase(it);
  return open;
}

void WriteIds::Allocate(TableId table, WriteId id, TxnId txn, Unit& unit) {
  Table& t = tables_.at(table);
  const WriteIdRow row{table, id, txn, unit.seq()};
  t.open[id] = row;
  t.changed = unit.seq();
  unit.Add(Put<WriteIdRow>{row});
}

void WriteIds::Resolve(TableId table, WriteId id, Outcome outcome, Unit& unit) {
  Table& t = tables_.at(table);
  const auto it = t.open.find(id);
  SKEP_CHECK(it != t.open.end());
  const bool committed = outcome == Outcome::kCommitted;
  t.resolved.push_back({unit.seq(), table, id, it->second.allocated_seq, committed});
  resolved_in_[unit.seq()].insert(table);
  t.open.erase(it);
  t.changed = unit.seq();
  unit.Add(EraseWriteId{table, id});
  if (!committed) AddAborted(table, t, id.value(), unit);
}

int64_t WriteIds::open_count(TableId table) const {
  const auto it = tables_.find(table);
  return it == tables_.end() ? 0 : static_cast<int64_t>(it->second.open.size());
}

ValidIdsCache::List WriteIds::At(TableId table, CommitSeq seq, WriteId next) const {
  const Table& t = tables_.at(table);
  return t.lists.GetOrMake(std::min(seq, t.changed), [&] { return MakeList(t, seq, next); });
}

ValidIds WriteIds::MakeList(const Table& table, CommitSeq seq, WriteId next) {
  ValidIds list;
  list.high = next.value() - 1;
  std::vector<int64_t> aborted_later;
  const auto later =
      std::upper_bound(table.resolved.begin(),
                       table.resolved.end(),
                       seq,
                       [](CommitSeq s, const ResolvedWriteIdRow& row) { return s < row.end_seq; });
  for (auto it = later; it != table.resolved.end(); ++it) {
    if (it->allocated_seq > seq) {
      list.high = std::min(list.high, it->write_id.value() - 1);
      continue;
    }
    list.open.push_back(it->write_id.value());
    if (!it->committed) aborted_later.push_back(it->write_id.value());
  }
  for (const auto& [id, row] : table.open) {
    if (row.allocated_seq > seq) {
      list.high = std::min(list.high, id.value() - 1);
      break;
    }
    list.open.push_back(id.value());
  }
  std::sort(list.open.begin(), list.open.end());
  std::sort(aborted_later.begin(), aborted_later.end());
  list.aborted = table.aborted.IdsUpTo(list.high, aborted_later);
  return list;
}

WriteId WriteIds::CompactorHigh(TableId table, WriteId next) const {
  const auto& open = tables_.at(table).open;
  return WriteId((open.empty() ? next : open.begin()->first).value() - 1);
}

bool WriteIds::Seal(CommitSeq oldest, Unit& unit) {
  const auto now = resolved_in_.find(unit.seq());
  if (oldest < unit.seq() && now != resolved_in_.end()) {
    for (TableId id : now->second) {
      const auto& resolved = tables_.at(id).resolved;
      auto it = resolved.end();
      while (it != resolved.begin() && std::prev(it)->end_seq == unit.seq()) --it;
      for (; it != resolved.end(); ++it) unit.Add(Put<ResolvedWriteIdRow>{*it});
    }
  }
  bool stored = false;
  while (!resolved_in_.empty() && resolved_in_.begin()->first <= oldest) {
    const auto first = resolved_in_.begin();
    stored |= first->first < unit.seq();
    for (TableId id : first->second) {
      auto& resolved = tables_.at(id).resolved;
      while (!resolved.empty() && resolved.front().end_seq <= oldest) resolved.pop_front();
    }
    resolved_in_.erase(first);
  }
  return stored;
}

void WriteIds::Load(const StoredState& stored) {
  for (const auto& [id, row] : stored.tables) tables_[id].changed = stored.counters.seq;
  for (const auto& [key, row] : stored.write_ids) tables_[row.table].open[row.write_id] = row;
  for (const auto& [key, row] : stored.resolved_write_ids) {
    tables_[row.table].resolved.push_back(row);
    resolved_in_[row.end_seq].insert(row.table);
  }
  for (const auto& [key, row] : stored.aborted_write_ids) {
    tables_[row.table].aborted.Load({row.first.value(), row.last.value(), AbortCause::kNone});
  }
}

void WriteIds::Store(StoredState& out) const {
  for (const auto& [id, table] : tables_) {
    for (const auto& [write_id, row] : table.open) out.write_ids[{id, write_id}] = row;
    for (const ResolvedWriteIdRow& row : table.resolved) {
      out.resolved_write_ids[{row.end_seq, id, row.write_id}] = row;
    }
    for (const auto& i : table.aborted.Intervals()) {
      out.aborted_write_ids[{id, WriteId(i.first)}] = {id, WriteId(i.first), WriteId(i.last)};
    }
  }
}

}  // namespace skep::state
