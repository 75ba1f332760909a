#pragma once

// What can be asked of the state machine and what it answers, as plain values. proto/wire fills and
// reads them; tests write them by hand. Units and rules are those of proto/skep/v1, which mirrors
// this file.

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/model/rows.h"
#include "storage/model/snapshot.h"
#include "storage/model/snapshot_change.h"

namespace skep::state {

// Identity of a creating call (design: request ids). All zero: the caller does not want repetition.
struct RequestKey {
  std::array<uint8_t, 16> id{};
  bool repeat = false;
  bool given() const;
};
enum class RequestKind { kOpen = 1, kLock = 2, kEnqueue = 3, kCreateTable = 4, kRegisterTable = 5 };

// ---- transactions ----

// Transactions of another server, by the name of the replication that brings them here.
struct SourceTxns {
  std::string policy;
  std::vector<TxnId> txns;
};

struct OpenTxns {
  int64_t count = 1;
  TxnType type = TxnType::kDefault;
  std::string user;
  std::string host;
  std::string agent;
  std::optional<std::chrono::milliseconds> timeout;  // lease; default and maximum from the options
  bool keep_all_pinned = false;
  RequestKey request;
  // kReplCreated only, and always then: one transaction for each; `count` is ignored.
  std::optional<SourceTxns> sources;
};
struct OpenedTxns {
  TxnId first;        // none: those that stand for the sources were there
  int64_t count = 0;  // ids first … first+count−1
  CommitSeq snapshot_seq;
  std::chrono::milliseconds timeout{0};
  std::vector<std::pair<TxnId, TxnId>> replicated;  // (there, here), by the ids there
};

struct PartitionWrite {
  std::string partition;  // empty: the table (all partitions of a partitioned one)
  WriteOp op = WriteOp::kInsert;
};
// Everything the transaction wrote to one table.
struct TableWrites {
  TableName table;
  std::vector<PartitionWrite> writes;  // empty: wrote nothing
};
struct CommitTxn {
  TxnId txn;  // or the one that stands for `source`
  // Complete per named table; a table with a write id that is not named counts as an update of all
  // its partitions, together with what locks and AddPartitions declared.
  std::vector<TableWrites> write_set;
  struct Source {
    std::string policy;
    TxnId txn;
  };
  std::optional<Source> source;
  // Set with the commit or not at all (CMT-18, STR-6).
  struct Property {
    TableName table;
    std::string key;  // begins with kCommitKeyPrefix
    std::string value;
  };
  std::vector<Property> properties;
};
inline constexpr std::string_view kCommitKeyPrefix = "_meta";
struct CommittedTxn {
  CommitSeq seq;
  bool unknown_source = false;  // nothing stands for the source, nothing was done (CMT-2)
};

// By ids; or by owner and age; or those that stand for others.
struct AbortTxns {
  std::vector<TxnId> txns;
  AbortCause cause = AbortCause::kUser;
  std::string user;
  std::optional<std::chrono::milliseconds> min_age;
  std::optional<SourceTxns> sources;
  bool by_filter() const { return !user.empty() || min_age.has_value(); }
};
struct AbortedTxns {
  std::vector<TxnId> aborted;  // now, or before (idempotent)
  std::vector<TxnId> not_found;
  std::vector<TxnId> already_committed;
  bool more = false;  // by filter: more match than one call aborts
};

struct Heartbeat {
  std::vector<TxnId> txns;
  std::vector<LockId> locks;  // locks outside transactions
};
struct HeartbeatResult {
  struct Ended {
    TxnId txn;
    AbortCause cause = AbortCause::kNone;
  };
  std::vector<Ended> aborted;
  std::vector<TxnId> committed;
  std::vector<TxnId> not_found;
  std::vector<LockId> locks_not_found;
};

struct TxnInfo {
  TxnId id;
  TxnState state = TxnState::kOpen;
  AbortCause cause = AbortCause::kNone;     // aborted only
  std::optional<TxnRow> open;               // open only
  std::optional<Timestamp> last_heartbeat;  // open only
  std::optional<std::chrono::milliseconds> lease_left;
  std::vector<TableName> tables;  // written: with a write id or a component
  std::vector<LockId> locks;
  std::optional<CommitTxn::Source> stands_for;  // kReplCreated, open only
};
struct ListTxns {
  std::vector<TxnState> states;  // empty: open
  std::string user;              // empty: all
  std::string policy;            // empty: all; else those that stand for transactions of it
  std::optional<TableId> table;
  TxnId after;  // page: ids above
  int64_t limit = 100;
};

// ---- write ids and snapshots ----

struct AllocateWriteIds {
  TableName table;
  std::vector<TxnId> txns;
  // What a transaction has already is aborted and replaced: never void.
  bool reallocate = false;
};
// Write ids as another server gave them out, for those that stand for its transactions (WID-10).
struct ReplicateWriteIds {
  TableName table;
  std::string policy;
  std::vector<std::pair<TxnId, WriteId>> sources;  // ids there
};
struct AllocatedWriteIds {
  TableId table;
  std::vector<std::pair<TxnId, WriteId>> ids;  // ascending by transaction
};
// What another server says of a table's write ids before the first is given out here (RPL-4).
struct AdoptWriteIds {
  TableName table;
  WriteId highest;
  std::vector<int64_t> aborted;  // ascending, ≤ highest
};
struct AdoptedWriteIds {
  bool adopted = false;  // false: it has write ids already, nothing was done
  WriteId next;
  std::vector<CompactionId> compactions;  // enqueued because of the aborted ones
};
struct GetValidWriteIds {
  TxnId txn;
  std::vector<TableName> tables;
  bool names_all = false;  // "these are all tables I hold": ends the pin on every table
  std::map<TableId, CommitSeq> known;  // versions of lists that the asker has
};
// How a list compares with one that the asker knows.
struct ListVersion {
  CommitSeq version;  // names the list, whoever asks; none: it cannot be built upon
  CommitSeq since;    // the version that `change` starts from
  std::optional<ValidIdsChange> change;
};
struct ValidWriteIds {
  std::vector<WriteIdSnapshot> tables;  // in the order asked
  std::vector<ListVersion> versions;    // one for each
};
struct VersionedTxns {
  TxnSnapshot list;
  ListVersion version;
};
struct AddPartitions {
  TxnId txn;
  TableName table;
  std::vector<std::string> partitions;
  WriteOp op = WriteOp::kUpdate;
};

// ---- locks ----

struct LockComponent {
  LockResource resource;
  LockKind kind = LockKind::kSharedRead;
  std::optional<WriteOp> op;  // none: reads, or DDL that writes no rows
  bool dynamic = false;       // partitions known only after the statement ran
};
struct AcquireLocks {
  TxnId txn;  // none: outside any transaction, kept by heartbeats of its own
  std::vector<LockComponent> components;
  bool wait = true;  // false: NOT_ACQUIRED instead of queueing
  std::string user, host, agent;
  RequestKey request;
};
struct Blocker {
  LockId lock;
  TxnId txn;
  LockResource resource;
  LockKind kind = LockKind::kSharedRead;
  LockState state = LockState::kAcquired;
  std::string user, host, agent;
  Timestamp since{};
  std::optional<Timestamp> last_heartbeat;  // of its owner; ExplainLock only
  int64_t position = 0;                     // its own while it waits; ExplainLock only
};
struct LockAnswer {
  LockId lock;
  LockState state = LockState::kWaiting;
  bool snapshot_stale = false;      // granted EXCL_WRITE or stronger over a newer update
  std::vector<Blocker> blocked_by;  // while waiting
  int64_t position = 0;             // waiting requests ahead that block it, plus one
  std::string reason;               // for people
};
// A waiting request that ended in this unit, one way or the other: the loop wakes its caller with
// it.
struct LockNotice {
  LockId lock;
  LockAnswer answer;
};
struct ReleaseLock {
  LockId lock;
  bool force = false;  // operator: also an acquired lock of an open transaction
};
struct ListLocks {
  std::optional<LockResource> resource;  // overlapping ones
  TxnId txn;
  bool waiting_only = false;
  LockId after;
  int64_t limit = 100;
};

// ---- materialised views ----

// MV-1: by a transaction of type MATERIALIZED_VIEW_REBUILD. Takes no place in any queue (MV-8).
struct LockViewRebuild {
  TxnId txn;
  TableName view;  // any name
};
struct ViewLock {
  TableName view;
  TxnId txn;  // open
  std::string user, host, agent;
  Timestamp since{};
};
struct ViewLockAnswer {
  LockState state = LockState::kNotAcquired;  // or kAcquired
  ViewLock holder;                            // the asker, where it was acquired
};
// What became of tables since a view was built from lists of theirs (MV-5 … MV-7).
struct GetTableChanges {
  std::vector<WriteIdSnapshot> built_from;  // as ValidWriteIds gave them
  TxnId txn;                                // as of its snapshot; none: now
};
struct TableChange {
  enum class Kind {
    kUnchanged,    // the same rows
    kInsertsOnly,  // rows came, none was changed
    kRowsChanged,  // rows that were there were changed, or may have been
    kUnknown,      // the list cannot be compared; `reason`
  };
  TableId table;
  Kind kind = Kind::kUnknown;
  // Write ids that are visible and were not: inclusive, ascending, disjoint.
  std::vector<std::pair<int64_t, int64_t>> now_visible;
  // Files were merged since: those of an insert-only table no longer tell old rows from new ones.
  bool compacted = false;
  std::string reason;
};
struct TableChanges {
  CommitSeq seq;                    // that the answer is of
  std::vector<TableChange> tables;  // in the order asked
};

// ---- tables ----

struct CreateTable {
  TableName name;
  bool external = false;
  FileFormat format = FileFormat::kOrc;
  TableSchema schema;
  Properties properties;
  std::string location;  // normalised, inside a root; the caller chose the default
  RequestKey request;
};
// Register in two steps: the name and location are held while the directory is scanned.
struct ReserveTable {
  TableName name;
  std::string location;
  RequestKey request;
  // Everything else that the caller gave, as one text: a request id is for one of them.
  std::string asked;
};
// The highest write id or transaction id that a table from elsewhere may bring: counters go on
// above it, and half of the range is left to them.
inline constexpr int64_t kMaxForeignId = int64_t{1} << 62;
struct RegisterTable {
  TableName name;
  std::string location;
  std::string asked;  // as in ReserveTable
  TableKind kind = TableKind::kFullAcid;
  FileFormat format = FileFormat::kOrc;
  TableSchema schema;
  Properties properties;
  WriteId highest_write_id;                // max(disk, HIGH)
  std::vector<int64_t> aborted_write_ids;  // of LIST
  std::vector<std::string> partitions;     // found by the scan
  TxnId adopted_txn_bound;  // highest `_vN` found; the transaction counter is raised above it
  std::vector<int64_t> adopted_aborted_txns;
  RequestKey request;
};
struct TableInfo {
  TableRow row;
  int64_t partitions = 0;
  int64_t open_write_ids = 0;
};

// A table as the newest published unit has it, outside any transaction.
struct TableView {
  TableRow table;
  WriteIdSnapshot write_ids;  // the reader's form
  TxnSnapshot txns;           // of the same sequence
};

// ---- compaction ----

struct EnqueueCompaction {
  TableName table;
  std::string partition;
  CompactionType type = CompactionType::kMajor;
  std::string initiator;
  std::string reason;
  RequestKey request;
};
struct EnqueuedCompaction {
  CompactionId id;
  bool accepted = true;
  CompactionState state = CompactionState::kInitiated;
  std::string message;
};
struct ListCompactions {
  std::optional<CompactionId> id;
  std::optional<TableName> table;
  std::optional<std::string> partition;
  std::vector<CompactionState> states;
  CompactionId after;
  int64_t limit = 100;
};
// What a worker needs: the claim, its transaction's view, where to work.
struct ClaimedCompaction {
  CompactionRow row;  // state kWorking, txn and highest_write_id set
  TableRow table;
  WriteIdSnapshot write_ids;  // compactor's view
  TxnSnapshot txns;
};
struct PublishCompaction {
  CompactionId id;
  int64_t claim = 0;         // fencing number from the claim
  WriteId highest_write_id;  // as the plan narrowed it (OUT-15)
};
struct FinishCompaction {  // failed, or refused because there is nothing to do
  CompactionId id;
  int64_t claim = 0;
  CompactionState state =
      CompactionState::kFailed;  // kFailed, kRefused, kInitiated (give the claim back)
  std::string message;
};

// ---- cleaning ----

struct Pin {
  TxnId txn;
  bool every_table = false;  // pins all until it names one
  CommitSeq snapshot_seq;
  std::string user, host, agent;
  Timestamp open_time{};
  bool ended = false;  // the server ended it; the pin lives one more lease
};
// BeginClean's answer: go, with the view to select by; or wait, with who pins.
struct CleanTask {
  CompactionRow row;
  TableRow table;
  WriteIdSnapshot
      write_ids;  // of the compaction's own sequence, cleaner's form, high = row.highest_write_id
  TxnSnapshot txns;            // of the same sequence
  std::vector<Pin> pinned_by;  // not empty: nothing may be deleted yet
};
struct FinishClean {
  CompactionId id;
  bool done = true;  // false: something is left; tried again at `retry_at`
  std::string error;
  Timestamp retry_at{};
};

}  // namespace skep::state
