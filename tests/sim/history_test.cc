// The checks of what clients did and were told: each is shown a history that it must find wrong.

#include "tests/sim/history.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/lock_rules.h"

namespace skep::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Collects what a check reports.
struct Findings {
  std::vector<std::string> texts;
  History::Report Take() {
    return [this](const std::string& text) { texts.push_back(text); };
  }
};

Written InsertOf(int64_t table, int64_t write_id, int64_t value) {
  return {{TableId(table), ""}, WriteOp::kInsert, {{WriteId(write_id), 0, value}}, {}};
}
Written UpdateOf(int64_t table, int64_t write_id, Row victim, int64_t value) {
  return {{TableId(table), ""}, WriteOp::kUpdate, {{WriteId(write_id), 0, value}}, {victim}};
}

TEST(History, AcceptsWhatSnapshotIsolationAllows) {
  Findings found;
  History history(found.Take());
  history.Opened("a", TxnId(1), CommitSeq(1));
  history.Wrote(TxnId(1), InsertOf(1, 1, 10));
  history.Ended(TxnId(1), {CommitSeq(2), CommitSeq(1)});
  history.ToldCommitted(TxnId(1), CommitSeq(2));
  history.Opened("b", TxnId(2), CommitSeq(2));
  history.Read(TxnId(2), CommitSeq(2), {TableId(1), ""}, {{WriteId(1), 0, 10}});
  history.Wrote(TxnId(2), UpdateOf(1, 2, {WriteId(1), 0, 10}, 11));
  history.Ended(TxnId(2), {CommitSeq(3), CommitSeq(2)});
  history.Opened("c", TxnId(3), CommitSeq(2));
  history.Read(TxnId(3), CommitSeq(2), {TableId(1), ""}, {{WriteId(1), 0, 10}});
  EXPECT_THAT(found.texts, IsEmpty());
}

TEST(History, FindsEachKindOfBadHistory) {
  const Row first{WriteId(1), 0, 10};
  struct Case {
    std::string name;
    std::function<void(History&)> play;
    std::string finding;
  };
  const auto write =
      [](History& h, int64_t txn, CommitSeq snapshot, Written written, CommitSeq end) {
        h.Opened("c", TxnId(txn), snapshot);
        h.Wrote(TxnId(txn), std::move(written));
        h.Ended(TxnId(txn), {end, snapshot});
      };
  const Place place{TableId(1), ""};
  const auto list = [](int64_t high, CommitSeq seq) {
    WriteIdSnapshot snapshot;
    snapshot.table = {"db", "t"};
    snapshot.table_id = TableId(1);
    snapshot.seq = seq;
    snapshot.ids.high = high;
    return snapshot;
  };
  // Write id 1 of transaction 5, which committed in unit 3.
  const auto committed_late = [](History& h) {
    h.model().Opened(TxnId(5), CommitSeq(1));
    h.model().Allocated(TableId(1), WriteId(1), TxnId(5), CommitSeq(2));
    h.model().Ended(TxnId(5), CommitSeq(3), true);
  };
  const auto always = [] { return true; };
  const std::vector<Case> cases = {
      {"lost update",
       [&](History& h) {
         write(h, 1, CommitSeq(1), InsertOf(1, 1, 10), CommitSeq(2));
         write(h, 2, CommitSeq(2), UpdateOf(1, 2, first, 11), CommitSeq(3));
         write(h, 3, CommitSeq(2), UpdateOf(1, 3, first, 12), CommitSeq(4));
       },
       "lost update"},
      {"insert under an overwrite",
       [&](History& h) {
         Written over{place, WriteOp::kOverwrite, {}, {}};
         write(h, 1, CommitSeq(1), over, CommitSeq(2));
         write(h, 2, CommitSeq(1), InsertOf(1, 2, 10), CommitSeq(3));
       },
       "lost update"},
      {"a committed row is missing",
       [&](History& h) {
         write(h, 1, CommitSeq(1), InsertOf(1, 1, 10), CommitSeq(2));
         h.Read(TxnId(2), CommitSeq(2), place, {});
       },
       "reads in table 1 none"},
      {"a later row is seen",
       [&](History& h) {
         write(h, 1, CommitSeq(1), InsertOf(1, 1, 10), CommitSeq(2));
         h.Read(TxnId(2), CommitSeq(1), place, {first});
       },
       "committed by then were none"},
      {"an aborted row is seen",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Wrote(TxnId(1), InsertOf(1, 1, 10));
         h.Ended(TxnId(1), {CommitSeq(2), CommitSeq(1), AbortCause::kUser});
         h.Read(TxnId(2), CommitSeq(3), place, {first});
       },
       "committed by then were none"},
      {"acknowledged and not durable",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.ToldCommitted(TxnId(1), CommitSeq(2));
       },
       "no durable unit"},
      {"acknowledged and aborted",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Ended(TxnId(1), {CommitSeq(2), CommitSeq(1), AbortCause::kUser});
         h.ToldCommitted(TxnId(1), CommitSeq());
       },
       "aborted, and its commit was acknowledged"},
      {"told aborted and committed",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Ended(TxnId(1), {CommitSeq(2), CommitSeq(1)});
         h.ToldAborted(TxnId(1));
       },
       "its owner was told that it is aborted"},
      {"another unit than said",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Ended(TxnId(1), {CommitSeq(2), CommitSeq(1)});
         h.ToldCommitted(TxnId(1), CommitSeq(3));
       },
       "was said to be committed by unit 3"},
      {"an id twice",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Opened("d", TxnId(1), CommitSeq(1));
       },
       "was given to c and to d"},
      {"a write id twice",
       [&](History& h) {
         h.Allocated(TxnId(1), TableId(1), WriteId(1));
         h.Allocated(TxnId(2), TableId(1), WriteId(1));
       },
       "was given to transactions 1 and 2"},
      {"a list that shows a later commit",
       [&](History& h) {
         committed_late(h);
         h.Opened("c", TxnId(1), CommitSeq(2));
         h.Listed(TxnId(1), list(1, CommitSeq(2)));
       },
       "was given the list"},
      {"a list that lacks a write id",
       [&](History& h) {
         committed_late(h);
         h.Opened("c", TxnId(1), CommitSeq(3));
         h.Listed(TxnId(1), list(0, CommitSeq(3)));
       },
       "was given the list"},
      {"somebody else's write id as one's own",
       [&](History& h) {
         committed_late(h);
         h.Opened("c", TxnId(1), CommitSeq(3));
         WriteIdSnapshot foreign = list(1, CommitSeq(3));
         foreign.own = {1};
         h.Listed(TxnId(1), foreign);
       },
       "is not transaction 1's own"},
      {"an acknowledged commit that is not seen",
       [&](History& h) {
         write(h, 1, CommitSeq(1), InsertOf(1, 1, 10), CommitSeq(4));
         h.ToldCommitted(TxnId(1), CommitSeq(4));
         h.Opened("c", TxnId(2), CommitSeq(3), nullptr, h.acknowledged());
       },
       "after the commit of unit 4 was acknowledged"},
      {"a snapshot that moves after a list was given",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Listed(TxnId(1), list(0, CommitSeq(1)));
         h.Refreshed(TxnId(1), CommitSeq(2));
       },
       "was moved to 2 after it was used"},
      {"partitions that come and go",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.SawPartitions(TxnId(1), TableId(1), {"p=1"});
         h.SawPartitions(TxnId(1), TableId(1), {});
       },
       "was shown 1 partitions"},
      {"a conflict with nobody",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(5));
         h.Ended(TxnId(1), {CommitSeq(6), CommitSeq(5), AbortCause::kConflict});
         write(h, 2, CommitSeq(1), InsertOf(1, 1, 10), CommitSeq(4));
         h.LostTo(TxnId(1), TxnId(2));
       },
       "which committed nothing since"},
      {"a commit after a lock was taken away",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.AbortOnly(TxnId(1), CommitSeq(2));
         h.Ended(TxnId(1), {CommitSeq(3), CommitSeq(1)});
       },
       "a lock was taken from it before"},
      {"a commit into a dropped table",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Drops(TxnId(1), TableId(1));
         h.Ended(TxnId(1), {CommitSeq(2), CommitSeq(1)});
         write(h, 2, CommitSeq(3), InsertOf(1, 1, 10), CommitSeq(4));
       },
       "which unit 2 dropped"},
      {"a drop over what it did not see",
       [&](History& h) {
         write(h, 2, CommitSeq(1), InsertOf(1, 1, 10), CommitSeq(2));
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Drops(TxnId(1), TableId(1));
         h.Ended(TxnId(1), {CommitSeq(3), CommitSeq(1)});
       },
       "dropped table 1 over"},
      {"own writes that are not seen",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.model().Opened(TxnId(1), CommitSeq(1));
         h.Wrote(TxnId(1), InsertOf(1, 1, 10));
         h.Read(TxnId(1), CommitSeq(1), place, {});
       },
       "reads in table 1 none"},
      {"a list of another sequence",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Listed(TxnId(1), list(3, CommitSeq(2)));
       },
       "was given a list of 2"},
      {"a snapshot that shows an aborted transaction",
       [&](History& h) {
         h.model().Opened(TxnId(1), CommitSeq(1));
         h.model().Opened(TxnId(2), CommitSeq(1));
         h.model().Ended(TxnId(1), CommitSeq(2), false);
         TxnSnapshot snapshot;
         snapshot.seq = CommitSeq(3);
         snapshot.ids.high = 2;
         snapshot.ids.open = {2};
         h.SawTxns(TxnId(2), snapshot);
       },
       "was given the snapshot 3"},
      {"a lease that was ended too early",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1), always);
         h.Ended(TxnId(1), {CommitSeq(2), CommitSeq(1), AbortCause::kTimeout});
       },
       "while its owner may rely on it"},
      {"two writers where one may be",
       [&](History& h) {
         h.Granted(LockId(1), TxnId(1), {{{"db", "t", ""}, LockKind::kExclWrite}}, always);
         h.Granted(LockId(2), TxnId(2), {{{"db", "t", "p=1"}, LockKind::kSharedWrite}}, always);
       },
       "was granted while lock 1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Findings found;
    History history(found.Take());
    c.play(history);
    ASSERT_FALSE(found.texts.empty());
    EXPECT_THAT(found.texts.front(), HasSubstr(c.finding));
  }
}

TEST(History, ForgetsLocksThatWereReleasedOrRanOut) {
  Findings found;
  History history(found.Take());
  const std::vector<HeldLock> all = {{{"db", "t", ""}, LockKind::kExclusive}};
  bool lasts = true;
  history.Granted(LockId(1), TxnId(1), all, [&lasts] { return lasts; });
  lasts = false;
  history.Granted(LockId(2), TxnId(2), all, [] { return true; });
  history.Released(LockId(2));
  history.Granted(LockId(3), TxnId(3), all, [] { return true; });
  history.ReleasedAll(TxnId(3));
  history.Granted(LockId(4), TxnId(4), all, [] { return true; });
  EXPECT_THAT(found.texts, IsEmpty());
}

}  // namespace
}  // namespace skep::sim
