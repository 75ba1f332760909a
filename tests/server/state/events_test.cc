// What a unit tells of itself: durable facts, each once, in the order in which they came about.

#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;

std::string NameOf(const EventTable& table) { return table.name->table; }

// An event in a few words.
struct Words {
  std::string operator()(const OpenedEvent& e) const {
    return fmt::format("open {}-{} {}", e.first.value(), e.last.value(), TxnTypeName(e.type));
  }
  std::string operator()(const CommittedEvent& e) const {
    std::string text = fmt::format("commit {}", e.txn.value());
    for (const TableCommit& table : e.tables) {
      text += fmt::format(" {}:{}", NameOf(table.table), table.write_id.value());
      for (const PartitionWrite& w : table.writes) {
        text += fmt::format("[{} {}]", WriteOpName(w.op), w.partition);
      }
    }
    return text + (e.more ? " …" : "");
  }
  std::string operator()(const AbortedEvent& e) const {
    std::string text = fmt::format("abort {} {}", e.txn.value(), AbortCauseName(e.cause));
    for (const EventTable& table : e.tables) text += " " + NameOf(table);
    return text;
  }
  std::string operator()(const AllocatedEvent& e) const {
    std::string text = "allocate " + NameOf(e.table);
    for (const auto& [txn, id] : e.ids) text += fmt::format(" {}={}", txn.value(), id.value());
    return text;
  }
  std::string operator()(const TakenOverEvent& e) const {
    return fmt::format("take over {} {}-{}", NameOf(e.table), e.first.value(), e.last.value());
  }
  std::string operator()(const TableAddedEvent& e) const {
    return (e.registered ? "register " : "create ") + NameOf(e.table);
  }
  std::string operator()(const TableDroppedEvent& e) const {
    return fmt::format("drop {} by {}", NameOf(e.table), e.txn.value());
  }
  std::string operator()(const PropertiesEvent& e) const {
    std::string text = "properties " + NameOf(e.table);
    for (const auto& [key, value] : e.properties) text += " " + key + "=" + value.value_or("-");
    return text;
  }
  std::string operator()(const PartitionsEvent& e) const {
    std::string text = "partitions " + NameOf(e.table);
    for (const std::string& partition : e.partitions) text += " " + partition;
    return text;
  }
  std::string operator()(const CompactionEvent& e) const {
    return fmt::format("compaction {} {}", e.row->id.value(), CompactionStateName(e.row->state));
  }
};

class EventsTest : public ::testing::Test {
 protected:
  // Of the last unit.
  std::vector<std::string> Told() {
    std::vector<std::string> told;
    for (const Event& event : server_.last_events()) told.push_back(std::visit(Words(), event));
    return told;
  }

  Server server_;
};

TEST_F(EventsTest, TellOfATransactionFromItsOpenToItsCommit) {
  server_.MakeTable("t", true);
  EXPECT_THAT(Told(), ElementsAre("create t"));
  const TxnId txn = server_.Open();
  EXPECT_THAT(Told(), ElementsAre("open 1-1 DEFAULT"));
  ASSERT_THAT(server_.Allocate(txn, T("t")), IsOk());
  EXPECT_THAT(Told(), ElementsAre("allocate t 1=1"));
  ASSERT_THAT(server_.Allocate(txn, T("t")), IsOk());
  EXPECT_THAT(Told(), IsEmpty()) << "it had it already";
  ASSERT_THAT(
      server_.Commit(txn, {{T("t"), {{"p=2", WriteOp::kInsert}, {"p=1", WriteOp::kUpdate}}}}),
      IsOk());
  EXPECT_THAT(Told(), ElementsAre("partitions t p=1 p=2", "commit 1 t:1[UPDATE p=1][INSERT p=2]"));
  ASSERT_THAT(server_.Commit(txn), IsOk());
  EXPECT_THAT(Told(), IsEmpty()) << "a repeat is no fact";
}

// NTF-4
TEST_F(EventsTest, GatherWhatOneUnitDoesToMany) {
  server_.MakeTable("t");
  server_.Do([](State& s, Now now, Unit& u) {
    OpenTxns open;
    open.count = 3;
    EXPECT_THAT(s.Open(open, now, u), IsOk());
    open.count = 1;
    EXPECT_THAT(s.Open(open, now, u), IsOk());
    open.type = TxnType::kSoftDelete;
    EXPECT_THAT(s.Open(open, now, u), IsOk());
    EXPECT_THAT(s.Allocate({T("t"), {TxnId(1), TxnId(3)}}, now, u), IsOk());
    EXPECT_THAT(s.Allocate({T("t"), {TxnId(2)}}, now, u), IsOk());
    EXPECT_THAT(s.Commit({TxnId(1), {{T("t"), {}}}}, now, u), IsOk());
    return 0;
  });
  EXPECT_THAT(
      Told(),
      ElementsAre(
          "open 1-4 DEFAULT", "open 5-5 SOFT_DELETE", "allocate t 1=1 3=2 2=3", "commit 1 t:1"));
}

TEST_F(EventsTest, AreSilentAboutReaders) {
  const TxnId reader = server_.Open(TxnType::kReadOnly);
  EXPECT_THAT(Told(), IsEmpty()) << "NTF-3";
  ASSERT_THAT(server_.Commit(reader), IsOk());
  EXPECT_THAT(Told(), IsEmpty());
  const TxnId other = server_.Open(TxnType::kReadOnly);
  ASSERT_THAT(server_.Abort(other), IsOk());
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(EventsTest, SayWhyATransactionWasAborted) {
  struct Case {
    const char* name;
    std::function<void(Server&, TxnId)> end;
    std::string told;
  };
  const std::vector<Case> cases = {
      {"owner", [](Server& s, TxnId t) { EXPECT_THAT(s.Abort(t), IsOk()); }, "user"},
      {"operator",
       [](Server& s, TxnId t) { EXPECT_THAT(s.Abort(t, AbortCause::kOperator), IsOk()); },
       "operator"},
      {"lease",
       [](Server& s, TxnId) {
         s.Pass(kLease + std::chrono::seconds(1));
         s.Reap();
       },
       "timeout"},
      {"conflict",
       [](Server& s, TxnId t) {
         s.Write("t", WriteOp::kUpdate);
         EXPECT_FALSE(s.Commit(t, {{T("t"), {{"", WriteOp::kUpdate}}}}).ok());
       },
       "conflict"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    server_ = Server();
    server_.MakeTable("t");
    const TxnId txn = server_.Open();
    ASSERT_THAT(server_.Allocate(txn, T("t")), IsOk());
    c.end(server_, txn);
    EXPECT_THAT(Told(), ElementsAre("abort 1 " + c.told + " t"));
  }
}

TEST_F(EventsTest, TellOfTables) {
  server_.MakeTable("t");
  const auto set = [this](const Properties& set, const std::vector<std::string>& unset) {
    return server_.Do(
        [&](State& s, Now now, Unit& u) { return s.SetProperties(T("t"), set, unset, now, u); });
  };
  ASSERT_THAT(set({{"a", "1"}, {"b", "2"}}, {}), IsOk());
  EXPECT_THAT(Told(), ElementsAre("properties t a=1 b=2"));
  ASSERT_THAT(set({{"a", "1"}, {"c", "3"}}, {"b"}), IsOk());
  EXPECT_THAT(Told(), ElementsAre("properties t b=- c=3"));

  CommitTxn commit;
  commit.txn = server_.Open();
  commit.properties = {{T("t"), "_meta.at", "7"}};
  ASSERT_THAT(server_.Do([&](State& s, Now now, Unit& u) { return s.Commit(commit, now, u); }),
              IsOk());
  EXPECT_THAT(Told(), ElementsAre("properties t _meta.at=7", "commit 1"));

  ASSERT_THAT(server_.DropTable("t"), IsOk());
  EXPECT_THAT(Told(), ElementsAre("drop t by 2", "commit 2 t:0[DROP ]"));

  RegisterTable command;
  command.name = T("found");
  command.location = "/w/found";
  command.schema.columns = *ParseColumns("id bigint");
  command.schema.partition_columns = *ParseColumns("p string");
  command.partitions = {"p=1", "p=2"};
  ASSERT_THAT(server_.Register(command), IsOk());
  EXPECT_THAT(Told(), ElementsAre("register found", "partitions found p=1 p=2"));
}

TEST_F(EventsTest, NameATableThatIsGone) {
  server_.MakeTable("t");
  const TxnId late = server_.Open();
  ASSERT_THAT(server_.Allocate(late, T("t")), IsOk());
  ASSERT_THAT(server_.DropTable("t"), IsOk());
  server_.Restart();
  ASSERT_THAT(server_.Abort(late), IsOk());
  EXPECT_THAT(Told(), ElementsAre("abort 1 user t"));
}

TEST_F(EventsTest, TellOfCompactionsByTheirStates) {
  server_.MakeTable("t");
  server_.Write("t", WriteOp::kInsert);
  ASSERT_THAT(server_.Enqueue("t"), IsOk());
  EXPECT_THAT(Told(), ElementsAre("compaction 1 INITIATED"));
  const auto claim = server_.Claim();
  ASSERT_TRUE(claim.has_value());
  EXPECT_THAT(Told(), IsEmpty()) << "the view of a claim changes no state";
  ASSERT_THAT(server_.PublishClaim(*claim), IsOk());
  EXPECT_THAT(Told(), ElementsAre("compaction 1 READY_FOR_CLEANING", "commit 2"));
  ASSERT_THAT(server_.BeginClean(claim->row.id), IsOk());
  ASSERT_THAT(server_.EndClean(claim->row.id), IsOk());
  EXPECT_THAT(Told(), ElementsAre("compaction 1 SUCCEEDED"));
}

TEST_F(EventsTest, TellOfWriteIdsOfAnotherServer) {
  server_.MakeTable("t");
  ASSERT_THAT(server_.Do([](State& s, Now now, Unit& u) {
    return s.Adopt({T("t"), WriteId(9), {}}, now, u);
  }),
              IsOk());
  EXPECT_THAT(Told(), ElementsAre("take over t 1-9"));
}

TEST_F(EventsTest, SplitWhatATransactionWroteToVeryMany) {
  server_.MakeTable("t", true);
  server_.MakeTable("u");
  const TxnId txn = server_.Open();
  ASSERT_THAT(server_.Allocate(txn, T("t")), IsOk());
  ASSERT_THAT(server_.Allocate(txn, T("u")), IsOk());
  TableWrites writes{T("t"), {}};
  for (int i = 0; i < 2500; ++i)
    writes.writes.push_back({fmt::format("p={}", i), WriteOp::kInsert});
  ASSERT_THAT(server_.Commit(txn, {writes, {T("u"), {}}}), IsOk());
  std::vector<size_t> sizes, tables;
  std::set<std::string> partitions;
  std::vector<bool> more;
  for (const Event& event : server_.last_events()) {
    const auto* commit = std::get_if<CommittedEvent>(&event);
    if (commit == nullptr) continue;
    size_t size = 0;
    for (const TableCommit& table : commit->tables) {
      size += table.writes.size();
      for (const PartitionWrite& write : table.writes) partitions.insert(write.partition);
      EXPECT_EQ(table.write_id, WriteId(1));
    }
    sizes.push_back(size);
    tables.push_back(commit->tables.size());
    more.push_back(commit->more);
  }
  EXPECT_THAT(sizes, ElementsAre(1000, 1000, 500));
  EXPECT_THAT(tables, ElementsAre(1, 1, 2));
  EXPECT_THAT(more, ElementsAre(true, true, false));
  EXPECT_EQ(partitions.size(), 2500u);
}

TEST_F(EventsTest, AreSmall) { EXPECT_LE(sizeof(Event), 64u); }

}  // namespace
}  // namespace skep::state
