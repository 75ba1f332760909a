#include "tests/server/rpc/rpc_fixture.h"

namespace skep::rpc {
namespace {

using testing::HasReason;
using testing::IsOk;

class TransactionCallsTest : public RpcFixture {};

TEST_F(TransactionCallsTest, ATransactionIsOpenedWritesAndCommits) {
  CreateTable("orders");
  const int64_t txn = OpenTxn();
  int64_t write_id = 0;
  ASSERT_THAT(Allocate(txn, "orders", &write_id), IsOk());
  EXPECT_EQ(write_id, 1);
  ASSERT_THAT(Allocate(txn, "orders", &write_id), IsOk());
  EXPECT_EQ(write_id, 1);  // the same again
  ASSERT_THAT(Commit(txn), IsOk());
  ASSERT_THAT(Commit(txn), IsOk());
  v1::GetTransactionRequest ask;
  ask.set_txn_id(txn);
  v1::GetTransactionResponse answer;
  ASSERT_THAT(Call(&Txns::GetTransaction, *txns_, ask, &answer), IsOk());
  EXPECT_EQ(answer.transaction().state(), v1::TRANSACTION_STATE_COMMITTED);
}

TEST_F(TransactionCallsTest, AReaderSeesTheListOfItsSnapshot) {
  CreateTable("orders");
  const int64_t writer = OpenTxn();
  ASSERT_THAT(Allocate(writer, "orders"), IsOk());
  const int64_t early = OpenTxn();
  ASSERT_THAT(Commit(writer), IsOk());
  const int64_t late = OpenTxn();
  const auto lists = [&](int64_t txn) {
    v1::GetValidWriteIdsRequest request;
    request.set_txn_id(txn);
    auto* table = request.add_tables();
    table->set_database("SALES");
    table->set_table("Orders");
    v1::GetValidWriteIdsResponse response;
    EXPECT_THAT(Call(&Tables::GetValidWriteIds, *tables_, request, &response), IsOk());
    return response.lists(0);
  };
  EXPECT_EQ(lists(early).high_watermark(), 1);
  ASSERT_EQ(lists(early).open_size(), 1);
  EXPECT_EQ(lists(early).open(0), 1);
  EXPECT_EQ(lists(late).open_size(), 0);
  EXPECT_EQ(lists(late).table().table(), "orders");
}

TEST_F(TransactionCallsTest, ARepeatedOpenGetsTheSameAnswer) {
  v1::OpenTransactionsRequest request;
  request.set_user("ada");
  request.set_count(3);
  request.set_request_id("0123456789abcdef");
  v1::OpenTransactionsResponse first;
  ASSERT_THAT(Call(&Txns::OpenTransactions, *txns_, request, &first), IsOk());
  request.set_repeat(true);
  v1::OpenTransactionsResponse second;
  ASSERT_THAT(Call(&Txns::OpenTransactions, *txns_, request, &second), IsOk());
  EXPECT_EQ(second.first_txn_id(), first.first_txn_id());
  EXPECT_EQ(second.count(), 3);
  EXPECT_EQ(first.txn_timeout().seconds(), 300);
}

TEST_F(TransactionCallsTest, HeartbeatsReportEachIdWhereItBelongs) {
  const int64_t open = OpenTxn();
  const int64_t committed = OpenTxn();
  const int64_t aborted = OpenTxn();
  ASSERT_THAT(Commit(committed), IsOk());
  ASSERT_THAT(Abort(aborted), IsOk());
  v1::HeartbeatTransactionsRequest request;
  for (const int64_t id : {open, committed, aborted, int64_t{999}, int64_t{-4}})
    request.add_txn_ids(id);
  request.add_lock_ids(77);
  v1::HeartbeatTransactionsResponse response;
  ASSERT_THAT(Call(&Txns::HeartbeatTransactions, *txns_, request, &response), IsOk());
  ASSERT_EQ(response.aborted_size(), 1);
  EXPECT_EQ(response.aborted(0).txn_id(), aborted);
  EXPECT_EQ(response.aborted(0).abort_cause(), v1::ABORT_CAUSE_USER);
  EXPECT_THAT(response.committed(), ::testing::ElementsAre(committed));
  EXPECT_THAT(response.not_found(), ::testing::UnorderedElementsAre(999, -4));
  EXPECT_THAT(response.locks_not_found(), ::testing::ElementsAre(77));
}

TEST_F(TransactionCallsTest, ListsGoOnFromPageToPage) {
  std::vector<int64_t> opened;
  for (int i = 0; i < 5; ++i) opened.push_back(OpenTxn());
  v1::ListTransactionsRequest request;
  request.set_page_size(2);
  std::vector<int64_t> listed;
  int pages = 0;
  do {
    v1::ListTransactionsResponse response;
    ASSERT_THAT(Call(&Txns::ListTransactions, *txns_, request, &response), IsOk());
    for (const v1::Transaction& txn : response.transactions()) listed.push_back(txn.txn_id());
    request.set_page_token(response.next_page_token());
    ++pages;
  } while (!request.page_token().empty());
  EXPECT_EQ(listed, opened);
  EXPECT_EQ(pages, 3);
}

TEST_F(TransactionCallsTest, ASnapshotIsFreshAfterTheGrantOfAnExclusiveWrite) {
  CreateTable("orders");
  const int64_t txn = OpenTxn();
  const int64_t other = OpenTxn();
  ASSERT_THAT(Commit(other), IsOk());
  v1::AcquireLocksResponse lock;
  ASSERT_THAT(Call(&Locks::AcquireLocks,
                   *locks_,
                   LockRequest(txn, "orders", v1::LOCK_KIND_EXCL_WRITE),
                   &lock),
              IsOk());
  v1::GetSnapshotRequest request;
  request.set_txn_id(txn);
  v1::GetSnapshotResponse old_one;
  ASSERT_THAT(Call(&Txns::GetSnapshot, *txns_, request, &old_one), IsOk());
  EXPECT_THAT(old_one.txns().open(), ::testing::Contains(txn));
  request.set_refresh(true);
  v1::GetSnapshotResponse fresh;
  ASSERT_THAT(Call(&Txns::GetSnapshot, *txns_, request, &fresh), IsOk());
  EXPECT_GT(fresh.snapshot_seq(), old_one.snapshot_seq());
  EXPECT_THAT(fresh.txns().open(), ::testing::Not(::testing::Contains(other)));
  // The newest published state, outside any transaction.
  request.Clear();
  v1::GetSnapshotResponse newest;
  ASSERT_THAT(Call(&Txns::GetSnapshot, *txns_, request, &newest), IsOk());
  EXPECT_GE(newest.snapshot_seq(), fresh.snapshot_seq());
}

TEST_F(TransactionCallsTest, ARestartKeepsWhatWasAnswered) {
  const int64_t open = OpenTxn();
  const int64_t committed = OpenTxn();
  ASSERT_THAT(Commit(committed), IsOk());
  Stop();
  Start();
  EXPECT_THAT(Commit(committed), IsOk());  // idempotent
  EXPECT_THAT(Commit(open), IsOk());
  EXPECT_GT(OpenTxn(), committed);
}

TEST_F(TransactionCallsTest, StatusCountsWhatIsThere) {
  CreateTable("orders");
  const int64_t txn = OpenTxn();
  v1::GetStatusResponse status;
  ASSERT_THAT(Call(&Admin::GetStatus, *admin_, v1::GetStatusRequest(), &status), IsOk());
  EXPECT_EQ(status.open_transaction_count(), 1);
  EXPECT_EQ(status.table_count(), 1);
  EXPECT_EQ(status.oldest_open_transaction().txn_id(), txn);
  EXPECT_EQ(status.warehouse_roots(0), facts_.warehouse_roots[0]);
  EXPECT_GT(status.commit_seq(), 0);
}

TEST_F(TransactionCallsTest, StatusSaysWhyTheTablesAreBehindTheLog) {
  v1::GetStatusResponse status;
  ASSERT_THAT(Call(&Admin::GetStatus, *admin_, v1::GetStatusRequest(), &status), IsOk());
  EXPECT_EQ(status.log_backlog_limit_bytes(), 0);
  EXPECT_EQ(status.log_backlog_cause(), "");
  EXPECT_FALSE(status.has_log_backlog_since_time());
  OnLoop([this] {
    store_.SetLag({1234,
                   5678,
                   MakeError(ErrorReason::kStoreFull, "the disk is full"),
                   Timestamp(std::chrono::seconds(77))});
  });
  ASSERT_THAT(Call(&Admin::GetStatus, *admin_, v1::GetStatusRequest(), &status), IsOk());
  EXPECT_EQ(status.log_backlog_bytes(), 1234);
  EXPECT_EQ(status.log_backlog_limit_bytes(), 5678);
  EXPECT_EQ(status.log_backlog_cause(), "the disk is full");
  EXPECT_EQ(status.log_backlog_since_time().seconds(), 77);
}

}  // namespace
}  // namespace skep::rpc
