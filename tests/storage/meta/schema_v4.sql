-- A store of schema version 4 with one row in each table (tests/storage/meta/sample_state.h).
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE schema_migrations (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  applied_at TEXT NOT NULL,
  program TEXT NOT NULL
) STRICT;
INSERT INTO schema_migrations VALUES(1,'first schema','adb0c547dd8a48db','2026-10-01T00:00:00.000Z','skepd 0.1.0');
INSERT INTO schema_migrations VALUES(2,'store identity','e955a85e8c9df9e3','2026-10-01T00:00:00.000Z','skepd 0.1.0');
INSERT INTO schema_migrations VALUES(3,'pins of ended transactions','07cde8fa36e5e79c','2026-10-01T00:00:00.000Z','skepd 0.1.0');
INSERT INTO schema_migrations VALUES(4,'replicated transactions','87cfa6fa78e2cc13','2026-10-01T00:00:00.000Z','skepd 0.1.0');
CREATE TABLE counters (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seq INTEGER NOT NULL,
  next_txn_id INTEGER NOT NULL,
  next_lock_id INTEGER NOT NULL,
  next_compaction_id INTEGER NOT NULL,
  next_table_id INTEGER NOT NULL,
  next_request_slot INTEGER NOT NULL
) STRICT;
INSERT INTO counters VALUES(1,34,18,9,7,4,41);
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
INSERT INTO open_transactions VALUES(17,'COMPACTION',31,32,1790812800001,'alice','host-1','loader ''nightly''',300000,1,1,1);
CREATE TABLE ended_transactions (
  end_seq INTEGER NOT NULL,
  txn_id INTEGER NOT NULL,
  opened_seq INTEGER NOT NULL,
  committed INTEGER NOT NULL, pinned_ms INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (end_seq, txn_id)
) STRICT, WITHOUT ROWID;
INSERT INTO ended_transactions VALUES(29,15,28,1,0);
CREATE TABLE aborted_transactions (
  first_txn_id INTEGER PRIMARY KEY,
  last_txn_id INTEGER NOT NULL,
  cause TEXT NOT NULL
) STRICT;
INSERT INTO aborted_transactions VALUES(8,10,'timeout');
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
INSERT INTO tables VALUES(3,'sales','orders','INSERT_ONLY','parquet','/warehouse/sales.db/orders','{"columns":[{"comment":"the key","name":"order_id","type":"bigint"},{"name":"amount","type":"decimal(12,2)"}],"partition_columns":[{"name":"order_date","type":"date"}]}','{"NO_AUTO_COMPACTION":"true","note":"it''s \"quoted\""}',1790812800002,5,9,6,4,'[2,3]');
CREATE TABLE dropped_tables (
  table_id INTEGER PRIMARY KEY,
  database_name TEXT NOT NULL,
  table_name TEXT NOT NULL,
  location TEXT NOT NULL,
  dropped_seq INTEGER NOT NULL
) STRICT;
INSERT INTO dropped_tables VALUES(2,'sales','old','/warehouse/sales.db/old',4);
CREATE TABLE partitions (
  table_id INTEGER NOT NULL,
  partition_name TEXT NOT NULL,
  created_seq INTEGER NOT NULL,
  PRIMARY KEY (table_id, partition_name)
) STRICT, WITHOUT ROWID;
INSERT INTO partitions VALUES(3,'order_date=2026-10-01',7);
CREATE TABLE open_write_ids (
  table_id INTEGER NOT NULL,
  write_id INTEGER NOT NULL,
  txn_id INTEGER NOT NULL,
  allocated_seq INTEGER NOT NULL,
  PRIMARY KEY (table_id, write_id)
) STRICT, WITHOUT ROWID;
INSERT INTO open_write_ids VALUES(3,8,17,33);
CREATE TABLE ended_write_ids (
  end_seq INTEGER NOT NULL,
  table_id INTEGER NOT NULL,
  write_id INTEGER NOT NULL,
  allocated_seq INTEGER NOT NULL,
  committed INTEGER NOT NULL,
  PRIMARY KEY (end_seq, table_id, write_id)
) STRICT, WITHOUT ROWID;
INSERT INTO ended_write_ids VALUES(29,3,6,28,1);
CREATE TABLE aborted_write_ids (
  table_id INTEGER NOT NULL,
  first_write_id INTEGER NOT NULL,
  last_write_id INTEGER NOT NULL,
  PRIMARY KEY (table_id, first_write_id)
) STRICT, WITHOUT ROWID;
INSERT INTO aborted_write_ids VALUES(3,4,5);
CREATE TABLE transaction_writes (
  txn_id INTEGER NOT NULL,
  table_id INTEGER NOT NULL,
  partition_name TEXT NOT NULL,
  operation TEXT NOT NULL,
  dynamic INTEGER NOT NULL,
  PRIMARY KEY (txn_id, table_id, partition_name, operation)
) STRICT, WITHOUT ROWID;
INSERT INTO transaction_writes VALUES(17,3,'order_date=2026-10-01','UPDATE',1);
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
INSERT INTO latest_writes VALUES(3,'order_date=2026-10-01',21,11,22,12,23,13);
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
INSERT INTO locks VALUES(8,2,17,'sales','orders','order_date=2026-10-01',3,'EXCL_WRITE','ACQUIRED','UPDATE',1,1790812800003,1790812800004,'alice','host-1','shell');
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
INSERT INTO compactions VALUES(6,3,'sales','orders','order_date=2026-10-01','MINOR','READY_FOR_CLEANING','12 deltas','host-1-thread','host-1-worker-0',2,16,7,30,'once: disk full',1790812800005,1790812800006,1790812800007,1790812800008,3,1790812800009);
CREATE TABLE requests (
  slot INTEGER PRIMARY KEY,
  request_id BLOB NOT NULL,
  kind INTEGER NOT NULL,
  fingerprint INTEGER NOT NULL,
  first_id INTEGER NOT NULL,
  count INTEGER NOT NULL,
  time_ms INTEGER NOT NULL
) STRICT;
INSERT INTO requests VALUES(40,X'f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff',2,-1234567890123,17,1,1790812800010);
CREATE TABLE store_identity (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  store_id INTEGER NOT NULL
) STRICT;
INSERT INTO store_identity VALUES(1,-5613323550888291776);
CREATE TABLE replicated_transactions (
  policy TEXT NOT NULL,
  source_txn_id INTEGER NOT NULL,
  txn_id INTEGER NOT NULL,
  PRIMARY KEY (policy, source_txn_id)
) STRICT, WITHOUT ROWID;
INSERT INTO replicated_transactions VALUES('copy of ''east''',1017,17);
PRAGMA application_id=1397441872;
PRAGMA user_version=4;
COMMIT;
