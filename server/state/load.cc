// From rows to state. What is memory only starts afresh: leases at full length, pins as wide as
// they could have been.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/state/impl.h"
#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::state {

namespace {

absl::Status Corrupt(std::string_view what) {
  return MakeError(ErrorReason::kCorruptStore,
                   fmt::format("the store contradicts itself: {}; restore it from a backup", what),
                   {{"what", std::string(what)}});
}

// Rows that name other rows, and counters that must be above what they count.
absl::Status Check(const StoredState& stored) {
  const CounterRow& c = stored.counters;
  for (const auto& [id, row] : stored.txns) {
    if (id >= c.next_txn)
      return Corrupt(fmt::format("transaction {} is above the counter", id.value()));
    if (row.opened_seq > c.seq || row.snapshot_seq > c.seq) {
      return Corrupt(fmt::format("transaction {} is from the future", id.value()));
    }
  }
  for (const auto& [key, row] : stored.replicas) {
    if (!stored.txns.contains(row.txn)) {
      return Corrupt(
          fmt::format("transaction {} stands for another and is not open", row.txn.value()));
    }
  }
  for (const auto& [view, row] : stored.view_locks) {
    if (!stored.txns.contains(row.txn)) {
      return Corrupt(fmt::format(
          "transaction {} rebuilds {} and is not open", row.txn.value(), view.ToString()));
    }
  }
  for (const auto& [key, row] : stored.write_ids) {
    const auto table = stored.tables.find(row.table);
    if (table == stored.tables.end() || !stored.txns.contains(row.txn) ||
        row.write_id >= table->second.next_write_id) {
      return Corrupt(
          fmt::format("write id {} of table {} has no table, no transaction or no counter above it",
                      row.write_id.value(),
                      row.table.value()));
    }
  }
  for (const auto& [key, row] : stored.components) {
    if (!stored.txns.contains(row.txn)) {
      return Corrupt(fmt::format("transaction {} is not open and has components", row.txn.value()));
    }
  }
  for (const auto& [key, row] : stored.resolved_write_ids) {
    if (!stored.tables.contains(row.table)) return Corrupt("a resolved write id has no table");
  }
  for (const auto& [key, row] : stored.aborted_write_ids) {
    if (!stored.tables.contains(row.table)) return Corrupt("an aborted write id has no table");
  }
  for (const auto& [key, row] : stored.partitions) {
    if (!stored.tables.contains(row.table)) return Corrupt("a partition has no table");
  }
  for (const auto& [id, row] : stored.table_changes) {
    if (!stored.tables.contains(id)) return Corrupt("the newest change of a table has no table");
  }
  for (const auto& [key, row] : stored.locks) {
    if (row.lock >= c.next_lock || (!row.txn.is_none() && !stored.txns.contains(row.txn))) {
      return Corrupt(
          fmt::format("lock {} has no open transaction or no counter above it", row.lock.value()));
    }
  }
  for (const auto& [id, row] : stored.compactions) {
    const bool alive = !IsTerminal(row.state);
    if (id >= c.next_compaction || (alive && !stored.tables.contains(row.table))) {
      return Corrupt(fmt::format("compaction {} has no table or no counter above it", id.value()));
    }
    if (row.state == CompactionState::kWorking && !stored.txns.contains(row.txn)) {
      return Corrupt(fmt::format("compaction {} is worked on outside any transaction", id.value()));
    }
  }
  return absl::OkStatus();
}

void LoadTxns(State::Impl& s, const StoredState& stored, Now now) {
  s.txns.Load(stored, s.clients);
  s.replicas.Load(stored);
  for (const auto& [id, row] : stored.txns) {
    OpenTxn& txn = *s.txns.Find(id);
    txn.last_heartbeat = now.wall;
    s.live.Add(row.snapshot_seq);
    s.limit.Opened(row.user);
    s.txn_leases.Renew(id, now.mono, std::chrono::milliseconds(row.timeout_ms));
    s.pins.Add(id,
               row.snapshot_seq,
               row.keep_all_pinned ? Pins::Reach::kAll : Pins::Reach::kAllUntilAllNamed);
  }
  for (const auto& [key, row] : stored.write_ids)
    s.txns.Find(row.txn)->write_ids.Set(row.table, row.write_id);
  for (const auto& [key, row] : stored.components) {
    s.txns.Find(row.txn)->components.Add(row);
  }
  // A transaction that lingered when the process ended held its own record back, like any live
  // snapshot: it lingers on, for a full lease of its own.
  for (const auto& [key, row] : stored.resolved_txns) {
    if (row.pinned_ms == 0) continue;
    TxnFacts ghost;
    ghost.id = row.id;
    ghost.snapshot_seq = row.opened_seq;
    ghost.timeout_ms = row.pinned_ms;
    s.pins.Add(row.id, row.opened_seq, Pins::Reach::kAll);
    s.live.Add(row.opened_seq);
    s.Linger(ghost, now);
  }
}

absl::Status LoadLocks(State::Impl& s, const StoredState& stored, Now now) {
  s.lock_rows.Load(stored, s.clients);
  std::vector<LockRow> rows;
  for (const auto& [key, row] : stored.locks) rows.push_back(row);
  SKEP_ASSIGN_OR_RETURN(LockTable::Loaded loaded, LockTable::Load(rows));
  s.lock_table = std::move(loaded.table);
  s.grant_after_load = std::move(loaded.granted);
  for (const auto& [lock, request] : s.lock_rows.all()) {
    if (request.txn.is_none()) s.lock_leases.Renew(lock, now.mono, s.options.txn_timeout);
    // How long it has been passed is not on record: from now on it is not.
    if (s.options.reader_bypass.count() > 0 && request.state() == LockState::kWaiting) {
      s.bypass_ends.emplace_back(now.mono, lock);
    }
  }
  return absl::OkStatus();
}

// What a success outdated goes on its day, whenever the server was down (HR-2).
void LoadHistory(State::Impl& s) {
  std::map<std::pair<TableId, std::string>, std::vector<CompactionRow>> objects;
  for (const auto& [id, row] : s.queue.rows()) {
    if (IsTerminal(row.state)) objects[{row.table, row.partition}].push_back(row);
  }
  for (const auto& [object, rows] : objects) s.NoteOutdated(rows);
}

// A compactor reads its own table and nothing else: it must not hold back the cleaning of others.
void LoadClaims(State::Impl& s) {
  for (CompactionId id : s.queue.InState(CompactionState::kWorking)) {
    const CompactionRow& row = *s.queue.Find(id);
    OpenTxn& txn = *s.txns.Find(row.txn);
    txn.compaction = id;
    s.pins.Add(row.txn, txn.row.snapshot_seq, Pins::Reach::kNamed);
    s.pins.Name(row.txn, txn.row.snapshot_seq, row.table);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<State>> State::Load(const Options& options,
                                                   const StoredState& stored,
                                                   Now now) {
  SKEP_RETURN_IF_ERROR(Check(stored));
  auto impl = std::make_unique<Impl>(options);
  Impl& s = *impl;
  s.published = s.loaded = stored.counters.seq;
  s.next_lock = stored.counters.next_lock;
  s.next_compaction = stored.counters.next_compaction;
  s.next_table = stored.counters.next_table;
  s.registry.Load(stored);
  s.write_ids.Load(stored);
  s.marks.Load(stored);
  s.row_changes.Load(stored);
  s.view_locks.Load(stored);
  s.requests.Load(stored);
  s.queue.Load(stored);
  LoadTxns(s, stored, now);
  SKEP_RETURN_IF_ERROR(LoadLocks(s, stored, now));
  LoadClaims(s);
  LoadHistory(s);
  return std::unique_ptr<State>(new State(std::move(impl)));
}

}  // namespace skep::state
