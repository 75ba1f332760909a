// What a transaction sees: races, table snapshots (WSN), own ids.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/state/txn_table.h"
#include "server/state/write_ids.h"
#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

LockComponent Update(const std::string& table) {
  return OnTable(table, LockKind::kExclWrite, WriteOp::kUpdate);
}

TEST(Snapshots, AreNeverCutAtTheOwnersId) {
  Server server;
  server.MakeTable("a");
  const TxnId t15 = server.Open();
  ASSERT_THAT(server.Lock(t15, {Update("a")}), IsOk());
  const TxnId t10 = server.Open();  // opened later, waits for the lock
  ASSERT_THAT(server.Lock(t10, {Update("a")}), IsOk());
  const TxnId t20 = server.Open();  // a higher id that commits before the fresh snapshot
  ASSERT_THAT(server.Commit(t20), IsOk());
  ASSERT_THAT(server.Allocate(t15, T("a")), IsOk());
  ASSERT_THAT(server.Commit(t15), IsOk());
  ASSERT_THAT(server.Refresh(t10), IsOk());
  const auto snapshot = server.Snapshot(t10);
  ASSERT_THAT(snapshot, IsOk());
  EXPECT_EQ(snapshot->ids.high, t20.value()) << "the sequence's high mark, not the owner's id";
  EXPECT_TRUE(snapshot->IsVisible(t20));
  EXPECT_TRUE(snapshot->IsVisible(t10)) << "the owner sees itself";
  EXPECT_THAT(snapshot->ids.open, ElementsAre(t10.value())) << "and is still in the shared list";
  const auto list = server.List(t10, T("a"));
  ASSERT_THAT(list, IsOk());
  EXPECT_TRUE(list->IsValid(WriteId(1)));
}

TEST(Snapshots, ContainWhatTheUnitThatOpensThemCommits) {
  Server server;
  server.MakeTable("a");
  const TxnId t1 = server.Open();
  ASSERT_THAT(server.Allocate(t1, T("a")), IsOk());
  const TableWrites update{T("a"), {{"", WriteOp::kUpdate}}};
  for (const bool commit_first : {true, false}) {
    SCOPED_TRACE(commit_first ? "commit, then open" : "open, then commit");
    Server one;
    one.MakeTable("a");
    const TxnId winner = one.Open();
    ASSERT_THAT(one.Allocate(winner, T("a")), IsOk());
    const auto opened = one.Do([&](State& s, Now now, Unit& u) {
      if (commit_first) {
        EXPECT_THAT(s.Commit({winner, {update}}, now, u), IsOk());
      }
      auto answer = s.Open({}, now, u);
      if (!commit_first) {
        EXPECT_THAT(s.Commit({winner, {update}}, now, u), IsOk());
      }
      return answer;
    });
    ASSERT_THAT(opened, IsOk());
    EXPECT_TRUE(one.Snapshot(opened->first)->IsVisible(winner));
    EXPECT_TRUE(one.List(opened->first, T("a"))->IsValid(WriteId(1)));
    ASSERT_THAT(one.Allocate(opened->first, T("a")), IsOk());
    EXPECT_THAT(one.Commit(opened->first, {update}), IsOk()) << "it saw the winner: no conflict";
  }
}

TEST(Snapshots, OfAUnitThatIsNotDurableCannotBeAskedFor) {
  Server server;
  server.MakeTable("a");
  Unit unit = server.state().Begin();
  const auto opened = server.state().Open({}, server.now(), unit);
  ASSERT_THAT(opened, IsOk());
  EXPECT_THAT(server.state().Snapshot(opened->first, server.now(), unit),
              HasReason(ErrorReason::kStoreBusy));
  EXPECT_THAT(server.state().ValidWriteIdsOf({opened->first, {T("a")}, false}, server.now(), unit),
              HasReason(ErrorReason::kStoreBusy));
  server.Finish(unit);
  EXPECT_THAT(server.Snapshot(opened->first), IsOk());
}

TEST(Snapshots, OutsideTransactionsAreThePublishedOnes) {
  Server server;
  const TxnId txn = server.Open();
  Unit unit = server.state().Begin();
  ASSERT_THAT(server.state().Commit({txn, {}}, server.now(), unit), IsOk());
  ASSERT_THAT(server.state().Open({}, server.now(), unit), IsOk());
  const auto before = server.state().Snapshot(TxnId(), server.now(), unit);
  ASSERT_THAT(before, IsOk());
  EXPECT_EQ(before->ids.high, 1);
  EXPECT_THAT(before->ids.open, ElementsAre(1)) << "the commit of this unit is not durable yet";
  server.Finish(unit);
  EXPECT_THAT(server.Snapshot(TxnId())->ids.open, ElementsAre(2));
}

TEST(RefreshedSnapshots, NeedALockAndAnUntouchedTransaction) {
  struct Case {
    const char* name;
    std::function<void(Server&, TxnId)> before;
    bool allowed;
  };
  const std::vector<Case> cases = {
      {"EXCL_WRITE and nothing handed out",
       [](Server& s, TxnId t) { EXPECT_THAT(s.Lock(t, {Update("a")}), IsOk()); },
       true},
      {"EXCLUSIVE",
       [](Server& s, TxnId t) {
         EXPECT_THAT(s.Lock(t, {OnTable("a", LockKind::kExclusive)}), IsOk());
       },
       true},
      {"no lock", [](Server&, TxnId) {}, false},
      {"SHARED_WRITE only",
       [](Server& s, TxnId t) {
         EXPECT_THAT(s.Lock(t, {OnTable("a", LockKind::kSharedWrite)}), IsOk());
       },
       false},
      {"a list of another table was read",
       [](Server& s, TxnId t) {
         EXPECT_THAT(s.Lock(t, {Update("a")}), IsOk());
         EXPECT_THAT(s.List(t, T("b")), IsOk());
       },
       false},
      {"a write id was given",
       [](Server& s, TxnId t) {
         EXPECT_THAT(s.Lock(t, {Update("a")}), IsOk());
         EXPECT_THAT(s.Allocate(t, T("a")), IsOk());
       },
       false},
      {"a write id was given, of a table that was dropped since",
       [](Server& s, TxnId t) {
         EXPECT_THAT(s.Lock(t, {Update("a")}), IsOk());
         EXPECT_THAT(s.Allocate(t, T("d")), IsOk());
         EXPECT_THAT(s.DropTable("d"), IsOk());
       },
       false},
      {"a restart came between: nobody knows what was handed out",
       [](Server& s, TxnId t) {
         EXPECT_THAT(s.Lock(t, {Update("a")}), IsOk());
         s.Restart();
       },
       false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Server server;
    server.MakeTable("a");
    server.MakeTable("b");
    server.MakeTable("d");
    const TxnId txn = server.Open();
    c.before(server, txn);
    const TxnId later = server.Write("b", WriteOp::kUpdate);
    const auto refreshed = server.Refresh(txn);
    EXPECT_EQ(refreshed.ok(), c.allowed) << refreshed.status();
    if (!c.allowed) {
      EXPECT_THAT(refreshed, HasReason(ErrorReason::kOperationNotAllowed));
    }
    EXPECT_EQ(server.Snapshot(txn)->IsVisible(later), c.allowed);
  }
}

TEST(RefreshedSnapshots, AreNotMovedByARepeat) {
  Server server;
  server.MakeTable("a");
  const TxnId txn = server.Open();
  ASSERT_THAT(server.Lock(txn, {OnTable("a", LockKind::kExclusive)}), IsOk());
  const CommitSeq old = server.Snapshot(txn)->seq;
  const auto refresh = [&] {
    return server.Do(
        [&](State& s, Now now, Unit& u) { return s.RefreshSnapshot(txn, now, u, old); });
  };
  server.Open();
  SKEP_ASSERT_OK_AND_ASSIGN(const CommitSeq fresh, refresh());
  EXPECT_GT(fresh, old);
  server.Open();
  EXPECT_THAT(refresh(), testing::IsOkAndHolds(fresh));
  EXPECT_EQ(server.Snapshot(txn)->seq, fresh);
  // Also where it comes so late that a list of the fresh one is in use.
  ASSERT_THAT(server.List(txn, T("a")), IsOk());
  EXPECT_THAT(refresh(), testing::IsOkAndHolds(fresh));
}

TEST(RefreshedSnapshots, SurviveARestart) {
  Server server;
  server.MakeTable("a");
  const TxnId txn = server.Open();
  ASSERT_THAT(server.Lock(txn, {OnTable("a", LockKind::kExclusive)}), IsOk());
  const TxnId other = server.Open();
  ASSERT_THAT(server.Commit(other), IsOk());
  ASSERT_THAT(server.Refresh(txn), IsOk());
  const auto before = server.Snapshot(txn);
  server.Restart();
  EXPECT_EQ(*server.Snapshot(txn), *before);
}

TEST(Snapshots, AreTheSameAfterARestart) {
  Server server;
  server.MakeTable("a");
  for (int i = 0; i < 6; ++i) server.Write("a", WriteOp::kInsert);  // w1 … w6
  const TxnId early = server.Open();
  ASSERT_THAT(server.Allocate(early, T("a")),
              IsOk());  // w7, open in T's snapshot, committed after it
  const TxnId failed = server.Open();
  ASSERT_THAT(server.Allocate(failed, T("a")), IsOk());  // w8, aborted after it
  const TxnId t = server.Open();
  const auto list = server.List(t, T("a"));
  const auto txns = server.Snapshot(t);
  ASSERT_THAT(list, IsOk());
  ASSERT_THAT(server.Commit(early, {{T("a"), {{"", WriteOp::kUpdate}}}}), IsOk());
  ASSERT_THAT(server.Abort(failed), IsOk());
  server.Write("a", WriteOp::kUpdate);  // w9: taken and committed in between
  EXPECT_EQ(list->ids, (ValidIds{8, {7, 8}, {}}));
  EXPECT_EQ(server.List(t, T("a"))->ids, list->ids);
  server.Restart();
  EXPECT_EQ(server.List(t, T("a"))->ids, list->ids);
  EXPECT_EQ(server.Snapshot(t)->ids, txns->ids);
  ASSERT_THAT(server.Allocate(t, T("a")), IsOk());
  EXPECT_EQ(server.List(t, T("a"))->ids, list->ids) << "an own id changes nothing else";
  EXPECT_THAT(server.Commit(t, {{T("a"), {{"", WriteOp::kUpdate}}}}),
              HasReason(ErrorReason::kWriteConflict))
      << "the newest update survives the restart too";
  EXPECT_TRUE(server.stored().resolved_txns.empty())
      << "and all of it goes with the last old snapshot";
  EXPECT_TRUE(server.stored().resolved_write_ids.empty());
  EXPECT_TRUE(server.stored().write_marks.empty());
}

TEST(Snapshots, LeaveNothingBehindWhereNobodyIsOlder) {
  Server server;
  server.MakeTable("a");
  for (int i = 0; i < 20; ++i) server.Write("a", WriteOp::kUpdate);
  const StoredState& stored = server.stored();
  EXPECT_THAT(stored.txns, IsEmpty());
  EXPECT_THAT(stored.resolved_txns, IsEmpty());
  EXPECT_THAT(stored.write_ids, IsEmpty());
  EXPECT_THAT(stored.resolved_write_ids, IsEmpty());
  EXPECT_THAT(stored.components, IsEmpty());
  EXPECT_THAT(stored.write_marks, IsEmpty());
  EXPECT_THAT(stored.aborted_txns, IsEmpty());
}

TEST(Snapshots, KeepWhatTheySawOpenHoweverLongTheyLive) {  // memory follows the living, not history
  Server server;
  server.MakeTable("a");
  const TxnId early = server.Open();
  ASSERT_THAT(server.Allocate(early, T("a")), IsOk());
  const TxnId reader = server.Open();
  const auto list = server.List(reader, T("a"));
  const auto txns = server.Snapshot(reader);
  ASSERT_THAT(server.Commit(early, {{T("a"), {{"", WriteOp::kInsert}}}}), IsOk());
  for (int i = 0; i < 100; ++i) server.Write("a", WriteOp::kInsert);
  EXPECT_LE(server.stored().resolved_txns.size(), 2u)
      << "what it saw open, and the first it did not see";
  EXPECT_LE(server.stored().resolved_write_ids.size(), 2u);
  EXPECT_EQ(server.stored().write_marks.size(), 1u);
  server.Restart();
  for (int i = 0; i < 10; ++i) server.Write("a", WriteOp::kInsert);
  EXPECT_EQ(server.List(reader, T("a"))->ids, list->ids);
  EXPECT_EQ(server.Snapshot(reader)->ids, txns->ids);
}

TEST(Snapshots, OfOneSequenceShareTheirList) {
  StoredState stored;
  Clients clients;
  TxnTable txns;
  txns.Load(stored, clients);
  Unit unit(CommitSeq(1));
  TxnFacts row;
  row.opened_seq = CommitSeq(1);
  txns.Open(row, unit);
  EXPECT_EQ(txns.At(CommitSeq(1)).get(), txns.At(CommitSeq(1)).get());
  EXPECT_EQ(txns.At(CommitSeq(1)).get(), txns.At(CommitSeq(5)).get())
      << "nothing changed between them";
}

TEST(TableSnapshots, FollowTheExamples) {  // WSN-9, WSN-11, WSN-12
  Server server;
  server.MakeTable("a");
  const TxnId t1 = server.Open(), t2 = server.Open(), t3 = server.Open(), t4 = server.Open();
  for (TxnId t : {t1, t2, t4, t3}) ASSERT_THAT(server.Allocate(t, T("a")), IsOk());
  ASSERT_THAT(server.Commit(t1), IsOk());
  ASSERT_THAT(server.Abort(t2), IsOk());
  ASSERT_THAT(server.Commit(t3, {{T("a"), {{"", WriteOp::kInsert}}}}), IsOk());
  const auto list = server.List(server.Open(), T("a"));
  ASSERT_THAT(list, IsOk());
  EXPECT_EQ(list->ids, (ValidIds{4, {3}, {2}}));
  EXPECT_EQ(list->ids.MinOpen(), 3);

  server.MakeTable("b");
  for (int i = 0; i < 7; ++i) server.Write("b", WriteOp::kInsert);
  EXPECT_EQ(server.List(server.Open(), T("b"))->ids, (ValidIds{7, {}, {}})) << "WSN-11";
}

TEST(TableSnapshots, CarryOwnIdsApart) {  // R-28's field of its own
  Server server;
  server.MakeTable("a");
  const TxnId other = server.Open();
  const TxnId txn = server.Open();
  ASSERT_THAT(server.Allocate(other, T("a")), IsOk());
  ASSERT_THAT(server.Allocate(txn, T("a")), IsOk());
  const auto list = server.List(txn, T("a"));
  ASSERT_THAT(list, IsOk());
  EXPECT_EQ(list->ids, (ValidIds{0, {}, {}}));
  EXPECT_THAT(list->own, ElementsAre(2));
  EXPECT_TRUE(list->IsValid(WriteId(2)));
  EXPECT_FALSE(list->IsValid(WriteId(1)));
}

TEST(TableSnapshots, NeverListAnOwnIdAsOpen) {
  Server server;
  server.MakeTable("a");
  const auto opened =
      server.Do([&](State& s, Now now, Unit& u) {  // one unit: the id is part of the snapshot
        auto answer = s.Open({}, now, u);
        EXPECT_THAT(s.Allocate({T("a"), {answer->first}}, now, u), IsOk());
        return answer;
      });
  const auto list = server.List(opened->first, T("a"));
  EXPECT_THAT(list->ids.open, IsEmpty());
  EXPECT_THAT(list->own, ElementsAre(1));
  EXPECT_THAT(server.List(server.Open(), T("a"))->ids.open, ElementsAre(1))
      << "to others it is open";
}

TEST(TableSnapshots, DoNotKnowWhatCameLater) {
  Server server;
  const TxnId early = server.Open();
  server.MakeTable("a");
  RegisterTable adopted;
  adopted.name = T("b");
  adopted.location = "/w/b";
  adopted.schema.columns = *ParseColumns("id bigint");
  ASSERT_THAT(server.Register(adopted), IsOk());
  EXPECT_THAT(server.List(early, T("a")), HasReason(ErrorReason::kNoSuchTable));
  EXPECT_THAT(server.List(early, T("b")), HasReason(ErrorReason::kNoSuchTable));
  EXPECT_THAT(server.state().GetTable(T("a"), early, server.now()),
              HasReason(ErrorReason::kNoSuchTable));
  EXPECT_THAT(server.state().Partitions(T("a"), early, server.now(), "", 10),
              HasReason(ErrorReason::kNoSuchTable));
  const TxnId late = server.Open();
  EXPECT_THAT(server.List(late, T("a")), IsOk());
  EXPECT_THAT(server.List(late, T("b")), IsOk());
}

TEST(Partitions, AreThoseOfTheSnapshotAndTheOwn) {
  Server server;
  server.MakeTable("a", true);
  server.Write("a", WriteOp::kInsert, "p=1");
  const TxnId reader = server.Open();
  server.Write("a", WriteOp::kInsert, "p=2");
  const TxnId writer = server.Open();
  server.Write("a", WriteOp::kInsert, "p=3");  // nobody's who is open
  ASSERT_THAT(server.AddPartitions(reader, T("a"), {"p=0", "p=2"}, WriteOp::kInsert), IsOk());
  for (const bool restart : {false, true}) {
    if (restart) server.Restart();
    EXPECT_THAT(*server.state().Partitions(T("a"), reader, server.now(), "", 10),
                ElementsAre("p=0", "p=1", "p=2"));
    EXPECT_THAT(*server.state().Partitions(T("a"), writer, server.now(), "", 10),
                ElementsAre("p=1", "p=2"));
    EXPECT_THAT(*server.state().Partitions(T("a"), reader, server.now(), "p=0", 1),
                ElementsAre("p=1"));
    EXPECT_THAT(*server.state().Partitions(T("a"), TxnId(), server.now(), "", 10),
                ElementsAre("p=1", "p=2", "p=3"));
  }
  const TxnId early = reader;
  ASSERT_THAT(server.Abort(early), IsOk());
  EXPECT_THAT(*server.state().Partitions(T("a"), server.Open(), server.now(), "", 10),
              ElementsAre("p=1", "p=2", "p=3"))
      << "declared by an aborted transaction: not there";
}

TEST(Registering, RaisesTheTransactionCounterWithoutTouchingOlderSnapshots) {
  Server server;
  const TxnId early = server.Open();
  const auto before = server.Snapshot(early);
  RegisterTable adopted;
  adopted.name = T("b");
  adopted.location = "/w/b";
  adopted.schema.columns = *ParseColumns("id bigint");
  adopted.highest_write_id = WriteId(10);
  adopted.aborted_write_ids = {4, 5};
  adopted.adopted_txn_bound = TxnId(80);
  ASSERT_THAT(server.Register(adopted), IsOk());
  EXPECT_EQ(server.Open(), TxnId(81));
  EXPECT_EQ(server.Snapshot(early)->ids, before->ids);
  server.Restart();
  EXPECT_EQ(server.Snapshot(early)->ids, before->ids) << "ids 2 to 80 do not exist for it";
  const TxnId late = server.Open();
  EXPECT_EQ(server.List(late, T("b"))->ids, (ValidIds{10, {}, {4, 5}}));
  EXPECT_EQ(*server.Allocate(late, T("b")), WriteId(11));
}

TEST(Allocation, GivesOneIdPerTransactionAndTable) {  // WID-2, WID-4, WID-7
  Server server;
  server.MakeTable("a");
  const TxnId t1 = server.Open(), t2 = server.Open(), t3 = server.Open();
  EXPECT_EQ(*server.Allocate(t3, T("a")), WriteId(1)) << "WID-7: not in the order of transactions";
  const auto mixed = server.Do([&](State& s, Now now, Unit& u) {
    return s.Allocate({T("a"), {t3, t2, t1, t2}}, now, u);
  });
  ASSERT_THAT(mixed, IsOk());
  EXPECT_THAT(
      mixed->ids,
      ElementsAre(std::pair(t1, WriteId(2)), std::pair(t2, WriteId(3)), std::pair(t3, WriteId(1))));
  server.Restart();
  EXPECT_EQ(*server.Allocate(t2, T("a")), WriteId(3)) << "the same after a restart";
}

TEST(Allocation, GivesAllOrNothing) {  // WID-3
  Server server;
  server.MakeTable("a");
  CreateTable outside = Server::TableOf("x");
  outside.external = true;
  ASSERT_THAT(server.Create(outside), IsOk());
  const TxnId open = server.Open(), reader = server.Open(TxnType::kReadOnly),
              aborted = server.Open();
  ASSERT_THAT(server.Abort(aborted), IsOk());
  struct Case {
    const char* name;
    std::string table;
    std::vector<TxnId> txns;
    ErrorReason reason;
  };
  const std::vector<Case> cases = {
      {"TYP-3: read-only among them", "a", {open, reader}, ErrorReason::kOperationNotAllowed},
      {"aborted among them", "a", {open, aborted}, ErrorReason::kTxnAborted},
      {"unknown among them", "a", {open, TxnId(99)}, ErrorReason::kNoSuchTxn},
      {"none", "a", {}, ErrorReason::kInvalidRequest},
      {"no such table", "nowhere", {open}, ErrorReason::kNoSuchTable},
      {"external table", "x", {open}, ErrorReason::kTableNotTransactional},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto answer = server.Do([&](State& s, Now now, Unit& u) {
      return s.Allocate({T(c.table), c.txns}, now, u);
    });
    EXPECT_THAT(answer, HasReason(c.reason));
    EXPECT_THAT(server.stored().write_ids, IsEmpty());
  }
}

TEST(Allocation, NeverGivesAnAbortedIdAgain) {  // ABT-13
  Server server;
  server.MakeTable("a");
  const TxnId txn = server.Open();
  ASSERT_EQ(*server.Allocate(txn, T("a")), WriteId(1));
  ASSERT_THAT(server.Abort(txn), IsOk());
  server.Restart();
  EXPECT_EQ(*server.Allocate(server.Open(), T("a")), WriteId(2));
  EXPECT_EQ(server.List(server.Open(), T("a"))->ids, (ValidIds{2, {2}, {1}}));
}

}  // namespace
}  // namespace skep::state
