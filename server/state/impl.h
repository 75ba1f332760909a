#pragma once

// The parts of the state and what several commands need of them together. Each file *_commands.cc
// and
// *_queries.cc defines the methods of State for one noun.

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "server/state/changes.h"
#include "server/state/compaction_queue.h"
#include "server/state/conflicts.h"
#include "server/state/leases.h"
#include "server/state/live_snapshots.h"
#include "server/state/lock_rows.h"
#include "server/state/lock_table.h"
#include "server/state/open_limit.h"
#include "server/state/pins.h"
#include "server/state/registry.h"
#include "server/state/replicas.h"
#include "server/state/requests.h"
#include "server/state/row_changes.h"
#include "server/state/shared_names.h"
#include "server/state/state.h"
#include "server/state/txn_table.h"
#include "server/state/view_locks.h"
#include "server/state/write_ids.h"
#include "server/state/write_marks.h"

namespace skep::state {

struct State::Impl {
  explicit Impl(const Options& o)
      : options(o),
        limit(o.max_open_txns, o.max_open_txns_per_user),
        requests(o.request_ring),
        txn_leases(OpenTxnLeases(txns)) {}

  Options options;
  CommitSeq published;  // the last durable unit
  CommitSeq loaded;     // … when the state was loaded
  LockId next_lock{1};
  CompactionId next_compaction{1};
  TableId next_table{1};

  // Before whatever refers to them.
  Clients clients;
  TxnTable txns;
  Replicas replicas;
  WriteIds write_ids;
  WriteMarks marks;
  RowChanges row_changes;
  state::ViewLocks view_locks;
  Registry registry;
  LiveSnapshots live;
  Pins pins;
  OpenLimit limit;
  RequestRing requests;
  CompactionQueue queue;
  std::set<std::pair<Timestamp, CompactionId>>
      outdated;  // finished ones, by the time at which they go
  ChangeLog changes;
  LockTable lock_table;
  LockRows lock_rows;
  std::vector<LockId>
      grant_after_load;  // waiting ones that nothing blocks: granted by the next Reap
  std::vector<LockNotice> notices;
  // Waiting requests that readers pass, by the time from which they do not.
  std::deque<std::pair<MonoTime, LockId>> bypass_ends;
  // Waiting requests whose transaction was granted another one past somebody: it may wait for
  // itself now. Looked at before the next decision.
  std::vector<LockId> maybe_circles;

  Leases<TxnId, OpenTxnLeases> txn_leases;
  Leases<LockId> lock_leases;  // locks outside transactions
  // Whose lease was over in the open unit.
  std::vector<TxnId> expired_txns;
  std::vector<LockId> expired_locks;
  // Transactions that the server ended: their readers may not know yet, so they pin, and count as
  // snapshots, for one more lease.
  std::map<TxnId, TxnFacts> lingering;
  Leases<TxnId> lingering_leases;

  // -- transactions (end_txn.cc)

  // The open transaction, its lease renewed. One whose lease is over is ended here and now.
  // Errors: kNoSuchTxn, kTxnAborted, kTxnAlreadyCommitted. The pointer is valid until a transaction
  // ends.
  absl::StatusOr<OpenTxn*> Use(TxnId id, Now now, Unit& unit);
  // Why `id`, which is not open, cannot be used.
  absl::Status EndedError(TxnId id) const;
  bool IsCommitted(TxnId id) const;

  enum class EndedBy { kOwner, kServer };
  struct Ending {
    AbortCause cause = AbortCause::kNone;  // kNone: commit
    EndedBy by = EndedBy::kOwner;
    std::string reason;  // for waiters and the compaction's row
  };
  // What events name the table by, also one that was dropped while older snapshots live.
  EventTable EventTableOf(TableId id) const;
  // The one function that ends transactions: write ids, components, locks, pins, lease and claim go
  // with it.
  void EndTxn(TxnId id, const Ending& ending, Now now, Unit& unit);
  void EndExpired(TxnId id, Now now, Unit& unit);
  void Linger(const TxnFacts& row, Now now);
  void StopLingering(TxnId id);

  OpenTxn& OpenOne(TxnFacts row, Pins::Reach reach, Now now, Unit& unit);
  // REPL_CREATED (replication_commands.cc): `row` is what each of them has.
  absl::StatusOr<OpenedTxns> OpenReplicas(const SourceTxns& sources,
                                          const TxnFacts& row,
                                          Now now,
                                          Unit& unit);
  AbortedTxns AbortByFilter(const AbortTxns& command, Now now, Unit& unit);
  void AddComponent(OpenTxn& txn, ComponentRow row, Unit& unit);
  TxnInfo InfoOf(const OpenTxn& txn, Now now) const;

  // -- requests (txn_commands.cc)

  void Remember(const RequestKey& key,
                RequestKind kind,
                int64_t fingerprint,
                int64_t first_id,
                int64_t count,
                Now now,
                Unit& unit);
  // What the request created still lives.
  bool IsAlive(const RequestRow& row) const;

  // -- writes and snapshots (commit_command.cc, snapshot_commands.cc)

  // A write that the transaction and the table allow, its partition in canonical form (empty: the
  // table). Errors: kOperationNotAllowed, kTableNotTransactional, kInvalidRequest.
  absl::StatusOr<Write> CheckWrite(const TxnFacts& txn,
                                   const TableRow& table,
                                   const std::string& partition,
                                   WriteOp op) const;
  // What is told of a commit, with the partitions still to come: they go with `writes`.
  std::vector<TableCommit> TablesOfCommit(const OpenTxn& txn, const std::set<Write>& writes) const;
  void ApplyWrites(TxnId txn, const std::set<Write>& writes, Now now, Unit& unit);
  // Gives `txn` the table's next write id.
  WriteId GiveWriteId(OpenTxn& txn, TableId table, Unit& unit);
  // The ids from the table's next up to `last` are nobody's here: they count as committed, and
  // older snapshots do not see them.
  void SkipWriteIds(TableId table, WriteId last, Unit& unit);
  // The table's list for a transaction whose snapshot is published, and how it differs from
  // version `known`.
  std::pair<WriteIdSnapshot, ListVersion> ListOf(const TableRow& table,
                                                 const OpenTxn& txn,
                                                 CommitSeq known) const;

  // -- tables (table_commands.cc)

  // What `name` means to the transaction, for writing. Errors: kNoSuchTable; kSnapshotTooOld where
  // its snapshot meant a table that was dropped since.
  absl::StatusOr<const TableRow*> ResolveFor(const TxnFacts& txn, const TableName& name) const;
  // … for reading: the table as the snapshot knows it, one that was dropped since included; else
  // also kNoSuchTable where the table came after the snapshot.
  absl::StatusOr<const TableRow*> ResolveAsOf(const TxnFacts& txn, const TableName& name) const;
  enum class Added { kCreated, kRegistered };
  TableId AddTable(
      TableRow row, Added how, const std::vector<int64_t>& aborted, Now now, Unit& unit);
  absl::StatusOr<TableInfo> CreatedBefore(const RequestRow& request, const TableName& name) const;
  void DropTable(TableId id, TxnId by, Now now, Unit& unit);
  TableInfo InfoOf(const TableRow& row) const;

  // -- locks (lock_commands.cc, lock_queries.cc)

  absl::StatusOr<LockRows::Component> MakeLockComponent(const LockComponent& component,
                                                        const OpenTxn* txn);
  // A new request, waiting. `txn`: null outside transactions.
  absl::StatusOr<LockRows::Request> MakeLockRequest(const AcquireLocks& command,
                                                    const OpenTxn* txn,
                                                    Now now);
  // A request for it would be granted at once.
  bool IsFree(const LockTarget& target) const;
  LockAnswer Enqueue(LockRows::Request request, IfBlocked if_blocked, Now now, Unit& unit);
  // Its transaction's or its own lease is renewed. Errors: kNoSuchLock, and those of Use.
  absl::Status UseLock(LockId lock, Now now, Unit& unit);
  void GrantAll(const std::vector<LockId>& locks, Now now, Unit& unit);
  // A granted lock's operations become components; a request that is given up has declared nothing.
  void DeclareWritesOf(LockId lock, Unit& unit);
  // From now on nobody passes those that waited long enough; who passed them and waits elsewhere
  // may close a circle by that. Before anything is decided.
  void EndBypasses(Now now, Unit& unit);
  void NoteBypass(LockId granted);
  // Takes a request away; if it was waiting its caller is told `state` and `reason`.
  void EndRequest(LockId lock, LockState state, const std::string& reason, Now now, Unit& unit);
  void ReleaseLocksOf(TxnId txn, const Ending& ending, Now now, Unit& unit);
  // Ends victims until `waiting` is in no cycle. Returns the last cycle's description, empty for
  // none.
  std::string BreakDeadlocks(LockId waiting, Now now, Unit& unit);
  bool IsStale(LockId lock) const;
  LockAnswer AnswerOf(LockId lock) const;
  Blocker BlockerOf(const LockBlocker& blocker) const;
  std::optional<Timestamp> LastBeatOf(const Blocker& blocker, Now now) const;
  static std::string WaitReason(const std::vector<Blocker>& blockers);

  // -- materialised views (view_commands.cc)

  ViewLock ViewLockOf(const ViewLockRow& row) const;
  TableChange ChangeSince(const WriteIdSnapshot& list, CommitSeq seq) const;

  // -- compaction (compaction_commands.cc)

  // A row under the next id.
  CompactionRow NewRow(const TableRow& table,
                       const std::string& partition,
                       const EnqueueCompaction& command,
                       Now now);
  // The row of a compaction that `claim` holds; the claim's lease is its transaction's, renewed
  // here. Errors: kNoSuchCompaction, kOperationNotAllowed.
  absl::StatusOr<CompactionRow> Claimed(CompactionId id, int64_t claim, Now now, Unit& unit);
  // The compactor's transaction ended without a result: the entry waits for another worker.
  void ReturnClaim(CompactionId id, const std::string& why, Unit& unit);
  // Into a final state, and out goes what history does not keep.
  void FinishRow(CompactionRow row, CompactionState state, Now now, Unit& unit);
  // Notes when the outdated ones of these rows of one object will go.
  void NoteOutdated(const std::vector<CompactionRow>& of_object);
  // HR-2: those whose time has come.
  void ForgetOutdated(Now now, Unit& unit);

  // -- cleaning (clean_commands.cc)

  std::vector<Pin> PinsBelow(const TableRow& table, CommitSeq below, Now now) const;

  CounterRow Counters(CommitSeq seq) const;
};

}  // namespace skep::state
