// The compaction queue: decisions as tables, then a request's whole life.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/state/compaction_rules.h"
#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr CompactionType kMajor = CompactionType::kMajor, kMinor = CompactionType::kMinor;
using S = CompactionState;

CompactionRow Row(int64_t id, S state, CompactionType type = kMajor, int64_t high = 5) {
  CompactionRow row;
  row.id = CompactionId(id);
  row.table = TableId(1);
  row.state = state;
  row.type = type;
  row.highest_write_id = WriteId(high);
  return row;
}

TEST(FindDuplicate, RefusesWhatIsUnderWayOrWouldDoNothing) {  // ST-1, Q-2
  struct Case {
    const char* name;
    std::vector<CompactionRow> rows;
    CompactionType type;
    int64_t high_now;
    int64_t duplicate;  // 0: none
  };
  const std::vector<Case> cases = {
      {"nothing there", {}, kMajor, 5, 0},
      {"one initiated", {Row(3, S::kInitiated)}, kMajor, 9, 3},
      {"one working, of another type", {Row(3, S::kWorking, kMinor)}, kMajor, 9, 3},
      {"one ready, nothing written since", {Row(3, S::kReadyForCleaning)}, kMajor, 5, 3},
      {"one ready, written since", {Row(3, S::kReadyForCleaning)}, kMajor, 6, 0},
      {"a ready major did a minor's work", {Row(3, S::kReadyForCleaning, kMajor)}, kMinor, 5, 3},
      {"a ready minor did not do a major's", {Row(3, S::kReadyForCleaning, kMinor)}, kMajor, 5, 0},
      {"a ready minor did a minor's", {Row(3, S::kReadyForCleaning, kMinor)}, kMinor, 5, 3},
      {"history",
       {Row(1, S::kSucceeded), Row(2, S::kFailed), Row(3, S::kRefused), Row(4, S::kCancelled)},
       kMajor,
       5,
       0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const CompactionRow* found = FindDuplicate(c.rows, c.type, WriteId(c.high_now));
    EXPECT_EQ(found == nullptr ? 0 : found->id.value(), c.duplicate);
  }
}

TEST(HistoryToDrop, KeepsTheNewestOfEachOutcome) {  // HR-1, HR-3
  Options options;
  options.history_succeeded = 2;
  options.history_failed = 1;
  options.history_refused = 2;
  options.history_not_initiated = 1;
  options.failed_threshold = 1;
  const std::vector<CompactionRow> rows = {
      Row(1, S::kSucceeded),
      Row(2, S::kFailed),
      Row(3, S::kSucceeded),
      Row(4, S::kRefused),
      Row(5, S::kCancelled),
      Row(6, S::kSucceeded),
      Row(7, S::kNotInitiated),
      Row(8, S::kRefused),
      Row(9, S::kInitiated),
      Row(10, S::kReadyForCleaning),
      Row(11, S::kFailed),
      Row(12, S::kNotInitiated),
  };
  EXPECT_THAT(HistoryToDrop(rows, options),
              ElementsAre(CompactionId(1), CompactionId(2), CompactionId(4), CompactionId(7)));
  EXPECT_THAT(HistoryToDrop({}, options), IsEmpty());
}

TEST(SelectReady, TakesOnePerObjectWhenItsTimeHasCome) {  // CL-1, CL-2
  const Timestamp now(seconds(100));
  CompactionRow later = Row(4, S::kReadyForCleaning);
  later.partition = "p=1";
  later.next_clean_time = now + std::chrono::milliseconds(1);
  CompactionRow due = Row(5, S::kReadyForCleaning);
  due.partition = "p=2";
  due.next_clean_time = now;
  CompactionRow behind =
      Row(6, S::kReadyForCleaning, kMajor, 3);  // the lowest of p=3 waits: so does the rest
  behind.partition = "p=3";
  behind.next_clean_time = now + seconds(9);
  CompactionRow ahead = Row(7, S::kReadyForCleaning, kMajor, 4);
  ahead.partition = "p=3";
  const std::vector<CompactionRow> rows = {Row(1, S::kReadyForCleaning, kMinor, 5),
                                           Row(2, S::kReadyForCleaning, kMajor, 3),
                                           Row(3, S::kReadyForCleaning, kMajor, 5),
                                           later,
                                           due,
                                           behind,
                                           ahead};
  EXPECT_THAT(SelectReady(rows, now), ElementsAre(CompactionId(2), CompactionId(5)));
}

TEST(Enqueue, NamesTheEntryThatIsThere) {
  Server server;
  server.MakeTable("a");
  const auto first = server.Enqueue("a");
  ASSERT_THAT(first, IsOk());
  EXPECT_TRUE(first->accepted);
  const auto again = server.Enqueue("a", kMinor);
  ASSERT_THAT(again, IsOk());
  EXPECT_FALSE(again->accepted);
  EXPECT_EQ(again->id, first->id);
  EXPECT_EQ(again->state, S::kInitiated);
  EXPECT_THAT(again->message, HasSubstr("compaction 1 of db.a is INITIATED already"));
  EXPECT_EQ(server.stored().compactions.size(), 1u);
}

TEST(Enqueue, RefusesWhatCannotBeCompacted) {
  Server server;
  server.MakeTable("a");
  server.MakeTable("parts", true);
  server.Write("parts", WriteOp::kInsert, "p=1");
  ASSERT_THAT(server.Create(Server::TableOf("lines", false, FileFormat::kText)), IsOk());
  CreateTable outside = Server::TableOf("x");
  outside.external = true;
  ASSERT_THAT(server.Create(outside), IsOk());
  struct Case {
    const char* name;
    std::string table, partition;
    CompactionType type;
    ErrorReason reason;
  };
  for (const Case& c :
       {Case{"unknown table", "nowhere", "", kMajor, ErrorReason::kNoSuchTable},
        Case{"external", "x", "", kMajor, ErrorReason::kTableNotTransactional},
        Case{"insert-only", "lines", "", kMajor, ErrorReason::kNotSupported},
        Case{"rebalance", "a", "", CompactionType::kRebalance, ErrorReason::kNotSupported},
        Case{"no partition given", "parts", "", kMajor, ErrorReason::kInvalidRequest},
        Case{"a partition that is not there", "parts", "p=2", kMajor, ErrorReason::kInvalidRequest},
        Case{"a partition of none", "a", "p=1", kMajor, ErrorReason::kInvalidRequest}}) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(server.Enqueue(c.table, c.type, c.partition), HasReason(c.reason));
  }
  EXPECT_THAT(server.Enqueue("parts", kMajor, "P=1"), IsOk()) << "canonical form is ours to find";
}

TEST(Claim, OpensTheCompactorsTransactionUnderASharedLock) {  // TYP-5, WK-2
  Server server;
  server.MakeTable("a");
  server.Write("a", WriteOp::kInsert);
  const TxnId writer = server.Open();
  ASSERT_THAT(server.Allocate(writer, T("a")), IsOk());  // w2 open
  server.Write("a", WriteOp::kInsert);                   // w3
  ASSERT_THAT(server.Enqueue("a"), IsOk());
  const auto claim = server.Claim("host-1");
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->row.state, S::kWorking);
  EXPECT_EQ(claim->row.worker, "host-1");
  EXPECT_EQ(claim->row.claim, 1);
  EXPECT_EQ(claim->row.highest_write_id, WriteId(1)) << "just below the lowest open id";
  EXPECT_EQ(server.stored().compactions.at(claim->row.id).highest_write_id, WriteId(1));
  EXPECT_EQ(claim->write_ids.role, SnapshotRole::kCompactor);
  EXPECT_EQ(claim->write_ids.ids, (ValidIds{1, {}, {}}));
  EXPECT_TRUE(claim->txns.IsVisible(claim->row.txn));
  EXPECT_EQ(claim->table.name, T("a"));
  const TxnRow& txn = server.stored().txns.at(claim->row.txn);
  EXPECT_EQ(txn.type, TxnType::kCompaction);
  ASSERT_EQ(server.stored().locks.size(), 1u);
  EXPECT_EQ(server.stored().locks.begin()->second.kind, LockKind::kSharedRead);
  EXPECT_FALSE(server.Claim()) << "the queue is empty";
  EXPECT_THAT(server.Commit(claim->row.txn), HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(server.Allocate(claim->row.txn, T("a")),
              HasReason(ErrorReason::kOperationNotAllowed));
}

TEST(Claim, PassesOverWhatIsLockedExclusively) {  // WK-2
  Server server;
  server.MakeTable("a");
  server.MakeTable("b");
  ASSERT_THAT(server.Enqueue("a"), IsOk());
  ASSERT_THAT(server.Enqueue("b"), IsOk());
  const TxnId holder = server.Open();
  ASSERT_THAT(server.Lock(holder, {OnTable("a", LockKind::kExclusive)}), IsOk());
  const auto first = server.Claim();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->row.name, T("b"));
  EXPECT_FALSE(server.Claim());
  ASSERT_THAT(server.Commit(holder), IsOk());
  EXPECT_EQ(server.Claim()->row.name, T("a"));
}

TEST(Publish, CommitsTheTransactionAndMovesTheEntryInOneUnit) {  // CMT-7
  Server server;
  server.MakeTable("a");
  server.Write("a", WriteOp::kInsert);
  const CompactionRow row = server.Compact("a");
  EXPECT_EQ(row.state, S::kReadyForCleaning);
  EXPECT_EQ(row.published_seq, server.stored().counters.seq);
  EXPECT_EQ(server.StateOf(row.txn), TxnState::kCommitted);
  EXPECT_THAT(server.stored().locks, IsEmpty());
  EXPECT_THAT(server.Do([&](State& s, Now now, Unit& u) {
    return s.Publish({row.id, row.claim, row.highest_write_id}, now, u);
  }),
              IsOk())
      << "a repeat";
}

TEST(Publish, AboveTheClaimsViewIsRefused) {
  Server server;
  server.MakeTable("a");
  ASSERT_THAT(server.Enqueue("a"), IsOk());
  auto claim = *server.Claim();
  claim.row.highest_write_id = WriteId(1);
  EXPECT_THAT(server.PublishClaim(claim), HasReason(ErrorReason::kInvalidRequest));
}

TEST(Claims, WhoseLeaseIsOverReturnAndFenceTheirWorker) {  // ST-4, R-15, TMO-5
  for (const bool reaped : {true, false}) {
    SCOPED_TRACE(reaped ? "the reaper came" : "the worker came first");
    Server server;
    server.MakeTable("a");
    server.Write("a", WriteOp::kInsert);
    ASSERT_THAT(server.Enqueue("a"), IsOk());
    const auto lost = *server.Claim("w1");
    server.Pass(Options().claim_lease + seconds(1));
    if (reaped) server.Reap();
    EXPECT_THAT(server.PublishClaim(lost), HasReason(ErrorReason::kOperationNotAllowed));
    const CompactionRow& row = server.stored().compactions.at(lost.row.id);
    EXPECT_EQ(row.state, S::kInitiated);
    EXPECT_THAT(row.error, HasSubstr("lease"));
    EXPECT_EQ(server.state().GetTxn(lost.row.txn, server.now())->cause, AbortCause::kCompaction);
    const auto second = *server.Claim("w2");
    EXPECT_EQ(second.row.claim, 2);
    EXPECT_NE(second.row.txn, lost.row.txn);
    EXPECT_THAT(server.PublishClaim(lost), HasReason(ErrorReason::kOperationNotAllowed))
        << "claim 1 is fenced";
    EXPECT_THAT(server.FinishClaim(lost, S::kFailed), HasReason(ErrorReason::kOperationNotAllowed));
    EXPECT_THAT(server.PublishClaim(second), IsOk());
    EXPECT_THAT(server.PublishClaim(lost), HasReason(ErrorReason::kOperationNotAllowed));
    EXPECT_TRUE(server.stored().aborted_txns.contains(lost.row.txn)) << "R-14: never forgotten";
  }
}

TEST(Claims, LiveByTheirBeats) {
  Server server;
  server.MakeTable("a");
  ASSERT_THAT(server.Enqueue("a"), IsOk());
  const auto claim = *server.Claim();
  for (int i = 0; i < 3; ++i) {
    server.Pass(Options().claim_lease - seconds(1));
    ASSERT_THAT(server.Do([&](State& s, Now now, Unit& u) {
      return s.BeatClaim(claim.row.id, claim.row.claim, now, u);
    }),
                IsOk());
    server.Reap();
  }
  EXPECT_THAT(server.PublishClaim(claim), IsOk());
}

TEST(Claims, SurviveARestartOfTheDaemon) {
  Server server;
  server.MakeTable("a");
  server.Write("a", WriteOp::kInsert);
  ASSERT_THAT(server.Enqueue("a"), IsOk());
  const auto claim = *server.Claim();
  server.Restart();
  const auto view = server.Do([&](State& s, Now now, Unit& u) {
    return s.ClaimView(claim.row.id, claim.row.claim, now, u);
  });
  ASSERT_THAT(view, IsOk());
  EXPECT_EQ(view->write_ids.ids, claim.write_ids.ids);
  EXPECT_THAT(server.PublishClaim(claim), IsOk());
}

TEST(FinishedClaims, EndAsTheWorkerSays) {
  struct Case {
    S end;
    S row;
  };
  for (const Case& c : {Case{S::kFailed, S::kFailed},
                        Case{S::kRefused, S::kRefused},
                        Case{S::kInitiated, S::kInitiated}}) {
    SCOPED_TRACE(CompactionStateName(c.end));
    Server server;
    server.MakeTable("a");
    ASSERT_THAT(server.Enqueue("a"), IsOk());
    const auto claim = *server.Claim();
    EXPECT_THAT(server.FinishClaim(claim, S::kSucceeded), HasReason(ErrorReason::kInvalidRequest));
    ASSERT_THAT(server.FinishClaim(claim, c.end), IsOk());
    EXPECT_THAT(server.FinishClaim(claim, c.end), IsOk()) << "a repeat";
    const CompactionRow& row = server.stored().compactions.at(claim.row.id);
    EXPECT_EQ(row.state, c.row);
    EXPECT_EQ(row.error, "because");
    EXPECT_EQ(server.StateOf(claim.row.txn), TxnState::kAborted)
        << "what it left behind must never count";
    EXPECT_THAT(server.stored().locks, IsEmpty());
    EXPECT_EQ(server.Enqueue("a")->accepted, c.end != S::kInitiated);
  }
}

TEST(CompactorsTransactions, AbortedByAnOperatorGiveTheClaimBack) {
  Server server;
  server.MakeTable("a");
  ASSERT_THAT(server.Enqueue("a"), IsOk());
  const auto claim = *server.Claim();
  ASSERT_THAT(server.Abort(claim.row.txn, AbortCause::kOperator), IsOk());
  EXPECT_EQ(server.stored().compactions.at(claim.row.id).state, S::kInitiated);
  EXPECT_THAT(server.PublishClaim(claim), HasReason(ErrorReason::kOperationNotAllowed));
}

TEST(Cancel, TakesAnInitiatedEntryOutOnly) {
  Server server;
  server.MakeTable("a");
  const auto cancel = [&](CompactionId id) {
    return server.Do([&](State& s, Now now, Unit& u) { return s.Cancel(id, now, u); });
  };
  const auto first = server.Enqueue("a");
  const auto row = cancel(first->id);
  ASSERT_THAT(row, IsOk());
  EXPECT_EQ(row->state, S::kCancelled);
  EXPECT_THAT(cancel(first->id), HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(cancel(CompactionId(99)), HasReason(ErrorReason::kNoSuchCompaction));
  ASSERT_THAT(server.Enqueue("a"), IsOk());
  const auto working = *server.Claim();
  const auto refused = cancel(working.row.id);
  EXPECT_THAT(refused, HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(refused, HasMessage(HasSubstr("WORKING")));
}

TEST(FinishCleaning, SucceedsOrComesBackLater) {
  Server server;
  server.MakeTable("a");
  server.Write("a", WriteOp::kInsert);
  const CompactionRow row = server.Compact("a");
  EXPECT_THAT(server.state().ReadyToClean(server.now()), ElementsAre(row.id));
  const Timestamp retry = server.now().wall + seconds(30);
  ASSERT_THAT(server.Do([&](State& s, Now now, Unit& u) {
    return s.FinishCleaning({row.id, false, "directory is busy", retry}, now, u);
  }),
              IsOk());
  EXPECT_THAT(server.state().ReadyToClean(server.now()), IsEmpty());
  EXPECT_EQ(server.stored().compactions.at(row.id).clean_attempts, 1);
  EXPECT_EQ(server.stored().compactions.at(row.id).error, "directory is busy");
  server.Pass(seconds(30));
  EXPECT_THAT(server.state().ReadyToClean(server.now()), ElementsAre(row.id));
  ASSERT_THAT(server.EndClean(row.id), IsOk());
  EXPECT_EQ(server.stored().compactions.at(row.id).state, S::kSucceeded);
  EXPECT_THAT(server.EndClean(row.id), IsOk()) << "a repeat";
  EXPECT_THAT(server.BeginClean(row.id), HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(server.state().ReadyToClean(server.now()), IsEmpty());
}

TEST(FinishCleaning, KeepsAShortHistory) {  // HR-1
  Server server;
  server.MakeTable("a");
  for (int i = 0; i < 5; ++i) {
    server.Write("a", WriteOp::kInsert);
    ASSERT_THAT(server.EndClean(server.Compact("a").id), IsOk());
  }
  EXPECT_EQ(server.stored().compactions.size(), 3u);
  EXPECT_EQ(server.stored().compactions.begin()->first, CompactionId(3));
}

TEST(BeginClean, RefusesATableThatWantsNoCleaning) {  // CL-7
  Server server;
  server.MakeTable("a");
  server.Write("a", WriteOp::kInsert);
  const CompactionRow row = server.Compact("a");
  ASSERT_THAT(server.Do([&](State& s, Now now, Unit& u) {
    return s.SetProperties(T("a"), {{"no_cleanup", "TRUE"}}, {}, now, u);
  }),
              IsOk());
  EXPECT_THAT(server.BeginClean(row.id), HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_EQ(server.stored().compactions.at(row.id).state, S::kRefused);
}

TEST(ListCompactions, FilterAndPage) {
  Server server;
  server.MakeTable("a");
  server.MakeTable("b");
  ASSERT_THAT(server.Enqueue("a"), IsOk());
  ASSERT_THAT(server.Enqueue("b"), IsOk());
  ASSERT_TRUE(server.Claim());
  const auto ids = [&](ListCompactions command) {
    std::vector<int64_t> found;
    for (const CompactionRow& row : server.state().Compactions(command))
      found.push_back(row.id.value());
    return found;
  };
  EXPECT_THAT(ids({}), ElementsAre(1, 2));
  EXPECT_THAT(ids({.limit = 1}), ElementsAre(1));
  EXPECT_THAT(ids({.after = CompactionId(1)}), ElementsAre(2));
  EXPECT_THAT(ids({.id = CompactionId(2)}), ElementsAre(2));
  EXPECT_THAT(ids({.id = CompactionId(9)}), ElementsAre());
  EXPECT_THAT(ids({.table = T("b")}), ElementsAre(2));
  EXPECT_THAT(ids({.states = {S::kWorking}}), ElementsAre(1));
}

}  // namespace
}  // namespace skep::state
