// What each type of transaction may do, and whom an abort by owner or age takes.

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
using ::testing::SizeIs;

TEST(TxnTypes, MayDoWhatTheirTypeSays) {  // TYP-1 … TYP-8
  struct Case {
    TxnType type;
    bool opens, allocates, drops_under_excl_write;
  };
  const std::vector<Case> cases = {
      {TxnType::kDefault, true, true, false},
      {TxnType::kReadOnly, true, false, false},
      {TxnType::kMaterializedViewRebuild, true, true, false},
      {TxnType::kSoftDelete, true, true, true},
      {TxnType::kReplCreated, false, false, false},  // with a source only
      {TxnType::kCompaction, false, false, false},   // by a claim only
      {TxnType::kRebalanceCompaction, false, false, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(TxnTypeName(c.type)));
    Server server;
    server.MakeTable("t");
    OpenTxns command;
    command.type = c.type;
    const auto opened = server.TryOpen(command);
    EXPECT_EQ(opened.ok(), c.opens) << opened.status().ToString();
    if (!opened.ok()) continue;
    EXPECT_EQ(opened->timeout, kLease) << "the lease of its type";
    EXPECT_EQ(server.state().GetTxn(opened->first, server.now())->open->type, c.type);
    EXPECT_EQ(server.Allocate(opened->first, T("t")).ok(), c.allocates);
    ASSERT_THAT(server.Lock(opened->first, {OnTable("t", LockKind::kExclWrite)}), IsOk());
    const absl::Status drop = server.Do(
        [&](State& s, Now now, Unit& u) { return s.Drop(opened->first, T("t"), now, u); });
    EXPECT_EQ(drop.ok(), c.drops_under_excl_write) << drop.ToString();
    EXPECT_THAT(server.Commit(opened->first), IsOk());
  }
}

TEST(TxnTypes, OfASoftDeleteLetReadersGoOn) {  // TYP-6, ISO-6
  Server server;
  server.MakeTable("t");
  const TxnId reader = server.Open();
  ASSERT_THAT(server.Lock(reader, {OnTable("t", LockKind::kSharedRead)}), IsOk());
  ASSERT_THAT(server.List(reader, T("t")), IsOk());
  const TxnId inserter = server.Open();
  ASSERT_THAT(server.Lock(inserter, {OnTable("t", LockKind::kSharedRead, WriteOp::kInsert)}),
              IsOk());
  const TxnId dropper = server.Open(TxnType::kSoftDelete);
  const auto lock = server.Lock(dropper, {OnTable("t", LockKind::kExclWrite)});
  ASSERT_THAT(lock, IsOk());
  EXPECT_EQ(lock->state, LockState::kAcquired) << "waits for no reader";
  ASSERT_THAT(
      server.Do([&](State& s, Now now, Unit& u) { return s.Drop(dropper, T("t"), now, u); }),
      IsOk());
  ASSERT_THAT(server.Commit(dropper), IsOk());
  EXPECT_THAT(server.state().GetTable(T("t")), HasReason(ErrorReason::kNoSuchTable));
  EXPECT_THAT(server.Create(Server::TableOf("t")), HasReason(ErrorReason::kLocationNotAllowed))
      << "R-12: the place stays while the reader may list it";
  EXPECT_THAT(server.Commit(inserter), HasReason(ErrorReason::kWriteConflict)) << "R-5";
  EXPECT_THAT(server.Commit(reader), IsOk());
  server.Restart();
}

TEST(OpenTransactions, OfOneUserHaveALimitOfTheirOwn) {
  Options options;
  options.max_open_txns = 100;
  options.max_open_txns_per_user = 3;
  Server server(options);
  const TxnId first = server.Open();
  server.Open();
  OpenTxns two;
  two.user = "ann";
  two.count = 2;
  const auto refused = server.TryOpen(two);
  ASSERT_THAT(refused, HasReason(ErrorReason::kTooManyOpenTxns));
  EXPECT_EQ(MetadataOf(refused.status())["user"], "ann");
  EXPECT_EQ(MetadataOf(refused.status())["limit"], "3");
  EXPECT_EQ(MetadataOf(refused.status())["holders"], "ann (2)");
  two.user = "bob";
  EXPECT_THAT(server.TryOpen(two), IsOk()) << "others are not concerned";
  server.Restart();
  two.user = "ann";
  EXPECT_THAT(server.TryOpen(two), HasReason(ErrorReason::kTooManyOpenTxns));
  ASSERT_THAT(server.Commit(first), IsOk());
  EXPECT_THAT(server.TryOpen(two), IsOk());
}

class AbortByFilterTest : public ::testing::Test {
 protected:
  TxnId Open(const std::string& user) {
    OpenTxns command;
    command.user = user;
    return server_.TryOpen(command)->first;
  }
  AbortedTxns Abort(const std::string& user, std::optional<std::chrono::milliseconds> age) {
    AbortTxns command;
    command.cause = AbortCause::kOperator;
    command.user = user;
    command.min_age = age;
    return *server_.Do([&](State& s, Now now, Unit& u) { return s.Abort(command, now, u); });
  }
  Server server_;
};

TEST_F(AbortByFilterTest, TakesThoseOfAUserAndThoseThatAreOldEnough) {
  const TxnId old_ann = Open("ann");
  const TxnId old_bob = Open("bob");
  server_.Pass(std::chrono::minutes(2));
  const TxnId new_ann = Open("ann");
  EXPECT_THAT(Abort("ann", std::chrono::minutes(2)).aborted, ElementsAre(old_ann))
      << "both must hold; exactly as old is old enough";
  EXPECT_EQ(server_.state().GetTxn(old_ann, server_.now())->cause, AbortCause::kOperator);
  EXPECT_THAT(Abort("", std::chrono::minutes(1)).aborted, ElementsAre(old_bob));
  EXPECT_THAT(Abort("ann", std::nullopt).aborted, ElementsAre(new_ann));
  EXPECT_THAT(Abort("ann", std::nullopt).aborted, SizeIs(0));
}

TEST_F(AbortByFilterTest, SparesCompactions) {
  server_.MakeTable("t");
  server_.Write("t", WriteOp::kInsert);
  ASSERT_THAT(server_.Enqueue("t"), IsOk());
  const auto claim = server_.Claim();
  ASSERT_TRUE(claim.has_value());
  EXPECT_THAT(Abort("", std::chrono::milliseconds(0)).aborted, SizeIs(0));
  EXPECT_EQ(server_.StateOf(claim->row.txn), TxnState::kOpen);
}

TEST_F(AbortByFilterTest, EndsSoManyAtOnceAndSaysThatThereAreMore) {
  OpenTxns command;
  command.user = "flood";
  command.count = 1000;
  for (int i = 0; i < 6; ++i) ASSERT_THAT(server_.TryOpen(command), IsOk());
  const AbortedTxns first = Abort("flood", std::nullopt);
  EXPECT_THAT(first.aborted, SizeIs(State::kMaxEndedAtOnce));
  EXPECT_TRUE(first.more);
  const AbortedTxns second = Abort("flood", std::nullopt);
  EXPECT_THAT(second.aborted, SizeIs(1000));
  EXPECT_FALSE(second.more);
}

TEST(Reallocation, AbortsTheOldWriteIdAndLeavesNoHole) {  // WID-8, R-3
  Server server;
  server.MakeTable("t");
  const TxnId txn = server.Open();
  ASSERT_EQ(*server.Allocate(txn, T("t")), WriteId(1));
  ASSERT_EQ(*server.Allocate(server.Open(), T("t")), WriteId(2));
  const auto again = server.Do([&](State& s, Now now, Unit& u) {
    return s.Allocate({T("t"), {txn}, true}, now, u);
  });
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->ids.front().second, WriteId(3));
  EXPECT_EQ(*server.Allocate(txn, T("t")), WriteId(3)) << "that is its write id now";
  server.Restart();
  ASSERT_THAT(server.Commit(txn, {{T("t"), {{"", WriteOp::kInsert}}}}), IsOk());
  const auto list = server.List(server.Open(), T("t"));
  ASSERT_THAT(list, IsOk());
  EXPECT_EQ(list->ids, (ValidIds{3, {2}, {1}})) << "1 is aborted, never void";
}

}  // namespace
}  // namespace skep::state
