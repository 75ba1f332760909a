#include "storage/meta/sqlite/migrations.h"

namespace skep::meta {
namespace {

// Names are for the person in the sqlite3 shell; docs/store.md explains each column. Where a key
// has more than one column the table is the index itself (WITHOUT ROWID). No secondary index: every
// question is answered from memory, the store is written by key and read whole.
constexpr std::string_view kFirstSchema = R"sql(
CREATE TABLE counters (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seq INTEGER NOT NULL,
  next_txn_id INTEGER NOT NULL,
  next_lock_id INTEGER NOT NULL,
  next_compaction_id INTEGER NOT NULL,
  next_table_id INTEGER NOT NULL,
  next_request_slot INTEGER NOT NULL
) STRICT;

CREATE TABLE open_transactions (
  txn_id INTEGER PRIMARY KEY,
  type TEXT NOT NULL,
  opened_seq INTEGER NOT NULL,
  snapshot_seq INTEGER NOT NULL,
  open_time_ms INTEGER NOT NULL,
  user_name TEXT NOT NULL,
  host TEXT NOT NULL,
  agent TEXT NOT NULL,
  timeout_ms INTEGER NOT NULL,
  from_batch INTEGER NOT NULL,
  keep_all_pinned INTEGER NOT NULL,
  abort_only INTEGER NOT NULL
) STRICT;

CREATE TABLE ended_transactions (
  end_seq INTEGER NOT NULL,
  txn_id INTEGER NOT NULL,
  opened_seq INTEGER NOT NULL,
  committed INTEGER NOT NULL,
  PRIMARY KEY (end_seq, txn_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE aborted_transactions (
  first_txn_id INTEGER PRIMARY KEY,
  last_txn_id INTEGER NOT NULL,
  cause TEXT NOT NULL
) STRICT;

CREATE TABLE tables (
  table_id INTEGER PRIMARY KEY,
  database_name TEXT NOT NULL,
  table_name TEXT NOT NULL,
  kind TEXT NOT NULL,
  format TEXT NOT NULL,
  location TEXT NOT NULL,
  schema TEXT NOT NULL,
  properties TEXT NOT NULL,
  create_time_ms INTEGER NOT NULL,
  created_seq INTEGER NOT NULL,
  next_write_id INTEGER NOT NULL,
  cleaned_seq INTEGER NOT NULL,
  adopted_txn_bound INTEGER NOT NULL,
  adopted_aborted_txns TEXT NOT NULL
) STRICT;

CREATE TABLE dropped_tables (
  table_id INTEGER PRIMARY KEY,
  database_name TEXT NOT NULL,
  table_name TEXT NOT NULL,
  location TEXT NOT NULL,
  dropped_seq INTEGER NOT NULL
) STRICT;

CREATE TABLE partitions (
  table_id INTEGER NOT NULL,
  partition_name TEXT NOT NULL,
  created_seq INTEGER NOT NULL,
  PRIMARY KEY (table_id, partition_name)
) STRICT, WITHOUT ROWID;

CREATE TABLE open_write_ids (
  table_id INTEGER NOT NULL,
  write_id INTEGER NOT NULL,
  txn_id INTEGER NOT NULL,
  allocated_seq INTEGER NOT NULL,
  PRIMARY KEY (table_id, write_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE ended_write_ids (
  end_seq INTEGER NOT NULL,
  table_id INTEGER NOT NULL,
  write_id INTEGER NOT NULL,
  allocated_seq INTEGER NOT NULL,
  committed INTEGER NOT NULL,
  PRIMARY KEY (end_seq, table_id, write_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE aborted_write_ids (
  table_id INTEGER NOT NULL,
  first_write_id INTEGER NOT NULL,
  last_write_id INTEGER NOT NULL,
  PRIMARY KEY (table_id, first_write_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE transaction_writes (
  txn_id INTEGER NOT NULL,
  table_id INTEGER NOT NULL,
  partition_name TEXT NOT NULL,
  operation TEXT NOT NULL,
  dynamic INTEGER NOT NULL,
  PRIMARY KEY (txn_id, table_id, partition_name, operation)
) STRICT, WITHOUT ROWID;

CREATE TABLE latest_writes (
  table_id INTEGER NOT NULL,
  partition_name TEXT NOT NULL,
  insert_seq INTEGER NOT NULL,
  insert_txn_id INTEGER NOT NULL,
  update_seq INTEGER NOT NULL,
  update_txn_id INTEGER NOT NULL,
  overwrite_seq INTEGER NOT NULL,
  overwrite_txn_id INTEGER NOT NULL,
  PRIMARY KEY (table_id, partition_name)
) STRICT, WITHOUT ROWID;

CREATE TABLE locks (
  lock_id INTEGER NOT NULL,
  component INTEGER NOT NULL,
  txn_id INTEGER NOT NULL,
  database_name TEXT NOT NULL,
  table_name TEXT NOT NULL,
  partition_name TEXT NOT NULL,
  table_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  operation TEXT,
  dynamic INTEGER NOT NULL,
  request_time_ms INTEGER NOT NULL,
  acquire_time_ms INTEGER NOT NULL,
  user_name TEXT NOT NULL,
  host TEXT NOT NULL,
  agent TEXT NOT NULL,
  PRIMARY KEY (lock_id, component)
) STRICT, WITHOUT ROWID;

CREATE TABLE compactions (
  compaction_id INTEGER PRIMARY KEY,
  table_id INTEGER NOT NULL,
  database_name TEXT NOT NULL,
  table_name TEXT NOT NULL,
  partition_name TEXT NOT NULL,
  type TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  initiator TEXT NOT NULL,
  worker TEXT NOT NULL,
  claim INTEGER NOT NULL,
  txn_id INTEGER NOT NULL,
  highest_write_id INTEGER NOT NULL,
  published_seq INTEGER NOT NULL,
  error TEXT NOT NULL,
  enqueue_time_ms INTEGER NOT NULL,
  start_time_ms INTEGER NOT NULL,
  end_time_ms INTEGER NOT NULL,
  commit_time_ms INTEGER NOT NULL,
  clean_attempts INTEGER NOT NULL,
  next_clean_time_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE requests (
  slot INTEGER PRIMARY KEY,
  request_id BLOB NOT NULL,
  kind INTEGER NOT NULL,
  fingerprint INTEGER NOT NULL,
  first_id INTEGER NOT NULL,
  count INTEGER NOT NULL,
  time_ms INTEGER NOT NULL
) STRICT;
)sql";

// Ties the files of the log (docs/store.md) to the tables they go on from. A program that knows
// nothing of the log would lose what is only there: the new version keeps it away.
constexpr std::string_view kStoreIdentity = R"sql(
CREATE TABLE store_identity (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  store_id INTEGER NOT NULL
) STRICT;

INSERT INTO store_identity VALUES (1, random());
)sql";

// How long the pin of a transaction that the server ended outlives it. Older programs did not write
// it down; five minutes is the lease they assumed.
constexpr std::string_view kPinnedAfterEnd = R"sql(
ALTER TABLE ended_transactions ADD COLUMN pinned_ms INTEGER NOT NULL DEFAULT 0;

UPDATE ended_transactions SET pinned_ms = 300000 WHERE committed = 0;
)sql";

// Which open transaction stands for which one of another server.
constexpr std::string_view kReplicatedTransactions = R"sql(
CREATE TABLE replicated_transactions (
  policy TEXT NOT NULL,
  source_txn_id INTEGER NOT NULL,
  txn_id INTEGER NOT NULL,
  PRIMARY KEY (policy, source_txn_id)
) STRICT, WITHOUT ROWID;
)sql";

// What views need to know of their sources. Older programs did not write it down: whatever a table
// went through may have changed its rows.
constexpr std::string_view kViews = R"sql(
CREATE TABLE table_changes (
  table_id INTEGER PRIMARY KEY,
  rows_changed_seq INTEGER NOT NULL,
  compacted_seq INTEGER NOT NULL
) STRICT;

INSERT INTO table_changes SELECT table_id, seq, seq FROM tables, counters;

CREATE TABLE view_rebuilds (
  database_name TEXT NOT NULL,
  view_name TEXT NOT NULL,
  txn_id INTEGER NOT NULL,
  acquire_time_ms INTEGER NOT NULL,
  PRIMARY KEY (database_name, view_name)
) STRICT, WITHOUT ROWID;
)sql";

constexpr MigrationStep kSteps[] = {
    {1, "first schema", kFirstSchema},
    {2, "store identity", kStoreIdentity},
    {3, "pins of ended transactions", kPinnedAfterEnd},
    {4, "replicated transactions", kReplicatedTransactions},
    {5, "sources and rebuilds of views", kViews},
};

}  // namespace

std::span<const MigrationStep> MigrationSteps() { return kSteps; }

}  // namespace skep::meta
