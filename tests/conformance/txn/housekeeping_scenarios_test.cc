// What is forgotten and when, and requests for compaction: scenarios S166 to S188.

#include <gmock/gmock.h>

#include "tests/conformance/txn/world.h"

namespace skep::conformance {
namespace {

using ::testing::ElementsAre;
using testing::HasReason;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;
using ::testing::SizeIs;

class HousekeepingScenarios : public World {
 protected:
  HousekeepingScenarios() {
    Table("foo.bar", true);
    Table("default.a");
    Table("default.b");
  }
  v1::EnqueueCompactionResponse Compact(const std::string& table,
                                        v1::CompactionType type,
                                        const std::string& partition = "") {
    v1::EnqueueCompactionRequest request;
    *request.mutable_table() = NameOf(table);
    request.set_partition(partition);
    request.set_type(type);
    const auto answer =
        Ask<v1::EnqueueCompactionResponse>("/skep.v1.CompactionService/EnqueueCompaction", request);
    EXPECT_THAT(answer, IsOk());
    return answer.value_or(v1::EnqueueCompactionResponse());
  }
};

// No cleaner and no interval: what nobody needs is not kept. Aborted ids are one row each run.
TEST_F(HousekeepingScenarios, S166AbortedOnesStayAsAnInterval) {
  for (int i = 0; i < 5; ++i) {
    const int64_t txn = Open();
    ASSERT_EQ(LockState(txn, "EW default.a:U"), kAcquired);
    ASSERT_THAT(Abort(txn), IsOk());
  }
  EXPECT_THAT(Listed({v1::TRANSACTION_STATE_ABORTED}), SizeIs(5));
  EXPECT_THAT(stored().aborted_txns, SizeIs(1));
}

TEST_F(HousekeepingScenarios, S167CommittedOnesLeaveNothing) {
  for (int i = 0; i < 5; ++i) ASSERT_THAT(Commit(Open()), IsOk());
  EXPECT_THAT(stored().txns, IsEmpty());
  EXPECT_THAT(stored().resolved_txns, IsEmpty());
  EXPECT_THAT(stored().aborted_txns, IsEmpty());
}

TEST_F(HousekeepingScenarios, S169AFloodOfAbortsIsOneRow) {
  const int64_t with_write = Open();
  ASSERT_THAT(Allocate(with_write, "default.a"), IsOk());
  ASSERT_THAT(Abort(with_write), IsOk());
  for (int i = 0; i < 51; ++i) {
    ASSERT_THAT(AbortAll(OpenMany(1000)).aborted(), SizeIs(1000));
  }
  EXPECT_THAT(stored().aborted_txns, SizeIs(1));
  EXPECT_EQ(TxnListOf(0).high, 51'001);
}

// Nothing is kept of what committed: the counters of a table say what there is to compact.
TEST_F(HousekeepingScenarios, S170CommittedWritesLeaveNoRows) {
  Write("foo.bar/p=1:I");
  Write("foo.bar/p=2:D");
  Write("foo.bar/p=1:I");
  EXPECT_THAT(stored().write_marks, IsEmpty());
  EXPECT_THAT(stored().components, IsEmpty());
  EXPECT_THAT(stored().resolved_write_ids, IsEmpty());
  EXPECT_THAT(stored().partitions, SizeIs(2));
}

TEST_F(HousekeepingScenarios, S172WhatASnapshotNeedsStaysAndNoMore) {
  Write("default.b:I");
  const int64_t aborted = Open();
  ASSERT_THAT(Allocate(aborted, "default.a"), IsOkAndHolds(1));
  ASSERT_THAT(Abort(aborted), IsOk());
  const int64_t reader = Open();
  const int64_t late = Open();
  ASSERT_THAT(Allocate(late, "default.a"), IsOkAndHolds(2));
  ASSERT_THAT(Abort(late), IsOk());
  Write("default.a:I");
  EXPECT_THAT(stored().resolved_write_ids, SizeIs(1)) << "the first that the reader cannot see";
  EXPECT_EQ(ListOf(reader, "default.a").high, 1);
  ASSERT_THAT(Commit(reader), IsOk());
  Open();
  EXPECT_THAT(stored().resolved_write_ids, IsEmpty());
  EXPECT_THAT(ListOf(Open(), "default.a").aborted, ElementsAre(1, 2)) << "R-14: these stay";
}

TEST_F(HousekeepingScenarios, S175ADroppedTableTakesItsRowsAlong) {  // CLN-22
  for (const char* table : {"default.a", "default.b"}) {
    const int64_t aborted = Open();
    ASSERT_THAT(Allocate(aborted, table), IsOk());
    ASSERT_THAT(Abort(aborted), IsOk());
    EXPECT_TRUE(Compact(table, v1::COMPACTION_TYPE_MAJOR).accepted());
  }
  const int64_t dropper = Open();
  ASSERT_EQ(LockState(dropper, "EX default.a"), kAcquired);
  v1::DropTableRequest drop;
  drop.set_txn_id(dropper);
  *drop.mutable_name() = NameOf("default.a");
  ASSERT_THAT(Ask<v1::DropTableResponse>("/skep.v1.TableService/DropTable", drop), IsOk());
  ASSERT_THAT(Commit(dropper), IsOk());
  EXPECT_THAT(stored().compactions, SizeIs(1));
  EXPECT_THAT(stored().aborted_write_ids, SizeIs(1)) << "those of default.b";
}

TEST_F(HousekeepingScenarios, S178ASecondRequestIsToldOfTheFirst) {
  Write("foo.bar/p=today:I");
  const auto first = Compact("foo.bar", v1::COMPACTION_TYPE_MAJOR, "p=today");
  EXPECT_TRUE(first.accepted());
  const auto second = Compact("foo.bar", v1::COMPACTION_TYPE_MINOR, "p=today");
  EXPECT_FALSE(second.accepted());
  EXPECT_EQ(second.compaction_id(), first.compaction_id());
  ASSERT_THAT(stored().compactions, SizeIs(1));
  EXPECT_EQ(stored().compactions.begin()->second.type, CompactionType::kMajor);
}

TEST_F(HousekeepingScenarios, S179ARequestWaitsForAWorker) {
  const auto queued = Compact("default.a", v1::COMPACTION_TYPE_MINOR);
  EXPECT_TRUE(queued.accepted());
  const CompactionRow& row = stored().compactions.at(CompactionId(queued.compaction_id()));
  EXPECT_EQ(row.state, CompactionState::kInitiated);
  EXPECT_EQ(row.partition, "");
  EXPECT_EQ(row.start_time, Timestamp());
}

}  // namespace
}  // namespace skep::conformance
