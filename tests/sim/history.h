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
#include "tests/sim/history_log.h"
#include "tests/sim/lock_rules.h"
#include "tests/sim/snapshot_model.h"
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

  // Takes all that is told here, in JSON lines.
  HistoryLog& log() { return log_; }
  // What the units said about ids: filled by Truth.
  SnapshotModel& model() { return model_; }

  // ---- transactions ----

  // The newest commit that some client was told of. Whoever asks for a snapshot from now on sees
  // it.
  CommitSeq acknowledged() const { return acknowledged_; }

  // The client was given the transaction. `lease_lasts`: by the client's own clock. `at_least`:
  // what was acknowledged before it asked.
  void Opened(const std::string& client,
              TxnId id,
              CommitSeq snapshot,
              std::function<bool()> lease_lasts = nullptr,
              CommitSeq at_least = CommitSeq());
  // Before the commit is sent.
  void Wrote(TxnId txn, Written written);
  // What it wrote to the table was under a write id that was taken from it: it is void.
  void Discarded(TxnId txn, TableId table);
  // It will drop the table: before the commit is sent.
  void Drops(TxnId txn, TableId table);
  // It was given a snapshot in place of the one it had. None: nobody told it which.
  void Refreshed(TxnId txn, CommitSeq snapshot, CommitSeq at_least = CommitSeq());
  void ToldCommitted(TxnId txn, CommitSeq seq);  // seq 0: it was committed before
  void ToldAborted(TxnId txn);
  // Its commit was refused because of what `winner` had committed.
  void LostTo(TxnId txn, TxnId winner);
  // A lock was taken from it by force, as of unit `since` at the latest: it may never commit.
  void AbortOnly(TxnId txn, CommitSeq since);
  // A durable unit ended it.
  void Ended(TxnId txn, const TxnOutcome& outcome);

  // ---- write ids ----

  void Allocated(TxnId txn, TableId table, WriteId write_id);

  // ---- snapshots ----

  // A list that the client was given: what the model says, and the same for the same question.
  void Listed(TxnId txn, const WriteIdSnapshot& list);
  void SawTxns(TxnId txn, const TxnSnapshot& snapshot);
  // The partitions that it was shown. Its own are among them.
  void SawPartitions(TxnId txn, TableId table, std::set<std::string> partitions);
  // The rows that it then found: exactly what was committed at or before its snapshot, and its own
  // writes.
  void Read(TxnId txn, CommitSeq snapshot, const Place& place, const Rows& rows);
  // What somebody found who read as of unit `seq`.
  void ReadAtTheEnd(CommitSeq seq, const Place& place, const Rows& rows);

  // ---- locks ----

  // The client was told that it holds the lock; it does until Released, or as long as its own clock
  // says that the lease lasts.
  void Granted(LockId lock, TxnId txn, std::vector<HeldLock> held, std::function<bool()> in_force);
  // It gave the lock up, or ended: told before the call is sent.
  void Released(LockId lock);
  void ReleasedAll(TxnId txn);
  // An operator asks to take it away: its owner may not know for long, nor even have it yet.
  void TakenAway(LockId lock);
  bool WasTakenAway(LockId lock) const { return taken_away_.contains(lock); }

  // ---- views and compactions ----

  // It was told that it alone rebuilds the view, as long as its lease lasts by its own clock.
  void Rebuilds(const std::string& view, TxnId txn, std::function<bool()> in_force);
  // What became of a source since a list of it, as a client was told.
  struct Change {
    bool unknown = false, unchanged = false, rows_changed = false, compacted = false;
    std::set<int64_t> now_visible;
  };
  void Changed(TxnId txn,
               CommitSeq snapshot,
               const WriteIdSnapshot& built_from,
               const Change& told);
  // All outputs of the compaction under `txn` have their names.
  void Merged(TxnId txn) { merged_.insert(txn); }
  // A unit made them visible.
  void Published(TableId table, TxnId txn, CommitSeq seq);

  // What clients gave it to ask is not asked any more.
  void LetGo();

  struct Counts {
    int64_t opened = 0, committed = 0, aborted = 0, reads = 0, rows_read = 0, lists = 0, grants = 0,
            writes = 0, told_committed = 0, own_reads = 0, conflicts = 0;
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
    std::optional<TxnOutcome> ended;
    std::optional<CommitSeq> abort_only;  // since this unit
    bool handed_out = false;              // a list or a write id: its snapshot stays
    std::set<TableId> drops;
    std::set<Place> touched;  // it wrote there, though it may be void by now
    std::map<TableId, std::set<std::string>> partitions;

    bool committed() const { return ended && ended->committed(); }
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
  void CheckFirstCommitter(TxnId id, const Txn& txn);
  void CheckDrops(TxnId id, const Txn& txn);
  void CheckSnapshot(TxnId id, CommitSeq snapshot, CommitSeq at_least);
  bool OwnWrites(TxnId id, const Place& place, Rows& rows) const;

  const Report report_;
  HistoryLog log_;
  SnapshotModel model_;
  CommitSeq acknowledged_;
  std::map<TxnId, Txn> txns_;
  std::map<TableId, CommitSeq> dropped_;
  std::map<std::pair<TableId, WriteId>, TxnId> write_ids_;
  std::map<Place, std::vector<Commit>> commits_;  // by sequence
  std::map<LockId, Hold> holds_;
  std::set<LockId> taken_away_;
  std::map<std::string, Hold> rebuilds_;    // by view
  std::map<TableId, CommitSeq> published_;  // the newest
  std::set<TxnId> merged_;
  Counts counts_;
};

}  // namespace skep::sim
