#pragma once

#include <chrono>
#include <utility>

#include "storage/model/effect.h"

namespace skep::meta {

// Opens and commits as the state machine records them, with a reader that stays open, so that ended
// rows are kept for a while.
class Traffic {
 public:
  static constexpr int64_t kTables = 16;

  Effects Opens(int64_t count) {
    Effects unit;
    for (int64_t i = 0; i < count; ++i) {
      TxnRow txn;
      txn.id = TxnId(next_txn_++);
      txn.opened_seq = txn.snapshot_seq = CommitSeq(seq_ + 1);
      txn.open_time = Timestamp(std::chrono::milliseconds(1'790'812'800'000 + seq_));
      txn.user = "alice";
      txn.host = "host-1.example.com";
      txn.agent = "loader";
      txn.timeout_ms = 300'000;
      RequestRow request;
      request.slot = slot_++ % 100'000;
      request.request_id.fill(static_cast<uint8_t>(slot_));
      request.first_id = txn.id.value();
      request.count = 1;
      request.time = txn.open_time;
      unit.push_back(Put<TxnRow>{std::move(txn)});
      unit.push_back(Put<RequestRow>{request});
    }
    return Sealed(std::move(unit));
  }

  // Write ids and the declared update of transactions [first, first + count).
  Effects Allocations(int64_t first, int64_t count) {
    Effects unit;
    for (int64_t txn = first; txn < first + count; ++txn) {
      const TableId table(1 + txn % kTables);
      unit.push_back(
          Put<WriteIdRow>{{table, WriteId(1 + txn / kTables), TxnId(txn), CommitSeq(seq_ + 1)}});
      unit.push_back(Put<ComponentRow>{{TxnId(txn), table, "", WriteOp::kUpdate, false}});
    }
    return Sealed(std::move(unit));
  }

  Effects Commits(int64_t first, int64_t count) {
    Effects unit;
    const CommitSeq end(seq_ + 1);
    for (int64_t txn = first; txn < first + count; ++txn) {
      const TableId table(1 + txn % kTables);
      const WriteId write_id(1 + txn / kTables);
      unit.push_back(EraseTxn{TxnId(txn)});
      unit.push_back(EraseComponents{TxnId(txn)});
      unit.push_back(EraseWriteId{table, write_id});
      unit.push_back(Put<ResolvedTxnRow>{{end, TxnId(txn), CommitSeq(seq_), true, 0}});
      unit.push_back(Put<ResolvedWriteIdRow>{{end, table, write_id, CommitSeq(seq_), true}});
      WriteMarkRow mark;
      mark.table = table;
      mark.update_seq = end;
      mark.update_txn = TxnId(txn);
      unit.push_back(Put<WriteMarkRow>{mark});
    }
    if (end.value() > 30) unit.push_back(ForgetResolved{CommitSeq(end.value() - 30)});
    return Sealed(std::move(unit));
  }

  int64_t next_txn() const { return next_txn_; }

 private:
  Effects Sealed(Effects unit) {
    ++seq_;
    unit.push_back(Put<CounterRow>{
        {CommitSeq(seq_), TxnId(next_txn_), LockId(1), CompactionId(1), TableId(99), slot_}});
    return unit;
  }

  int64_t seq_ = 0;
  int64_t next_txn_ = 1;
  int64_t slot_ = 0;
};

}  // namespace skep::meta
