// What became of the sources of a view since it was built (MV-5 … MV-7).

#include <functional>

#include <gmock/gmock.h>

#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using ::testing::ElementsAre;
using testing::HasReason;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::Pair;

using Kind = TableChange::Kind;

class TableChangesTest : public ::testing::Test {
 protected:
  // What a view that is built now is built from.
  WriteIdSnapshot Build(const std::string& table = "t") {
    const TxnId txn = server_.Open();
    auto list = server_.List(txn, T(table));
    EXPECT_THAT(list, IsOk());
    EXPECT_THAT(server_.Commit(txn), IsOk());
    return *list;
  }
  absl::StatusOr<TableChanges> Ask(std::vector<WriteIdSnapshot> built_from, TxnId txn = TxnId()) {
    return server_.Do([&](State& s, Now now, Unit& u) {
      return s.TableChangesSince({std::move(built_from), txn}, now, u);
    });
  }
  TableChange Change(const WriteIdSnapshot& built_from, TxnId txn = TxnId()) {
    const auto changes = Ask({built_from}, txn);
    EXPECT_THAT(changes, IsOk());
    return changes.ok() ? changes->tables.at(0) : TableChange();
  }

  Server server_;
};

TEST_F(TableChangesTest, SaysWhatAWriteDidToTheRows) {
  struct Case {
    const char* name;
    std::function<void(Server&)> happens;
    Kind kind;
    size_t ranges;
  };
  const auto write = [](WriteOp op) { return [op](Server& s) { s.Write("t", op, "p=1"); }; };
  const std::vector<Case> cases = {
      {"nothing", [](Server&) {}, Kind::kUnchanged, 0},
      {"an insert", write(WriteOp::kInsert), Kind::kInsertsOnly, 1},
      {"an update", write(WriteOp::kUpdate), Kind::kRowsChanged, 1},
      {"a delete", write(WriteOp::kDelete), Kind::kRowsChanged, 1},
      {"an overwrite", write(WriteOp::kOverwrite), Kind::kRowsChanged, 1},
      {"an insert after an update",
       [](Server& s) {
         s.Write("t", WriteOp::kUpdate, "p=1");
         s.Write("t", WriteOp::kInsert, "p=1");
       },
       Kind::kRowsChanged,
       1},
      {"a write that is not committed",
       [](Server& s) { EXPECT_THAT(s.Allocate(s.Open(), T("t")), IsOk()); },
       Kind::kUnchanged,
       0},
      {"a write that was aborted",
       [](Server& s) {
         const TxnId txn = s.Open();
         EXPECT_THAT(s.Allocate(txn, T("t")), IsOk());
         EXPECT_THAT(s.Abort(txn), IsOk());
       },
       Kind::kUnchanged,
       0},
      {"a write that says nothing of itself (R-6)",
       [](Server& s) {
         const TxnId txn = s.Open();
         EXPECT_THAT(s.Allocate(txn, T("t")), IsOk());
         EXPECT_THAT(s.Commit(txn), IsOk());
       },
       Kind::kRowsChanged,
       1},
      {"an update of another table",
       [](Server& s) { s.Write("other", WriteOp::kUpdate); },
       Kind::kUnchanged,
       0},
  };
  for (const Case& c : cases) {
    for (const bool restarted : {false, true}) {
      SCOPED_TRACE(std::string(c.name) + (restarted ? ", restarted" : ""));
      server_ = Server();
      server_.MakeTable("t", true);
      server_.MakeTable("other");
      server_.Write("t", WriteOp::kUpdate, "p=0");  // before the view was built
      const WriteIdSnapshot built_from = Build();
      c.happens(server_);
      if (restarted) server_.Restart();
      const TableChange change = Change(built_from);
      EXPECT_EQ(change.kind, c.kind);
      EXPECT_EQ(change.now_visible.size(), c.ranges);
      EXPECT_FALSE(change.compacted);
      EXPECT_EQ(change.table, built_from.table_id);
    }
  }
}

TEST_F(TableChangesTest, NamesTheWriteIdsThatCame) {
  server_.MakeTable("t");
  server_.Write("t", WriteOp::kInsert);  // 1
  const TxnId late = server_.Open();
  EXPECT_EQ(*server_.Allocate(late, T("t")), WriteId(2));
  server_.Write("t", WriteOp::kInsert);  // 3
  const WriteIdSnapshot built_from = Build();
  server_.Write("t", WriteOp::kInsert);  // 4
  const TxnId open = server_.Open();
  EXPECT_EQ(*server_.Allocate(open, T("t")), WriteId(5));
  server_.Write("t", WriteOp::kInsert);  // 6
  EXPECT_THAT(server_.Commit(late, {{T("t"), {{"", WriteOp::kInsert}}}}), IsOk());
  EXPECT_THAT(Change(built_from).now_visible, ElementsAre(Pair(2, 2), Pair(4, 4), Pair(6, 6)));
}

TEST_F(TableChangesTest, AreAsOfTheSnapshotOfATransaction) {
  server_.MakeTable("t");
  const WriteIdSnapshot built_from = Build();
  const TxnId before = server_.Open();
  server_.Write("t", WriteOp::kInsert);
  const TxnId between = server_.Open();
  server_.Write("t", WriteOp::kUpdate);
  EXPECT_EQ(Change(built_from, before).kind, Kind::kUnchanged);
  const TableChange change = Change(built_from, between);
  EXPECT_THAT(change.now_visible, ElementsAre(Pair(1, 1)));
  EXPECT_EQ(change.kind, Kind::kRowsChanged) << "only the newest change is on record";
  EXPECT_THAT(change.reason, HasSubstr("not on record"));
  EXPECT_EQ(Change(built_from).kind, Kind::kRowsChanged);
  EXPECT_EQ(Ask({}, between)->seq, server_.stored().txns.at(between).snapshot_seq);
  EXPECT_EQ(Ask({})->seq, server_.stored().counters.seq);
}

TEST_F(TableChangesTest, TellWhetherFilesWereMerged) {
  server_.MakeTable("t");
  server_.Write("t", WriteOp::kInsert);
  server_.Compact("t");
  const WriteIdSnapshot built_from = Build();
  EXPECT_FALSE(Change(built_from).compacted) << "before";
  server_.Write("t", WriteOp::kInsert);
  server_.Compact("t");
  server_.Restart();
  const TableChange change = Change(built_from);
  EXPECT_TRUE(change.compacted);
  EXPECT_EQ(change.kind, Kind::kInsertsOnly) << "a compaction changes no rows";
}

TEST_F(TableChangesTest, AreUnknownWhereTheListIsOfSomethingElse) {
  const TableId first = server_.MakeTable("t");
  server_.Write("t", WriteOp::kInsert);
  const TxnId old = server_.Open();
  server_.Write("t", WriteOp::kInsert);
  const WriteIdSnapshot built_from = Build();
  EXPECT_EQ(Change(built_from, old).kind, Kind::kUnknown) << "newer than the snapshot";

  WriteIdSnapshot foreign = built_from;
  foreign.ids.high = 50;
  EXPECT_EQ(Change(foreign).kind, Kind::kUnknown);
  EXPECT_THAT(Change(foreign).reason, HasSubstr("another server"));

  WriteIdSnapshot early = built_from;
  early.seq = CommitSeq(0);
  EXPECT_EQ(Change(early).kind, Kind::kUnknown) << "before the table was there";

  WriteIdSnapshot future = built_from;
  future.seq = CommitSeq(1000);
  EXPECT_EQ(Change(future).kind, Kind::kUnknown);

  ASSERT_THAT(server_.Abort(old), IsOk());
  ASSERT_THAT(server_.DropTable("t"), IsOk());
  ASSERT_NE(server_.MakeTable("t"), first);
  const TableChange dropped = Change(built_from);
  EXPECT_EQ(dropped.kind, Kind::kUnknown);
  EXPECT_EQ(dropped.table, first);
  EXPECT_THAT(dropped.now_visible, IsEmpty());
  EXPECT_TRUE(server_.stored().table_changes.empty()) << "goes with the table";
}

TEST_F(TableChangesTest, CountWriteIdsOfAnotherServerAsChanges) {
  server_.MakeTable("t");
  const WriteIdSnapshot built_from = Build();
  ASSERT_THAT(server_.Do([](State& s, Now now, Unit& u) {
    return s.Adopt({T("t"), WriteId(9), {3}}, now, u);
  }),
              IsOk());
  const TableChange change = Change(built_from);
  EXPECT_EQ(change.kind, Kind::kRowsChanged) << "nobody here saw what was written";
  EXPECT_THAT(change.now_visible, ElementsAre(Pair(1, 2), Pair(4, 9)));
}

TEST_F(TableChangesTest, AreRefusedToATransactionThatEnded) {
  const TxnId txn = server_.Open();
  ASSERT_THAT(server_.Abort(txn), IsOk());
  EXPECT_THAT(Ask({}, txn), HasReason(ErrorReason::kTxnAborted));
}

TEST_F(TableChangesTest, CostOneRowForEachTableThatWasChanged) {
  server_.MakeTable("t", true);
  server_.MakeTable("untouched");
  for (int i = 0; i < 20; ++i) {
    server_.Write("t", WriteOp::kUpdate, "p=" + std::to_string(i));
    server_.Write("untouched", WriteOp::kInsert);
  }
  EXPECT_EQ(server_.stored().table_changes.size(), 1u);
}

}  // namespace
}  // namespace skep::state
