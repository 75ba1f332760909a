#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "storage/model/ids.h"
#include "storage/model/lock.h"
#include "storage/model/snapshot.h"
#include "storage/model/txn.h"
#include "tests/sim/lock_rules.h"
#include "tests/sim/truth.h"

namespace skep::sim {

// One row of the tiny world: who wrote it first, and what it says. The value is unique.
struct Row {
  WriteId write_id;
  int64_t number = 0;
  int64_t value = 0;
  friend auto operator<=>(const Row&, const Row&) = default;
};
using Rows = std::set<Row>;

// A table or partition of it.
struct Place {
  TableId table;
  std::string partition;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// What a transaction really wrote to one place, whatever it declared.
struct Written {
  Place place;
  WriteOp op = WriteOp::kInsert;
  std::vector<Row> added;
  std::vector<Row> removed;
};

// What the clients did and were told, judged as it happens by rules that know nothing of the
// product: the sequences at which transactions ended are all that it takes from the store.
// Confined to one thread.
class History {
 public:
  using Report = std::function<void(const std::string&)>;
  explicit History(Report report) : report_(std::move(report)) {}

  // ---- transactions ----

  // The client was given the transaction. No snapshot: it had ended by then. `lease_lasts`: by the
  // client's own clock.
  void Opened(const std::string& client,
              TxnId id,
              CommitSeq snapshot,
              std::function<bool()> lease_lasts = nullptr);
  // Before the commit is sent.
  void Wrote(TxnId txn, Written written);
  // None: nobody told it which.
  void Refreshed(TxnId txn, CommitSeq snapshot);
  void ToldCommitted(TxnId txn, CommitSeq seq);  // seq 0: it was committed before
  void ToldAborted(TxnId txn);
  // A durable unit ended it.
  void Ended(TxnId txn, const TxnOutcome& outcome);

  // ---- write ids ----

  void Allocated(TxnId txn, TableId table, WriteId write_id);

  // ---- snapshots ----

  // A list that the client was given. The same question has the same answer.
  void Listed(TxnId txn, const WriteIdSnapshot& list);
  void SawTxns(TxnId txn, const TxnSnapshot& snapshot);
  // The rows that it then found: exactly what was committed at or before its snapshot.
  void Read(TxnId txn, CommitSeq snapshot, const Place& place, const Rows& rows);

  // ---- locks ----

  // The client was told that it holds the lock; it does until Released, or as long as its own clock
  // says that the lease lasts.
  void Granted(LockId lock, TxnId txn, std::vector<HeldLock> held, std::function<bool()> in_force);
  // It gave the lock up, or ended: told before the call is sent.
  void Released(LockId lock);
  void ReleasedAll(TxnId txn);
  // An operator asks to take it away: its owner may not know for long, nor even have it yet.
  void TakenAway(LockId lock);

  struct Counts {
    int64_t opened = 0, committed = 0, aborted = 0, reads = 0, rows_read = 0, lists = 0, grants = 0,
            writes = 0, told_committed = 0;
  };
  const Counts& counts() const { return counts_; }
  // The rows that a snapshot of `seq` sees.
  Rows RowsAt(const Place& place, CommitSeq seq) const;

 private:
  struct Txn {
    std::string client;
    CommitSeq snapshot;
    std::function<bool()> lease_lasts;
    std::vector<Written> writes;
    bool told_committed = false;
    bool told_aborted = false;
    std::optional<CommitSeq> told_seq;
    std::optional<CommitSeq> ended;
    bool committed = false;
    std::map<TableId, WriteIdSnapshot> lists;
    std::optional<TxnSnapshot> txns;
  };
  struct Commit {
    CommitSeq seq;
    TxnId txn;
    const Written* written;
  };
  struct Hold {
    TxnId txn;
    std::vector<HeldLock> held;
    std::function<bool()> in_force;
  };

  Txn* Find(TxnId txn);
  void CheckEnd(TxnId id, const Txn& txn);
  void CheckFirstCommitter(TxnId id, const Txn& txn, CommitSeq snapshot);

  const Report report_;
  std::map<TxnId, Txn> txns_;
  std::map<std::pair<TableId, WriteId>, TxnId> write_ids_;
  std::map<Place, std::vector<Commit>> commits_;  // by sequence
  std::map<LockId, Hold> holds_;
  std::set<LockId> taken_away_;
  Counts counts_;
};

}  // namespace skep::sim
