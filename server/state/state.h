#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/state/commands.h"
#include "server/state/events.h"
#include "storage/model/stored_state.h"

namespace skep::state {

struct Options {
  std::chrono::milliseconds txn_timeout{300'000};
  // Of REPL_CREATED transactions: longer than the source keeps what it still has to send (TMO-10).
  std::chrono::milliseconds replication_timeout = std::chrono::hours(24 * 11);
  int64_t max_open_txns = 100'000;
  int64_t max_open_txns_per_user = 0;  // 0: no limit but that of all
  int64_t max_batch = 1'000;
  int64_t max_lock_components = 10'000;
  // How long a request that waits lets requests for SHARED_READ alone pass; 0: never (LCQ-1).
  std::chrono::milliseconds reader_bypass{0};
  int64_t request_ring = 1'000'000;
  std::chrono::milliseconds claim_lease{600'000};
  // Finished compactions that are kept per table or partition (HR-1).
  int64_t history_succeeded = 3, history_failed = 3, history_refused = 3, history_not_initiated = 2;
  // Not fewer failed ones than the initiator counts before it stops (IN-6).
  int64_t failed_threshold = 2;
  // How old a failure may get that a newer success outdates (HR-2).
  std::chrono::milliseconds history_max_age = std::chrono::hours(24 * 7);
  // Passes that leave something after the first one, until an entry is given up (RB-1).
  int64_t clean_retries = 5;
};

// When a command is decided.
struct Now {
  Timestamp wall{};
  MonoTime mono{};
};

// Collects what the commands of one unit of work change.
class Unit {
 public:
  // `memory`: what an earlier unit leaves to this one.
  explicit Unit(CommitSeq seq, Effects memory = {}, std::vector<Event> event_memory = {})
      : seq_(seq), effects_(std::move(memory)), events_(std::move(event_memory)) {
    effects_.clear();
  }

  CommitSeq seq() const { return seq_; }  // the number this unit gets if it changes anything
  template <class E>
  void Add(E&& effect) {
    effects_.emplace_back(std::forward<E>(effect));
  }
  bool empty() const { return effects_.empty(); }
  const Effects& effects() const { return effects_; }
  Effects& effects() { return effects_; }
  // What others are told of it, once it is durable. Each comes with an effect.
  UnitEvents& events() { return events_; }

 private:
  CommitSeq seq_;
  Effects effects_;
  UnitEvents events_;
};

// Transactions, write ids, snapshots, locks, pins, registry and compaction queue, in memory. Every
// rule is a method (state, command, now) → (reply, effects); none does IO. Confined to the loop
// thread.
//
// Life of a unit: unit = Begin(); commands…; Seal(unit); store.Append(unit.effects()); then
// Published() if it is durable, or throw the State away and Load() another from the store if it is
// not. A command that returns an error may have added effects (a conflict aborts the transaction):
// they belong to the unit like any others.
class State {
 public:
  static absl::StatusOr<std::unique_ptr<State>> Load(const Options& options,
                                                     const StoredState& stored,
                                                     Now now);
  ~State();

  Unit Begin(Effects memory = {}, std::vector<Event> event_memory = {}) const;
  // Adds the counters and what housekeeping follows from the unit (resolved rows that no snapshot
  // needs). No-op for a unit without effects.
  void Seal(Unit& unit);
  // The unit is durable: snapshots of its number may be handed out.
  void Published(const Unit& unit);
  // Requests that were waiting and were granted or ended since the last call.
  std::vector<LockNotice> TakeNotices();

  // The rows that the store must hold: equals what the store loads after each unit.
  StoredState ToStored() const;

  // -- transactions (unit.seq() is the sequence of whatever a command commits)
  absl::StatusOr<OpenedTxns> Open(const OpenTxns& command, Now now, Unit& unit);
  absl::StatusOr<CommittedTxn> Commit(const CommitTxn& command, Now now, Unit& unit);
  absl::StatusOr<AbortedTxns> Abort(const AbortTxns& command, Now now, Unit& unit);
  // One transaction by its owner: errors instead of lists.
  absl::Status AbortOne(TxnId txn, AbortCause cause, Now now, Unit& unit);
  HeartbeatResult Beat(const Heartbeat& command, Now now, Unit& unit);
  absl::StatusOr<TxnInfo> GetTxn(TxnId txn, Now now) const;
  std::vector<TxnInfo> Txns(const ListTxns& command, Now now) const;
  // The transaction's own snapshot; TxnId() gives the newest published one.
  absl::StatusOr<TxnSnapshot> Snapshot(TxnId txn, Now now, Unit& unit);
  // The same, with what changed since version `known` where that is still known.
  absl::StatusOr<VersionedTxns> SnapshotSince(TxnId txn, CommitSeq known, Now now, Unit& unit);
  // No id below `first` is given out any more (OPN-14). Errors: kInvalidRequest.
  absl::Status SeedTxnIds(TxnId first, Now now, Unit& unit);
  // The open transaction that stands for another server's (RPL-2). Errors: kNoSuchTxn.
  absl::StatusOr<TxnInfo> GetReplica(const CommitTxn::Source& source, Now now) const;
  // A fresh snapshot for a transaction that was given no list and no write id and holds EXCL_WRITE
  //
  // `instead_of`: only in place of this one; where the transaction has another by now, that one is
  // the answer and nothing changes. None: of any.
  absl::StatusOr<CommitSeq> RefreshSnapshot(TxnId txn,
                                            Now now,
                                            Unit& unit,
                                            CommitSeq instead_of = CommitSeq());
  // The snapshot of a transaction whose opening waited for its locks (a fused begin): the state of
  // the unit, under whatever lock it holds now. Nothing was handed out before; where
  // something was: kOperationNotAllowed.
  absl::StatusOr<CommitSeq> SnapshotAtGrant(TxnId txn, Now now, Unit& unit);
  // Ends the transactions and locks whose lease is over, so many at once that the unit stays small
  // (NextExpiry says that there are more), and forgets outdated compactions. A stall of the loop is
  // added to all leases first.
  static constexpr size_t kMaxEndedAtOnce = 5'000;
  void Reap(Now now, Unit& unit);
  void ExtendLeases(std::chrono::nanoseconds stall);
  // For a state that was loaded because a unit of `before` was not stored: leases go on as they
  // were, since the process did. What the unit ended because its lease was over is over now; what
  // it ended otherwise was heard of, and begins anew.
  void KeepLeases(const State& before, Now now);
  std::optional<MonoTime> NextExpiry() const;

  // -- write ids
  absl::StatusOr<AllocatedWriteIds> Allocate(const AllocateWriteIds& command, Now now, Unit& unit);
  // Nothing, and an empty answer, where nobody stands for one of the sources.
  absl::StatusOr<AllocatedWriteIds> Replicate(const ReplicateWriteIds& command,
                                              Now now,
                                              Unit& unit);
  absl::StatusOr<AdoptedWriteIds> Adopt(const AdoptWriteIds& command, Now now, Unit& unit);
  absl::StatusOr<ValidWriteIds> ValidWriteIdsOf(const GetValidWriteIds& command,
                                                Now now,
                                                Unit& unit);
  absl::Status AddWrites(const AddPartitions& command, Now now, Unit& unit);

  // -- locks
  absl::StatusOr<LockAnswer> Lock(const AcquireLocks& command, Now now, Unit& unit);
  absl::StatusOr<LockAnswer> CheckLock(LockId lock, Now now, Unit& unit);
  absl::Status Release(const ReleaseLock& command, Now now, Unit& unit);
  std::vector<LockRow> Locks(const ListLocks& command) const;
  absl::StatusOr<LockAnswer> ExplainLock(LockId lock, Now now) const;

  // -- materialised views
  // Errors: those of a transaction that ended; kOperationNotAllowed for another type.
  absl::StatusOr<ViewLockAnswer> LockView(const LockViewRebuild& command, Now now, Unit& unit);
  // By name; of the command's resource, transaction and limit.
  std::vector<ViewLock> ViewLocks(const ListLocks& command) const;
  absl::StatusOr<TableChanges> TableChangesSince(const GetTableChanges& command,
                                                 Now now,
                                                 Unit& unit);

  // -- tables
  absl::StatusOr<TableInfo> Create(const CreateTable& command, Now now, Unit& unit);
  absl::Status Reserve(const ReserveTable& command, Now now, Unit& unit);
  void DropReservation(const TableName& name);
  absl::StatusOr<TableInfo> Register(const RegisterTable& command, Now now, Unit& unit);
  // The transaction must hold EXCLUSIVE on the table; the table goes when the transaction commits.
  absl::Status Drop(TxnId txn, const TableName& name, Now now, Unit& unit);
  // As of now.
  absl::StatusOr<TableInfo> GetTable(const TableName& name) const;
  // As of the snapshot of `txn` (none: now). Errors: also those of a transaction that ended, or
  // whose lease is over.
  absl::StatusOr<TableInfo> GetTable(const TableName& name, TxnId txn, Now now) const;
  std::vector<TableInfo> Tables(const std::string& database,
                                const std::string& after,
                                int64_t limit) const;
  absl::StatusOr<std::vector<std::string>> Partitions(
      const TableName& name, TxnId txn, Now now, const std::string& after, int64_t limit) const;
  // For inspection and for decisions about compaction; pins nothing, so what it names may be
  // cleaned away. Errors: kNoSuchTable, also for a table that the open unit creates.
  absl::StatusOr<TableView> View(TableId table) const;
  absl::Status SetProperties(const TableName& name,
                             const Properties& set,
                             const std::vector<std::string>& unset,
                             Now now,
                             Unit& unit);
  // Tables with something written since `since` (initiator).
  struct Changed {
    TableId table;
    std::string partition;
  };
  std::vector<Changed> ChangedSince(CommitSeq since) const;

  // -- compaction
  absl::StatusOr<EnqueuedCompaction> Enqueue(const EnqueueCompaction& command, Now now, Unit& unit);
  // The initiator's record of a compaction that it did not enqueue, `command.reason` says why
  // (IN-6, IN-17). The newest record of the object is written again where it says the same.
  absl::StatusOr<CompactionId> NoteNotInitiated(const EnqueueCompaction& command,
                                                Now now,
                                                Unit& unit);
  // Ascending by id.
  std::vector<CompactionRow> Compactions(const ListCompactions& command) const;
  // Rows looked at by Compactions since the load: grows with what was asked for, not with the
  // history.
  int64_t compactions_read() const;
  absl::StatusOr<CompactionRow> Cancel(CompactionId id, Now now, Unit& unit);
  // Takes the oldest initiated entry, opens the compactor's transaction with a shared lock.
  // nullopt: none.
  absl::StatusOr<std::optional<ClaimedCompaction>> Claim(const std::string& worker,
                                                         Now now,
                                                         Unit& unit);
  // The view of a claim: asked for after the unit that claimed is durable.
  absl::StatusOr<ClaimedCompaction> ClaimView(CompactionId id, int64_t claim, Now now, Unit& unit);
  absl::Status BeatClaim(CompactionId id, int64_t claim, Now now, Unit& unit);
  absl::Status Publish(const PublishCompaction& command, Now now, Unit& unit);
  absl::Status Finish(const FinishCompaction& command, Now now, Unit& unit);

  // -- cleaning
  std::vector<CompactionId> ReadyToClean(Now now) const;
  // Changes nothing. Also of an entry whose cleaning was given up: what its directories wait for.
  absl::StatusOr<CleanTask> ExplainClean(CompactionId id, Now now) const;
  absl::StatusOr<CleanTask> BeginClean(CompactionId id, Now now, Unit& unit);
  absl::Status FinishCleaning(const FinishClean& command, Now now, Unit& unit);
  std::vector<Pin> PinsOf(TableId table, Now now) const;

  struct Totals {
    CommitSeq seq;
    int64_t open_txns = 0, aborted_txns = 0, tables = 0, locks_held = 0, locks_waiting = 0;
    int64_t queued = 0, working = 0, to_clean = 0;
    std::optional<TxnInfo> oldest_open;
  };
  Totals Summary(Now now) const;

  struct Impl;  // of this room only

 private:
  explicit State(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace skep::state
