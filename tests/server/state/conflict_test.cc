// First committer wins: the matrix, the write set, and races.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/state/conflicts.h"
#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {

inline std::ostream& operator<<(std::ostream& out, const Write& w) {
  return out << "{table " << w.table << ", \"" << w.partition << "\", " << WriteOpName(w.op) << "}";
}

namespace {

using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr WriteOp kI = WriteOp::kInsert, kU = WriteOp::kUpdate, kD = WriteOp::kDelete,
                  kO = WriteOp::kOverwrite, kX = WriteOp::kDrop;
const TableId kTable(1);

TEST(FindConflict, FollowsTheMatrix) {  // R-5, CON-6, CON-7
  const WriteOp all[] = {kI, kU, kD, kO, kX};
  const bool expected[5][5] = {
      // theirs: I      U      D      O     X
      {false, false, false, true, true},  // insert
      {false, true, true, true, true},    // update
      {false, true, true, true, true},    // delete
      {true, true, true, true, true},     // overwrite
      {true, true, true, true, true},     // drop
  };
  for (int own = 0; own < 5; ++own) {
    for (int theirs = 0; theirs < 5; ++theirs) {
      SCOPED_TRACE(std::string(WriteOpName(all[own])) + " after " +
                   std::string(WriteOpName(all[theirs])));
      WriteMarks marks;
      marks.Record(kTable, "p=1", all[theirs], CommitSeq(8), TxnId(3));
      const std::set<Write> writes = {{kTable, "p=1", all[own]}};
      const auto conflict = DecideCommit(writes, marks, CommitSeq(7));
      EXPECT_EQ(conflict.has_value(), expected[own][theirs]);
      if (conflict) {
        EXPECT_EQ(conflict->winner, TxnId(3));
      }
      EXPECT_FALSE(DecideCommit(writes, marks, CommitSeq(8)))
          << "what the snapshot saw is no conflict";
    }
  }
}

TEST(DecideCommit, MatchesResourcesThatOverlap) {
  struct Case {
    const char* name;
    TableId theirs_table;
    std::string theirs, own;
    bool conflict;
  };
  const std::vector<Case> cases = {
      {"the same partition", kTable, "p=1", "p=1", true},
      {"another partition", kTable, "p=1", "p=2", false},
      {"the same table without partitions", kTable, "", "", true},
      {"R-6: theirs without partition matches all", kTable, "", "p=2", true},
      {"R-6: own without partition matches all", kTable, "p=1", "", true},
      {"another table", TableId(2), "p=1", "p=1", false},
      {"another whole table", TableId(2), "", "", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    WriteMarks marks;
    marks.Record(c.theirs_table, c.theirs, kU, CommitSeq(8), TxnId(3));
    EXPECT_EQ(DecideCommit({{kTable, c.own, kU}}, marks, CommitSeq(5)).has_value(), c.conflict);
  }
}

TEST(CompleteWriteSet, IsCompleteOrTotal) {
  const TxnId t(7);
  struct Case {
    const char* name;
    std::vector<DeclaredTable> declared;
    std::vector<ComponentRow> components;
    std::set<TableId> with_write_id;
    std::set<Write> expected;
  };
  const std::vector<Case> cases = {
      {"nothing", {}, {}, {}, {}},
      {"declared in full", {{kTable, {{kTable, "p=1", kI}}}}, {}, {kTable}, {{kTable, "p=1", kI}}},
      {"declared as nothing after all", {{kTable, {}}}, {}, {kTable}, {}},
      {"a write id and no word: an update of all of it", {}, {}, {kTable}, {{kTable, "", kU}}},
      {"a write id and components only: both",
       {},
       {{t, kTable, "p=1", kI, false}},
       {kTable},
       {{kTable, "p=1", kI}, {kTable, "", kU}}},
      {"a placeholder is resolved by the declaration",
       {{kTable, {{kTable, "p=1", kU}}}},
       {{t, kTable, "", kU, true}},
       {kTable},
       {{kTable, "p=1", kU}}},
      {"a placeholder that stays means the table",
       {},
       {{t, kTable, "", kD, true}},
       {},
       {{kTable, "", kD}}},
      {"what a lock declared stays beside the declaration",
       {{kTable, {{kTable, "p=2", kU}}}},
       {{t, kTable, "p=1", kU, false}},
       {kTable},
       {{kTable, "p=1", kU}, {kTable, "p=2", kU}}},
      {"one table's completeness says nothing of another",
       {{kTable, {}}},
       {},
       {kTable, TableId(2)},
       {{TableId(2), "", kU}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(CompleteWriteSet(c.declared, c.components, c.with_write_id), c.expected);
  }
}

// Two transactions that both began before either wrote; the second to commit is `late`.
struct Pair {
  explicit Pair(bool partitioned = false) {
    server.MakeTable("a", partitioned);
    Begin();
  }
  void Begin() {
    early = server.Open();
    late = server.Open();
    for (TxnId t : {early, late}) EXPECT_THAT(server.Allocate(t, T("a")), IsOk());
  }
  Server server;
  TxnId early, late;
};

std::vector<TableWrites> Declare(WriteOp op, const std::string& partition = "") {
  return {{T("a"), {{partition, op}}}};
}

TEST(Commit, LosesToTheFirstCommitter) {
  Pair p;
  ASSERT_THAT(p.server.Commit(p.early, Declare(kU)), IsOk());
  const auto lost = p.server.Commit(p.late, Declare(kD));
  ASSERT_THAT(lost, HasReason(ErrorReason::kWriteConflict));
  const ErrorMetadata metadata = MetadataOf(lost.status());
  EXPECT_EQ(metadata.at("txnId"), p.late.ToString());
  EXPECT_EQ(metadata.at("winnerTxnId"), p.early.ToString());
  EXPECT_EQ(metadata.at("table"), "db.a");
  EXPECT_EQ(metadata.at("partition"), "");
  EXPECT_THAT(lost, HasMessage(HasSubstr("run it again")));
  p.server.Restart();
  EXPECT_EQ(p.server.state().GetTxn(p.late, p.server.now())->cause, AbortCause::kConflict)
      << "the abort is durable with the refusal";
  EXPECT_THAT(p.server.Commit(p.late), HasReason(ErrorReason::kTxnAborted));
}

TEST(Commit, OfOverwriteAndInsertConflictsBothWays) {
  Pair p;
  ASSERT_THAT(p.server.Commit(p.early, Declare(kO)), IsOk());
  EXPECT_THAT(p.server.Commit(p.late, Declare(kI)), HasReason(ErrorReason::kWriteConflict));
  p.Begin();
  ASSERT_THAT(p.server.Commit(p.early, Declare(kI)), IsOk());
  EXPECT_THAT(p.server.Commit(p.late, Declare(kO)), HasReason(ErrorReason::kWriteConflict));
  p.Begin();
  ASSERT_THAT(p.server.Commit(p.early, Declare(kI)), IsOk());
  EXPECT_THAT(p.server.Commit(p.late, Declare(kI)), IsOk());
}

TEST(Commit, WithoutADeclarationCountsAsAnUpdateOfAllPartitions) {  // R-6, first interleaving
  Pair p(true);
  ASSERT_THAT(p.server.Commit(p.early, Declare(kU, "p=1")), IsOk());
  EXPECT_THAT(p.server.Commit(p.late), HasReason(ErrorReason::kWriteConflict));
  p.Begin();
  ASSERT_THAT(p.server.Commit(p.early), IsOk());
  EXPECT_THAT(p.server.Commit(p.late, Declare(kU, "p=2")), HasReason(ErrorReason::kWriteConflict));
}

TEST(Commit, HoldsWhatEachStatementDeclared) {  // statement 1 declares p1, statement 2 p2
  Pair p(true);
  ASSERT_THAT(p.server.AddPartitions(p.late, T("a"), {"p=1"}), IsOk());
  ASSERT_THAT(p.server.AddPartitions(p.late, T("a"), {"p=2"}), IsOk()) << "a MERGE reports twice";
  ASSERT_THAT(p.server.Commit(p.early, Declare(kU, "p=1")), IsOk());
  EXPECT_THAT(p.server.Commit(p.late, Declare(kU, "p=2")), HasReason(ErrorReason::kWriteConflict));
}

TEST(Commit, TakesThePlaceholderForTheWholeTable) {
  Pair p(true);
  LockComponent dynamic = OnTable("a", LockKind::kSharedWrite, kU);
  dynamic.dynamic = true;
  ASSERT_THAT(p.server.Lock(p.late, {dynamic}), IsOk());
  ASSERT_THAT(p.server.Commit(p.early, Declare(kU, "p=1")), IsOk());
  EXPECT_THAT(p.server.Commit(p.late), HasReason(ErrorReason::kWriteConflict));
  p.Begin();
  ASSERT_THAT(p.server.Lock(p.late, {dynamic}), IsOk());
  ASSERT_THAT(p.server.Commit(p.early, Declare(kU, "p=1")), IsOk());
  EXPECT_THAT(p.server.Commit(p.late, Declare(kU, "p=2")), IsOk()) << "resolved by the declaration";
}

TEST(Commit,
     EntersAnUpdateThatAnInsertsLockCovers) {  // coverage concerns locks, not the write set
  Server server;
  server.MakeTable("a");
  const TxnId late = server.Open();
  ASSERT_THAT(server.Lock(late, {OnTable("a", LockKind::kExclWrite, kI)}), IsOk());
  ASSERT_THAT(server.Lock(late, {OnTable("a", LockKind::kExclWrite, kU)}), IsOk());
  EXPECT_TRUE(server.stored().components.contains({late, TableId(1), "", kU}));
}

TEST(Commit, IntoADroppedTableIsRefused) {
  for (const bool with_component : {false, true}) {
    SCOPED_TRACE(with_component ? "declared" : "only a write id");
    Server server;
    server.MakeTable("a");
    const TxnId writer = server.Open();
    ASSERT_THAT(server.Allocate(writer, T("a")), IsOk());
    if (with_component) {
      ASSERT_THAT(server.AddPartitions(writer, T("a"), {""}, kI), IsOk());
    }
    ASSERT_THAT(server.DropTable("a"), IsOk());
    server.Restart();
    const CreateTable again = [] {
      CreateTable command = Server::TableOf("a");
      command.location = "/w/elsewhere";
      return command;
    }();
    ASSERT_THAT(server.Create(again), IsOk());
    const auto refused = server.Commit(writer, {{T("a"), {{"", kI}}}});
    EXPECT_THAT(refused, HasReason(ErrorReason::kWriteConflict));
    EXPECT_THAT(refused, HasMessage(HasSubstr("dropped")));
    EXPECT_EQ(server.StateOf(writer), TxnState::kAborted);
  }
}

TEST(Commit, SaysWhatTransactionAndTableCannot) {
  Server server;
  server.MakeTable("a", true);
  ASSERT_THAT(server.Create(Server::TableOf("lines", false, FileFormat::kText)), IsOk());
  CreateTable outside = Server::TableOf("x");
  outside.external = true;
  ASSERT_THAT(server.Create(outside), IsOk());
  struct Case {
    const char* name;
    TxnType type;
    TableWrites writes;
    ErrorReason reason;
  };
  const TxnType d = TxnType::kDefault;
  const std::vector<Case> cases = {
      {"TYP-3: read-only",
       TxnType::kReadOnly,
       {T("a"), {{"p=1", kI}}},
       ErrorReason::kOperationNotAllowed},
      {"update of insert-only", d, {T("lines"), {{"", kU}}}, ErrorReason::kOperationNotAllowed},
      {"delete from insert-only", d, {T("lines"), {{"", kD}}}, ErrorReason::kOperationNotAllowed},
      {"external", d, {T("x"), {{"", kI}}}, ErrorReason::kOperationNotAllowed},
      {"drop by declaration", d, {T("a"), {{"", kX}}}, ErrorReason::kInvalidRequest},
      {"a partition of other columns", d, {T("a"), {{"q=1", kI}}}, ErrorReason::kInvalidRequest},
      {"a partition of a table without",
       d,
       {T("lines"), {{"p=1", kI}}},
       ErrorReason::kInvalidRequest},
      {"unknown table", d, {T("nowhere"), {}}, ErrorReason::kNoSuchTable},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const TxnId txn = server.Open(c.type);
    EXPECT_THAT(server.Commit(txn, {c.writes}), HasReason(c.reason));
    EXPECT_EQ(server.StateOf(txn), TxnState::kOpen) << "a malformed commit loses nothing";
    EXPECT_THAT(server.Commit(txn), IsOk());
  }
}

TEST(Commit, NeverConflictsWithItself) {  // CON-13
  Server server;
  server.MakeTable("a", true);
  const TxnId txn = server.Open();
  ASSERT_THAT(server.Allocate(txn, T("a")), IsOk());
  EXPECT_THAT(server.Commit(txn, {{T("a"), {{"p=1", kU}, {"p=1", kD}, {"p=1", kI}, {"p=2", kO}}}}),
              IsOk());
  EXPECT_THAT(*server.state().Partitions(T("a"), TxnId(), server.now(), "", 9),
              ElementsAre("p=1", "p=2"));
}

TEST(AddPartitions, TakesThePlaceOfThePlaceholder) {  // DYN-3, DYN-4
  Server server;
  server.MakeTable("a", true);
  const TxnId txn = server.Open();
  LockComponent dynamic = OnTable("a", LockKind::kSharedRead, kI);
  dynamic.dynamic = true;
  ASSERT_THAT(server.Lock(txn, {dynamic}), IsOk());
  ASSERT_EQ(server.stored().components.size(), 1u);
  ASSERT_THAT(server.AddPartitions(txn, T("a"), {}), IsOk());
  EXPECT_THAT(server.stored().components, IsEmpty());
  ASSERT_THAT(server.AddPartitions(txn, T("a"), {"P=1", "p=1"}, kI), IsOk());
  ASSERT_EQ(server.stored().components.size(), 1u) << "one canonical form";
  EXPECT_EQ(server.stored().components.begin()->second.partition, "p=1");
}

TEST(WriteMarks, LiveAsLongAsAnOlderSnapshot) {
  Server server;
  server.MakeTable("a", true);
  const TxnId reader = server.Open();
  server.Write("a", kI, "p=1");
  server.Write("a", kU, "p=1");
  ASSERT_EQ(server.stored().write_marks.size(), 1u);
  const TxnId newer = server.Open();
  server.Write("a", kU, "p=2");
  ASSERT_THAT(server.Commit(reader), IsOk());
  EXPECT_EQ(server.stored().write_marks.size(), 1u) << "p=1 is older than everybody";
  ASSERT_THAT(server.Commit(newer), IsOk());
  EXPECT_THAT(server.stored().write_marks, IsEmpty());
}

TEST(ChangedSince, NamesWhatWasWrittenAndEverythingAfterALoad) {
  Server server;
  server.MakeTable("a", true);
  server.MakeTable("b");
  const auto since = [&](CommitSeq seq) {
    std::vector<std::string> found;
    for (const State::Changed& c : server.state().ChangedSince(seq)) {
      found.push_back(c.table.ToString() + "/" + c.partition);
    }
    return found;
  };
  const CommitSeq start = server.stored().counters.seq;
  EXPECT_THAT(since(start), IsEmpty());
  server.Write("a", kI, "p=1");
  const CommitSeq middle = server.stored().counters.seq;
  server.Write("a", kI, "p=2");
  EXPECT_THAT(since(start), ElementsAre("1/p=1", "1/p=2"));
  EXPECT_THAT(since(middle), ElementsAre("1/p=2"));
  server.Restart();
  EXPECT_THAT(since(middle), ElementsAre("1/p=1", "1/p=2", "2/"));
  EXPECT_THAT(since(server.stored().counters.seq), IsEmpty());
}

}  // namespace
}  // namespace skep::state
