#include <filesystem>

#include "storage/model/errors.h"
#include "tests/server/rpc/rpc_fixture.h"

namespace skep::rpc {
namespace {

using testing::HasReason;
using testing::IsOk;

class TableCallsTest : public RpcFixture {
 protected:
  std::string root() const { return facts_.warehouse_roots[0]; }
};

TEST_F(TableCallsTest, CreateMakesTheDirectoryInTheFirstRoot) {
  v1::Table table;
  ASSERT_THAT(Create(TableRequest("Orders"), &table), IsOk());
  EXPECT_EQ(table.location(), root() + "/sales.db/orders");
  EXPECT_EQ(table.kind(), v1::TABLE_KIND_FULL_ACID);
  EXPECT_TRUE(std::filesystem::is_directory(table.location()));
}

TEST_F(TableCallsTest, ARepeatedCreateGetsTheSameTable) {
  v1::CreateTableRequest request = TableRequest("orders");
  request.set_request_id("0123456789abcdef");
  v1::Table first;
  ASSERT_THAT(Create(request, &first), IsOk());
  request.set_repeat(true);
  v1::Table second;
  ASSERT_THAT(Create(request, &second), IsOk());
  EXPECT_EQ(second.table_id(), first.table_id());
}

TEST_F(TableCallsTest, NothingIsMadeForANameThatIsTakenOrAPlaceInsideAnotherTable) {
  CreateTable("orders");
  v1::CreateTableRequest again = TableRequest("orders");
  again.set_location(root() + "/elsewhere");
  EXPECT_THAT(Create(again), HasReason(ErrorReason::kAlreadyExists));
  EXPECT_FALSE(std::filesystem::exists(root() + "/elsewhere"));
  v1::CreateTableRequest inside = TableRequest("items");
  inside.set_location(root() + "/sales.db/orders/items");
  EXPECT_THAT(Create(inside), HasReason(ErrorReason::kLocationNotAllowed));
  EXPECT_FALSE(std::filesystem::exists(root() + "/sales.db/orders/items"));
}

TEST_F(TableCallsTest, ANameIsFreeAgainAfterAFailedCreate) {
  v1::CreateTableRequest request = TableRequest("orders");
  std::filesystem::create_directories(root() + "/sales.db");
  ASSERT_TRUE(fs::WriteSmallFile(fs_, root() + "/sales.db/orders", "a file").ok());
  EXPECT_FALSE(Create(request).ok());
  std::filesystem::remove(root() + "/sales.db/orders");
  EXPECT_THAT(Create(request), IsOk());
}

TEST_F(TableCallsTest, RegisterScansAndTakesOver) {
  std::filesystem::create_directories(root() + "/legacy");
  RegisterFindings findings;
  findings.command.schema.columns = *ParseColumns("a int");
  findings.command.highest_write_id = WriteId(7);
  findings.command.aborted_write_ids = {3};
  findings.command.adopted_txn_bound = TxnId(80);
  findings.notes = {"everything on disk counts as committed"};
  directories_.findings = findings;
  v1::RegisterTableRequest request;
  request.mutable_name()->set_database("old");
  request.mutable_name()->set_table("legacy");
  request.set_location(root() + "/legacy/");
  request.set_valid_txns("all");
  v1::RegisterTableResponse response;
  ASSERT_THAT(Call(&Tables::RegisterTable, *tables_, request, &response), IsOk());
  EXPECT_EQ(response.table().next_write_id(), 8);
  EXPECT_EQ(response.table().adopted_txn_bound(), 80);
  EXPECT_EQ(response.notes(0), findings.notes[0]);
  ASSERT_EQ(directories_.scans.size(), 1u);
  EXPECT_EQ(directories_.scans[0].location, root() + "/legacy");
  EXPECT_EQ(directories_.scans[0].valid_txns, "all");
  EXPECT_FALSE(directories_.scans[0].definition.has_value());
  EXPECT_GT(OpenTxn(), 80);  // the counter was raised above what was found
}

TEST_F(TableCallsTest, AScanThatRefusesFreesTheName) {
  directories_.findings =
      MakeError(ErrorReason::kLegacyLayout, "Hive 2 wrote it", {{"path", "/x"}});
  v1::RegisterTableRequest request;
  request.mutable_name()->set_database("old");
  request.mutable_name()->set_table("legacy");
  request.set_location(root() + "/legacy");
  v1::RegisterTableResponse response;
  EXPECT_THAT(Call(&Tables::RegisterTable, *tables_, request, &response),
              HasReason(ErrorReason::kLegacyLayout));
  v1::CreateTableRequest create = TableRequest("legacy");
  create.mutable_name()->set_database("old");
  create.set_location(root() + "/legacy");
  EXPECT_THAT(Create(create), IsOk());
}

TEST_F(TableCallsTest, ListsAreInOrderAndGoOn) {
  for (const char* name : {"c", "a", "b"}) CreateTable(name);
  v1::ListTablesRequest request;
  request.set_database("Sales");
  request.set_page_size(2);
  v1::ListTablesResponse first;
  ASSERT_THAT(Call(&Tables::ListTables, *tables_, request, &first), IsOk());
  ASSERT_EQ(first.tables_size(), 2);
  EXPECT_EQ(first.tables(0).name().table(), "a");
  request.set_page_token(first.next_page_token());
  v1::ListTablesResponse second;
  ASSERT_THAT(Call(&Tables::ListTables, *tables_, request, &second), IsOk());
  ASSERT_EQ(second.tables_size(), 1);
  EXPECT_EQ(second.tables(0).name().table(), "c");
  EXPECT_TRUE(second.next_page_token().empty());
  request.set_database("other");  // a changed filter
  EXPECT_THAT(Call(&Tables::ListTables, *tables_, request, &second),
              HasReason(ErrorReason::kInvalidRequest));
}

TEST_F(TableCallsTest, PropertiesAreSetAndUnset) {
  CreateTable("orders");
  v1::SetTablePropertiesRequest request;
  request.mutable_name()->set_database("sales");
  request.mutable_name()->set_table("orders");
  (*request.mutable_set())["NO_AUTO_COMPACTION"] = "true";
  v1::SetTablePropertiesResponse response;
  ASSERT_THAT(Call(&Tables::SetTableProperties, *tables_, request, &response), IsOk());
  EXPECT_EQ(response.table().properties().at("NO_AUTO_COMPACTION"), "true");
  request.clear_set();
  request.add_unset("NO_AUTO_COMPACTION");
  ASSERT_THAT(Call(&Tables::SetTableProperties, *tables_, request, &response), IsOk());
  EXPECT_EQ(response.table().properties().count("NO_AUTO_COMPACTION"), 0u);
}

TEST_F(TableCallsTest, DropNeedsExclusiveAndHappensAtTheCommit) {
  CreateTable("orders");
  const int64_t txn = OpenTxn();
  v1::DropTableRequest request;
  request.mutable_name()->set_database("sales");
  request.mutable_name()->set_table("orders");
  request.set_txn_id(txn);
  v1::DropTableResponse response;
  EXPECT_THAT(Call(&Tables::DropTable, *tables_, request, &response),
              HasReason(ErrorReason::kOperationNotAllowed));
  v1::AcquireLocksResponse lock;
  ASSERT_THAT(Call(&Locks::AcquireLocks,
                   *locks_,
                   LockRequest(txn, "orders", v1::LOCK_KIND_EXCLUSIVE),
                   &lock),
              IsOk());
  ASSERT_THAT(Call(&Tables::DropTable, *tables_, request, &response), IsOk());
  v1::GetTableRequest get;
  *get.mutable_name() = request.name();
  v1::GetTableResponse table;
  EXPECT_THAT(Call(&Tables::GetTable, *tables_, get, &table), IsOk());
  ASSERT_THAT(Commit(txn), IsOk());
  EXPECT_THAT(Call(&Tables::GetTable, *tables_, get, &table), HasReason(ErrorReason::kNoSuchTable));
}

TEST_F(TableCallsTest, WhatLooksAtDirectoriesIsHandedOn) {
  directories_.entries = std::vector<DirectoryEntry>{
      {"p=1", "base_0000003_v0000009", DirectoryEntry::Role::kLive, "newest base", 4096, 2}};
  directories_.cleaner =
      std::vector<CleanerEntry>{{CompactionRow{}, {"delta_1_1"}, {state::Pin{}}, "waits"}};
  directories_.decisions = std::vector<CompactionDecision>{
      {"p=1", CompactionType::kMinor, "11 deltas", 1, 2, 11, 10, 0.1, ""}};
  v1::ListDirectoriesRequest list;
  list.mutable_table()->set_database("sales");
  list.mutable_table()->set_table("orders");
  v1::ListDirectoriesResponse listed;
  ASSERT_THAT(Call(&Tables::ListDirectories, *tables_, list, &listed), IsOk());
  EXPECT_EQ(listed.directories(0).name(), "base_0000003_v0000009");
  EXPECT_EQ(listed.directories(0).role(), v1::ListDirectoriesResponse::ROLE_LIVE);
  v1::ExplainCleanerResponse cleaner;
  ASSERT_THAT(Call(&Admin::ExplainCleaner, *admin_, v1::ExplainCleanerRequest(), &cleaner), IsOk());
  EXPECT_EQ(cleaner.entries(0).directories(0), "delta_1_1");
  v1::ExplainCompactionRequest explain;
  *explain.mutable_table() = list.table();
  v1::ExplainCompactionResponse decision;
  ASSERT_THAT(Call(&Admin::ExplainCompaction, *admin_, explain, &decision), IsOk());
  EXPECT_EQ(decision.entries(0).decision(), v1::COMPACTION_TYPE_MINOR);
}

// A string field that is not UTF-8 would make the whole answer unreadable.
TEST_F(TableCallsTest, NamesOfFilesThatAreNotUtf8CanBeRead) {
  directories_.entries = std::vector<DirectoryEntry>{
      {"", "caf\xe9", DirectoryEntry::Role::kForeign, "'caf\xe9' is foreign", 0, 0}};
  directories_.cleaner =
      std::vector<CleanerEntry>{{CompactionRow{}, {"caf\xe9"}, {}, "caf\xe9 waits"}};
  v1::ListDirectoriesRequest list;
  list.mutable_table()->set_database("sales");
  list.mutable_table()->set_table("orders");
  v1::ListDirectoriesResponse listed;
  ASSERT_THAT(Call(&Tables::ListDirectories, *tables_, list, &listed), IsOk());
  EXPECT_EQ(listed.directories(0).name(), "caf\uFFFD");
  v1::ExplainCleanerResponse cleaner;
  ASSERT_THAT(Call(&Admin::ExplainCleaner, *admin_, v1::ExplainCleanerRequest(), &cleaner), IsOk());
  EXPECT_EQ(cleaner.entries(0).directories(0), "caf\uFFFD");
}

TEST_F(TableCallsTest, CompactionsAreQueuedOnceAndCancelled) {
  CreateTable("orders");
  v1::EnqueueCompactionRequest request;
  request.mutable_table()->set_database("sales");
  request.mutable_table()->set_table("orders");
  request.set_type(v1::COMPACTION_TYPE_MAJOR);
  request.set_initiator("h");
  v1::EnqueueCompactionResponse first;
  ASSERT_THAT(Call(&Compactions::EnqueueCompaction, *compactions_, request, &first), IsOk());
  EXPECT_TRUE(first.accepted());
  v1::EnqueueCompactionResponse second;
  ASSERT_THAT(Call(&Compactions::EnqueueCompaction, *compactions_, request, &second), IsOk());
  EXPECT_FALSE(second.accepted());
  EXPECT_EQ(second.compaction_id(), first.compaction_id());
  v1::CancelCompactionRequest cancel;
  cancel.set_compaction_id(first.compaction_id());
  v1::CancelCompactionResponse cancelled;
  ASSERT_THAT(Call(&Compactions::CancelCompaction, *compactions_, cancel, &cancelled), IsOk());
  EXPECT_EQ(cancelled.compaction().state(), v1::COMPACTION_STATE_CANCELLED);
  v1::ListCompactionsResponse list;
  ASSERT_THAT(
      Call(&Compactions::ListCompactions, *compactions_, v1::ListCompactionsRequest(), &list),
      IsOk());
  ASSERT_EQ(list.compactions_size(), 1);
  EXPECT_EQ(list.compactions(0).initiator(), "h-manual");
}

}  // namespace
}  // namespace skep::rpc
