// Materialised views: scenarios S184 to S187. A view is built from one list for each of its
// sources, and asked about by these lists.

#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "tests/conformance/txn/world.h"

namespace skep::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::Pair;

constexpr v1::TransactionType kRebuild = v1::TRANSACTION_TYPE_MATERIALIZED_VIEW_REBUILD;

class ViewScenarios : public World {
 protected:
  ViewScenarios() { Table("default.t1"); }

  // What a view that transaction `txn` builds is built from.
  v1::WriteIdList Source(int64_t txn) {
    v1::GetValidWriteIdsRequest request;
    request.set_txn_id(txn);
    *request.add_tables() = NameOf("default.t1");
    const auto answer =
        Ask<v1::GetValidWriteIdsResponse>("/skep.v1.TableService/GetValidWriteIds", request);
    EXPECT_THAT(answer, IsOk());
    return answer.ok() ? answer->lists(0) : v1::WriteIdList();
  }
  v1::WriteIdList Build() {
    const int64_t txn = Open(kRebuild);
    v1::WriteIdList list = Source(txn);
    EXPECT_THAT(Commit(txn), IsOk());
    return list;
  }
  // As of the snapshot of `txn`, or now.
  v1::TableChange Change(const v1::WriteIdList& built_from, int64_t txn = 0) {
    v1::GetTableChangesRequest request;
    request.set_txn_id(txn);
    *request.add_built_from() = built_from;
    const auto answer =
        Ask<v1::GetTableChangesResponse>("/skep.v1.TableService/GetTableChanges", request);
    EXPECT_THAT(answer, IsOk());
    return answer.ok() ? answer->changes(0) : v1::TableChange();
  }
  static std::vector<std::pair<int64_t, int64_t>> Came(const v1::TableChange& change) {
    std::vector<std::pair<int64_t, int64_t>> ranges;
    for (const v1::IdRange& range : change.now_visible()) {
      ranges.emplace_back(range.first(), range.last());
    }
    return ranges;
  }
  // A transaction with the next write id of t1.
  int64_t Writer() {
    const int64_t txn = Open();
    EXPECT_THAT(Allocate(txn, "default.t1"), IsOk());
    return txn;
  }
  v1::LockViewRebuildResponse LockView(int64_t txn) {
    v1::LockViewRebuildRequest request;
    request.set_txn_id(txn);
    *request.mutable_view() = NameOf("default.table1");
    const auto answer =
        Ask<v1::LockViewRebuildResponse>("/skep.v1.LockService/LockViewRebuild", request);
    EXPECT_THAT(answer, IsOk());
    return answer.value_or(v1::LockViewRebuildResponse());
  }
};

TEST_F(ViewScenarios, WhatWasAbortedSinceChangesNothing) {
  for (int i = 0; i < 5; ++i) Write("default.t1:I");
  const v1::WriteIdList built_from = Build();
  EXPECT_EQ(built_from.high_watermark(), 5);
  for (int64_t id = 6; id <= 8; ++id) {
    ASSERT_THAT(Abort(Writer()), IsOk());
    EXPECT_EQ(Source(Open()).high_watermark(), id);
    const v1::TableChange change = Change(built_from);
    EXPECT_EQ(change.kind(), v1::TableChange::KIND_UNCHANGED) << id;
    EXPECT_THAT(Came(change), IsEmpty());
  }
  Write("default.t1:I");
  const v1::TableChange change = Change(built_from);
  EXPECT_EQ(change.kind(), v1::TableChange::KIND_INSERTS_ONLY);
  EXPECT_THAT(Came(change), ElementsAre(Pair(9, 9)));
}

TEST_F(ViewScenarios, S184NothingCommittedModifiesNothing) {
  Write("default.t1:I");
  struct Case {
    const char* name;
    bool open_then;
    bool open_now;
  };
  for (const Case& c : {Case{"none, none", false, false},
                        Case{"open when built, aborted since", true, false},
                        Case{"open when built and now", true, true},
                        Case{"opened since", false, true}}) {
    SCOPED_TRACE(c.name);
    const int64_t writer = c.open_then ? Writer() : 0;
    const v1::WriteIdList built_from = Build();
    EXPECT_EQ(built_from.open_size() > 0, c.open_then);
    if (c.open_then && !c.open_now) {
      EXPECT_THAT(Abort(writer), IsOk());
    }
    const int64_t later = !c.open_then && c.open_now ? Writer() : 0;
    for (const bool restarted : {false, true}) {
      if (restarted) Restart();
      const v1::TableChange change = Change(built_from);
      EXPECT_EQ(change.kind(), v1::TableChange::KIND_UNCHANGED);
      EXPECT_FALSE(change.compacted());
    }
    for (const int64_t txn : {writer, later}) {
      if (txn != 0) AbortAll({txn});
    }
  }
}

// Asking again is the question of the scenario; the beats of the transaction are those of the lock.
TEST_F(ViewScenarios, S185AHeartbeatKeepsTheLockOfARebuild) {
  const int64_t txn = Open(kRebuild);
  const int64_t other = Open(kRebuild);
  ASSERT_EQ(LockView(txn).state(), kAcquired);
  for (int i = 0; i < 4; ++i) {
    Pass(kLease / 2);
    EXPECT_THAT(Beat({txn, other}).aborted(), IsEmpty());
    EXPECT_EQ(LockView(txn).state(), kAcquired);
    EXPECT_EQ(LockView(other).state(), kNotAcquired);
    EXPECT_EQ(LockView(other).holder().txn_id(), txn);
  }
  Pass(kLease / 2);
  Beat({other});
  Pass(kLease / 2 + seconds(1));
  EXPECT_EQ(LockView(other).state(), kAcquired) << "the lease of the first is over";
}

// Rows are write ids here.
TEST_F(ViewScenarios, S187ARebuildSeesADeleteOnceItIsCommitted) {
  Write("default.t1:I");
  const v1::WriteIdList built_from = Build();
  const int64_t deleter = Writer();  // write id 2
  Write("default.t1:I");             // 3

  const int64_t first = Open(kRebuild);
  EXPECT_EQ(LockView(first).state(), kAcquired);
  const v1::TableChange before = Change(built_from, first);
  EXPECT_EQ(before.kind(), v1::TableChange::KIND_INSERTS_ONLY);
  EXPECT_THAT(Came(before), ElementsAre(Pair(3, 3)));
  const v1::WriteIdList rebuilt_from = Source(first);
  EXPECT_THAT(Commit(deleter, {"default.t1:D"}), IsOk());
  EXPECT_THAT(Source(first).open(), ElementsAre(2)) << "the rebuild stays with its snapshot";
  EXPECT_THAT(Commit(first), IsOk());

  const int64_t second = Open(kRebuild);
  EXPECT_EQ(LockView(second).state(), kAcquired);
  const v1::TableChange after = Change(rebuilt_from, second);
  EXPECT_EQ(after.kind(), v1::TableChange::KIND_ROWS_CHANGED);
  EXPECT_THAT(Came(after), ElementsAre(Pair(2, 2)));
  EXPECT_EQ(Change(Source(second), second).kind(), v1::TableChange::KIND_UNCHANGED);
}

}  // namespace
}  // namespace skep::conformance
