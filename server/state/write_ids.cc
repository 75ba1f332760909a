#include "server/state/write_ids.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

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

std::vector<WriteIdRow> WriteIds::OpenOf(TableId table) const {
  std::vector<WriteIdRow> open;
  for (const auto& [id, entry] : tables_.at(table).open) {
    open.push_back({table, id, entry.txn, entry.allocated});
  }
  return open;
}

void WriteIds::ForgetTable(TableId table) {
  const auto it = tables_.find(table);
  if (it == tables_.end()) return;
  SKEP_CHECK(it->second.open.empty());
  for (const Resolved& resolved : it->second.resolved) {
    const auto in = resolved_in_.find(resolved.row.end_seq);
    if (in == resolved_in_.end()) continue;
    in->second.erase(table);
    if (in->second.empty()) resolved_in_.erase(in);
  }
  tables_.erase(it);
}

void WriteIds::Allocate(TableId table, WriteId id, TxnId txn, Unit& unit) {
  Table& t = tables_.at(table);
  t.open[id] = {txn, unit.seq(), std::exchange(t.last_allocated, unit.seq())};
  t.changed = unit.seq();
  unit.Add(Put<WriteIdRow>{{table, id, txn, unit.seq()}});
}

void WriteIds::Skip(TableId table, WriteId first, Unit& unit) {
  Table& t = tables_.at(table);
  t.resolved.push_back(
      {{unit.seq(), table, first, unit.seq(), true}, std::exchange(t.last_allocated, unit.seq())});
  resolved_in_[unit.seq()].insert(table);
  t.changed = unit.seq();
}

void WriteIds::AbortSkipped(TableId table, const std::vector<int64_t>& ids, Unit& unit) {
  Table& t = tables_.at(table);
  for (int64_t id : ids) AddAborted(table, t, id, unit);
}

void WriteIds::Resolve(TableId table, WriteId id, Outcome outcome, Unit& unit) {
  Table& t = tables_.at(table);
  const auto it = t.open.find(id);
  SKEP_CHECK(it != t.open.end());
  const bool committed = outcome == Outcome::kCommitted;
  t.resolved.push_back(
      {{unit.seq(), table, id, it->second.allocated, committed}, it->second.previous_allocated});
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

CommitSeq WriteIds::VersionAt(TableId table, CommitSeq seq) const {
  return std::min(seq, tables_.at(table).changed);
}

ValidIdsCache::List WriteIds::Lately(TableId table, CommitSeq version) const {
  return tables_.at(table).lists.Find(version);
}

ValidIds WriteIds::MakeList(const Table& table, CommitSeq seq, WriteId next) {
  ValidIds list;
  list.high = next.value() - 1;
  std::vector<int64_t> aborted_later;
  const auto later = std::upper_bound(
      table.resolved.begin(), table.resolved.end(), seq, [](CommitSeq s, const Resolved& r) {
        return s < r.row.end_seq;
      });
  for (auto it = later; it != table.resolved.end(); ++it) {
    const ResolvedWriteIdRow& row = it->row;
    if (row.allocated_seq > seq) {
      list.high = std::min(list.high, row.write_id.value() - 1);
      continue;
    }
    list.open.push_back(row.write_id.value());
    if (!row.committed) aborted_later.push_back(row.write_id.value());
  }
  for (const auto& [id, entry] : table.open) {
    if (entry.allocated > seq) {
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

void WriteIds::SealTable(const LiveSnapshots& live, Table& table, Unit& unit) {
  auto& resolved = table.resolved;
  const auto is_of_unit = [&](const Resolved& r) { return r.row.end_seq == unit.seq(); };
  auto fresh = std::find_if(resolved.rbegin(), resolved.rend(), std::not_fn(is_of_unit)).base();
  const auto is_forgotten = [&](const Resolved& r) {
    return !live.AnyIn(r.previous_allocated, r.row.end_seq);
  };
  resolved.erase(std::remove_if(fresh, resolved.end(), is_forgotten), resolved.end());
  fresh = std::find_if(resolved.rbegin(), resolved.rend(), std::not_fn(is_of_unit)).base();
  for (auto it = fresh; it != resolved.end(); ++it) unit.Add(Put<ResolvedWriteIdRow>{it->row});
}

bool WriteIds::Seal(const LiveSnapshots& live, Unit& unit) {
  if (const auto now = resolved_in_.find(unit.seq()); now != resolved_in_.end()) {
    for (auto it = now->second.begin(); it != now->second.end();) {
      Table& table = tables_.at(*it);
      SealTable(live, table, unit);
      const bool kept = !table.resolved.empty() && table.resolved.back().row.end_seq == unit.seq();
      it = kept ? std::next(it) : now->second.erase(it);
    }
    if (now->second.empty()) resolved_in_.erase(now);
  }
  const CommitSeq oldest = live.OldestOr(unit.seq());
  bool stored = false;
  while (!resolved_in_.empty() && resolved_in_.begin()->first <= oldest) {
    stored = true;
    for (TableId id : resolved_in_.begin()->second) {
      auto& resolved = tables_.at(id).resolved;
      while (!resolved.empty() && resolved.front().row.end_seq <= oldest) resolved.pop_front();
    }
    resolved_in_.erase(resolved_in_.begin());
  }
  return stored;
}

void WriteIds::Load(const StoredState& stored) {
  for (const auto& [id, row] : stored.tables) tables_[id].changed = stored.counters.seq;
  std::map<std::pair<TableId, WriteId>, CommitSeq> allocated;
  for (const auto& [key, row] : stored.write_ids) {
    tables_[row.table].open[row.write_id] = {row.txn, row.allocated_seq, CommitSeq()};
    allocated[key] = row.allocated_seq;
  }
  for (const auto& [key, row] : stored.resolved_write_ids) {
    tables_[row.table].resolved.push_back({row, CommitSeq()});
    resolved_in_[row.end_seq].insert(row.table);
    allocated[{row.table, row.write_id}] = row.allocated_seq;
  }
  // Where ids between are forgotten this is too early, which only keeps more.
  for (const auto& [key, seq] : allocated) {
    Table& table = tables_.at(key.first);
    const CommitSeq previous = std::exchange(table.last_allocated, seq);
    const auto open = table.open.find(key.second);
    if (open != table.open.end()) open->second.previous_allocated = previous;
  }
  for (const auto& [key, row] : stored.aborted_write_ids) {
    tables_[row.table].aborted.Load({row.first.value(), row.last.value(), AbortCause::kNone});
  }
}

void WriteIds::Store(StoredState& out) const {
  for (const auto& [id, table] : tables_) {
    for (const auto& [write_id, open] : table.open) {
      out.write_ids[{id, write_id}] = {id, write_id, open.txn, open.allocated};
    }
    for (const Resolved& r : table.resolved) {
      out.resolved_write_ids[{r.row.end_seq, id, r.row.write_id}] = r.row;
    }
    for (const auto& i : table.aborted.Intervals()) {
      out.aborted_write_ids[{id, WriteId(i.first)}] = {id, WriteId(i.first), WriteId(i.last)};
    }
  }
}

}  // namespace skep::state
