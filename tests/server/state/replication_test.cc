// What comes from another server: transactions that stand for its own, its write ids, its counters.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using skep::testing::HasMessage;
using skep::testing::HasReason;
using skep::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

using Pairs = std::vector<std::pair<TxnId, TxnId>>;

class ReplicationTest : public ::testing::Test {
 protected:
  absl::StatusOr<OpenedTxns> Open(std::vector<int64_t> sources, const std::string& policy = "p") {
    OpenTxns command;
    command.type = TxnType::kReplCreated;
    command.user = "repl";
    command.sources.emplace();
    command.sources->policy = policy;
    for (const int64_t id : sources) command.sources->txns.emplace_back(id);
    return server_.TryOpen(command);
  }
  TxnId OpenOne(int64_t source, const std::string& policy = "p") {
    const auto opened = Open({source}, policy);
    EXPECT_THAT(opened, IsOk());
    return opened.ok() ? opened->replicated.front().second : TxnId();
  }
  absl::StatusOr<CommittedTxn> Commit(int64_t source, std::vector<TableWrites> writes = {}) {
    CommitTxn command;
    command.write_set = std::move(writes);
    command.source = CommitTxn::Source{"p", TxnId(source)};
    return server_.Do([&](State& s, Now now, Unit& u) { return s.Commit(command, now, u); });
  }
  absl::StatusOr<AbortedTxns> Abort(std::vector<int64_t> sources) {
    AbortTxns command;
    command.sources.emplace();
    command.sources->policy = "p";
    for (const int64_t id : sources) command.sources->txns.emplace_back(id);
    return server_.Do([&](State& s, Now now, Unit& u) { return s.Abort(command, now, u); });
  }
  absl::StatusOr<AllocatedWriteIds> Replicate(const std::string& table,
                                              std::vector<std::pair<int64_t, int64_t>> ids) {
    ReplicateWriteIds command{T(table), "p", {}};
    for (const auto& [source, id] : ids) command.sources.emplace_back(TxnId(source), WriteId(id));
    return server_.Do([&](State& s, Now now, Unit& u) { return s.Replicate(command, now, u); });
  }
  absl::StatusOr<AdoptedWriteIds> Adopt(const std::string& table,
                                        int64_t highest,
                                        std::vector<int64_t> aborted = {}) {
    return server_.Do([&](State& s, Now now, Unit& u) {
      return s.Adopt({T(table), WriteId(highest), aborted}, now, u);
    });
  }
  bool Stands(int64_t source) {
    return server_.state().GetReplica({"p", TxnId(source)}, server_.now()).ok();
  }

  Server server_;
};

TEST_F(ReplicationTest, OpensOneTransactionForEachSource) {  // OPN-11, TYP-4, RPL-2
  const TxnId own = server_.Open();
  const auto opened = Open({7, 9});
  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ(opened->replicated, (Pairs{{TxnId(7), own.Next()}, {TxnId(9), own.Next().Next()}}));
  EXPECT_EQ(opened->timeout, std::chrono::hours(24 * 11)) << "TMO-2, TMO-10: a lease of its own";
  const auto found = server_.state().GetReplica({"p", TxnId(9)}, server_.now());
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->id, own.Next().Next());
  EXPECT_EQ(found->stands_for->txn, TxnId(9));
}

TEST_F(ReplicationTest, OpensNothingWhereOneIsThere) {  // OPN-11
  const TxnId txn = OpenOne(7);
  const auto again = Open({7, 8});
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->replicated, (Pairs{{TxnId(7), txn}})) << "8 has ended since the first call";
  EXPECT_EQ(again->count, 0);
  EXPECT_NE(OpenOne(7, "other"), txn) << "policies do not know each other";
}

TEST_F(ReplicationTest, RefusesWhatNamesNoSource) {
  OpenTxns command;
  command.type = TxnType::kReplCreated;
  EXPECT_THAT(server_.TryOpen(command), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(Open({}), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(Open({3, 2}), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(Open({2, 2}), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(Open({1}, ""), HasReason(ErrorReason::kInvalidRequest));
  command.sources = SourceTxns{"p", {TxnId(1)}};
  command.type = TxnType::kDefault;
  EXPECT_THAT(server_.TryOpen(command), HasReason(ErrorReason::kInvalidRequest));
}

TEST_F(ReplicationTest, EndsBySourceAndOnlyOnce) {  // CMT-2, ABT-4, RPL-1, RPL-3, CMT-15
  const TxnId first = OpenOne(7);
  const TxnId second = OpenOne(8);
  const auto committed = Commit(7);
  ASSERT_THAT(committed, IsOk());
  EXPECT_FALSE(committed->unknown_source);
  EXPECT_EQ(server_.StateOf(first), TxnState::kCommitted);
  const auto again = Commit(7);
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->unknown_source) << "says that nothing was done";
  EXPECT_TRUE(Commit(99)->unknown_source) << "a commit without an open";
  EXPECT_THAT(Abort({8, 99})->aborted, ElementsAre(second));
  EXPECT_THAT(Abort({8})->aborted, IsEmpty());
  EXPECT_EQ(server_.state().GetTxn(second, server_.now())->cause, AbortCause::kReplication);
}

TEST_F(ReplicationTest, ForgetsThePairWhateverEndsTheTransaction) {  // ABT-7
  ASSERT_THAT(server_.Abort(OpenOne(7), AbortCause::kOperator), IsOk());
  EXPECT_FALSE(Stands(7));
  OpenOne(8);
  server_.Pass(std::chrono::hours(24 * 11));
  server_.Reap();
  EXPECT_TRUE(Stands(8)) << "TMO-6: not older than its lease";
  server_.Pass(std::chrono::milliseconds(1));
  server_.Reap();
  EXPECT_FALSE(Stands(8));
}

TEST_F(ReplicationTest, OutlivesARestart) {
  const TxnId txn = OpenOne(7);
  server_.Restart();
  EXPECT_TRUE(Stands(7));
  ASSERT_THAT(Commit(7), IsOk());
  EXPECT_EQ(server_.StateOf(txn), TxnState::kCommitted);
}

TEST_F(ReplicationTest, ChecksNoConflictButCounts) {  // TYP-4, CMT-8
  server_.MakeTable("t");
  OpenOne(7);
  OpenOne(8);
  const TxnId local = server_.Open();
  ASSERT_THAT(Replicate("t", {{7, 1}, {8, 2}}), IsOk());
  const std::vector<TableWrites> update = {{T("t"), {{"", WriteOp::kUpdate}}}};
  EXPECT_THAT(Commit(7, update), IsOk());
  EXPECT_THAT(Commit(8, update), IsOk()) << "the source decided who came first";
  EXPECT_THAT(server_.Commit(local, update), HasReason(ErrorReason::kWriteConflict))
      << "a local writer loses against what came";
}

TEST_F(ReplicationTest, GivesTheWriteIdsOfTheSource) {  // WID-10
  server_.MakeTable("t");
  const TxnId first = OpenOne(7);
  const TxnId second = OpenOne(8);
  const auto given = Replicate("t", {{8, 2}, {7, 1}});
  ASSERT_THAT(given, IsOk());
  EXPECT_THAT(given->ids, ElementsAre(Pair(first, WriteId(1)), Pair(second, WriteId(2))));
  const auto again = Replicate("t", {{7, 1}, {8, 2}});
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->ids, given->ids);
  EXPECT_THAT(Replicate("t", {{7, 1}, {99, 2}})->ids, IsEmpty()) << "nobody stands for 99";
  EXPECT_THAT(Replicate("t", {{7, 3}}), HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(Replicate("t", {{7, 1}, {8, 3}}), HasReason(ErrorReason::kInvalidRequest));
}

TEST_F(ReplicationTest, LeavesNoHoleOpenBelowTheWriteIdsOfTheSource) {  // WID-10, WSN-5, R-4
  server_.MakeTable("t");
  const TxnId old_reader = server_.Open();
  OpenOne(7);
  ASSERT_THAT(Replicate("t", {{7, 5}}), IsOk());
  ASSERT_THAT(Commit(7, {{T("t"), {{"", WriteOp::kInsert}}}}), IsOk());
  const TxnId reader = server_.Open();
  for (int i = 0; i < 2; ++i) {
    const auto list = server_.List(reader, T("t"));
    ASSERT_THAT(list, IsOk());
    EXPECT_EQ(list->ids, (ValidIds{5, {}, {}})) << "1 to 4 came with the files";
    const auto old_list = server_.List(old_reader, T("t"));
    ASSERT_THAT(old_list, IsOk());
    EXPECT_EQ(old_list->ids, (ValidIds{0, {}, {}}));
    server_.Restart();
  }
}

TEST_F(ReplicationTest, RefusesWriteIdsThatWereGivenOutHere) {
  server_.MakeTable("t");
  server_.Write("t", WriteOp::kInsert);
  OpenOne(7);
  const auto refused = Replicate("t", {{7, 1}});
  EXPECT_THAT(refused, HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(refused, HasMessage(HasSubstr("written by its source alone")));
}

TEST_F(ReplicationTest, TakesOverATablesWriteIds) {  // RPL-4, WID-12
  server_.MakeTable("t");
  const TxnId old_reader = server_.Open();
  const auto adopted = Adopt("t", 9, {3, 4});
  ASSERT_THAT(adopted, IsOk());
  EXPECT_TRUE(adopted->adopted);
  EXPECT_EQ(adopted->next, WriteId(10));
  EXPECT_EQ(adopted->compactions.size(), 1u) << "aborted ids want a major compaction";
  const TxnId reader = server_.Open();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(server_.List(reader, T("t"))->ids, (ValidIds{9, {}, {3, 4}}));
    EXPECT_EQ(server_.List(old_reader, T("t"))->ids, (ValidIds{0, {}, {}}));
    server_.Restart();
  }
  const auto again = Adopt("t", 20);
  ASSERT_THAT(again, IsOk());
  EXPECT_FALSE(again->adopted) << "it has write ids by now";
  EXPECT_EQ(again->next, WriteId(10));
  const TxnId writer = server_.Open();
  EXPECT_EQ(*server_.Allocate(writer, T("t")), WriteId(10));
}

TEST_F(ReplicationTest, SeedsOneTableWithoutAbortedIds) {  // WID-11, WID-12
  server_.MakeTable("t");
  const auto adopted = Adopt("t", 41);
  ASSERT_THAT(adopted, IsOk());
  EXPECT_THAT(adopted->compactions, IsEmpty());
  EXPECT_EQ(server_.state().GetTable(T("t"))->row.next_write_id, WriteId(42));
  EXPECT_THAT(Adopt("none", 1), HasReason(ErrorReason::kNoSuchTable));
  server_.MakeTable("u");
  EXPECT_THAT(Adopt("u", int64_t{1} << 62 | 1), HasReason(ErrorReason::kInvalidRequest));
}

TEST(SeedTxnIds, GoesOnWhereItIsTold) {  // OPN-14
  Server server;
  const TxnId reader = server.Open();
  const auto seed = [&](int64_t first) {
    return server.Do(
        [&](State& s, Now now, Unit& u) { return s.SeedTxnIds(TxnId(first), now, u); });
  };
  EXPECT_THAT(seed(100), IsOk());
  EXPECT_EQ(server.Open(), TxnId(100));
  EXPECT_THAT(seed(100), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(seed(101), IsOk()) << "already so";
  EXPECT_EQ(server.Snapshot(reader)->ids.high, reader.value()) << "R-4";
  server.Restart();
  EXPECT_EQ(server.Open(), TxnId(101));
}

}  // namespace
}  // namespace skep::state
