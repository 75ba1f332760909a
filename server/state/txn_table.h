#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <absl/container/inlined_vector.h>

#include "server/state/aborted_intervals.h"
#include "server/state/components.h"
#include "server/state/id_map.h"
#include "server/state/leases.h"
#include "server/state/live_snapshots.h"
#include "server/state/shared_names.h"
#include "server/state/state.h"
#include "server/state/valid_ids_cache.h"
#include "storage/model/rows.h"

namespace skep::state {

// A TxnRow as memory keeps it: whose it is, is shared.
struct TxnFacts {
  TxnId id;
  CommitSeq opened_seq;
  CommitSeq snapshot_seq;
  Timestamp open_time{};
  int64_t timeout_ms = 0;
  ClientRef client;
  TxnType type : 8 = TxnType::kDefault;
  bool from_batch = false;
  bool keep_all_pinned = false;
  bool abort_only = false;
  // Memory only: a write-id list was handed out, or may have been: before a restart nobody wrote it
  // down.
  bool list_given = false;

  TxnRow ToRow() const;
};

// The write ids of a transaction, at most one per table (WID-2). Takes a pointer where there are
// none.
class OwnWriteIds {
 public:
  bool empty() const { return ids_ == nullptr; }
  // none: it has none of this table.
  WriteId Of(TableId table) const;
  void Set(TableId table, WriteId id);
  void Erase(TableId table);
  // By table.
  std::span<const std::pair<TableId, WriteId>> all() const;

 private:
  using Ids = absl::InlinedVector<std::pair<TableId, WriteId>, 1>;  // sorted, never empty
  std::unique_ptr<Ids> ids_;
};

// An open transaction with what hangs on it. A server holds many: bytes count here.
struct OpenTxn {
  TxnFacts row;
  Timestamp last_heartbeat{};
  CommitSeq previous_opened;  // the unit that opened the id before, or an earlier one
  CompactionId compaction;    // the claim it works for; none for clients
  OwnWriteIds write_ids;
  Components components;
  LeaseEntry lease;
};

// Every transaction: open ones as records, aborted ones as intervals, committed ones as nothing at
// all; and as long as a live snapshot needs it, when each of the others ended. Confined to the loop
// thread.
//
// Rule: the list of a snapshot follows from these rows alone. An id counts for sequence
// S as
//   beyond the high mark  if it was opened after S,
//   open                  if it was opened at or before S and had not ended by S,
//   aborted               if it had been aborted by S.
// Ids and opening sequences grow together, so "opened after S" is everything above one id. An ended
// transaction is thus remembered only if a live snapshot saw it open, or if it is the first that
// such a snapshot did not see: what is kept follows the live snapshots, not how long the oldest has
// lived.
class TxnTable {
 public:
  TxnId next() const { return next_; }
  int64_t open_count() const { return static_cast<int64_t>(open_.size()); }
  int64_t aborted_count() const { return aborted_.count(); }
  using OpenTxns = IdMap<TxnId, OpenTxn>;
  const OpenTxns& open() const { return open_; }
  const AbortedIntervals& aborted() const { return aborted_; }

  OpenTxn* Find(TxnId id);  // open ones; valid until it ends
  const OpenTxn* Find(TxnId id) const;
  bool WasGivenOut(TxnId id) const { return !id.is_none() && id.value() > 0 && id < next_; }
  // nullopt for open and committed ids.
  std::optional<AbortCause> CauseOf(TxnId id) const { return aborted_.CauseOf(id.value()); }

  // Takes the next id. `facts.id` is overwritten.
  OpenTxn& Open(TxnFacts facts, Unit& unit);
  // Writes the row again after a change to it.
  void Save(const OpenTxn& txn, Unit& unit) { unit.Add(Put<TxnRow>{txn.row.ToRow()}); }
  // kNone: committed. `pinned`: how long its pin outlives it.
  void End(TxnId id, AbortCause cause, std::chrono::milliseconds pinned, Unit& unit);
  // No id ≤ `id` is given out any more. To older snapshots the skipped ids do not exist.
  void Skip(TxnId id, Unit& unit);

  // The list of sequence `seq`, which must be published and not older than the oldest live
  // snapshot.
  ValidIdsCache::List At(CommitSeq seq) const;
  // As WriteIds::VersionAt and Lately.
  CommitSeq VersionAt(CommitSeq seq) const { return std::min(seq, changed_); }
  ValidIdsCache::List Lately(CommitSeq version) const { return lists_.Find(version); }

  // Records those of this unit's ends that a live snapshot needs; forgets what ended at or before
  // the oldest one. True if the store has rows to forget.
  bool Seal(const LiveSnapshots& live, Unit& unit);

  // Rows must come in key order.
  void Load(const StoredState& stored, Clients& clients);
  void Store(StoredState& out) const;  // rows; the counter apart
  void StoreCounters(CounterRow& out) const { out.next_txn = next_; }

 private:
  struct Ended {
    ResolvedTxnRow row;
    CommitSeq previous_opened;
  };
  ValidIds MakeList(CommitSeq seq) const;

  TxnId next_{1};
  OpenTxns open_;
  AbortedIntervals aborted_;
  std::deque<Ended> ended_;  // by end_seq; at its end those of the unit that is not sealed yet
  CommitSeq last_opened_;    // the unit that opened the newest id
  CommitSeq changed_;        // the last unit that opened or ended any
  mutable ValidIdsCache lists_{32};
};

// Where the leases of open transactions are: in their records.
class OpenTxnLeases {
 public:
  explicit OpenTxnLeases(TxnTable& txns) : txns_(&txns) {}
  LeaseEntry* Find(TxnId id) const {
    OpenTxn* const txn = txns_->Find(id);
    return txn == nullptr ? nullptr : &txn->lease;
  }
  LeaseEntry& FindOrMake(TxnId id) { return *Find(id); }  // of open ones only
  void Erase(TxnId) {}

 private:
  TxnTable* txns_;
};

}  // namespace skep::state
