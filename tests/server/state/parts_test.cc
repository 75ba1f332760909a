// The small parts alone: leases, intervals, marks, and list views against a naive model.

#include <limits>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/state/aborted_intervals.h"
#include "server/state/leases.h"
#include "server/state/txn_table.h"
#include "server/state/write_ids.h"
#include "storage/base/random.h"

namespace skep::state {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr MonoTime At(int64_t s) { return MonoTime(seconds(1000 + s)); }

TEST(LeaseQueue, NeedsNoTouchToRenewAndForgetsWhatIsDropped) {
  Leases<TxnId> leases;
  leases.Renew(TxnId(1), At(0), seconds(10));
  leases.Renew(TxnId(2), At(0), seconds(20));
  leases.Renew(TxnId(3), At(0), seconds(5));
  leases.Drop(TxnId(3));
  leases.Renew(TxnId(1), At(8), seconds(10));
  EXPECT_THAT(leases.Over(At(15), 9), IsEmpty());
  EXPECT_EQ(*leases.NextOver(), At(18) + std::chrono::nanoseconds(1))
      << "moved when its old time came";
  EXPECT_EQ(*leases.Left(TxnId(1), At(15)), seconds(3));
  EXPECT_EQ(*leases.Left(TxnId(1), At(99)), seconds(0));
  EXPECT_FALSE(leases.Left(TxnId(3), At(0)));
  EXPECT_FALSE(leases.IsOver(TxnId(1), At(18)));
  EXPECT_TRUE(leases.IsOver(TxnId(1), At(19)));
  EXPECT_FALSE(leases.IsOver(TxnId(9), At(99)));
  EXPECT_THAT(leases.Over(At(30), 9), ElementsAre(TxnId(1), TxnId(2)));
  EXPECT_THAT(leases.Over(At(30), 1), ElementsAre(TxnId(1))) << "oldest first";
  leases.Renew(TxnId(2), At(30), seconds(1));  // shorter than before
  EXPECT_TRUE(leases.IsOver(TxnId(2), At(32)));
  leases.Extend(seconds(5));
  EXPECT_FALSE(leases.IsOver(TxnId(2), At(32)));
  leases.Drop(TxnId(1));
  leases.Drop(TxnId(2));
  EXPECT_FALSE(leases.NextOver());
}

TEST(AbortedIntervals, SayWhichRowsChange) {
  constexpr AbortCause kUser = AbortCause::kUser, kTimeout = AbortCause::kTimeout;
  using Change = AbortedIntervals::Change;
  AbortedIntervals set;
  EXPECT_EQ(set.Add(5, kUser), (Change{std::nullopt, {5, 5, kUser}}));
  EXPECT_EQ(set.Add(6, kUser), (Change{std::nullopt, {5, 6, kUser}})) << "grows upward: one row";
  EXPECT_EQ(set.Add(4, kUser), (Change{5, {4, 6, kUser}})) << "grows downward: another key";
  EXPECT_EQ(set.Add(8, kUser), (Change{std::nullopt, {8, 8, kUser}}));
  EXPECT_EQ(set.Add(7, kUser), (Change{8, {4, 8, kUser}})) << "joins two";
  EXPECT_EQ(set.Add(9, kTimeout), (Change{std::nullopt, {9, 9, kTimeout}}))
      << "another cause, another row";
  EXPECT_EQ(set.count(), 6);
  EXPECT_EQ(set.CauseOf(7), kUser);
  EXPECT_EQ(set.CauseOf(9), kTimeout);
  EXPECT_EQ(set.CauseOf(10), std::nullopt);
  EXPECT_EQ(set.CauseOf(3), std::nullopt);
  EXPECT_THAT(set.IdsUpTo(8, {5, 7, 20}), ElementsAre(4, 6, 8));
  EXPECT_THAT(set.IdsAfter(6, 2), ElementsAre(7, 8));
  EXPECT_THAT(set.IdsAfter(std::numeric_limits<int64_t>::max(), 2), IsEmpty());
}

// Every operation of every id with its sequence; a list is a scan of all of them.
struct NaiveModel {
  struct Id {
    int64_t born = 0, ended = INT64_MAX;
    bool committed = false;
  };
  std::map<int64_t, Id> ids;

  ValidIds At(int64_t seq) const {
    ValidIds list;
    for (const auto& [id, i] : ids) {
      if (i.born > seq) continue;
      list.high = id;
      if (i.ended > seq) {
        list.open.push_back(id);
      } else if (!i.committed) {
        list.aborted.push_back(id);
      }
    }
    return list;
  }
};

LiveSnapshots LiveOf(const std::set<int64_t>& seqs) {
  LiveSnapshots live;
  for (int64_t seq : seqs) live.Add(CommitSeq(seq));
  return live;
}

// Opens and ends at random while snapshots of random sequences live; at each step every live one
// must read as the naive model says, also from rows alone.
class ListsAgainstNaiveModel : public ::testing::TestWithParam<uint64_t> {};

TEST_P(ListsAgainstNaiveModel, OfTransactions) {
  SeededRandom random(GetParam());
  Clients clients;
  TxnTable txns;
  StoredState stored;
  txns.Load(stored, clients);
  NaiveModel model;
  std::set<int64_t> live;
  for (int64_t seq = 1; seq <= 300; ++seq) {
    Unit unit{CommitSeq(seq)};
    for (uint64_t n = random.NextUint64() % 4; n > 0; --n) {
      if (random.NextUint64() % 2 == 0 || txns.open().empty()) {
        TxnFacts row;
        row.opened_seq = CommitSeq(seq);
        model.ids[txns.Open(row, unit).row.id.value()].born = seq;
      } else {
        auto it = txns.open().begin();
        std::advance(it, random.NextUint64() % txns.open().size());
        const bool commit = random.NextUint64() % 3 > 0;
        auto& ended = model.ids[it->first.value()];
        ended.ended = seq;
        ended.committed = commit;
        txns.End(it->first,
                 commit ? AbortCause::kNone : AbortCause::kUser,
                 std::chrono::milliseconds(0),
                 unit);
      }
    }
    if (random.NextUint64() % 4 == 0) live.insert(seq);
    if (!live.empty() && random.NextUint64() % 5 == 0) live.erase(live.begin());
    const CommitSeq oldest(live.empty() ? seq : *live.begin());
    if (txns.Seal(LiveOf(live), unit)) unit.Add(ForgetResolved{oldest});
    ApplyEffects(stored, unit.effects());
    stored.counters.seq = CommitSeq(seq);
    stored.counters.next_txn = txns.next();
    TxnTable reloaded;
    reloaded.Load(stored, clients);
    for (int64_t s : live) {
      ASSERT_EQ(*txns.At(CommitSeq(s)), model.At(s)) << "at " << s << " after " << seq;
      ASSERT_EQ(*reloaded.At(CommitSeq(s)), model.At(s))
          << "reloaded, at " << s << " after " << seq;
    }
    ASSERT_EQ(*txns.At(CommitSeq(seq)), model.At(seq));
  }
}

TEST_P(ListsAgainstNaiveModel, OfWriteIds) {
  SeededRandom random(GetParam());
  WriteIds write_ids;
  StoredState stored;
  const TableId table(1);
  {
    Unit unit{CommitSeq(0)};
    write_ids.AddTable(table, {}, unit);
  }
  stored.tables[table].id = table;
  NaiveModel model;
  std::set<int64_t> live, open;
  WriteId next(1);
  for (int64_t seq = 1; seq <= 300; ++seq) {
    Unit unit{CommitSeq(seq)};
    for (uint64_t n = random.NextUint64() % 4; n > 0; --n) {
      if (random.NextUint64() % 2 == 0 || open.empty()) {
        write_ids.Allocate(table, next, TxnId(1), unit);
        open.insert(next.value());
        model.ids[next.value()].born = seq;
        next = next.Next();
      } else {
        auto it = open.begin();
        std::advance(it, random.NextUint64() % open.size());
        auto& ended = model.ids[*it];
        ended.ended = seq;
        ended.committed = random.NextUint64() % 3 > 0;
        write_ids.Resolve(
            table,
            WriteId(*it),
            ended.committed ? WriteIds::Outcome::kCommitted : WriteIds::Outcome::kAborted,
            unit);
        open.erase(it);
      }
    }
    if (random.NextUint64() % 4 == 0) live.insert(seq);
    if (!live.empty() && random.NextUint64() % 5 == 0) live.erase(live.begin());
    const CommitSeq oldest(live.empty() ? seq : *live.begin());
    if (write_ids.Seal(LiveOf(live), unit)) unit.Add(ForgetResolved{oldest});
    ApplyEffects(stored, unit.effects());
    stored.counters.seq = CommitSeq(seq);
    WriteIds reloaded;
    reloaded.Load(stored);
    for (int64_t s : live) {
      ASSERT_EQ(*write_ids.At(table, CommitSeq(s), next), model.At(s))
          << "at " << s << " after " << seq;
      ASSERT_EQ(*reloaded.At(table, CommitSeq(s), next), model.At(s))
          << "reloaded, at " << s << " after " << seq;
    }
    ASSERT_EQ(write_ids.CompactorHigh(table, next).value(),
              open.empty() ? next.value() - 1 : *open.begin() - 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ListsAgainstNaiveModel, ::testing::Range<uint64_t>(1, 21));

}  // namespace
}  // namespace skep::state
