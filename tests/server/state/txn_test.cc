// Transactions: open, end, ask; leases; limits.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OpenTransactions, GivesConsecutiveIdsThatNeverRepeat) {
  Server server;
  OpenTxns three;
  three.count = 3;
  const auto first = server.TryOpen(three);
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(first->first, TxnId(1));
  EXPECT_EQ(first->count, 3);
  ASSERT_THAT(server.Commit(TxnId(2)), IsOk());
  ASSERT_THAT(server.Abort(TxnId(3)), IsOk());
  server.Restart();
  EXPECT_EQ(server.Open(), TxnId(4));
}

TEST(OpenTransactions, RefusesWhatNobodyCanHave) {
  struct Case {
    const char* name;
    OpenTxns command;
    ErrorReason reason;
  };
  const std::vector<Case> cases = {
      {"OPN-2: none", {.count = 0}, ErrorReason::kInvalidRequest},
      {"OPN-2: fewer than none", {.count = -1}, ErrorReason::kInvalidRequest},
      {"OPN-3: above the batch limit is refused, not cut",
       {.count = 1001},
       ErrorReason::kInvalidRequest},
      {"a lease of nothing", {.timeout = milliseconds(0)}, ErrorReason::kInvalidRequest},
      {"a lease of more than a day",
       {.timeout = std::chrono::hours(25)},
       ErrorReason::kInvalidRequest},
      {"TYP-5: compaction", {.type = TxnType::kCompaction}, ErrorReason::kOperationNotAllowed},
      {"TYP-4: replication without a source",
       {.type = TxnType::kReplCreated},
       ErrorReason::kInvalidRequest},
  };
  Server server;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(server.TryOpen(c.command), HasReason(c.reason));
  }
  EXPECT_TRUE(server.stored().txns.empty());
}

TEST(OpenTransactions, AreRefusedFromTheLimitUntilBelowNinetyPercent) {  // OPN-5
  Options options;
  options.max_open_txns = 20;
  Server server(options);
  std::vector<TxnId> open;
  for (int i = 0; i < 20; ++i) open.push_back(server.Open());
  OpenTxns one;
  one.user = "bob";
  const auto refused = server.TryOpen(one);
  ASSERT_THAT(refused, HasReason(ErrorReason::kTooManyOpenTxns));
  EXPECT_THAT(refused, HasMessage(HasSubstr("ann (20)"))) << "names who holds them";
  EXPECT_EQ(MetadataOf(refused.status())["limit"], "20");
  EXPECT_EQ(MetadataOf(refused.status())["open"], "20");
  ASSERT_THAT(server.Commit(open[0]), IsOk()) << "ends are never refused";
  ASSERT_THAT(server.Commit(open[1]), IsOk());
  EXPECT_THAT(server.TryOpen(one), HasReason(ErrorReason::kTooManyOpenTxns))
      << "18 open: not below 90 %";
  ASSERT_THAT(server.Commit(open[2]), IsOk());
  EXPECT_THAT(server.TryOpen(one), IsOk());
}

TEST(OpenTransactions, CountTheWholeBatchAgainstTheLimit) {  // OPN-4, OPN-6
  Options options;
  options.max_open_txns = 10;
  Server server(options);
  server.Open();
  EXPECT_THAT(server.TryOpen({.count = 10}), HasReason(ErrorReason::kTooManyOpenTxns));
  EXPECT_THAT(server.TryOpen({.count = 9}), IsOk()) << "one too large batch closes nothing";
}

TEST(EndedTransactions, AnswerByTheirState) {  // ABT-12, LCK-4, CMT-3, CMT-5, ABT-1, ABT-5
  struct Case {
    const char* name;
    AbortCause end;  // kNone: commit
    bool known;
    ErrorReason use;  // what any operation says
    bool commit_ok, abort_ok;
  };
  const std::vector<Case> cases = {
      {"CMT-4: committed", AbortCause::kNone, true, ErrorReason::kTxnAlreadyCommitted, true, false},
      {"ABT-2: aborted", AbortCause::kUser, true, ErrorReason::kTxnAborted, false, true},
      {"ABT-10: aborted by an operator",
       AbortCause::kOperator,
       true,
       ErrorReason::kTxnAborted,
       false,
       true},
      {"ABT-3: never opened", AbortCause::kNone, false, ErrorReason::kNoSuchTxn, false, false},
  };
  for (const bool restart : {false, true}) {
    for (const Case& c : cases) {
      SCOPED_TRACE(std::string(c.name) + (restart ? " (after a restart)" : ""));
      Server server;
      server.MakeTable("a");
      TxnId txn(77);
      if (c.known) {
        txn = server.Open();
        ASSERT_TRUE(c.end == AbortCause::kNone ? server.Commit(txn).ok()
                                               : server.Abort(txn, c.end).ok());
      }
      if (restart) server.Restart();
      EXPECT_THAT(server.Allocate(txn, T("a")), HasReason(c.use));
      EXPECT_THAT(server.List(txn, T("a")), HasReason(c.use));
      EXPECT_THAT(server.Lock(txn, {OnTable("a", LockKind::kSharedRead)}), HasReason(c.use));
      EXPECT_THAT(server.AddPartitions(txn, T("a"), {}), HasReason(c.use));
      EXPECT_THAT(server.Snapshot(txn), HasReason(c.use));
      EXPECT_EQ(server.Commit(txn).ok(), c.commit_ok);
      EXPECT_EQ(server.Abort(txn).ok(), c.abort_ok);
    }
  }
}

TEST(EndedTransactions, OfZeroOrNegativeIdsNeverWere) {
  Server server;
  for (const int64_t id : {int64_t{0}, int64_t{-5}, INT64_MAX, INT64_MIN}) {
    SCOPED_TRACE(id);
    EXPECT_THAT(server.Commit(TxnId(id)), HasReason(ErrorReason::kNoSuchTxn));
    EXPECT_THAT(server.state().GetTxn(TxnId(id), server.now()), HasReason(ErrorReason::kNoSuchTxn));
  }
}

TEST(AbortTransactions, ReportEachIdInItsList) {  // ABT-9
  Server server;
  const TxnId open = server.Open(), aborted = server.Open(), committed = server.Open();
  ASSERT_THAT(server.Abort(aborted), IsOk());
  ASSERT_THAT(server.Commit(committed), IsOk());
  const auto answer = server.Do([&](State& s, Now now, Unit& u) {
    return s.Abort({{open, aborted, committed, TxnId(99)}, AbortCause::kOperator}, now, u);
  });
  ASSERT_THAT(answer, IsOk());
  EXPECT_THAT(answer->aborted, ElementsAre(open, aborted));
  EXPECT_THAT(answer->already_committed, ElementsAre(committed));
  EXPECT_THAT(answer->not_found, ElementsAre(TxnId(99)));
  EXPECT_EQ(server.state().GetTxn(open, server.now())->cause, AbortCause::kOperator);
  EXPECT_EQ(server.state().GetTxn(aborted, server.now())->cause, AbortCause::kUser);
}

TEST(AbortTransactions, CostOneRowForAnyNumberInARow) {
  Server server;
  const auto batch = server.TryOpen({.count = 100});
  ASSERT_THAT(batch, IsOk());
  for (int64_t i = 100; i > 0; --i) ASSERT_THAT(server.Abort(TxnId(i)), IsOk());
  ASSERT_EQ(server.stored().aborted_txns.size(), 1u);
  EXPECT_EQ(server.stored().aborted_txns.begin()->second,
            (AbortedTxnsRow{TxnId(1), TxnId(100), AbortCause::kUser}));
}

TEST(Leases, EndOnlyWhenStrictlyOlderThanTheTimeout) {  // TMO-6
  Server server;
  const TxnId txn = server.Open();
  server.Pass(kLease);
  server.Reap();
  EXPECT_EQ(server.StateOf(txn), TxnState::kOpen);
  server.Pass(std::chrono::nanoseconds(1));
  server.Reap();
  EXPECT_EQ(server.state().GetTxn(txn, server.now())->cause, AbortCause::kTimeout);
}

TEST(Leases, AreRenewedByAnyOperationOfTheTransaction) {  // HBT-7
  Server server;
  server.MakeTable("a");
  const TxnId txn = server.Open();
  for (int i = 0; i < 4; ++i) {
    server.Pass(kLease - seconds(1));
    switch (i) {
      case 0:
        server.Beat({txn});
        break;
      case 1:
        ASSERT_THAT(server.Allocate(txn, T("a")), IsOk());
        break;
      case 2:
        ASSERT_THAT(server.List(txn, T("a")), IsOk());
        break;
      case 3:
        ASSERT_THAT(server.Lock(txn, {OnTable("a", LockKind::kSharedRead)}), IsOk());
        break;
    }
    server.Reap();
    ASSERT_EQ(server.StateOf(txn), TxnState::kOpen) << i;
  }
}

TEST(Leases, AreTheTransactionsOwn) {
  Server server;
  const auto brief = server.TryOpen({.timeout = seconds(10)});
  const TxnId other = server.Open();
  server.Pass(seconds(11));
  EXPECT_LE(*server.state().NextExpiry(), server.now().mono);
  server.Reap();
  EXPECT_EQ(server.StateOf(brief->first), TxnState::kAborted);
  EXPECT_EQ(server.StateOf(other), TxnState::kOpen);
}

TEST(Leases, GrowByAStallOfTheLoop) {
  Server server;
  const TxnId txn = server.Open();
  server.Pass(kLease + seconds(60));
  server.state().ExtendLeases(seconds(60));
  server.Reap();
  EXPECT_EQ(server.StateOf(txn), TxnState::kOpen);
  server.Pass(seconds(1));
  server.Reap();
  EXPECT_EQ(server.StateOf(txn), TxnState::kAborted);
}

TEST(Leases, StartAfreshAtFullLengthAfterALoad) {
  Server server;
  const TxnId txn = server.Open();
  server.Pass(kLease - seconds(1));
  server.Restart();
  server.Pass(kLease - seconds(1));
  server.Reap();
  EXPECT_EQ(server.StateOf(txn), TxnState::kOpen);
}

// the clock decides, the reaper only collects. Each operation comes before any Reap.
TEST(Leases, ThatAreOverAbortAtAnyOperation) {
  using Operation = std::function<absl::Status(Server&, TxnId)>;
  const std::vector<std::pair<const char*, Operation>> operations = {
      {"commit", [](Server& s, TxnId t) { return s.Commit(t).status(); }},
      {"allocate", [](Server& s, TxnId t) { return s.Allocate(t, T("a")).status(); }},
      {"lists", [](Server& s, TxnId t) { return s.List(t, T("a")).status(); }},
      {"snapshot", [](Server& s, TxnId t) { return s.Snapshot(t).status(); }},
      {"refresh", [](Server& s, TxnId t) { return s.Refresh(t).status(); }},
      {"lock",
       [](Server& s, TxnId t) {
         return s.Lock(t, {OnTable("a", LockKind::kSharedRead)}).status();
       }},
      {"partitions", [](Server& s, TxnId t) { return s.AddPartitions(t, T("a"), {}); }},
      {"drop",
       [](Server& s, TxnId t) {
         return s.Do([&](State& st, Now now, Unit& u) { return st.Drop(t, T("a"), now, u); });
       }},
  };
  for (const auto& [name, operation] : operations) {
    SCOPED_TRACE(name);
    Server server;
    server.MakeTable("a");
    const TxnId txn = server.Open();
    server.Pass(kLease + seconds(1));
    const absl::Status status = operation(server, txn);
    EXPECT_THAT(status, HasReason(ErrorReason::kTxnAborted));
    EXPECT_EQ(MetadataOf(status)["cause"], "timeout");
    server.Restart();
    EXPECT_EQ(server.StateOf(txn), TxnState::kAborted) << "and that is durable";
  }
}

TEST(Questions, FindALeaseThatIsOverToo) {
  Server server;
  server.MakeTable("a");
  const TxnId txn = server.Open();
  server.Pass(kLease);
  EXPECT_THAT(server.state().GetTable(T("a"), txn, server.now()), IsOk());
  server.Pass(seconds(1));
  EXPECT_THAT(server.state().GetTable(T("a"), txn, server.now()),
              HasReason(ErrorReason::kTxnAborted));
  EXPECT_THAT(server.state().Partitions(T("a"), txn, server.now(), "", 10),
              HasReason(ErrorReason::kTxnAborted));
}

// A flood of silent clients must not stop the loop.
TEST(Reap, EndsSoManyAtOnceAndTheRestSoon) {
  Options options;
  options.max_batch = 2 * State::kMaxEndedAtOnce;
  Server server(options);
  const auto opened = server.TryOpen({.count = State::kMaxEndedAtOnce + 1});
  ASSERT_THAT(opened, IsOk());
  server.Pass(kLease + seconds(1));
  server.Reap();
  EXPECT_EQ(server.stored().txns.size(), 1u);
  EXPECT_EQ(server.StateOf(opened->first), TxnState::kAborted) << "the oldest first";
  ASSERT_TRUE(server.state().NextExpiry());
  EXPECT_LE(*server.state().NextExpiry(), server.now().mono) << "there is more to do";
  server.Reap();
  EXPECT_EQ(server.stored().txns.size(), 0u);
}

TEST(Heartbeats, ReportEachIdInItsListAndDoNotResurrect) {  // HBT-5, HBT-8, R-15
  Server server;
  const TxnId late = server.Open(), committed = server.Open();
  ASSERT_THAT(server.Commit(committed), IsOk());
  server.Pass(kLease + seconds(1));
  const TxnId open = server.Open();
  const HeartbeatResult result = server.Beat({late, committed, open, TxnId(99)});
  ASSERT_EQ(result.aborted.size(), 1u);
  EXPECT_EQ(result.aborted[0].txn, late);
  EXPECT_EQ(result.aborted[0].cause, AbortCause::kTimeout);
  EXPECT_THAT(result.committed, ElementsAre(committed));
  EXPECT_THAT(result.not_found, ElementsAre(TxnId(99)));
}

TEST(Heartbeats, ChangeNothingInTheStore) {  // HBT-6
  Server server;
  const TxnId txn = server.Open();
  Unit unit = server.state().Begin();
  server.state().Beat({{txn}, {}}, server.now(), unit);
  server.state().Seal(unit);
  EXPECT_TRUE(unit.empty());
}

TEST(ListTransactions, PagesOpenAndAbortedByAscendingId) {
  Server server;
  server.MakeTable("a");
  for (int i = 0; i < 6; ++i) server.Open();
  ASSERT_THAT(server.Abort(TxnId(2)), IsOk());
  ASSERT_THAT(server.Commit(TxnId(3)), IsOk());
  ASSERT_THAT(server.Abort(TxnId(5)), IsOk());
  ASSERT_THAT(server.Allocate(TxnId(6), T("a")), IsOk());
  const auto ids = [&](ListTxns command) {
    std::vector<int64_t> found;
    for (const TxnInfo& info : server.state().Txns(command, server.now()))
      found.push_back(info.id.value());
    return found;
  };
  EXPECT_THAT(ids({}), ElementsAre(1, 4, 6)) << "open by default";
  EXPECT_THAT(ids({.states = {TxnState::kAborted}}), ElementsAre(2, 5));
  EXPECT_THAT(ids({.states = {TxnState::kOpen, TxnState::kAborted}, .after = TxnId(1), .limit = 3}),
              ElementsAre(2, 4, 5));
  EXPECT_THAT(ids({.user = "bob"}), ElementsAre());
  EXPECT_THAT(ids({.table = TableId(1)}), ElementsAre(6));
}

TEST(Summary, CountsWhatIsAlive) {
  Server server;
  server.MakeTable("a");
  const TxnId oldest = server.Open();
  ASSERT_THAT(server.Abort(server.Open()), IsOk());
  ASSERT_THAT(server.Lock(oldest, {OnTable("a", LockKind::kExclusive)}), IsOk());
  ASSERT_THAT(server.Lock(server.Open(), {OnTable("a", LockKind::kSharedRead)}), IsOk());
  ASSERT_THAT(server.Enqueue("a"), IsOk());
  const State::Totals totals = server.state().Summary(server.now());
  EXPECT_EQ(totals.open_txns, 2);
  EXPECT_EQ(totals.aborted_txns, 1);
  EXPECT_EQ(totals.tables, 1);
  EXPECT_EQ(totals.locks_held, 1);
  EXPECT_EQ(totals.locks_waiting, 1);
  EXPECT_EQ(totals.queued, 1);
  ASSERT_TRUE(totals.oldest_open);
  EXPECT_EQ(totals.oldest_open->id, oldest);
  EXPECT_EQ(totals.seq, server.stored().counters.seq);
}

}  // namespace
}  // namespace skep::state
