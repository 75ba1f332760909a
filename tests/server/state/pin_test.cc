// Pins and cleaning: races.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/state/pins.h"
#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Tables a and b, each with something written.
struct TwoTables {
  TwoTables() {
    for (const char* name : {"a", "b"}) {
      server.MakeTable(name);
      server.Write(name, WriteOp::kInsert);
      server.Write(name, WriteOp::kInsert);
    }
  }
  // Who keeps the entry from being cleaned now.
  std::vector<TxnId> PinnedBy(const CompactionRow& row) {
    const auto task = server.BeginClean(row.id);
    EXPECT_THAT(task, IsOk());
    std::vector<TxnId> txns;
    for (const Pin& pin : task->pinned_by) txns.push_back(pin.txn);
    return txns;
  }
  Server server;
};

TEST(Pins, HoldEveryTableUntilOneIsNamed) {
  TwoTables t;
  const TxnId reader = t.server.Open();
  const CompactionRow a = t.server.Compact("a"), b = t.server.Compact("b");
  EXPECT_THAT(t.PinnedBy(a), ElementsAre(reader));
  EXPECT_THAT(t.PinnedBy(b), ElementsAre(reader));
  ASSERT_THAT(t.server.List(reader, T("a")), IsOk());
  EXPECT_THAT(t.PinnedBy(a), ElementsAre(reader));
  EXPECT_THAT(t.PinnedBy(b), IsEmpty());
  ASSERT_THAT(t.server.Commit(reader), IsOk());
  EXPECT_THAT(t.PinnedBy(a), IsEmpty());
}

TEST(Pins, GoByTheSnapshotsSequence) {
  TwoTables t;
  const CompactionRow a = t.server.Compact("a");
  const TxnId later = t.server.Open();
  EXPECT_THAT(t.PinnedBy(a), IsEmpty()) << "it sees the output";
  ASSERT_THAT(t.server.List(later, T("a")), IsOk());
}

TEST(Pins, HoldEverythingToTheEndWhereAskedFor) {
  TwoTables t;
  const auto reader = t.server.TryOpen({.keep_all_pinned = true});
  ASSERT_THAT(t.server.List(reader->first, T("a")), IsOk());
  const CompactionRow b = t.server.Compact("b");
  EXPECT_THAT(t.PinnedBy(b), ElementsAre(reader->first));
}

TEST(Pins, OfABatchHoldNothingUntilATableIsNamed) {  // R-11, WSN-13
  TwoTables t;
  const auto batch = t.server.TryOpen({.count = 2});
  const CompactionRow a = t.server.Compact("a"), b = t.server.Compact("b");
  EXPECT_THAT(t.PinnedBy(b), IsEmpty());
  ASSERT_THAT(t.server.List(batch->first, T("a")), IsOk());
  EXPECT_THAT(t.PinnedBy(a), ElementsAre(batch->first));
}

TEST(Pins, OfADatabaseLockHoldAllItsTables) {
  TwoTables t;
  const TxnId reader = t.server.Open();
  ASSERT_THAT(t.server.Lock(reader, {{{"db", "", ""}, LockKind::kSharedRead, std::nullopt, false}}),
              IsOk());
  const CompactionRow a = t.server.Compact("a"), b = t.server.Compact("b");
  EXPECT_THAT(t.PinnedBy(a), ElementsAre(reader));
  EXPECT_THAT(t.PinnedBy(b), ElementsAre(reader));
}

TEST(Pins, OfALockHoldItsTable) {
  TwoTables t;
  const TxnId reader = t.server.Open();
  ASSERT_THAT(t.server.Lock(reader, {OnTable("a", LockKind::kSharedRead)}), IsOk());
  const CompactionRow a = t.server.Compact("a"), b = t.server.Compact("b");
  EXPECT_THAT(t.PinnedBy(a), ElementsAre(reader));
  EXPECT_THAT(t.PinnedBy(b), IsEmpty());
}

TEST(Pins, OfACompactorHoldItsOwnTableOnly) {
  TwoTables t;
  const CompactionRow b = t.server.Compact("b");
  ASSERT_THAT(t.server.Enqueue("a"), IsOk());
  ASSERT_TRUE(t.server.Claim());
  const TxnId early = t.server.stored().txns.begin()->first;
  const CompactionRow second = [&] {
    t.server.Write("b", WriteOp::kInsert);
    return t.server.Compact("b");
  }();
  EXPECT_THAT(t.PinnedBy(b), IsEmpty());
  EXPECT_THAT(t.PinnedBy(second), IsEmpty()) << early;
}

TEST(BeginClean, MakesTableNamedLateTooOld) {
  TwoTables t;
  const TxnId reader = t.server.Open();
  ASSERT_THAT(t.server.List(reader, T("a")), IsOk());
  const CompactionRow b = t.server.Compact("b");
  ASSERT_THAT(t.server.List(t.server.Open(), T("b")), IsOk());
  ASSERT_THAT(t.PinnedBy(b), IsEmpty());
  EXPECT_EQ(t.server.stored().tables.at(b.table).cleaned_seq, b.published_seq)
      << "durable before the first unlink";
  for (const bool restart : {false, true}) {
    if (restart) t.server.Restart();
    const auto late = t.server.List(reader, T("b"));
    EXPECT_THAT(late, HasReason(ErrorReason::kSnapshotTooOld));
    EXPECT_EQ(MetadataOf(late.status())["table"], "db.b");
    EXPECT_THAT(t.server.List(reader, T("a")), IsOk()) << "the other table is unharmed";
    EXPECT_THAT(t.server.Lock(reader, {OnTable("b", LockKind::kSharedWrite, WriteOp::kInsert)}),
                IsOk())
        << "R-4: a lock for writing only needs no list";
  }
}

TEST(BeginClean, ComesTooLateForATableNamedBefore) {  // R-8, the other order
  TwoTables t;
  const TxnId reader = t.server.Open();
  ASSERT_THAT(t.server.List(reader, T("b")), IsOk());
  const CompactionRow b = t.server.Compact("b");
  EXPECT_THAT(t.PinnedBy(b), ElementsAre(reader));
  EXPECT_EQ(t.server.stored().tables.at(b.table).cleaned_seq, CommitSeq());
  EXPECT_THAT(t.server.List(reader, T("b")), IsOk());
}

TEST(BeginClean, GivesTheViewOfTheCompactionsOwnSequence) {  // never with "now"
  TwoTables t;
  const TxnId open = t.server.Open();
  const TxnId failed = t.server.Open();
  ASSERT_THAT(t.server.Allocate(failed, T("a")), IsOk());  // w3
  ASSERT_THAT(t.server.Abort(failed), IsOk());
  const CompactionRow first = t.server.Compact("a", CompactionType::kMinor);
  const CompactionRow second =
      t.server.Compact("a", CompactionType::kMajor);  // the same highest write id
  ASSERT_EQ(first.highest_write_id, WriteId(3));
  ASSERT_EQ(second.highest_write_id, WriteId(3));
  t.server.Write("a", WriteOp::kInsert);  // w4
  ASSERT_THAT(t.server.Commit(open), IsOk());
  const auto task = t.server.state().ExplainClean(first.id, t.server.now());
  ASSERT_THAT(task, IsOk());
  EXPECT_EQ(task->write_ids.ids, (ValidIds{3, {}, {3}}));
  EXPECT_EQ(task->write_ids.role, SnapshotRole::kCleaner);
  EXPECT_EQ(task->txns.seq, first.published_seq);
  EXPECT_TRUE(task->txns.IsVisible(first.txn));
  EXPECT_FALSE(task->txns.IsVisible(second.txn))
      << "what the second made must not make the first's output obsolete";
}

TEST(Cleaning, ExplainsWithoutChangingAnything) {
  TwoTables t;
  const TxnId reader = t.server.Open();
  const CompactionRow a = t.server.Compact("a");
  const auto task = t.server.state().ExplainClean(a.id, t.server.now());
  ASSERT_THAT(task, IsOk());
  ASSERT_EQ(task->pinned_by.size(), 1u);
  EXPECT_EQ(task->pinned_by[0].txn, reader);
  EXPECT_TRUE(task->pinned_by[0].every_table);
  EXPECT_EQ(task->pinned_by[0].user, "ann");
  EXPECT_FALSE(task->pinned_by[0].ended);
  EXPECT_EQ(t.server.state().PinsOf(a.table, t.server.now()).size(), 1u);
  EXPECT_EQ(t.server.stored().tables.at(a.table).cleaned_seq, CommitSeq());
}

TEST(PinsAfterALoad, HoldEveryTableUntilAllAreNamed) {
  TwoTables t;
  const TxnId reader = t.server.Open();
  ASSERT_THAT(t.server.Lists(reader, {T("a"), T("b")}), IsOk());
  const CompactionRow a = t.server.Compact("a"), b = t.server.Compact("b");
  t.server.Restart();
  ASSERT_THAT(t.server.Lock(reader, {OnTable("a", LockKind::kSharedRead)}), IsOk());
  EXPECT_THAT(t.PinnedBy(b), ElementsAre(reader)) << "it scans b from a list it was given before";
  ASSERT_THAT(t.server.List(reader, T("a")), IsOk());
  EXPECT_THAT(t.PinnedBy(b), ElementsAre(reader));
  ASSERT_THAT(t.server.Lists(reader, {T("a")}, true), IsOk());
  EXPECT_THAT(t.PinnedBy(a), ElementsAre(reader));
  EXPECT_THAT(t.PinnedBy(b), IsEmpty()) << "one call named all it holds";
}

TEST(PinsAfterALoad, HoldForBatchesToo) {  // R-9 over R-11
  TwoTables t;
  const auto batch = t.server.TryOpen({.count = 2});
  ASSERT_THAT(t.server.List(batch->first, T("b")), IsOk());
  const CompactionRow b = t.server.Compact("b");
  t.server.Restart();
  EXPECT_THAT(t.PinnedBy(b), ElementsAre(batch->first, batch->first.Next()));
}

TEST(Pins, OutliveAVerdictOfTheServerByOneLease) {
  struct Case {
    const char* name;
    AbortCause cause;
    bool lingers;
  };
  for (const Case& c : {Case{"an operator", AbortCause::kOperator, true},
                        Case{"the lease", AbortCause::kTimeout, true},
                        Case{"a deadlock", AbortCause::kDeadlock, true},
                        Case{"the owner", AbortCause::kUser, false}}) {
    for (const auto& [restart, lease] : {std::pair(false, kLease),
                                         std::pair(true, kLease),
                                         std::pair(true, kLease * 3),
                                         std::pair(true, kLease / 3)}) {
      SCOPED_TRACE(std::string(c.name) + (restart ? ", restart, " : ", ") +
                   std::to_string(lease.count()) + " s");
      TwoTables t;
      const auto opened = t.server.TryOpen({.timeout = lease});
      ASSERT_THAT(opened, IsOk());
      const TxnId reader = opened->first;
      ASSERT_THAT(t.server.List(reader, T("a")), IsOk());
      if (c.cause == AbortCause::kTimeout) {
        t.server.Pass(lease + seconds(1));
        t.server.Reap();
      } else {
        ASSERT_THAT(t.server.Abort(reader, c.cause), IsOk());
      }
      if (restart) t.server.Restart();
      const CompactionRow a = t.server.Compact("a");
      if (!c.lingers) {
        EXPECT_THAT(t.PinnedBy(a), IsEmpty());
        continue;
      }
      EXPECT_THAT(t.PinnedBy(a), ElementsAre(reader));
      t.server.Pass(lease);
      EXPECT_THAT(t.PinnedBy(a), ElementsAre(reader));
      t.server.Pass(seconds(1));
      EXPECT_THAT(t.PinnedBy(a), IsEmpty()) << "by the clock, whether or not it was reaped";
      t.server.Reap();
      t.server.Write("a", WriteOp::kInsert);
      EXPECT_THAT(t.server.stored().resolved_txns, IsEmpty()) << "its records go with it";
    }
  }
}

TEST(Pins, OfACompactorHoldItsOwnTableOnlyAlsoAfterARestart) {
  for (const bool restart : {false, true}) {
    SCOPED_TRACE(restart);
    TwoTables t;
    ASSERT_THAT(t.server.Enqueue("a"), IsOk());
    ASSERT_TRUE(t.server.Claim("w1"));
    if (restart) t.server.Restart();
    const CompactionRow b = t.server.Compact("b");
    EXPECT_THAT(t.PinnedBy(b), IsEmpty());
  }
}

TEST(Pins, AddedAgainTakeThePlaceOfTheFirst) {
  Pins pins;
  pins.Add(TxnId(1), CommitSeq(5), Pins::Reach::kAll);
  pins.Add(TxnId(1), CommitSeq(5), Pins::Reach::kNamed);
  pins.Name(TxnId(1), CommitSeq(5), TableId(7));
  EXPECT_THAT(pins.Of(TableId(8), "db", CommitSeq(9)), IsEmpty());
  EXPECT_THAT(pins.Of(TableId(7), "db", CommitSeq(9)), ElementsAre(TxnId(1)));
}

TEST(DroppedTables, KeepTheirPlaceWhileAnOlderSnapshotLives) {
  for (const bool restart : {false, true}) {
    SCOPED_TRACE(restart);
    Server server;
    server.MakeTable("a");
    const TxnId reader = server.Open();
    ASSERT_THAT(server.List(reader, T("a")), IsOk());
    ASSERT_THAT(server.DropTable("a"), IsOk());
    if (restart) server.Restart();
    EXPECT_THAT(server.Create(Server::TableOf("a")), HasReason(ErrorReason::kLocationNotAllowed));
    CreateTable inside = Server::TableOf("c");
    inside.location = "/w/a/sub";
    EXPECT_THAT(server.Create(inside), HasReason(ErrorReason::kLocationNotAllowed));
    ASSERT_THAT(server.Commit(reader), IsOk());
    EXPECT_THAT(server.Create(Server::TableOf("a")), IsOk());
    EXPECT_THAT(server.stored().dropped_tables, IsEmpty());
  }
}

TEST(DroppedTables, AreNotTheirNamesakes) {  // ids, not names
  Server server;
  server.MakeTable("a");
  const TxnId txn = server.Open();
  ASSERT_EQ(*server.Allocate(txn, T("a")), WriteId(1));
  ASSERT_THAT(server.List(txn, T("a")), IsOk());
  ASSERT_THAT(server.DropTable("a"), IsOk());
  CreateTable again = Server::TableOf("a");
  again.location = "/w/a2";
  const auto second = server.Create(again);
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(second->row.id, TableId(2));
  for (const bool restart : {false, true}) {
    if (restart) server.Restart();
    EXPECT_THAT(server.Allocate(txn, T("a")), HasReason(ErrorReason::kSnapshotTooOld));
    EXPECT_THAT(server.Lock(txn, {OnTable("a", LockKind::kSharedRead)}),
                HasReason(ErrorReason::kSnapshotTooOld));
    const auto known = server.state().GetTable(T("a"), txn, server.now());
    ASSERT_THAT(known, IsOk());
    EXPECT_EQ(known->row.id, TableId(1));
    EXPECT_EQ(known->row.location, "/w/a");
    EXPECT_EQ(server.List(txn, T("a"))->table_id, TableId(1));
  }
  const TxnId later = server.Open();
  const auto ids = server.Do([&](State& s, Now now, Unit& u) {
    return s.Allocate({T("a"), {later}}, now, u);
  });
  ASSERT_THAT(ids, IsOk());
  EXPECT_EQ(ids->table, TableId(2));
  EXPECT_EQ(ids->ids.front().second, WriteId(1)) << "a sequence of its own";
}

// The same answer for the life of the transaction, own write id and partitions included.
TEST(DroppedTables, AnswerOlderSnapshotsAsBefore) {
  for (const bool restart : {false, true}) {
    SCOPED_TRACE(restart);
    Server server;
    CreateTable partitioned = Server::TableOf("a");
    partitioned.schema.partition_columns = {Server::TableOf("b").schema.columns.front()};
    partitioned.schema.partition_columns.front().name = "p";
    ASSERT_THAT(server.Create(partitioned), IsOk());
    const auto write = [&](const char* partition) {
      const TxnId txn = server.Open();
      ASSERT_THAT(server.Allocate(txn, T("a")), IsOk());
      ASSERT_THAT(server.Commit(txn, {{T("a"), {{partition, WriteOp::kInsert}}}}), IsOk());
    };
    write("p=1");
    const TxnId other = server.Open();
    ASSERT_EQ(*server.Allocate(other, T("a")), WriteId(2));
    const TxnId writer = server.Open();
    const TxnId early = server.Open();
    ASSERT_EQ(*server.Allocate(writer, T("a")), WriteId(3));
    const auto before = server.List(writer, T("a"));
    ASSERT_THAT(before, IsOk());
    EXPECT_EQ(before->ids, (ValidIds{2, {2}, {}}));
    EXPECT_THAT(before->own, ElementsAre(3));
    write("p=2");
    ASSERT_THAT(server.DropTable("a"), IsOk());
    if (restart) server.Restart();
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(server.List(writer, T("a"))->ids, before->ids) << round;
      EXPECT_EQ(server.List(writer, T("a"))->own, before->own) << round;
      EXPECT_EQ(server.List(early, T("a"))->ids, before->ids) << "named late";
      EXPECT_THAT(*server.state().Partitions(T("a"), early, server.now(), "", 10),
                  ElementsAre("p=1"));
      if (round == 0) {
        ASSERT_THAT(server.Abort(other), IsOk());
      } else if (round == 1) {
        server.Restart();
      }
    }
    EXPECT_THAT(server.Commit(writer, {{T("a"), {}}}), HasReason(ErrorReason::kWriteConflict));
    EXPECT_THAT(server.List(early, T("a")), IsOk());
    ASSERT_THAT(server.Commit(early), IsOk());
    EXPECT_THAT(server.stored().tables, IsEmpty()) << "who knew it is gone";
    EXPECT_THAT(server.stored().dropped_tables, IsEmpty());
    EXPECT_THAT(server.stored().aborted_write_ids, IsEmpty());
    EXPECT_THAT(server.stored().write_marks, IsEmpty());
    EXPECT_THAT(server.stored().partitions, IsEmpty());
  }
}

TEST(DroppedTables, ThatCameAfterTheSnapshotNeverWere) {  // before the drop and after it
  Server server;
  const TxnId reader = server.Open();
  server.MakeTable("a");
  EXPECT_THAT(server.List(reader, T("a")), HasReason(ErrorReason::kNoSuchTable));
  ASSERT_THAT(server.DropTable("a"), IsOk());
  EXPECT_THAT(server.List(reader, T("a")), HasReason(ErrorReason::kNoSuchTable));
  EXPECT_THAT(server.Allocate(reader, T("a")), HasReason(ErrorReason::kSnapshotTooOld));
}

TEST(DroppedTables, TellWhoWaitedForThem) {
  Server server;
  server.MakeTable("a");
  const TxnId dropper = server.Open();
  ASSERT_THAT(server.Lock(dropper, {OnTable("a", LockKind::kExclusive)}), IsOk());
  const TxnId waiter = server.Open();
  const auto waiting = server.Lock(waiter, {OnTable("a", LockKind::kSharedRead)});
  ASSERT_EQ(waiting->state, LockState::kWaiting);
  server.Notices();
  ASSERT_THAT(
      server.Do([&](State& s, Now now, Unit& u) { return s.Drop(dropper, T("a"), now, u); }),
      IsOk());
  EXPECT_THAT(server.state().GetTable(T("a")), IsOk()) << "not before the commit";
  ASSERT_THAT(server.Commit(dropper), IsOk());
  const auto notices = server.Notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].lock, waiting->lock);
  EXPECT_EQ(notices[0].answer.state, LockState::kNotAcquired);
  EXPECT_THAT(notices[0].answer.reason, ::testing::HasSubstr("dropped"));
  EXPECT_EQ(server.StateOf(waiter), TxnState::kOpen);
  EXPECT_THAT(server.stored().locks, IsEmpty());
}

TEST(DropTable, NeedsTheExclusiveLock) {
  Server server;
  server.MakeTable("a", true);
  const auto drop = [&](TxnId txn) {
    return server.Do([&](State& s, Now now, Unit& u) { return s.Drop(txn, T("a"), now, u); });
  };
  const TxnId txn = server.Open();
  EXPECT_THAT(drop(txn), HasReason(ErrorReason::kOperationNotAllowed));
  ASSERT_THAT(server.Lock(txn, {OnTable("a", LockKind::kExclWrite)}), IsOk());
  EXPECT_THAT(drop(txn), HasReason(ErrorReason::kOperationNotAllowed));
  ASSERT_THAT(server.Lock(txn, {OnTable("a", LockKind::kExclusive, std::nullopt, "p=1")}), IsOk());
  EXPECT_THAT(drop(txn), HasReason(ErrorReason::kOperationNotAllowed)) << "of a partition only";
  ASSERT_THAT(server.Lock(txn, {OnTable("a", LockKind::kExclusive)}), IsOk());
  EXPECT_THAT(drop(txn), IsOk());
  ASSERT_THAT(server.Abort(txn), IsOk());
  EXPECT_THAT(server.state().GetTable(T("a")), IsOk()) << "an aborted drop drops nothing";
}

TEST(DropTable, TakesEverythingOfTheTableAlong) {
  Server server;
  server.MakeTable("a", true);
  server.Write("a", WriteOp::kInsert, "p=1");
  const TxnId failed = server.Open();
  ASSERT_THAT(server.Allocate(failed, T("a")), IsOk());
  ASSERT_THAT(server.Abort(failed), IsOk());
  ASSERT_THAT(server.Enqueue("a", CompactionType::kMajor, "p=1"), IsOk());
  ASSERT_THAT(server.DropTable("a"), IsOk());
  const StoredState& stored = server.stored();
  EXPECT_THAT(stored.tables, IsEmpty());
  EXPECT_THAT(stored.partitions, IsEmpty());
  EXPECT_THAT(stored.aborted_write_ids, IsEmpty());
  EXPECT_THAT(stored.compactions, IsEmpty());
  EXPECT_THAT(stored.dropped_tables, IsEmpty()) << "no older snapshot: its place is free at once";
}

}  // namespace
}  // namespace skep::state
