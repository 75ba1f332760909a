#pragma once

#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include <absl/container/btree_map.h>

#include "server/state/aborted_intervals.h"
#include "server/state/live_snapshots.h"
#include "server/state/state.h"
#include "server/state/valid_ids_cache.h"
#include "storage/model/rows.h"

namespace skep::state {

// Write ids of every table: those of open transactions as rows, aborted ones as intervals,
// committed ones as nothing; and as long as a live snapshot needs it, when each of the others was
// resolved. The next id of a table is a field of its TableRow and comes as an argument. Confined to
// the loop thread.
//
// Rule: the list of a table at sequence S follows from these rows alone. An id counts as
//   beyond the high mark  if it was allocated after S,
//   open                  if it was allocated at or before S and its transaction had not ended by
//   S, aborted               if its transaction had been aborted by S.
// An id that was never recorded (below the first of a registered table) is committed (WSN-5).
class WriteIds {
 public:
  // `unit` created the table; `aborted` ascending.
  void AddTable(TableId table, const std::vector<int64_t>& aborted, Unit& unit);
  // Those of open transactions.
  std::vector<WriteIdRow> OpenOf(TableId table) const;
  // None of its ids is open, and no live snapshot knows it; the store does the same on EraseTable.
  void ForgetTable(TableId table);

  void Allocate(TableId table, WriteId id, TxnId txn, Unit& unit);
  // From `first` on up to the next that is given out ids are nobody's: to the list they are
  // committed by this unit.
  void Skip(TableId table, WriteId first, Unit& unit);
  // Ids that are skipped and aborted; ascending.
  void AbortSkipped(TableId table, const std::vector<int64_t>& ids, Unit& unit);
  enum class Outcome { kCommitted, kAborted };
  void Resolve(TableId table, WriteId id, Outcome outcome, Unit& unit);

  int64_t open_count(TableId table) const;
  // The list of published sequence `seq`, not older than the oldest live snapshot nor than the
  // table. O(unresolved + resolved since `seq`), O(1) if the table did not change since the list
  // was last made.
  ValidIdsCache::List At(TableId table, CommitSeq seq, WriteId next) const;
  // Names the list of `seq`, whatever happens later: an earlier sequence that sees the same.
  CommitSeq VersionAt(TableId table, CommitSeq seq) const;
  // The list that VersionAt named, if it was made lately.
  ValidIdsCache::List Lately(TableId table, CommitSeq version) const;
  // Highest id such that none at or below it is open, now (VAL-7).
  WriteId CompactorHigh(TableId table, WriteId next) const;

  // As TxnTable::Seal, and by the same rule.
  bool Seal(const LiveSnapshots& live, Unit& unit);

  void Load(const StoredState& stored);
  void Store(StoredState& out) const;

 private:
  struct Open {
    TxnId txn;
    CommitSeq allocated;
    CommitSeq previous_allocated;  // the unit that allocated the id before, or an earlier one
  };
  struct Resolved {
    ResolvedWriteIdRow row;
    CommitSeq previous_allocated;
  };
  struct Table {
    absl::btree_map<WriteId, Open> open;
    std::deque<Resolved>
        resolved;              // by end_seq; at its end those of the unit that is not sealed yet
    AbortedIntervals aborted;  // without causes
    CommitSeq last_allocated;  // the unit that allocated the newest id
    CommitSeq changed;         // the last unit that allocated or resolved any
    mutable ValidIdsCache lists{4};
  };
  static ValidIds MakeList(const Table& table, CommitSeq seq, WriteId next);
  static void SealTable(const LiveSnapshots& live, Table& table, Unit& unit);
  static void AddAborted(TableId id, Table& table, int64_t write_id, Unit& unit);

  std::unordered_map<TableId, Table> tables_;
  std::map<CommitSeq, std::set<TableId>> resolved_in_;  // which tables have resolved rows of a unit
};

}  // namespace skep::state
