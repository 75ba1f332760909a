// A random workload against the state, with the store checked after every unit, restarts anywhere,
// and an oracle that knows nothing of resolved rows: what the store said at a sequence is what a
// snapshot of that sequence must say for ever.

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/random.h"
#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using ::skep::testing::IsOk;
using std::chrono::seconds;

// What one sequence published, read off the rows of that moment.
struct Published {
  ValidIds txns;
  std::map<TableId, ValidIds> tables;
};

Published ReadPublished(const StoredState& stored) {
  Published p;
  p.txns.high = stored.counters.next_txn.value() - 1;
  for (const auto& [id, row] : stored.txns) p.txns.open.push_back(id.value());
  for (const auto& [first, row] : stored.aborted_txns) {
    for (int64_t id = row.first.value(); id <= row.last.value(); ++id) p.txns.aborted.push_back(id);
  }
  for (const auto& [id, row] : stored.tables) p.tables[id].high = row.next_write_id.value() - 1;
  for (const auto& [key, row] : stored.write_ids)
    p.tables[row.table].open.push_back(row.write_id.value());
  for (const auto& [key, row] : stored.aborted_write_ids) {
    for (int64_t id = row.first.value(); id <= row.last.value(); ++id) {
      p.tables[row.table].aborted.push_back(id);
    }
  }
  return p;
}

// A committed write, and the naive form of first committer wins: a scan of all of them.
struct Committed {
  TableId table;
  std::string partition;
  WriteOp op;
  CommitSeq seq;
};
bool Replaces(WriteOp op) { return op == WriteOp::kOverwrite || op == WriteOp::kDrop; }
bool Clash(WriteOp a, WriteOp b) {
  if (Replaces(a) || Replaces(b)) return true;
  return a != WriteOp::kInsert && b != WriteOp::kInsert;
}

class Workload {
 public:
  explicit Workload(uint64_t seed) : random_(seed), server_(MakeOptions()) {}

  void Run(int units) {
    Note();
    for (int i = 0; i < units && !::testing::Test::HasFailure(); ++i) {
      Unit unit = server_.state().Begin();
      const int commands = 1 + Below(4);
      for (int c = 0; c < commands; ++c) Command(unit);
      server_.Finish(unit);
      server_.Notices();
      Note();
      if (Below(4) == 0) CheckLive();
      if (Below(12) == 0) {
        server_.Restart();
        CheckLive();
      }
    }
  }
  int64_t commits() const { return commits_; }
  int64_t conflicts() const { return conflicts_; }
  int64_t drops() const { return drops_; }
  int64_t cleans() const { return cleans_; }
  int64_t pinned() const { return ready_ - cleans_; }

 private:
  static Options MakeOptions() {
    Options options;
    options.max_open_txns = 16;
    options.request_ring = 16;
    options.claim_lease = seconds(200);
    return options;
  }
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(random_.NextUint64() % static_cast<uint64_t>(n));
  }
  template <class T>
  const T& Pick(const std::vector<T>& from) {
    return from[Below(std::ssize(from))];
  }

  void Note() {
    const StoredState& stored = server_.stored();
    published_.emplace(stored.counters.seq, ReadPublished(stored));
  }
  State& s() { return server_.state(); }
  Now now() { return server_.now(); }

  TxnId AnyTxn() {
    const auto& open = server_.stored().txns;
    if (open.empty() || Below(10) == 0) return TxnId(1 + Below(60));
    auto it = open.begin();
    std::advance(it, Below(std::ssize(open)));
    return it->first;
  }
  TableName AnyTable() { return T(Pick(names_)); }
  bool Partitioned(const TableName& name) { return name.table >= "c"; }
  std::string AnyPartition(const TableName& name) {
    return Partitioned(name) ? "p=" + std::to_string(Below(3)) : "";
  }
  WriteOp AnyOp() { return static_cast<WriteOp>(Below(4)); }
  RequestKey AnyRequest() {
    RequestKey key;
    if (Below(3) == 0) key.id[0] = static_cast<uint8_t>(1 + Below(30));
    key.repeat = Below(8) == 0;
    return key;
  }

  void Command(Unit& unit) {
    switch (Below(22)) {
      case 0:
      case 1:
      case 2:
        return Open(unit);
      case 3:
      case 4:
      case 5:
        return Commit(unit);
      case 6:
        (void)s().AbortOne(
            AnyTxn(), Below(2) ? AbortCause::kUser : AbortCause::kOperator, now(), unit);
        return;
      case 7:
      case 8:
      case 9:
        Allocate(unit);
        return;
      case 10:
      case 11:
        return Lock(unit);
      case 12:
        (void)s().Release({LockId(1 + Below(50)), Below(6) == 0}, now(), unit);
        return;
      case 13:
        return Tables(unit);
      case 14:
      case 20:
      case 21:
        return Compaction(unit);
      case 15:
        return Clean(unit);
      case 16:
        return Time(unit);
      case 17:
        return Ask(AnyTxn(), unit);
      case 18:
        (void)s().RefreshSnapshot(AnyTxn(), now(), unit);
        return;
      case 19:
        return Partitions(unit);
    }
  }
  void Open(Unit& unit) {
    OpenTxns command;
    command.count = Below(5) == 0 ? 3 : 1;
    command.type = Below(6) == 0 ? TxnType::kReadOnly : TxnType::kDefault;
    command.keep_all_pinned = Below(8) == 0;
    command.user = Below(2) ? "ann" : "bob";
    command.request = AnyRequest();
    (void)s().Open(command, now(), unit);
  }
  void Allocate(Unit& unit) {
    AllocateWriteIds command{AnyTable(), {AnyTxn()}};
    if (Below(3) == 0) command.txns.push_back(AnyTxn());
    (void)s().Allocate(command, now(), unit);
  }
  void Partitions(Unit& unit) {
    const TableName table = AnyTable();
    (void)s().AddWrites({AnyTxn(), table, {AnyPartition(table)}, AnyOp()}, now(), unit);
  }
  void Lock(Unit& unit) {
    AcquireLocks command;
    if (Below(5) > 0) command.txn = AnyTxn();
    const int count = 1 + Below(2);
    for (int i = 0; i < count; ++i) {
      LockComponent c;
      const TableName table = AnyTable();
      c.resource.database = "db";
      if (Below(8) > 0) c.resource.table = table.table;
      if (!c.resource.table.empty() && Below(2)) c.resource.partition = AnyPartition(table);
      c.kind = static_cast<LockKind>(Below(4));
      if (!c.resource.table.empty() && !command.txn.is_none() && Below(2)) c.op = AnyOp();
      c.dynamic = c.op && Below(4) == 0;
      command.components.push_back(c);
    }
    command.wait = Below(3) > 0;
    command.request = AnyRequest();
    (void)s().Lock(command, now(), unit);
  }
  void Tables(Unit& unit) {
    const TableName name = AnyTable();
    const CreateTable create = Server::TableOf(name.table, Partitioned(name));
    switch (Below(4)) {
      case 0: {
        RegisterTable command;
        command.name = name;
        command.location = create.location;
        command.schema = create.schema;
        command.highest_write_id = WriteId(5);
        command.aborted_write_ids = {2, 3};
        if (Partitioned(name)) command.partitions = {"p=9"};
        command.adopted_txn_bound =
            TxnId(Below(3) == 0 ? server_.stored().counters.next_txn.value() + 3 : 0);
        command.request = AnyRequest();
        (void)s().Register(command, now(), unit);
        return;
      }
      case 1:
        (void)s().SetProperties(name, {{"k", std::to_string(Below(3))}}, {}, now(), unit);
        return;
      case 2: {
        auto with_request = create;
        with_request.request = AnyRequest();
        (void)s().Create(with_request, now(), unit);
        return;
      }
      case 3: {  // everything a drop needs, if nobody is in the way
        OpenTxns open;
        const auto opened = s().Open(open, now(), unit);
        if (!opened.ok()) return;
        AcquireLocks lock;
        lock.txn = opened->first;
        lock.components = {OnTable(name.table, LockKind::kExclusive)};
        lock.wait = false;
        const auto answer = s().Lock(lock, now(), unit);
        if (answer.ok() && s().Drop(opened->first, name, now(), unit).ok())
          CommitOf(opened->first, {}, unit);
        return;
      }
    }
  }
  void Compaction(Unit& unit) {
    const TableName table = AnyTable();
    const auto& rows = server_.stored().compactions;
    switch (Below(4)) {
      case 0: {
        EnqueueCompaction command;
        command.table = table;
        command.partition = AnyPartition(table);
        command.type = Below(2) ? CompactionType::kMajor : CompactionType::kMinor;
        command.request = AnyRequest();
        (void)s().Enqueue(command, now(), unit);
        return;
      }
      case 1:
        (void)s().Claim("w", now(), unit);
        return;
      default: {
        std::vector<CompactionRow> some;
        for (const auto& [id, entry] : rows) {
          if (entry.state == CompactionState::kWorking || Below(6) == 0) some.push_back(entry);
        }
        if (some.empty()) return;
        const CompactionRow row = Pick(some);
        (void)s().ClaimView(row.id, row.claim, now(), unit);
        if (Below(3) == 0) {
          const CompactionState end[] = {
              CompactionState::kFailed, CompactionState::kRefused, CompactionState::kInitiated};
          (void)s().Finish({row.id, row.claim, end[Below(3)], "x"}, now(), unit);
        } else {
          (void)s().Publish({row.id, row.claim, row.highest_write_id}, now(), unit);
        }
        if (Below(6) == 0) (void)s().Cancel(row.id, now(), unit);
        return;
      }
    }
  }
  void Clean(Unit& unit) {
    ready_ += std::ssize(s().ReadyToClean(now()));
    for (CompactionId id : s().ReadyToClean(now())) {
      auto task = s().BeginClean(id, now(), unit);
      if (task.ok() && Below(3) > 0) {  // those that pin everything would leave nothing to clean
        for (const Pin& pin : task->pinned_by) {
          if (pin.every_table) (void)s().AbortOne(pin.txn, AbortCause::kUser, now(), unit);
          if (pin.ended) server_.Pass(kLease);
        }
        task = s().BeginClean(id, now(), unit);
      }
      if (!task.ok() || !task->pinned_by.empty()) continue;
      // Nobody who may still list the inputs: every open transaction with an older snapshot that
      // was given a list of this table would.
      for (const auto& [key, list] : given_) {
        const auto& [txn, table] = key;
        const auto open = server_.stored().txns.find(txn);
        if (table != task->table.id || open == server_.stored().txns.end()) continue;
        if (!s().GetTxn(txn, now())->open) continue;  // ended earlier in this unit
        EXPECT_GE(open->second.snapshot_seq, task->row.published_seq)
            << "transaction " << txn << " still reads table " << table;
      }
      ++cleans_;
      (void)s().FinishCleaning({id, Below(4) > 0, "", now().wall + seconds(30)}, now(), unit);
    }
  }
  void Time(Unit& unit) {
    server_.Pass(seconds(Below(40)));
    if (Below(2)) {
      for (int i = 0; i < 10; ++i)
        (void)s().Beat({{AnyTxn()}, {LockId(1 + Below(50))}}, now(), unit);
    }
    if (Below(4) == 0) s().ExtendLeases(seconds(5));
    s().Reap(now(), unit);
  }

  void Commit(Unit& unit) {
    const TxnId txn = AnyTxn();
    std::vector<TableWrites> set;
    for (const std::string& table : names_) {
      if (Below(3) == 0) continue;
      TableWrites writes{T(table), {}};
      const int count = Below(3);
      for (int i = 0; i < count; ++i) writes.writes.push_back({AnyPartition(T(table)), AnyOp()});
      if (server_.state().GetTable(T(table)).ok()) set.push_back(writes);
    }
    CommitOf(txn, set, unit);
  }
  // The write set as R-6 says it, from the rows of this moment.
  std::vector<Committed> NaiveWriteSet(const StoredState& rows,
                                       TxnId txn,
                                       const std::vector<TableWrites>& set) {
    std::vector<Committed> out;
    std::set<TableId> complete;
    for (const TableWrites& table : set) {
      // Its own table of that name, or the one there is.
      TableId id;
      for (const auto& [known, row] : rows.tables) {
        if (row.name == table.table) id = known;
      }
      complete.insert(id);
      for (const PartitionWrite& w : table.writes) out.push_back({id, w.partition, w.op, {}});
    }
    for (const auto& [key, row] : rows.components) {
      if (row.txn != txn || (row.dynamic && complete.contains(row.table))) continue;
      out.push_back({row.table, row.dynamic ? "" : row.partition, row.op, {}});
    }
    for (const auto& [key, row] : rows.write_ids) {
      if (row.txn == txn && !complete.contains(row.table))
        out.push_back({row.table, "", WriteOp::kUpdate, {}});
    }
    return out;
  }
  bool NaiveConflict(const std::vector<Committed>& own, CommitSeq snapshot) {
    for (const Committed& a : own) {
      for (const Committed& b : committed_) {
        const bool overlap =
            a.partition.empty() || b.partition.empty() || a.partition == b.partition;
        if (b.seq > snapshot && a.table == b.table && overlap && Clash(a.op, b.op)) return true;
      }
    }
    return false;
  }
  void CommitOf(TxnId txn, const std::vector<TableWrites>& set, Unit& unit) {
    const StoredState rows = s().ToStored();  // with what this unit did so far
    const auto open = rows.txns.find(txn);
    const auto result = s().Commit({txn, set}, now(), unit);
    if (open == rows.txns.end()) return;
    const std::vector<Committed> own = NaiveWriteSet(rows, txn, set);
    bool dropped = false;
    for (const Committed& write : own) dropped |= !rows.tables.contains(write.table);
    if (result.ok()) {
      ++commits_;
      EXPECT_FALSE(dropped) << txn << " wrote to a dropped table";
      EXPECT_FALSE(NaiveConflict(own, open->second.snapshot_seq)) << txn << " lost an update";
      for (Committed write : own) {
        write.seq = unit.seq();
        committed_.push_back(write);
        drops_ += write.op == WriteOp::kDrop;
      }
    } else if (ReasonOf(result.status()) == ErrorReason::kWriteConflict) {
      ++conflicts_;
      EXPECT_TRUE(dropped || NaiveConflict(own, open->second.snapshot_seq))
          << txn << " lost to nobody";
    }
  }

  // What a live transaction is told must be what its sequence published, and what it was told
  // before.
  void Ask(TxnId txn, Unit& unit) {
    const auto snapshot = s().Snapshot(txn, now(), unit);
    if (!snapshot.ok()) return;
    EXPECT_EQ(snapshot->ids, published_.at(snapshot->seq).txns)
        << "transactions at " << snapshot->seq;
    for (const std::string& name : names_) {
      // To name a table is to pin it: mostly those that were named before.
      const TableRow* table = nullptr;
      for (const auto& [id, row] : server_.stored().tables) {
        if (row.name == T(name)) table = &row;
      }
      if (Below(6) > 0 && (table == nullptr || !given_.contains({txn, table->id}))) continue;
      const auto lists = s().ValidWriteIdsOf({txn, {T(name)}, false}, now(), unit);
      if (!lists.ok()) {
        const ErrorReason reason = ReasonOf(lists.status());
        EXPECT_TRUE(reason == ErrorReason::kNoSuchTable || reason == ErrorReason::kSnapshotTooOld)
            << lists.status();
        for (const auto& [id, row] : server_.stored().tables) {  // dropped ones included
          EXPECT_FALSE(row.name == T(name) && given_.contains({txn, id}))
              << txn << " was given a list of " << name << " before: " << lists.status();
        }
        continue;
      }
      const WriteIdSnapshot& list = lists->tables.front();
      ValidIds expected = published_.at(list.seq).tables.at(list.table_id);
      for (int64_t own : list.own) std::erase(expected.open, own);
      EXPECT_EQ(list.ids, expected) << name << " at " << list.seq;
      given_.emplace(std::pair(txn, list.table_id), list.ids);
    }
  }
  void CheckLive() {
    Unit unit = server_.state().Begin();
    std::vector<TxnId> live;
    for (const auto& [id, row] : server_.stored().txns) live.push_back(id);
    for (TxnId id : live) Ask(id, unit);
    server_.Finish(unit);
    Note();
  }

  SeededRandom random_;
  Server server_;
  std::vector<std::string> names_ = {"a", "b", "c", "d"};  // c and d are partitioned
  std::map<CommitSeq, Published> published_;
  std::map<std::pair<TxnId, TableId>, ValidIds> given_;
  std::vector<Committed> committed_;
  int64_t commits_ = 0, conflicts_ = 0, drops_ = 0, cleans_ = 0, ready_ = 0;
};

TEST(Workload, KeepsStoreAndStateTheSameAndEverySnapshotTrue) {
  const char* given = std::getenv("SKEP_TEST_SEED");
  const uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
  const uint64_t last = given != nullptr ? first : 40;
  int64_t commits = 0, conflicts = 0, drops = 0, cleans = 0, pinned = 0;
  for (uint64_t seed = first; seed <= last && !HasFailure(); ++seed) {
    SCOPED_TRACE("SKEP_TEST_SEED=" + std::to_string(seed));
    Workload workload(seed);
    workload.Run(400);
    commits += workload.commits();
    conflicts += workload.conflicts();
    drops += workload.drops();
    cleans += workload.cleans();
    pinned += workload.pinned();
  }
  if (given != nullptr) return;
  // The seeds really go everywhere.
  EXPECT_GT(commits, 1000);
  RecordProperty("cleans", cleans);
  EXPECT_GT(conflicts, 100);
  EXPECT_GT(drops, 20);
  EXPECT_GT(cleans, 20);
  EXPECT_GT(pinned, 100);
}

}  // namespace
}  // namespace skep::state
