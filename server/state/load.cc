// From rows to state. What is memory only starts afresh: leases at full length, pins as wide as
// they could have been.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/state/impl.h"
#include "storage/base/status_macros.h"

namespace skep::state {

namespace {

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

// Rows that name other rows and counters above what they count are the caller's to require
// (meta::RequireSound): one look at what may be very much.
absl::StatusOr<std::unique_ptr<State>> State::Load(const Options& options,
                                                   const StoredState& stored,
                                                   Now now) {
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
