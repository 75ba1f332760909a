#pragma once

#include "storage/model/stored_state.h"

namespace skep::meta {

// One row of each type that schema 1 has, every field different from its default: what the
// checked-in dumps hold (the change of the table is what migrations assume).
inline Effects SampleUnit() {
  const auto at = [](int64_t ms) { return Timestamp(std::chrono::milliseconds(ms)); };
  TxnRow txn{TxnId(17),
             TxnType::kCompaction,
             CommitSeq(31),
             CommitSeq(32),
             at(1'790'812'800'001),
             "alice",
             "host-1",
             "loader 'nightly'",
             300'000,
             true,
             true,
             true};
  TableRow table;
  table.id = TableId(3);
  table.name = {"sales", "orders"};
  table.kind = TableKind::kInsertOnly;
  table.format = FileFormat::kParquet;
  table.location = "/warehouse/sales.db/orders";
  table.schema.columns = *ParseColumns("order_id bigint COMMENT 'the key', amount decimal(12,2)");
  table.schema.partition_columns = *ParseColumns("order_date date");
  table.properties = {{"NO_AUTO_COMPACTION", "true"}, {"note", "it's \"quoted\""}};
  table.create_time = at(1'790'812'800'002);
  table.created_seq = CommitSeq(5);
  table.next_write_id = WriteId(9);
  table.cleaned_seq = CommitSeq(6);
  table.adopted_txn_bound = TxnId(4);
  table.adopted_aborted_txns = {2, 3};
  WriteMarkRow mark{TableId(3),
                    "order_date=2026-10-01",
                    CommitSeq(21),
                    TxnId(11),
                    CommitSeq(22),
                    TxnId(12),
                    CommitSeq(23),
                    TxnId(13)};
  LockRow lock;
  lock.lock = LockId(8);
  lock.component = 2;
  lock.txn = TxnId(17);
  lock.resource = {"sales", "orders", "order_date=2026-10-01"};
  lock.table = TableId(3);
  lock.kind = LockKind::kExclWrite;
  lock.state = LockState::kAcquired;
  lock.op = WriteOp::kUpdate;
  lock.dynamic = true;
  lock.request_time = at(1'790'812'800'003);
  lock.acquire_time = at(1'790'812'800'004);
  lock.user = "alice";
  lock.host = "host-1";
  lock.agent = "shell";
  CompactionRow compaction;
  compaction.id = CompactionId(6);
  compaction.table = TableId(3);
  compaction.name = {"sales", "orders"};
  compaction.partition = "order_date=2026-10-01";
  compaction.type = CompactionType::kMinor;
  compaction.state = CompactionState::kReadyForCleaning;
  compaction.reason = "12 deltas";
  compaction.initiator = "host-1-thread";
  compaction.worker = "host-1-worker-0";
  compaction.claim = 2;
  compaction.txn = TxnId(16);
  compaction.highest_write_id = WriteId(7);
  compaction.published_seq = CommitSeq(30);
  compaction.error = "once: disk full";
  compaction.enqueue_time = at(1'790'812'800'005);
  compaction.start_time = at(1'790'812'800'006);
  compaction.end_time = at(1'790'812'800'007);
  compaction.commit_time = at(1'790'812'800'008);
  compaction.clean_attempts = 3;
  compaction.next_clean_time = at(1'790'812'800'009);
  RequestRow request;
  request.slot = 40;
  for (size_t i = 0; i < request.request_id.size(); ++i) {
    request.request_id[i] = static_cast<uint8_t>(0xf0 + i);
  }
  request.kind = 2;
  request.fingerprint = -1'234'567'890'123;
  request.first_id = 17;
  request.count = 1;
  request.time = at(1'790'812'800'010);
  return {
      Put<TxnRow>{txn},
      Put<ResolvedTxnRow>{{CommitSeq(29), TxnId(15), CommitSeq(28), true, 0}},
      Put<AbortedTxnsRow>{{TxnId(8), TxnId(10), AbortCause::kTimeout}},
      Put<TableRow>{table},
      Put<DroppedTableRow>{{TableId(2), {"sales", "old"}, "/warehouse/sales.db/old", CommitSeq(4)}},
      Put<PartitionRow>{{TableId(3), "order_date=2026-10-01", CommitSeq(7)}},
      Put<WriteIdRow>{{TableId(3), WriteId(8), TxnId(17), CommitSeq(33)}},
      Put<ResolvedWriteIdRow>{{CommitSeq(29), TableId(3), WriteId(6), CommitSeq(28), true}},
      Put<AbortedWriteIdsRow>{{TableId(3), WriteId(4), WriteId(5)}},
      Put<ComponentRow>{{TxnId(17), TableId(3), "order_date=2026-10-01", WriteOp::kUpdate, true}},
      Put<WriteMarkRow>{mark},
      Put<TableChangeRow>{{TableId(3), CommitSeq(34), CommitSeq(34)}},
      Put<LockRow>{lock},
      Put<CompactionRow>{compaction},
      Put<RequestRow>{request},
      Put<CounterRow>{{CommitSeq(34), TxnId(18), LockId(9), CompactionId(7), TableId(4), 41}},
  };
}

// What came with schema 4.
inline Effect SampleReplica() {
  return Put<ReplicaRow>{{"copy of 'east'", TxnId(1017), TxnId(17)}};
}

// What a dump of schema `version` holds.
inline StoredState SampleState(int version) {
  StoredState state;
  ApplyEffects(state, SampleUnit());
  if (version >= 4) ApplyEffects(state, {SampleReplica()});
  return state;
}

}  // namespace skep::meta
