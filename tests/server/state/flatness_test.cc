// What a call costs must not grow with what is over: with finished transactions, write ids, locks
// and compactions. Work is counted (effects of the unit, looks at the compaction queue, rows that
// are kept; looks of the lock table are counted in lock_table_test.cc), not timed.

#include <functional>

#include <gtest/gtest.h>

#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using ::skep::testing::IsOk;

constexpr LockKind kSharedWrite = LockKind::kSharedWrite;

size_t RowsOf(const StoredState& s) {
  return s.txns.size() + s.resolved_txns.size() + s.aborted_txns.size() + s.tables.size() +
         s.dropped_tables.size() + s.partitions.size() + s.write_ids.size() +
         s.resolved_write_ids.size() + s.aborted_write_ids.size() + s.components.size() +
         s.write_marks.size() + s.locks.size() + s.compactions.size() + s.requests.size();
}

// Everything a transaction can be: committed writers with locks and lists, readers, aborted in a
// row. Every tenth round a compaction, cleaned; every hundredth a table that comes and goes.
void MakeHistory(Server& server, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const TxnId writer = server.Open();
    ASSERT_THAT(server.Lock(writer, {OnTable("a", kSharedWrite, WriteOp::kUpdate)}), IsOk());
    ASSERT_THAT(server.Allocate(writer, T("a")), IsOk());
    ASSERT_THAT(server.List(writer, T("a")), IsOk());
    ASSERT_THAT(server.Commit(writer, {{T("a"), {{"", WriteOp::kUpdate}}}}), IsOk());
    const TxnId reader = server.Open(TxnType::kReadOnly);
    ASSERT_THAT(server.List(reader, T("a")), IsOk());
    ASSERT_THAT(server.Commit(reader), IsOk());
    server.Notices();
    if (i % 10 == 9) {
      ASSERT_THAT(server.BeginClean(server.Compact("a").id), IsOk());
      ASSERT_THAT(server.EndClean(server.stored().compactions.rbegin()->first), IsOk());
    }
    if (i % 100 == 99) {
      server.MakeTable("passing");
      server.Write("passing", WriteOp::kInsert);
      ASSERT_THAT(server.DropTable("passing"), IsOk());
    }
  }
}

struct Cost {
  size_t effects = 0;
  int64_t queue_looks = 0;
  friend bool operator==(const Cost&, const Cost&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Cost& c) {
    return out << c.effects << " effects, " << c.queue_looks << " looks at the queue";
  }
};

// One call in a unit of its own.
template <class F>
Cost CostOf(Server& server, F call) {
  const int64_t queue = server.state().compactions_read();
  Unit unit = server.state().Begin();
  call(server.state(), server.now(), unit);
  server.Finish(unit);
  const size_t effects = unit.effects().size();
  return {effects, server.state().compactions_read() - queue};
}

using Step = std::function<void(State&, Now, Unit&, TxnId)>;
struct Operation {
  const char* name;
  Step step;
};

const std::vector<Operation>& Operations() {
  static const auto* const kOperations = new std::vector<Operation>{
      {"open",
       [](State& s, Now now, Unit& u, TxnId) {
         EXPECT_THAT(s.Open({.user = "ann"}, now, u), IsOk());
       }},
      {"heartbeat",
       [](State& s, Now now, Unit& u, TxnId t) {
         s.Beat({{t}, {}}, now, u);
       }},
      {"lock",
       [](State& s, Now now, Unit& u, TxnId t) {
         AcquireLocks command;
         command.txn = t;
         command.components = {OnTable("a", kSharedWrite, WriteOp::kUpdate)};
         EXPECT_THAT(s.Lock(command, now, u), IsOk());
       }},
      {"allocate",
       [](State& s, Now now, Unit& u, TxnId t) {
         EXPECT_THAT(s.Allocate({T("a"), {t}}, now, u), IsOk());
       }},
      {"list",
       [](State& s, Now now, Unit& u, TxnId t) {
         const auto lists = s.ValidWriteIdsOf({t, {T("a")}, false}, now, u);
         ASSERT_THAT(lists, IsOk());
         EXPECT_TRUE(lists->tables[0].ids.open.empty());
         EXPECT_TRUE(lists->tables[0].ids.aborted.empty());
       }},
      {"snapshot",
       [](State& s, Now now, Unit& u, TxnId t) {
         const auto snapshot = s.Snapshot(t, now, u);
         ASSERT_THAT(snapshot, IsOk());
         EXPECT_LE(snapshot->ids.open.size(), 2u);
         EXPECT_TRUE(snapshot->ids.aborted.empty());
       }},
      {"what a worker asks",
       [](State& s, Now, Unit&, TxnId) { s.Compactions({.states = {CompactionState::kWorking}}); }},
      {"what the cleaner asks", [](State& s, Now now, Unit&, TxnId) { s.ReadyToClean(now); }},
      {"reap", [](State& s, Now now, Unit& u, TxnId) { s.Reap(now, u); }},
      {"commit",
       [](State& s, Now now, Unit& u, TxnId t) {
         EXPECT_THAT(s.Commit({t, {{T("a"), {{"", WriteOp::kUpdate}}}}}, now, u), IsOk());
       }},
  };
  return *kOperations;
}

std::vector<Cost> CostsAfter(int rounds, bool restart, size_t* rows) {
  Server server;
  server.MakeTable("a");
  MakeHistory(server, rounds);
  if (restart) server.Restart();
  *rows = RowsOf(server.stored());
  const TxnId txn = server.Open();
  std::vector<Cost> costs;
  for (const Operation& operation : Operations()) {
    SCOPED_TRACE(operation.name);
    costs.push_back(
        CostOf(server, [&](State& s, Now now, Unit& u) { operation.step(s, now, u, txn); }));
  }
  return costs;
}

TEST(Costs, DoNotGrowWithWhatIsOver) {
  for (const bool restart : {false, true}) {
    SCOPED_TRACE(restart ? "after a restart" : "");
    size_t few_rows = 0, many_rows = 0;
    const std::vector<Cost> few = CostsAfter(100, restart, &few_rows);
    const std::vector<Cost> many = CostsAfter(2'000, restart, &many_rows);
    EXPECT_EQ(many_rows, few_rows) << "rows that the store and the memory keep";
    for (size_t i = 0; i < few.size(); ++i) {
      SCOPED_TRACE(Operations()[i].name);
      EXPECT_EQ(many[i], few[i]);
    }
  }
}

// A flood of aborts in a row is one interval.
TEST(Costs, OfAbortsInARowAreOneRow) {
  Server server;
  server.MakeTable("a");
  size_t rows = 0;
  for (int i = 0; i < 500; ++i) {
    const TxnId txn = server.Open();
    ASSERT_THAT(server.Allocate(txn, T("a")), IsOk());
    ASSERT_THAT(server.Abort(txn), IsOk());
    if (i == 0) rows = RowsOf(server.stored());
  }
  EXPECT_EQ(RowsOf(server.stored()), rows);
}

// What lives beside costs nothing either: other transactions, their locks, other tables.
TEST(Costs, DoNotGrowWithWhatOthersHold) {
  const auto costs = [](int others) {
    Server server;
    server.MakeTable("a");
    for (int i = 0; i < others; ++i) {
      const std::string table = "t" + std::to_string(i);
      server.MakeTable(table);
      const TxnId txn = server.Open();
      EXPECT_THAT(server.Lock(txn, {OnTable(table, LockKind::kExclWrite, WriteOp::kUpdate)}),
                  IsOk());
      EXPECT_THAT(server.Allocate(txn, T(table)), IsOk());
    }
    const TxnId txn = server.Open();
    std::vector<Cost> found;
    for (const char* name : {"lock", "allocate", "commit"}) {
      for (const Operation& operation : Operations()) {
        if (std::string(name) != operation.name) continue;
        found.push_back(
            CostOf(server, [&](State& s, Now now, Unit& u) { operation.step(s, now, u, txn); }));
      }
    }
    return found;
  };
  EXPECT_EQ(costs(200), costs(2));
}

}  // namespace
}  // namespace skep::state
