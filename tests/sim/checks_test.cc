// The checks of the store and of locks, and the reader that shares nothing with the product.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/independent_reader.h"
#include "tests/sim/lock_rules.h"
#include "tests/sim/truth.h"
#include "tests/testing/status_matchers.h"

namespace skep::sim {
namespace {

using ::skep::testing::IsOk;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Findings {
  std::vector<std::string> texts;
  Truth::Report Take() {
    return [this](const std::string& text) { texts.push_back(text); };
  }
};

Effects UnitOf(int64_t seq, std::vector<Effect> effects = {}) {
  CounterRow counters;
  counters.seq = CommitSeq(seq);
  counters.next_txn = TxnId(seq);
  effects.push_back(Put<CounterRow>{counters});
  return effects;
}

struct TruthCase {
  std::string name;
  std::function<void(Truth&)> play;
  std::string finding;  // empty: nothing is wrong
};

TEST(Truth, FindsWhatAStoreMayNotDo) {
  const auto state_of = [](std::vector<Effects> units) {
    StoredState state;
    for (const Effects& unit : units) ApplyEffects(state, unit);
    return state;
  };
  LockRow lock;
  lock.resource = {"db", "t", ""};
  lock.kind = LockKind::kExclusive;
  lock.state = LockState::kAcquired;
  lock.component = 1;
  const auto lock_of = [&](int64_t id, int64_t txn) {
    LockRow row = lock;
    row.lock = LockId(id);
    row.txn = TxnId(txn);
    return Put<LockRow>{row};
  };
  const auto write_id = [](int64_t id, int64_t txn) {
    return Put<WriteIdRow>{{TableId(1), WriteId(id), TxnId(txn), CommitSeq(1)}};
  };
  const std::vector<TruthCase> cases = {
      {"all is there",
       [&](Truth& t) {
         t.Stored(UnitOf(1));
         t.Loaded(state_of({UnitOf(1)}));
       },
       ""},
      {"a unit in doubt is there",
       [&](Truth& t) {
         t.Stored(UnitOf(1));
         t.Unknown(UnitOf(2, {lock_of(1, 1)}));
         t.Loaded(state_of({UnitOf(1), UnitOf(2, {lock_of(1, 1)})}));
       },
       ""},
      {"a unit in doubt is not there",
       [&](Truth& t) {
         t.Stored(UnitOf(1));
         t.Unknown(UnitOf(2));
         t.Loaded(state_of({UnitOf(1)}));
       },
       ""},
      {"an acknowledged unit is lost",
       [&](Truth& t) {
         t.Stored(UnitOf(1));
         t.Stored(UnitOf(2));
         t.Loaded(state_of({UnitOf(1)}));
       },
       "another state than it was given"},
      {"half a unit is there",
       [&](Truth& t) {
         t.Stored(UnitOf(1));
         t.Unknown(UnitOf(2, {lock_of(1, 1)}));
         t.Loaded(state_of({UnitOf(1), UnitOf(2)}));
       },
       "half a unit"},
      {"a sequence number is used again",
       [&](Truth& t) {
         t.Stored(UnitOf(2));
         t.Stored(UnitOf(2));
       },
       "unit 2 follows unit 2"},
      {"transaction ids go back",
       [&](Truth& t) {
         Effects unit = UnitOf(2);
         std::get<Put<CounterRow>>(unit.back()).row.next_txn = TxnId(9);
         t.Stored(unit);
         t.Stored(UnitOf(3));
       },
       "the next transaction went back"},
      {"two exclusive locks",
       [&](Truth& t) {
         t.Stored(UnitOf(1, {lock_of(1, 1), lock_of(2, 2)}));
       },
       "locks 1 and 2 are held together"},
      {"two locks of one transaction",
       [&](Truth& t) {
         t.Stored(UnitOf(1, {lock_of(1, 1), lock_of(2, 1)}));
       },
       ""},
      {"a write id changes hands",
       [&](Truth& t) {
         t.Stored(UnitOf(1, {write_id(1, 1)}));
         t.Stored(UnitOf(2, {EraseWriteId{TableId(1), WriteId(1)}}));
         t.Stored(UnitOf(3, {write_id(1, 2)}));
       },
       "write id 1 of table 1 belongs to transaction 1 and to 2"},
  };
  for (const TruthCase& c : cases) {
    SCOPED_TRACE(c.name);
    Findings found;
    Truth truth(found.Take(), [](TxnId, const TxnOutcome&) {});
    c.play(truth);
    if (c.finding.empty()) {
      EXPECT_THAT(found.texts, IsEmpty());
    } else {
      ASSERT_FALSE(found.texts.empty());
      EXPECT_THAT(found.texts.front(), HasSubstr(c.finding));
    }
  }
}

TEST(LockRules, AreTheMatrixWithTheExceptionForDatabases) {
  const LockResource db{"db", "", ""}, t{"db", "t", ""}, p{"db", "t", "p=1"}, q{"db", "t", "p=2"};
  EXPECT_TRUE(MayHoldTogether({p, LockKind::kExclusive}, {q, LockKind::kExclusive}));
  EXPECT_FALSE(MayHoldTogether({p, LockKind::kExclusive}, {t, LockKind::kSharedRead}));
  EXPECT_TRUE(MayHoldTogether({t, LockKind::kExclWrite}, {t, LockKind::kSharedRead}));
  EXPECT_FALSE(MayHoldTogether({t, LockKind::kExclWrite}, {t, LockKind::kSharedWrite}));
  EXPECT_TRUE(MayHoldTogether({db, LockKind::kSharedRead}, {t, LockKind::kExclusive}));
  EXPECT_FALSE(MayHoldTogether({db, LockKind::kSharedRead}, {db, LockKind::kExclusive}));
}

TEST(SnapshotModel, ListsWhatWasGivenOutByThen) {
  SnapshotModel model;
  model.Opened(TxnId(1), CommitSeq(1));
  model.Opened(TxnId(2), CommitSeq(2));
  model.Allocated(TableId(7), WriteId(1), TxnId(2), CommitSeq(3));
  model.Allocated(TableId(7), WriteId(2), TxnId(1), CommitSeq(4));
  model.Ended(TxnId(1), CommitSeq(5), false);
  model.Ended(TxnId(2), CommitSeq(6), true);
  EXPECT_EQ(model.TxnsAt(CommitSeq(4)), (ValidIds{2, {1, 2}, {}}));
  EXPECT_EQ(model.TxnsAt(CommitSeq(6)), (ValidIds{2, {}, {1}}));
  EXPECT_EQ(model.WriteIdsAt(TableId(7), CommitSeq(3)), (ValidIds{1, {1}, {}}));
  EXPECT_EQ(model.WriteIdsAt(TableId(7), CommitSeq(5)), (ValidIds{2, {1}, {2}}));
  EXPECT_EQ(model.SharedTable(TxnId(1), TxnId(2)), TableId(7));
}

TEST(ReadSlowly, SeesWhatIsVisibleAndNothingElse) {
  Dice dice(1);
  SimDisk disk(dice);
  Warehouse warehouse(disk);
  const auto put = [&](const std::string& name, const std::string& text) {
    EXPECT_THAT(disk.CreateDirectories("/t/" + name), IsOk());
    EXPECT_THAT(fs::WriteSmallFile(disk, "/t/" + name + "/bucket_00000", text), IsOk());
  };
  put("base_0000002", "I 2 0 20\n");                // an overwrite
  put("delta_0000001_0000001_0000", "I 1 0 10\n");  // below it
  put("delta_0000003_0000003_0000", "I 3 0 30\nI 3 1 31\n");
  put("delete_delta_0000004_0000004_0000", "D 3 0 30 4\n");
  put("delta_0000003_0000004_v0000009", "I 3 0 30\nI 3 1 31\n");  // compacted, committed
  put("base_0000004_v0000011", "I 4 9 99\n");                     // compacted, not committed
  put("delta_0000005_0000005_0000", "I 5 0 50\n");                // open
  const Sight sight{[](int64_t write_id) { return write_id != 5; },
                    [](int64_t txn) { return txn == 9; }};
  const auto rows = ReadSlowly(warehouse, "/t", sight);
  ASSERT_THAT(rows, IsOk());
  EXPECT_EQ(*rows, (Rows{{WriteId(2), 0, 20}, {WriteId(3), 1, 31}}));
}

}  // namespace
}  // namespace skep::sim
