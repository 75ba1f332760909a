#include "storage/meta/net_effects.h"

#include <random>

#include <gtest/gtest.h>

#include "storage/model/stored_state.h"
#include "tests/testing/random_effects.h"

namespace skep::meta {
namespace {

using skep::testing::RandomEffects;

TxnRow Txn(int64_t id, const std::string& user = "") {
  TxnRow row;
  row.id = TxnId(id);
  row.user = user;
  return row;
}

TEST(NetEffects, ARowPutAndErasedInOneUnitDisappears) {
  const Effects unit = {Put<TxnRow>{Txn(7)}, EraseTxn{TxnId(7)}};
  EXPECT_TRUE(NetEffects(unit, {.txn = TxnId(6)}).empty());
}

TEST(NetEffects, ARowThatMayBeStoredIsStillErased) {
  const Effects unit = {Put<TxnRow>{Txn(7)}, EraseTxn{TxnId(7)}};
  const auto net = NetEffects(unit, {.txn = TxnId(7)});
  ASSERT_EQ(net.size(), 1u);
  EXPECT_EQ(net[0], &unit[1]);
}

TEST(NetEffects, TheLastPutOfAKeyWins) {
  const Effects unit = {Put<TxnRow>{Txn(7, "a")},
                        Put<CounterRow>{},
                        Put<TxnRow>{Txn(8)},
                        Put<TxnRow>{Txn(7, "b")},
                        Put<CounterRow>{}};
  const auto net = NetEffects(unit, {});
  ASSERT_EQ(net.size(), 3u);
  EXPECT_EQ(net[0], &unit[2]);
  EXPECT_EQ(net[1], &unit[3]);
  EXPECT_EQ(net[2], &unit[4]);
}

TEST(NetEffects, RangeErasesTakeWhatCameBeforeAndLeaveWhatComesAfter) {
  LockRow lock;
  lock.lock = LockId(3);
  lock.component = 1;
  ComponentRow write;
  write.txn = TxnId(4);
  PartitionRow partition{TableId(5), "p=1", CommitSeq(1)};
  ResolvedTxnRow old_end{CommitSeq(6), TxnId(4), CommitSeq(1), true, 0};
  ResolvedTxnRow new_end{CommitSeq(7), TxnId(4), CommitSeq(1), true, 0};
  const Effects unit = {Put<LockRow>{lock},
                        Put<ComponentRow>{write},
                        Put<PartitionRow>{partition},
                        Put<ResolvedTxnRow>{old_end},
                        Put<ResolvedTxnRow>{new_end},
                        EraseLock{LockId(3)},
                        EraseComponents{TxnId(4)},
                        EraseTable{TableId(5)},
                        ForgetResolved{CommitSeq(6)},
                        Put<PartitionRow>{partition}};
  const auto net = NetEffects(unit, {});
  ASSERT_EQ(net.size(), 4u);
  EXPECT_EQ(net[0], &unit[4]);
  EXPECT_EQ(net[1], &unit[7]);
  EXPECT_EQ(net[2], &unit[8]);
  EXPECT_EQ(net[3], &unit[9]);
}

TEST(NetEffects, LeaveWhatTheWholeListLeaves) {
  const uint64_t seed = std::random_device()();
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomEffects random(seed);
  StoredState whole;
  StoredState by_net;
  StoredIds stored;
  size_t dropped = 0;
  for (int i = 0; i < 2'000; ++i) {
    const Effects unit = random.NextUnit(1 + i % 40);
    const std::vector<const Effect*> net = NetEffects(unit, stored);
    RaiseStoredIds(stored, net);
    Effects copy;
    for (const Effect* effect : net) copy.push_back(*effect);
    ApplyEffects(whole, unit);
    ApplyEffects(by_net, copy);
    ASSERT_EQ(whole, by_net) << "unit " << i;
    dropped += unit.size() - net.size();
  }
  EXPECT_GT(dropped, 1'000u) << "the units do not overlap enough to show anything";
}

}  // namespace
}  // namespace skep::meta
