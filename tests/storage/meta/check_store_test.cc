#include "storage/meta/check_store.h"

#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"

namespace skep::meta {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LockRow Lock(int64_t id, int64_t txn, LockResource resource, LockKind kind) {
  LockRow row;
  row.lock = LockId(id);
  row.component = 1;
  row.txn = TxnId(txn);
  row.resource = std::move(resource);
  row.kind = kind;
  row.state = LockState::kAcquired;
  return row;
}

// Two tables, two open transactions, one aborted and one ended; everything in order.
StoredState Sound() {
  StoredState state;
  Effects effects = {
      Put<CounterRow>{{CommitSeq(20), TxnId(10), LockId(10), CompactionId(5), TableId(4), 0}}};
  for (int64_t id : {1, 2}) {
    TableRow table;
    table.id = TableId(id);
    table.name = {"db", "t" + std::to_string(id)};
    table.location = "/w/db.db/t" + std::to_string(id);
    table.created_seq = CommitSeq(id);
    table.next_write_id = WriteId(8);
    effects.push_back(Put<TableRow>{table});
  }
  for (int64_t id : {7, 8}) {
    TxnRow txn;
    txn.id = TxnId(id);
    txn.opened_seq = CommitSeq(15);
    txn.snapshot_seq = CommitSeq(15);
    effects.push_back(Put<TxnRow>{txn});
  }
  const auto add = [&](Effect effect) { effects.push_back(std::move(effect)); };
  add(Put<AbortedTxnsRow>{{TxnId(3), TxnId(4), AbortCause::kUser}});
  add(Put<ResolvedTxnRow>{{CommitSeq(16), TxnId(6), CommitSeq(10), true, 0}});
  add(Put<DroppedTableRow>{{TableId(3), {"db", "old"}, "/w/db.db/old", CommitSeq(9)}});
  add(Put<PartitionRow>{{TableId(1), "d=1", CommitSeq(4)}});
  add(Put<WriteIdRow>{{TableId(1), WriteId(5), TxnId(7), CommitSeq(16)}});
  add(Put<ResolvedWriteIdRow>{{CommitSeq(16), TableId(1), WriteId(4), CommitSeq(11), true}});
  add(Put<AbortedWriteIdsRow>{{TableId(1), WriteId(2), WriteId(3)}});
  add(Put<ComponentRow>{{TxnId(7), TableId(1), "d=1", WriteOp::kUpdate, false}});
  WriteMarkRow mark;
  mark.table = TableId(1);
  mark.update_seq = CommitSeq(16);
  mark.update_txn = TxnId(6);
  add(Put<WriteMarkRow>{mark});
  add(Put<LockRow>{Lock(1, 7, {"db", "t1", "d=1"}, LockKind::kExclWrite)});
  add(Put<LockRow>{Lock(2, 8, {"db", "t1", ""}, LockKind::kSharedRead)});
  CompactionRow compaction;
  compaction.id = CompactionId(1);
  compaction.table = TableId(1);
  compaction.state = CompactionState::kWorking;
  compaction.worker = "w";
  compaction.claim = 1;
  compaction.txn = TxnId(8);
  add(Put<CompactionRow>{compaction});
  ApplyEffects(state, effects);
  return state;
}

TEST(CheckInvariants, FindsNothingInASoundStore) {
  EXPECT_THAT(CheckInvariants(Sound()), IsEmpty());
  EXPECT_THAT(CheckInvariants(StoredState()), IsEmpty());
}

TEST(CheckInvariants, NamesWhatContradictsItself) {
  struct Case {
    std::string name;
    Effects change;
    std::string says;
  };
  TableRow twin = Sound().tables.at(TableId(1));
  twin.id = TableId(2);
  TableRow nested = Sound().tables.at(TableId(2));
  nested.location = "/w/db.db/t1/deep/inside";
  TxnRow time_traveller = Sound().txns.at(TxnId(7));
  time_traveller.snapshot_seq = CommitSeq(14);
  LockRow ended = Sound().locks.at({LockId(1), 1});
  ended.state = LockState::kAborted;
  CompactionRow alone = Sound().compactions.at(CompactionId(1));
  alone.txn = TxnId(9);
  CompactionRow homeless = Sound().compactions.at(CompactionId(1));
  homeless.table = TableId(3);
  CompactionRow nobody = Sound().compactions.at(CompactionId(1));
  nobody.claim = 0;
  CounterRow at_the_end = Sound().counters;
  at_the_end.next_txn = TxnId(INT64_MAX);
  CounterRow before_the_first = Sound().counters;
  before_the_first.next_lock = LockId(0);
  TableRow full = Sound().tables.at(TableId(2));
  full.next_write_id = WriteId(INT64_MAX);
  const std::vector<Case> cases = {
      {"no transaction id left",
       {Put<CounterRow>{at_the_end}},
       "next_txn_id is 9223372036854775807, and no id can be given out from there"},
      {"a counter that is none", {Put<CounterRow>{before_the_first}}, "next_lock_id is 0"},
      {"no write id left", {Put<TableRow>{full}}, "the next_write_id of table 2 is 92233"},
      {"write id of two kinds",
       {Put<AbortedWriteIdsRow>{{TableId(1), WriteId(5), WriteId(6)}}},
       "open write id 5 of table 1 is also aborted"},
      {"committed and aborted",
       {Put<AbortedWriteIdsRow>{{TableId(1), WriteId(2), WriteId(4)}}},
       "ended write id 4 of table 1 is committed and aborted"},
      {"overlapping intervals",
       {Put<AbortedWriteIdsRow>{{TableId(1), WriteId(3), WriteId(3)}}},
       "overlap those before"},
      {"two write ids of one transaction",
       {Put<WriteIdRow>{{TableId(1), WriteId(6), TxnId(7), CommitSeq(16)}}},
       "transaction 7 also has write id 5 there"},
      {"write id of an ended transaction",
       {Put<WriteIdRow>{{TableId(2), WriteId(6), TxnId(6), CommitSeq(16)}}},
       "belongs to transaction 6, which is not open"},
      {"write id above the counter",
       {Put<WriteIdRow>{{TableId(2), WriteId(8), TxnId(8), CommitSeq(16)}}},
       "the table's next_write_id is 8"},
      {"transaction above the counter",
       {Put<AbortedTxnsRow>{{TxnId(9), TxnId(10), AbortCause::kUser}}},
       "next_txn_id is 10"},
      {"open and aborted",
       {Put<AbortedTxnsRow>{{TxnId(8), TxnId(9), AbortCause::kUser}}},
       "transaction 8 is also open"},
      {"open and ended",
       {Put<ResolvedTxnRow>{{CommitSeq(16), TxnId(7), CommitSeq(15), false, 0}}},
       "ended transaction 7 is also open"},
      {"a sequence to come",
       {Put<ResolvedTxnRow>{{CommitSeq(21), TxnId(5), CommitSeq(15), false, 0}}},
       "is of sequence 21, but the last unit is 20"},
      {"a snapshot older than its transaction", {Put<TxnRow>{time_traveller}}, "older than itself"},
      {"a write of an ended transaction",
       {Put<ComponentRow>{{TxnId(6), TableId(1), "", WriteOp::kInsert, false}}},
       "a write of transaction 6, which is not open"},
      {"a partition of no table",
       {Put<PartitionRow>{{TableId(3), "d=1", CommitSeq(4)}}},
       "names table 3, which is not there"},
      {"one name twice", {Put<TableRow>{twin}}, "has the name of table 1"},
      {"one location twice", {Put<TableRow>{twin}}, "has the location of table 1"},
      {"a table inside another", {Put<TableRow>{nested}}, "table 2 lies inside table 1"},
      {"a lock of an ended transaction",
       {Put<LockRow>{Lock(3, 6, {"db", "t2", ""}, LockKind::kSharedRead)}},
       "belongs to transaction 6, which is not open"},
      {"a lock above the counter",
       {Put<LockRow>{Lock(10, 7, {"db", "t2", ""}, LockKind::kSharedRead)}},
       "next_lock_id is 10"},
      {"a lock state that is never stored", {Put<LockRow>{ended}}, "is in state ABORTED"},
      {"two locks that exclude each other",
       {Put<LockRow>{Lock(3, 8, {"db", "t1", ""}, LockKind::kExclusive)}},
       "locks 3 (EXCLUSIVE on db.t1) and 1 (EXCL_WRITE on db.t1/d=1) are both granted"},
      {"a database lock against one below",
       {Put<LockRow>{Lock(3, 8, {"db", "", ""}, LockKind::kExclWrite)}},
       "are both granted"},
      {"two locks outside transactions",
       {Put<LockRow>{Lock(3, 0, {"db", "t2", ""}, LockKind::kExclusive)},
        Put<LockRow>{Lock(4, 0, {"db", "t2", ""}, LockKind::kSharedRead)}},
       "are both granted"},
      {"work outside transactions",
       {Put<CompactionRow>{alone}},
       "compaction 1 is worked on outside any transaction"},
      {"work on no table",
       {Put<CompactionRow>{homeless}},
       "compaction 1 names table 3, which is not there"},
      {"work without a claim", {Put<CompactionRow>{nobody}}, "nobody claimed it"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    StoredState state = Sound();
    ApplyEffects(state, c.change);
    EXPECT_THAT(CheckInvariants(state), ::testing::Contains(HasSubstr(c.says)));
  }
}

// Whichever two of three owners exclude each other, at least one sentence names both levels.
TEST(CheckInvariants, FindsAConflictAmongManyLocksOfTheSameKind) {
  const std::vector<LockResource> levels = {
      {"db", "", ""}, {"db", "t1", ""}, {"db", "t1", "d=1"}, {"db", "t1", "d=2"}};
  const std::vector<LockKind> kinds = {
      LockKind::kSharedRead, LockKind::kSharedWrite, LockKind::kExclWrite, LockKind::kExclusive};
  const auto exempt = [](const LockRow& outer, const LockRow& inner) {
    return outer.resource.table.empty() && !inner.resource.table.empty() &&
           outer.kind == LockKind::kSharedRead && inner.kind == LockKind::kExclusive;
  };
  const auto conflict = [&](const LockRow& a, const LockRow& b) {
    return a.txn != b.txn && ResourcesOverlap(a.resource, b.resource) &&
           LocksConflict(a.kind, b.kind) && !exempt(a, b) && !exempt(b, a);
  };
  std::vector<LockRow> all;
  for (const int64_t txn : {7, 8}) {
    for (const LockResource& level : levels) {
      for (const LockKind kind : kinds) all.push_back(Lock(1, txn, level, kind));
    }
  }
  StoredState state = Sound();
  for (const LockRow& a : all) {
    for (const LockRow& b : all) {
      for (const LockRow& c : {all.front(), all[5], all.back()}) {
        state.locks.clear();
        LockRow rows[] = {a, b, c};
        for (int64_t i = 0; i < 3; ++i) {
          rows[i].lock = LockId(i + 1);
          ApplyEffects(state, {Put<LockRow>{rows[i]}});
        }
        const bool expected = conflict(a, b) || conflict(a, c) || conflict(b, c);
        ASSERT_EQ(!CheckInvariants(state).empty(), expected)
            << a.resource.ToString() << ' ' << LockKindName(a.kind) << ' ' << a.txn << ", "
            << b.resource.ToString() << ' ' << LockKindName(b.kind) << ' ' << b.txn << ", "
            << c.resource.ToString() << ' ' << LockKindName(c.kind) << ' ' << c.txn;
      }
    }
  }
}

// Pair by pair, the readers alone would take minutes.
TEST(CheckInvariants, LooksAtALargeStoreInOneGo) {
  StoredState state = Sound();
  Effects effects = {Put<CounterRow>{
      {CommitSeq(20), TxnId(10), LockId(1'000'000), CompactionId(5), TableId(1'000'000), 0}}};
  constexpr int64_t kMany = 30'000;
  TableRow table = Sound().tables.at(TableId(1));
  for (int64_t id = 10; id < kMany; ++id) {
    table.id = TableId(id);
    table.name.table = "many" + std::to_string(id);
    table.location = "/w/db.db/many" + std::to_string(id);
    effects.push_back(Put<TableRow>{table});
    effects.push_back(Put<AbortedWriteIdsRow>{{TableId(id), WriteId(2), WriteId(3)}});
    effects.push_back(Put<LockRow>{Lock(id, 0, {"db", "", ""}, LockKind::kSharedRead)});
    effects.push_back(Put<LockRow>{Lock(id + kMany, 0, {"db", "t2", ""}, LockKind::kSharedRead)});
  }
  ApplyEffects(state, effects);
  EXPECT_THAT(CheckInvariants(state), IsEmpty());
  ApplyEffects(state, {Put<LockRow>{Lock(999'999, 7, {"db", "t2", ""}, LockKind::kExclWrite)}});
  EXPECT_THAT(CheckInvariants(state), IsEmpty());
  ApplyEffects(state, {Put<LockRow>{Lock(999'998, 8, {"db", "t2", ""}, LockKind::kSharedWrite)}});
  EXPECT_THAT(CheckInvariants(state), ElementsAre(HasSubstr("locks 999998 (SHARED_WRITE")));
}

TEST(RequireSound, TellsTheFirstContradictions) {
  using skep::testing::HasMessage;
  using skep::testing::HasReason;
  EXPECT_THAT(RequireSound(Sound()), skep::testing::IsOk());
  StoredState state = Sound();
  state.counters.next_table = TableId(2);
  const absl::Status status = RequireSound(state);
  EXPECT_THAT(status, HasReason(ErrorReason::kCorruptStore));
  for (const std::string& finding : CheckInvariants(state)) {
    EXPECT_THAT(status, HasMessage(HasSubstr(finding)));
  }
  state.counters.seq = CommitSeq(0);
  EXPECT_THAT(RequireSound(state), HasMessage(HasSubstr("more, which skepd --check-store tells")));
}

TEST(CheckInvariants, AllowsLocksThatStandSideBySide) {
  struct Case {
    std::string name;
    std::vector<LockRow> locks;
  };
  const std::vector<Case> cases = {
      {"one owner", {Lock(3, 7, {"db", "t1", ""}, LockKind::kExclusive)}},
      {"other partition", {Lock(3, 8, {"db", "t1", "d=2"}, LockKind::kExclWrite)}},
      {"other table", {Lock(3, 8, {"db", "t2", ""}, LockKind::kExclusive)}},
      {"database read beside exclusive below (LCM-4)",
       {Lock(3, 8, {"db", "", ""}, LockKind::kSharedRead),
        Lock(4, 7, {"db", "t2", ""}, LockKind::kExclusive)}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    StoredState state = Sound();
    state.locks.erase({LockId(2), 1});
    for (const LockRow& lock : c.locks) ApplyEffects(state, {Put<LockRow>{lock}});
    EXPECT_THAT(CheckInvariants(state), IsEmpty());
  }
}

}  // namespace
}  // namespace skep::meta
