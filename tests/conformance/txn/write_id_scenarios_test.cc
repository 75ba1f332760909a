// Write ids, table snapshots, lists as text: scenarios S136 to S164.

#include <gmock/gmock.h>

#include "storage/model/snapshot.h"
#include "storage/model/snapshot_order.h"
#include "tests/conformance/txn/world.h"

namespace skep::conformance {
namespace {

using ::testing::ElementsAre;
using testing::HasReason;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;
using ::testing::SizeIs;

class WriteIdScenarios : public World {
 protected:
  WriteIdScenarios() {
    Table("default.t");
    Table("default.p", true);
  }
  // Transactions with write ids 1 … count of default.t.
  std::vector<int64_t> Writers(int count) {
    std::vector<int64_t> txns = OpenMany(count);
    for (int i = 0; i < count; ++i) {
      EXPECT_THAT(Allocate(txns[i], "default.t"), IsOkAndHolds(i + 1));
    }
    return txns;
  }
  std::string TextOf(int64_t txn) {
    v1::GetSnapshotRequest request;
    request.set_txn_id(txn);
    request.set_hive_text(true);
    const auto answer =
        Ask<v1::GetSnapshotResponse>("/skep.v1.TransactionService/GetSnapshot", request);
    EXPECT_THAT(answer, IsOk());
    return answer.ok() ? answer->hive_text() : "";
  }
  std::string TableTextOf(int64_t txn) {
    v1::GetValidWriteIdsRequest request;
    request.set_txn_id(txn);
    *request.add_tables() = NameOf("default.t");
    request.set_hive_text(true);
    const auto answer =
        Ask<v1::GetValidWriteIdsResponse>("/skep.v1.TableService/GetValidWriteIds", request);
    EXPECT_THAT(answer, IsOk());
    return answer.ok() ? answer->hive_text() : "";
  }
};

// The list is not cut at its first invalid id (WSN-4): it says what is true.
TEST_F(WriteIdScenarios, S136AListWithNothingValidIsNotCut) {
  const std::vector<int64_t> txns = Writers(3);
  ASSERT_THAT(Abort(txns[0]), IsOk());
  const List list = ListOf(Open(), "default.t");
  EXPECT_EQ(list.high, 3);
  EXPECT_THAT(list.aborted, ElementsAre(1));
  EXPECT_THAT(list.open, ElementsAre(2, 3));
}

TEST_F(WriteIdScenarios, S137AListNamesWhatIsOpenAndWhatIsAborted) {  // WSN-8
  const std::vector<int64_t> txns = Writers(3);
  ASSERT_THAT(Abort(txns[0]), IsOk());
  ASSERT_THAT(Commit(txns[2], {"default.t:I"}), IsOk());
  const List list = ListOf(Open(), "default.t");
  EXPECT_EQ(list.high, 3);
  EXPECT_THAT(list.aborted, ElementsAre(1));
  EXPECT_THAT(list.open, ElementsAre(2));
}

TEST_F(WriteIdScenarios, S139AListIsThatOfItsSnapshotHoweverLateItIsAskedFor) {  // SER-5, SER-4
  Write("default.t:I");
  const int64_t u1 = Open();
  const int64_t u2 = Open();
  const int64_t u3 = Open();
  ASSERT_THAT(Allocate(u3, "default.t"), IsOkAndHolds(2));
  ASSERT_THAT(Allocate(u1, "default.t"), IsOkAndHolds(3));
  ASSERT_THAT(Commit(u1, {"default.t:I"}), IsOk());
  ASSERT_THAT(Allocate(u2, "default.t"), IsOkAndHolds(4));
  const List list = ListOf(u2, "default.t");
  EXPECT_TRUE(list.Sees(1));
  EXPECT_FALSE(list.Sees(2));
  EXPECT_FALSE(list.Sees(3));
  EXPECT_TRUE(list.Sees(4)) << "its own";
  EXPECT_EQ(TableTextOf(u2), std::to_string(u2) + "$default.t:4:2:2,3:")
      << "R-28: in Hive's text the mark reaches the own id, those between are open";
}

TEST_F(WriteIdScenarios, S140AReplicatedTableGetsTheIdsOfItsSource) {
  v1::OpenTransactionsRequest open;
  open.set_user("repl");
  open.set_type(v1::TRANSACTION_TYPE_REPL_CREATED);
  open.set_replication_policy("p");
  open.add_source_txn_ids(10);
  open.add_source_txn_ids(11);
  ASSERT_THAT(
      Ask<v1::OpenTransactionsResponse>("/skep.v1.TransactionService/OpenTransactions", open),
      IsOk());
  v1::AllocateWriteIdsRequest request;
  *request.mutable_table() = NameOf("default.t");
  request.set_replication_policy("p");
  for (const int64_t i : {1, 2}) {
    auto* const source = request.add_sources();
    source->set_source_txn_id(9 + i);
    source->set_write_id(i);
  }
  for (int i = 0; i < 2; ++i) {
    const auto given =
        Ask<v1::AllocateWriteIdsResponse>("/skep.v1.TableService/AllocateWriteIds", request);
    ASSERT_THAT(given, IsOk());
    ASSERT_EQ(given->allocations_size(), 2);
    EXPECT_EQ(given->allocations(0).write_id(), 1);
    EXPECT_EQ(given->allocations(1).write_id(), 2);
  }
}

// One thread gives ids out: there is no race to retry.
TEST_F(WriteIdScenarios, S142TheFirstIdsOfATableAreOneAndTwo) {  // WID-5, WID-6, WID-1
  const std::vector<int64_t> txns = OpenMany(2);
  v1::AllocateWriteIdsRequest request;
  *request.mutable_table() = NameOf("default.t");
  request.add_txn_ids(txns[1]);
  request.add_txn_ids(txns[0]);
  const auto given =
      Ask<v1::AllocateWriteIdsResponse>("/skep.v1.TableService/AllocateWriteIds", request);
  ASSERT_THAT(given, IsOk());
  EXPECT_EQ(given->allocations(0).txn_id(), txns[0]);
  EXPECT_EQ(given->allocations(0).write_id(), 1);
  EXPECT_EQ(given->allocations(1).write_id(), 2);
}

TEST_F(WriteIdScenarios, S143ALaterInsertIsNotSeenAlsoAfterARestart) {
  const int64_t reader = Open();
  Write("default.t:I");
  EXPECT_FALSE(ListOf(reader, "default.t").Sees(1));
  Restart();
  EXPECT_FALSE(ListOf(reader, "default.t").Sees(1)) << "R-4";
}

TEST_F(WriteIdScenarios, S145ALaterInsertIsNotSeen) {
  const int64_t reader = Open();
  Write("default.t:I");
  EXPECT_EQ(ListOf(reader, "default.t").high, 0);
}

// No id is late: what a snapshot does not list as open was given out after it.
TEST_F(WriteIdScenarios, S146AnEarlyIdThatCommitsLateIsNotSeen) {  // SNP-10
  const int64_t early = Open();
  const int64_t reader = Open();
  ASSERT_THAT(Allocate(early, "default.t"), IsOkAndHolds(1));
  ASSERT_THAT(Commit(early, {"default.t:I"}), IsOk());
  EXPECT_FALSE(ListOf(reader, "default.t").Sees(1));
  EXPECT_FALSE(TxnListOf(reader).Sees(early));
}

// What an aborted one declared is of no use to anybody and goes; its write id stays aborted.
TEST_F(WriteIdScenarios, S148AnAbortedOneLeavesItsWriteIdOnly) {  // ABT-6
  const int64_t txn = Open();
  ASSERT_EQ(LockState(txn, "SR default.p:I*"), kAcquired);
  ASSERT_THAT(Allocate(txn, "default.p"), IsOkAndHolds(1));
  EXPECT_THAT(stored().components, SizeIs(1));
  ASSERT_THAT(Abort(txn), IsOk());
  EXPECT_THAT(stored().components, IsEmpty());
  EXPECT_THAT(ListOf(Open(), "default.p").aborted, ElementsAre(1));
}

TEST_F(WriteIdScenarios, S149TheSamePartitionTwiceIsDeclaredOnce) {
  const int64_t txn = Open();
  ASSERT_EQ(LockState(txn, "SR default.p:I*"), kAcquired);
  ASSERT_THAT(AddPartitions(txn, "default.p", {"p=1", "p=1"}, v1::WRITE_OPERATION_INSERT), IsOk());
  ASSERT_THAT(stored().components, SizeIs(1));
  EXPECT_FALSE(stored().components.begin()->second.dynamic) << "the placeholder is gone";
}

TEST_F(WriteIdScenarios, S151AListOfNothing) {
  ASSERT_THAT(Commit(Open()), IsOk());
  EXPECT_EQ(TextOf(0), "1:9223372036854775807::");
  const auto parsed = ParseTxnList(TextOf(0));
  ASSERT_THAT(parsed, IsOk());
  EXPECT_TRUE(parsed->IsVisible(TxnId(1)));
  EXPECT_FALSE(parsed->IsVisible(TxnId(2)));
}

// The lowest open id is what is lowest: the 4 of the source would contradict the open 2.
TEST_F(WriteIdScenarios, S152AListOfOpenOnes) {  // SNP-8, SER-6
  OpenMany(5);
  for (const int64_t txn : {1, 3, 5}) ASSERT_THAT(Commit(txn), IsOk());
  EXPECT_EQ(TextOf(0), "5:2:2,4:");
  const auto parsed = ParseTxnList("5:4:2,4:");
  ASSERT_THAT(parsed, IsOk());
  for (const int64_t id : {1, 3, 5}) EXPECT_TRUE(parsed->IsVisible(TxnId(id)));
  for (const int64_t id : {2, 4, 6}) EXPECT_FALSE(parsed->IsVisible(TxnId(id)));
}

TEST_F(WriteIdScenarios, S154AListWithAbortedOnes) {
  OpenMany(11);
  for (const int64_t txn : {1, 3, 5, 7, 9, 11}) ASSERT_THAT(Commit(txn), IsOk());
  for (const int64_t txn : {2, 8}) ASSERT_THAT(Abort(txn), IsOk());
  EXPECT_EQ(TextOf(0), "11:4:4,6,10:2,8");
  const auto parsed = ParseTxnList(TextOf(0));
  ASSERT_THAT(parsed, IsOk());
  for (int64_t id = 1; id <= 11; ++id) {
    EXPECT_EQ(parsed->ids.IsAborted(id), id == 2 || id == 8) << id;
  }
}

TEST_F(WriteIdScenarios, S155ALongRunIsPrintedAsOne) {
  OpenMany(11);
  for (const int64_t txn : {1, 3, 11}) ASSERT_THAT(Commit(txn), IsOk());
  for (const int64_t txn : {2, 9}) ASSERT_THAT(Abort(txn), IsOk());
  EXPECT_EQ(TextOf(0), "11:4:4-8,10:2,9");
  EXPECT_EQ(TextOf(4), "11:1:1,2,3,5-11:")
      << "its own snapshot, in which all were open, without itself (SNP-7)";
}

WriteIdSnapshot CompactorList(std::vector<int64_t> aborted, int64_t high) {
  WriteIdSnapshot list;
  list.ids.high = high;
  list.ids.aborted = std::move(aborted);
  return list.ForCompactor();
}

TEST(CompactorLists, S157ARangeCountsWholeOrNotAtAll) {
  const auto range = [](const WriteIdSnapshot& list) {
    return list.RangeValidity(WriteId(7), WriteId(9));
  };
  EXPECT_EQ(range(CompactorList({}, 12)), RangeAnswer::kAll);
  EXPECT_EQ(range(CompactorList({}, 2)), RangeAnswer::kNone);
  EXPECT_EQ(range(CompactorList({}, 5)), RangeAnswer::kNone);
  EXPECT_EQ(range(CompactorList({}, 15)), RangeAnswer::kAll);
}

TEST(CompactorLists, S158WhatLiesAboveTheMarkIsLeftOut) {
  const WriteIdSnapshot list = CompactorList({8, 11, 17, 29}, 15);
  EXPECT_THAT(list.ids.aborted, ElementsAre(8, 11));
  EXPECT_EQ(list.RangeValidity(WriteId(7), WriteId(9)), RangeAnswer::kAll);
  EXPECT_EQ(list.RangeValidity(WriteId(12), WriteId(16)), RangeAnswer::kNone);
}

TEST(CompactorLists, S160AreReadFromText) {
  const auto list = ParseWriteIdList("table:37:9223372036854775807::7,9,10");
  ASSERT_THAT(list, IsOk());
  EXPECT_EQ(list->ids.high, 37);
  EXPECT_EQ(list->ids.MinOpen(), kNothingOpen);
  EXPECT_THAT(list->ForCompactor().ids.aborted, ElementsAre(7, 9, 10));
}

TEST(CompactorLists, S161ARangeIsAbortedInPart) {
  const auto list = ParseWriteIdList("table:11:4::5,6,7,8");
  ASSERT_THAT(list, IsOk());
  struct Case {
    int64_t first, last;
    RangeAnswer answer;
  };
  for (const Case& c : {Case{1, 3, RangeAnswer::kNone},
                        Case{9, 10, RangeAnswer::kNone},
                        Case{6, 7, RangeAnswer::kAll},
                        Case{4, 6, RangeAnswer::kSome},
                        Case{6, 13, RangeAnswer::kSome}}) {
    EXPECT_EQ(list->RangeAborted(WriteId(c.first), WriteId(c.last)), c.answer) << c.first;
  }
}

// ---- lists of two moments ----

WriteIdSnapshot AbortedList(std::vector<int64_t> aborted, int64_t high) {
  WriteIdSnapshot list;
  list.ids = {high, {}, std::move(aborted)};
  return list;
}

TEST(ListsOfTwoMoments, S163ShowTheSameWhereOnlyHiddenIdsCameAfter) {  // VAL-10
  const WriteIdSnapshot first = AbortedList({}, 5);
  EXPECT_TRUE(ShowTheSame(first, AbortedList({6}, 6)));
  EXPECT_TRUE(ShowTheSame(first, AbortedList({6, 7}, 7)));
  EXPECT_TRUE(ShowTheSame(first, AbortedList({6, 7, 8}, 8)));
  EXPECT_FALSE(ShowTheSame(first, AbortedList({}, 8)));
}

TEST(ListsOfTwoMoments, S164AreOrderedByTheFirstIdThatOneOfThemShows) {  // VAL-11
  const auto compare = [](const WriteIdSnapshot& a, const WriteIdSnapshot& b) {
    return CompareShown(a.ids, b.ids);
  };
  EXPECT_EQ(compare(AbortedList({1, 2, 3}, 9), AbortedList({1, 2, 3}, 11)),
            std::strong_ordering::less);
  EXPECT_EQ(compare(AbortedList({}, 9), AbortedList({10, 11}, 11)), std::strong_ordering::equal);
  EXPECT_EQ(compare(AbortedList({}, 9), AbortedList({10}, 11)), std::strong_ordering::less);
  EXPECT_EQ(compare(AbortedList({8}, 9), AbortedList({8, 10, 11}, 11)),
            std::strong_ordering::equal);
}

// A client that keeps its lists asks for what changed.
TEST_F(WriteIdScenarios, AKnownListIsAnsweredByWhatChanged) {
  const std::vector<int64_t> txns = Writers(3);
  v1::GetValidWriteIdsRequest request;
  *request.add_tables() = NameOf("default.t");
  request.set_txn_id(Open());
  const auto first =
      Ask<v1::GetValidWriteIdsResponse>("/skep.v1.TableService/GetValidWriteIds", request);
  ASSERT_THAT(first, IsOk());
  ASSERT_GT(first->lists(0).version(), 0);
  ASSERT_THAT(Commit(txns[1], {"default.t:I"}), IsOk());
  auto* const known = request.add_known();
  known->set_table_id(first->lists(0).table_id());
  known->set_version(first->lists(0).version());
  request.set_txn_id(Open());
  const auto second =
      Ask<v1::GetValidWriteIdsResponse>("/skep.v1.TableService/GetValidWriteIds", request);
  ASSERT_THAT(second, IsOk());
  const v1::WriteIdList& list = second->lists(0);
  ASSERT_TRUE(list.has_change());
  EXPECT_EQ(list.open_size(), 0);
  EXPECT_EQ(list.high_watermark(), 3);
  EXPECT_THAT(list.change().closed(), ElementsAre(2));
  EXPECT_EQ(list.change().since_version(), first->lists(0).version());
  EXPECT_GT(list.version(), first->lists(0).version());
}

TEST_F(WriteIdScenarios, WriteIdsOfAnotherServerAreTakenOverOnce) {
  v1::AdoptWriteIdsRequest request;
  *request.mutable_table() = NameOf("default.t");
  request.set_valid_write_ids("default.t:9:9223372036854775807::3,4");
  for (const bool first : {true, false}) {
    const auto adopted =
        Ask<v1::AdoptWriteIdsResponse>("/skep.v1.TableService/AdoptWriteIds", request);
    ASSERT_THAT(adopted, IsOk());
    EXPECT_EQ(adopted->adopted(), first);
    EXPECT_EQ(adopted->next_write_id(), 10);
    EXPECT_EQ(adopted->compaction_ids_size(), first ? 1 : 0);
  }
  EXPECT_THAT(ListOf(Open(), "default.t").aborted, ElementsAre(3, 4));
  request.set_valid_write_ids("default.t:9:5:5:");
  EXPECT_THAT(Ask<v1::AdoptWriteIdsResponse>("/skep.v1.TableService/AdoptWriteIds", request),
              HasReason(ErrorReason::kInvalidRequest));
}

}  // namespace
}  // namespace skep::conformance
