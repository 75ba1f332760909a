#pragma once

// The persisted facts, one struct per relational table of the store (docs/store.md names the
// columns). Rows exist for what is alive; finished history is intervals.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "storage/model/compaction.h"
#include "storage/model/ids.h"
#include "storage/model/lock.h"
#include "storage/model/names.h"
#include "storage/model/table.h"
#include "storage/model/txn.h"

namespace skep {

// Sequences and marks of the whole server. One row.
struct CounterRow {
  CommitSeq seq;      // last durable unit
  TxnId next_txn{1};  // first id not yet given out; never goes back
  LockId next_lock{1};
  CompactionId next_compaction{1};
  TableId next_table{1};
  int64_t next_request_slot = 0;  // request ring: where the next RequestRow goes
  friend bool operator==(const CounterRow&, const CounterRow&) = default;
};

// An open transaction. Ended ones leave this table: see ResolvedTxnRow and AbortedTxnsRow; an id
// below next_txn that is in none of the three is committed.
struct TxnRow {
  TxnId id;
  TxnType type = TxnType::kDefault;
  CommitSeq opened_seq;    // the unit that opened it
  CommitSeq snapshot_seq;  // its snapshot; equals opened_seq unless refreshed
  Timestamp open_time{};
  std::string user;
  std::string host;
  std::string agent;       // label given by the client
  int64_t timeout_ms = 0;  // lease
  bool from_batch =
      false;  // opened together with others: pins nothing until it names a table
  bool keep_all_pinned = false;  // asked for at open: pins every table to its end
  bool abort_only = false;       // a lock was taken from it by force: cannot commit
  friend bool operator==(const TxnRow&, const TxnRow&) = default;
};

// An open transaction that stands for one of another server (OPN-11). Key: policy, source.
struct ReplicaRow {
  std::string policy;
  TxnId source;  // there
  TxnId txn;     // here
  friend bool operator==(const ReplicaRow&, const ReplicaRow&) = default;
};

// An ended transaction, kept until no live snapshot is older than `end_seq`: such snapshots still
// see it open.
struct ResolvedTxnRow {
  CommitSeq end_seq;
  TxnId id;
  CommitSeq opened_seq;
  bool committed = false;
  // The server ended it while its reader may have been reading on: its pin lives this long,
  // counted anew from a restart. 0: its owner ended it.
  int64_t pinned_ms = 0;
  friend bool operator==(const ResolvedTxnRow&, const ResolvedTxnRow&) = default;
};

// An interval of aborted transactions with one cause. Key: first.
struct AbortedTxnsRow {
  TxnId first;
  TxnId last;
  AbortCause cause = AbortCause::kNone;
  friend bool operator==(const AbortedTxnsRow&, const AbortedTxnsRow&) = default;
};

struct TableRow {
  TableId id;
  TableName name;
  TableKind kind = TableKind::kFullAcid;
  FileFormat format = FileFormat::kOrc;
  std::string location;  // absolute, normalised
  TableSchema schema;
  Properties properties;
  Timestamp create_time{};
  CommitSeq created_seq;  // snapshots below it get NO_SUCH_TABLE
  WriteId next_write_id{1};
  CommitSeq cleaned_seq;  // snapshots below it that name the table late get SNAPSHOT_TOO_OLD
  // Registered from elsewhere: a `_vN` with N ≤ adopted_txn_bound is judged by the table, never by
  // the server's transactions: committed unless listed in adopted_aborted / adopted_open.
  TxnId adopted_txn_bound;
  std::vector<int64_t> adopted_aborted_txns;
  friend bool operator==(const TableRow&, const TableRow&) = default;
};

// A dropped table: its other rows stay, and its location is not given out again, while an older
// snapshot lives.
struct DroppedTableRow {
  TableId id;
  TableName name;
  std::string location;
  CommitSeq dropped_seq;
  friend bool operator==(const DroppedTableRow&, const DroppedTableRow&) = default;
};

// Key: table, name.
struct PartitionRow {
  TableId table;
  std::string name;
  CommitSeq created_seq;
  friend bool operator==(const PartitionRow&, const PartitionRow&) = default;
};

// A write id whose transaction is open. Key: table, write_id.
struct WriteIdRow {
  TableId table;
  WriteId write_id;
  TxnId txn;
  CommitSeq allocated_seq;
  friend bool operator==(const WriteIdRow&, const WriteIdRow&) = default;
};

// A write id whose transaction ended, kept until no live snapshot is older than `end_seq`.
// Key: end_seq, table, write_id.
struct ResolvedWriteIdRow {
  CommitSeq end_seq;
  TableId table;
  WriteId write_id;
  CommitSeq allocated_seq;
  bool committed = false;
  friend bool operator==(const ResolvedWriteIdRow&, const ResolvedWriteIdRow&) = default;
};

// An interval of aborted write ids. Key: table, first. Stays until R-14 allows it to go.
struct AbortedWriteIdsRow {
  TableId table;
  WriteId first;
  WriteId last;
  friend bool operator==(const AbortedWriteIdsRow&, const AbortedWriteIdsRow&) = default;
};

// Something an open transaction writes, as declared by a lock or AddPartitions. Key: txn, table,
// partition, op.
struct ComponentRow {
  TxnId txn;
  TableId table;
  std::string partition;  // empty: the table, all its partitions
  WriteOp op = WriteOp::kInsert;
  bool dynamic =
      false;  // placeholder of a dynamic-partition write: its partitions are not known yet
  friend bool operator==(const ComponentRow&, const ComponentRow&) = default;
};

// The newest committed writes of a resource, kept while a live snapshot is older than the newest of
// them. Key: table, partition ("" = whole table).
struct WriteMarkRow {
  TableId table;
  std::string partition;
  CommitSeq insert_seq;  // newest insert; 0 none
  TxnId insert_txn;
  CommitSeq update_seq;  // newest update or delete
  TxnId update_txn;
  CommitSeq overwrite_seq;  // newest overwrite, truncate or drop
  TxnId overwrite_txn;
  friend bool operator==(const WriteMarkRow&, const WriteMarkRow&) = default;
};

// What became of a table's rows that were there before, as a view that was built from it needs to
// know. Exists for tables that were ever updated or compacted. Key: table.
struct TableChangeRow {
  TableId table;
  CommitSeq rows_changed_seq;  // newest update, delete, overwrite or truncate; 0 none
  CommitSeq compacted_seq;     // newest published compaction; 0 none
  friend bool operator==(const TableChangeRow&, const TableChangeRow&) = default;
};

// Who rebuilds a materialised view (MV-1). Key: view.
struct ViewLockRow {
  TableName view;  // any name: views are not registered
  TxnId txn;
  Timestamp acquire_time{};
  friend bool operator==(const ViewLockRow&, const ViewLockRow&) = default;
};

// One component of a lock request, granted or waiting. Key: lock, component.
struct LockRow {
  LockId lock;
  int32_t component = 0;  // from 1
  TxnId txn;              // none: a lock outside any transaction
  LockResource resource;
  TableId table;  // none for a database
  LockKind kind = LockKind::kSharedRead;
  LockState state = LockState::kWaiting;  // kAcquired or kWaiting only
  // What its holder writes under it: becomes a ComponentRow at the grant, nothing if it never
  // comes. None: reads, or DDL that writes no rows.
  std::optional<WriteOp> op;
  bool dynamic = false;  // its partitions are known only after the statement ran
  Timestamp request_time{};
  Timestamp acquire_time{};
  std::string user;
  std::string host;
  std::string agent;
  friend bool operator==(const LockRow&, const LockRow&) = default;
};

// A compaction, queued or in history. Key: id.
struct CompactionRow {
  CompactionId id;
  TableId table;
  TableName name;  // as it was when enqueued
  std::string partition;
  CompactionType type = CompactionType::kMajor;
  CompactionState state = CompactionState::kInitiated;
  std::string reason;     // why it was enqueued, for people
  std::string initiator;  // "host-thread" or "host-manual"
  std::string worker;     // claim holder
  int64_t claim = 0;      // fencing number: grows with each claim
  TxnId txn;              // the compactor's transaction
  WriteId highest_write_id;
  CommitSeq published_seq;  // the unit that made the output visible
  std::string error;        // last failure
  Timestamp enqueue_time{};
  Timestamp start_time{};
  Timestamp end_time{};
  Timestamp commit_time{};
  int32_t clean_attempts = 0;
  Timestamp next_clean_time{};
  friend bool operator==(const CompactionRow&, const CompactionRow&) = default;
};

// A creating call that was answered, so that a repeat gets the same answer. Key: slot (a ring).
struct RequestRow {
  int64_t slot = 0;
  std::array<uint8_t, 16> request_id{};
  int32_t kind = 0;         // RequestKind of server/state
  int64_t fingerprint = 0;  // of the request's content: the same id with another content is refused
  int64_t first_id = 0;     // what was created
  int64_t count = 0;
  Timestamp time{};
  friend bool operator==(const RequestRow&, const RequestRow&) = default;
};

}  // namespace skep
