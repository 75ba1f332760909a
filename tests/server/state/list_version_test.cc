// Lists as changes of one that the asker has.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using skep::testing::IsOk;
using skep::testing::IsOkAndHolds;

struct Asked {
  WriteIdSnapshot list;
  ListVersion version;
};

Asked Ask(Server& server, TxnId txn, TableId table, CommitSeq known = {}) {
  GetValidWriteIds command{txn, {T("t")}, false, {{table, known}}};
  auto lists =
      server.Do([&](State& s, Now now, Unit& u) { return s.ValidWriteIdsOf(command, now, u); });
  EXPECT_THAT(lists, IsOk());
  return {lists->tables.front(), lists->versions.front()};
}

TEST(ListVersions, NameListsWhoeverAsks) {
  Server server;
  const TableId table = server.MakeTable("t");
  const Asked first = Ask(server, server.Open(), table);
  server.Open();  // changes nothing about the table
  const Asked second = Ask(server, server.Open(), table);
  EXPECT_EQ(first.version.version, second.version.version);
  server.Write("t", WriteOp::kInsert);
  EXPECT_GT(Ask(server, server.Open(), table).version.version, first.version.version);
}

TEST(ListVersions, OfAKnownListAreTheChangeSince) {
  Server server;
  const TableId table = server.MakeTable("t");
  const TxnId writer = server.Open();
  ASSERT_THAT(server.Allocate(writer, T("t")), IsOk());
  const Asked known = Ask(server, server.Open(), table);
  const Asked same = Ask(server, server.Open(), table, known.version.version);
  ASSERT_TRUE(same.version.change.has_value());
  EXPECT_EQ(*same.version.change, ValidIdsChange());

  ASSERT_THAT(server.Commit(writer, {{T("t"), {{"", WriteOp::kInsert}}}}), IsOk());
  const TxnId aborted = server.Open();
  ASSERT_THAT(server.Allocate(aborted, T("t")), IsOk());
  ASSERT_THAT(server.Abort(aborted), IsOk());
  const Asked now = Ask(server, server.Open(), table, known.version.version);
  ASSERT_TRUE(now.version.change.has_value());
  EXPECT_EQ(*now.version.change, (ValidIdsChange{{}, {1}, {2}}));
  EXPECT_EQ(now.version.since, known.version.version);
  EXPECT_THAT(ApplyChange(known.list.ids, *now.version.change, now.list.ids.high),
              IsOkAndHolds(now.list.ids));
}

TEST(ListVersions, ThatAreNotKnownAnyMoreGetTheWholeList) {
  Server server;
  const TableId table = server.MakeTable("t");
  const Asked known = Ask(server, server.Open(), table);
  server.Write("t", WriteOp::kInsert);
  server.Restart();
  EXPECT_FALSE(Ask(server, server.Open(), table, known.version.version).version.change.has_value());
  EXPECT_FALSE(Ask(server, server.Open(), table, CommitSeq(1 << 20)).version.change.has_value())
      << "a version from the future";
}

TEST(ListVersions, OfTransactionsToo) {
  Server server;
  const auto ask = [&](TxnId txn, CommitSeq known) {
    auto list =
        server.Do([&](State& s, Now now, Unit& u) { return s.SnapshotSince(txn, known, now, u); });
    EXPECT_THAT(list, IsOk());
    return *list;
  };
  const TxnId first = server.Open();
  const VersionedTxns known = ask(first, {});
  const TxnId second = server.Open();
  ASSERT_THAT(server.Abort(first), IsOk());
  const TxnId third = server.Open();
  const VersionedTxns now = ask(third, known.version.version);
  ASSERT_TRUE(now.version.change.has_value());
  EXPECT_EQ(*now.version.change,
            (ValidIdsChange{{second.value(), third.value()}, {first.value()}, {first.value()}}));
  EXPECT_THAT(ApplyChange(known.list.ids, *now.version.change, now.list.ids.high),
              IsOkAndHolds(now.list.ids));
}

}  // namespace
}  // namespace skep::state
