// Materialised views through the wire.

#include <functional>

#include "tests/server/rpc/rpc_fixture.h"

namespace skep::rpc {
namespace {

using testing::HasReason;
using testing::IsOk;

class ViewCallsTest : public RpcFixture {
 protected:
  absl::Status LockView(int64_t txn, const std::string& view, v1::LockViewRebuildResponse* answer) {
    v1::LockViewRebuildRequest request;
    request.set_txn_id(txn);
    request.mutable_view()->set_database("Mart");
    request.mutable_view()->set_table(view);
    return Call(&Locks::LockViewRebuild, *locks_, request, answer);
  }
  v1::WriteIdList ListOf(const std::string& table) {
    v1::GetValidWriteIdsRequest request;
    request.set_txn_id(OpenTxn());
    request.add_tables()->set_database("sales");
    request.mutable_tables(0)->set_table(table);
    v1::GetValidWriteIdsResponse response;
    EXPECT_THAT(Call(&Tables::GetValidWriteIds, *tables_, request, &response), IsOk());
    return response.lists_size() == 1 ? response.lists(0) : v1::WriteIdList();
  }
  absl::Status Changes(const v1::GetTableChangesRequest& request,
                       v1::GetTableChangesResponse* response) {
    return Call(&Tables::GetTableChanges, *tables_, request, response);
  }
};

TEST_F(ViewCallsTest, OneTransactionRebuildsAViewUntilItEnds) {
  const int64_t first = OpenTxn(v1::TRANSACTION_TYPE_MATERIALIZED_VIEW_REBUILD);
  const int64_t second = OpenTxn(v1::TRANSACTION_TYPE_MATERIALIZED_VIEW_REBUILD);
  v1::LockViewRebuildResponse answer;
  ASSERT_THAT(LockView(first, "by_day", &answer), IsOk());
  EXPECT_EQ(answer.state(), v1::LOCK_STATE_ACQUIRED);
  Stop();
  Start();
  ASSERT_THAT(LockView(second, "BY_DAY", &answer), IsOk());
  EXPECT_EQ(answer.state(), v1::LOCK_STATE_NOT_ACQUIRED);
  EXPECT_EQ(answer.holder().txn_id(), first);
  EXPECT_EQ(answer.holder().user(), "ada");
  EXPECT_EQ(answer.holder().host(), "h");
  EXPECT_TRUE(answer.holder().has_since_time());

  v1::ListLocksResponse locks;
  ASSERT_THAT(Call(&Locks::ListLocks, *locks_, v1::ListLocksRequest(), &locks), IsOk());
  EXPECT_EQ(locks.locks_size(), 0);
  ASSERT_EQ(locks.view_rebuilds_size(), 1);
  EXPECT_EQ(locks.view_rebuilds(0).view().table(), "by_day");

  ASSERT_THAT(Commit(first), IsOk());
  ASSERT_THAT(LockView(second, "by_day", &answer), IsOk());
  EXPECT_EQ(answer.state(), v1::LOCK_STATE_ACQUIRED);
}

TEST_F(ViewCallsTest, ARebuildThatCannotBeIsRefused) {
  v1::LockViewRebuildResponse answer;
  EXPECT_THAT(LockView(OpenTxn(), "v", &answer), HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(LockView(0, "v", &answer), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(LockView(99, "v", &answer), HasReason(ErrorReason::kNoSuchTxn));
  const int64_t txn = OpenTxn(v1::TRANSACTION_TYPE_MATERIALIZED_VIEW_REBUILD);
  EXPECT_THAT(LockView(txn, "no name", &answer), HasReason(ErrorReason::kInvalidRequest));
}

TEST_F(ViewCallsTest, SourcesTellWhatBecameOfThem) {
  CreateTable("a");
  CreateTable("b");
  CreateTable("c");
  Write("a", v1::WRITE_OPERATION_UPDATE);
  v1::GetTableChangesRequest request;
  for (const char* table : {"a", "b", "c"}) *request.add_built_from() = ListOf(table);
  Write("b", v1::WRITE_OPERATION_INSERT);
  Write("c", v1::WRITE_OPERATION_DELETE);
  Stop();
  Start();
  v1::GetTableChangesResponse response;
  ASSERT_THAT(Changes(request, &response), IsOk());
  ASSERT_EQ(response.changes_size(), 3);
  EXPECT_EQ(response.changes(0).kind(), v1::TableChange::KIND_UNCHANGED);
  EXPECT_EQ(response.changes(0).now_visible_size(), 0);
  EXPECT_EQ(response.changes(1).kind(), v1::TableChange::KIND_INSERTS_ONLY);
  EXPECT_EQ(response.changes(1).now_visible(0).first(), 1);
  EXPECT_EQ(response.changes(1).now_visible(0).last(), 1);
  EXPECT_EQ(response.changes(2).kind(), v1::TableChange::KIND_ROWS_CHANGED);
  EXPECT_EQ(response.changes(2).table_id(), request.built_from(2).table_id());

  request.mutable_built_from(1)->set_table_id(999);
  ASSERT_THAT(Changes(request, &response), IsOk());
  EXPECT_EQ(response.changes(1).kind(), v1::TableChange::KIND_UNKNOWN);
  EXPECT_NE(response.changes(1).reason(), "");
}

TEST_F(ViewCallsTest, AListThatIsNoneIsRefusedByField) {
  CreateTable("a");
  v1::GetTableChangesRequest good;
  *good.add_built_from() = ListOf("a");
  struct Case {
    const char* name;
    std::function<void(v1::GetTableChangesRequest&)> spoil;
  };
  const std::vector<Case> cases = {
      {"no list", [](auto& r) { r.clear_built_from(); }},
      {"no table", [](auto& r) { r.mutable_built_from(0)->clear_table_id(); }},
      {"no sequence", [](auto& r) { r.mutable_built_from(0)->clear_snapshot_seq(); }},
      {"a negative sequence", [](auto& r) { r.mutable_built_from(0)->set_snapshot_seq(-1); }},
      {"an id above the mark", [](auto& r) { r.mutable_built_from(0)->add_open(7); }},
      {"a change", [](auto& r) { r.mutable_built_from(0)->mutable_change(); }},
      {"a negative transaction", [](auto& r) { r.set_txn_id(-3); }},
  };
  v1::GetTableChangesResponse response;
  ASSERT_THAT(Changes(good, &response), IsOk());
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    v1::GetTableChangesRequest bad = good;
    c.spoil(bad);
    EXPECT_THAT(Changes(bad, &response), HasReason(ErrorReason::kInvalidRequest));
  }
  good.set_txn_id(12345);
  EXPECT_THAT(Changes(good, &response), HasReason(ErrorReason::kNoSuchTxn));
}

}  // namespace
}  // namespace skep::rpc
