#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "server/state/aborted_intervals.h"
#include "server/state/id_map.h"
#include "server/state/live_snapshots.h"
#include "server/state/state.h"
#include "server/state/valid_ids_cache.h"
#include "storage/model/rows.h"

namespace skep::state {

// An open transaction with what hangs on it.
struct OpenTxn {
  TxnRow row;
  Timestamp last_heartbeat{};
  // A write-id list was handed out, or may have been: before a restart nobody wrote it down.
  bool list_given = false;
  CommitSeq previous_opened;             // the unit that opened the id before, or an earlier one
  CompactionId compaction;               // the claim it works for; none for clients
  std::map<TableId, WriteId> write_ids;  // at most one per table (WID-2)
  using ComponentKey = std::tuple<TableId, std::string, WriteOp>;
  std::map<ComponentKey, ComponentRow> components;
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

  // Takes the next id. `row.id` is overwritten.
  OpenTxn& Open(TxnRow row, Unit& unit);
  // Writes the row again after a change to it.
  void Save(const OpenTxn& txn, Unit& unit) { unit.Add(Put<TxnRow>{txn.row}); }
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
  void Load(const StoredState& stored);
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

}  // namespace skep::state
