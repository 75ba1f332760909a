// The rows of the error table as a client meets them.

#include "storage/model/errors.h"

#include <functional>

#include "tests/server/rpc/rpc_fixture.h"

namespace skep::rpc {
namespace {

using testing::HasReason;
using testing::IsOk;
using testing::StatusIs;

class ErrorsTest : public RpcFixture {
 protected:
  void SetUp() override {
    options_.core.state.max_open_txns = 10;
    RpcFixture::SetUp();
    CreateTable("orders");
  }

  absl::Status Update(int64_t txn) {
    v1::CommitTransactionRequest request;
    request.set_txn_id(txn);
    auto* writes = request.add_write_set();
    writes->mutable_table()->set_database("sales");
    writes->mutable_table()->set_table("orders");
    writes->add_writes()->set_operation(v1::WRITE_OPERATION_UPDATE);
    v1::CommitTransactionResponse response;
    return Call(&Txns::CommitTransaction, *txns_, request, &response);
  }
  absl::Status Open(const std::string& request_id, bool repeat, int count) {
    v1::OpenTransactionsRequest request;
    request.set_user("ada");
    request.set_request_id(request_id);
    request.set_repeat(repeat);
    request.set_count(count);
    v1::OpenTransactionsResponse response;
    return Call(&Txns::OpenTransactions, *txns_, request, &response);
  }
  absl::Status CheckLock(int64_t lock) {
    v1::CheckLockRequest request;
    request.set_lock_id(lock);
    v1::CheckLockResponse response;
    return Call(&Locks::CheckLock, *locks_, request, &response);
  }
  absl::Status Compact(const std::string& table, v1::CompactionType type) {
    v1::EnqueueCompactionRequest request;
    request.mutable_table()->set_database("sales");
    request.mutable_table()->set_table(table);
    request.set_type(type);
    v1::EnqueueCompactionResponse response;
    return Call(&Compactions::EnqueueCompaction, *compactions_, request, &response);
  }
};

TEST_F(ErrorsTest, UnknownEndedAndForbidden) {
  EXPECT_THAT(Commit(4711), HasReason(ErrorReason::kNoSuchTxn));
  EXPECT_EQ(last_.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(Commit(-1), HasReason(ErrorReason::kInvalidRequest));

  const int64_t committed = OpenTxn();
  ASSERT_THAT(Commit(committed), IsOk());
  EXPECT_THAT(Allocate(committed, "orders"), HasReason(ErrorReason::kTxnAlreadyCommitted));

  const int64_t aborted = OpenTxn();
  ASSERT_THAT(Abort(aborted), IsOk());
  EXPECT_THAT(Commit(aborted), HasReason(ErrorReason::kTxnAborted));
  EXPECT_EQ(MetadataOf(wire::FromGrpc(last_)).at("cause"), "user");

  const int64_t reader = OpenTxn(v1::TRANSACTION_TYPE_READ_ONLY);
  EXPECT_THAT(Allocate(reader, "orders"), HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(Allocate(reader, "nothing"),
              ::testing::AnyOf(HasReason(ErrorReason::kNoSuchTable),
                               HasReason(ErrorReason::kOperationNotAllowed)));
  EXPECT_THAT(Allocate(OpenTxn(), "nothing"), HasReason(ErrorReason::kNoSuchTable));
}

TEST_F(ErrorsTest, AWriteConflictNamesTheWinner) {
  const int64_t winner = OpenTxn();
  const int64_t loser = OpenTxn();
  ASSERT_THAT(Allocate(winner, "orders"), IsOk());
  ASSERT_THAT(Allocate(loser, "orders"), IsOk());
  ASSERT_THAT(Update(winner), IsOk());
  const absl::Status lost = Update(loser);
  ASSERT_THAT(lost, HasReason(ErrorReason::kWriteConflict));
  EXPECT_THAT(lost, StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(MetadataOf(lost).at("winnerTxnId"), std::to_string(winner));
  EXPECT_THAT(Update(loser), HasReason(ErrorReason::kTxnAborted));
}

TEST_F(ErrorsTest, LocksThatAreNotThereOrNotToBeReleased) {
  EXPECT_THAT(CheckLock(99), HasReason(ErrorReason::kNoSuchLock));
  const int64_t txn = OpenTxn();
  v1::AcquireLocksResponse lock;
  ASSERT_THAT(Call(&Locks::AcquireLocks,
                   *locks_,
                   LockRequest(txn, "orders", v1::LOCK_KIND_SHARED_READ),
                   &lock),
              IsOk());
  v1::ReleaseLockRequest release;
  release.set_lock_id(lock.lock_id());
  v1::ReleaseLockResponse released;
  EXPECT_THAT(Call(&Locks::ReleaseLock, *locks_, release, &released),
              HasReason(ErrorReason::kTxnOpen));
  release.set_lock_id(98);
  EXPECT_THAT(Call(&Locks::ReleaseLock, *locks_, release, &released), IsOk());  // absent
}

TEST_F(ErrorsTest, TooManyOpenTransactionsAsksToWait) {
  for (int i = 0; i < 10; ++i) OpenTxn();
  EXPECT_THAT(Open("", false, 1), HasReason(ErrorReason::kTooManyOpenTxns));
  EXPECT_EQ(last_.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(wire::RetryDelay(last_).has_value());
}

TEST_F(ErrorsTest, RequestIds) {
  ASSERT_THAT(Open("0123456789abcdef", false, 1), IsOk());
  EXPECT_THAT(Open("0123456789abcdef", false, 2), HasReason(ErrorReason::kRequestIdReused));
  EXPECT_THAT(Open("fedcba9876543210", true, 1), HasReason(ErrorReason::kRequestIdExpired));
}

TEST_F(ErrorsTest, TablesAndCompactions) {
  EXPECT_THAT(Create(TableRequest("orders")), HasReason(ErrorReason::kAlreadyExists));
  v1::CreateTableRequest outside = TableRequest("outside");
  outside.set_location("/somewhere/else");
  EXPECT_THAT(Create(outside), HasReason(ErrorReason::kLocationNotAllowed));
  EXPECT_EQ(last_.error_code(), grpc::StatusCode::INVALID_ARGUMENT);

  v1::CreateTableRequest external = TableRequest("ext");
  external.set_external(true);
  ASSERT_THAT(Create(external), IsOk());
  EXPECT_THAT(Compact("ext", v1::COMPACTION_TYPE_MAJOR),
              HasReason(ErrorReason::kTableNotTransactional));
  EXPECT_THAT(Compact("nothing", v1::COMPACTION_TYPE_MAJOR), HasReason(ErrorReason::kNoSuchTable));
  EXPECT_THAT(Compact("orders", v1::COMPACTION_TYPE_REBALANCE),
              HasReason(ErrorReason::kNotSupported));
  v1::GetCompactionRequest get;
  get.set_compaction_id(55);
  v1::GetCompactionResponse got;
  EXPECT_THAT(Call(&Compactions::GetCompaction, *compactions_, get, &got),
              HasReason(ErrorReason::kNoSuchCompaction));
}

TEST_F(ErrorsTest, WhatAScanRefusesArrivesAsItIs) {
  for (const ErrorReason reason : {ErrorReason::kLegacyLayout,
                                   ErrorReason::kMalformedDirectory,
                                   ErrorReason::kNotSupported,
                                   ErrorReason::kCorruptFile}) {
    directories_.findings = MakeError(reason, "refused", {{"path", "/w/x"}});
    v1::RegisterTableRequest request;
    request.mutable_name()->set_database("old");
    request.mutable_name()->set_table("x");
    request.set_location(facts_.warehouse_roots[0] + "/x");
    v1::RegisterTableResponse response;
    EXPECT_THAT(Call(&Tables::RegisterTable, *tables_, request, &response), HasReason(reason));
    EXPECT_EQ(MetadataOf(wire::FromGrpc(last_)).at("path"), "/w/x");
  }
}

// Lets the next unit fail; the store belongs to the loop's thread.
class StoreErrorsTest : public ErrorsTest {
 protected:
  void FailNext(const absl::Status& error) {
    OnLoop([&] { store_.FailAppend(1, error); });
  }
};

TEST_F(StoreErrorsTest, ABusyStoreIsUnavailableAndTheSameRequestWorksLater) {
  FailNext(MakeError(ErrorReason::kStoreBusy, "locked"));
  EXPECT_THAT(Open("0123456789abcdef", false, 1), HasReason(ErrorReason::kStoreBusy));
  EXPECT_EQ(last_.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(wire::RetryDelay(last_).has_value());
  EXPECT_THAT(Open("0123456789abcdef", false, 1), IsOk());
}

TEST_F(StoreErrorsTest, AFullStoreIsExhausted) {
  FailNext(MakeError(ErrorReason::kStoreFull, "full"));
  EXPECT_THAT(Open("", false, 1), HasReason(ErrorReason::kStoreFull));
  EXPECT_EQ(last_.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

// What is left of the disk is for what ends things.
TEST_F(StoreErrorsTest, AFullDiskTakesNothingNewAndLetsTransactionsEnd) {
  const int64_t txns[] = {OpenTxn(), OpenTxn(), OpenTxn()};
  OnLoop([&] { store_.SetRoom(false); });
  EXPECT_THAT(Open("", false, 1), HasReason(ErrorReason::kStoreFull));
  EXPECT_EQ(last_.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(wire::RetryDelay(last_).has_value());
  v1::AcquireLocksResponse lock;
  EXPECT_THAT(Call(&Locks::AcquireLocks,
                   *locks_,
                   LockRequest(txns[0], "orders", v1::LOCK_KIND_SHARED_READ),
                   &lock),
              HasReason(ErrorReason::kStoreFull));
  EXPECT_THAT(Create(TableRequest("more")), HasReason(ErrorReason::kStoreFull));
  EXPECT_THAT(Compact("orders", v1::COMPACTION_TYPE_MAJOR), HasReason(ErrorReason::kStoreFull));
  v1::HeartbeatTransactionsRequest beat;
  for (const int64_t txn : txns) beat.add_txn_ids(txn);
  v1::HeartbeatTransactionsResponse beaten;
  EXPECT_THAT(Call(&Txns::HeartbeatTransactions, *txns_, beat, &beaten), IsOk());
  EXPECT_EQ(beaten.aborted_size(), 0);
  EXPECT_THAT(Commit(txns[0]), IsOk());
  v1::AbortTransactionsRequest abort;
  abort.add_txn_ids(txns[1]);
  v1::AbortTransactionsResponse aborted;
  EXPECT_THAT(Call(&Txns::AbortTransactions, *txns_, abort, &aborted), IsOk());
  EXPECT_EQ(aborted.aborted_size(), 1);
  v1::ListTransactionsResponse list;
  ASSERT_THAT(Call(&Txns::ListTransactions, *txns_, v1::ListTransactionsRequest(), &list), IsOk());
  EXPECT_EQ(list.transactions_size(), 1) << "questions are answered";
  v1::GetStatusResponse status;
  ASSERT_THAT(Call(&Admin::GetStatus, *admin_, v1::GetStatusRequest(), &status), IsOk());
  EXPECT_TRUE(status.store_full());
  OnLoop([&] { store_.SetRoom(true); });
  EXPECT_THAT(Open("", false, 1), IsOk());
  ASSERT_THAT(Call(&Admin::GetStatus, *admin_, v1::GetStatusRequest(), &status), IsOk());
  EXPECT_FALSE(status.store_full());
}

TEST_F(ErrorsTest, ABeatOfASessionNeedsASession) {
  v1::HeartbeatTransactionsRequest beat;
  beat.set_session(true);
  v1::HeartbeatTransactionsResponse beaten;
  EXPECT_THAT(Call(&Txns::HeartbeatTransactions, *txns_, beat, &beaten),
              HasReason(ErrorReason::kInvalidRequest));
}

TEST_F(StoreErrorsTest, AnUnknownOutcomeIsSaidAndEndsTheServer) {
  FailNext(MakeError(ErrorReason::kOutcomeUnknown, "EIO"));
  EXPECT_THAT(Open("", false, 1), HasReason(ErrorReason::kOutcomeUnknown));
  EXPECT_EQ(last_.error_code(), grpc::StatusCode::UNKNOWN);
  fatal_.WaitForNotification();
  EXPECT_THAT(Open("", false, 1), HasReason(ErrorReason::kOutcomeUnknown));
}

TEST_F(ErrorsTest, TextThatIsNotUtf8CannotBeParsed) {
  v1::OpenTransactionsRequest request;
  request.set_user("\xff\xfe");
  v1::OpenTransactionsResponse response;
  const absl::Status status = Call(&Txns::OpenTransactions, *txns_, request, &response);
  EXPECT_THAT(status, HasReason(ErrorReason::kInvalidRequest));
  EXPECT_EQ(last_.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(MetadataOf(status).at("field"), "request");
  EXPECT_THAT(last_.error_message(), ::testing::HasSubstr("not UTF-8"));
}

TEST_F(ErrorsTest, AMessageBeyondTheLimitIsRefusedBeforeItIsParsed) {
  v1::OpenTransactionsRequest request;
  request.set_user("ada");
  request.set_agent(std::string(5 << 20, 'x'));
  v1::OpenTransactionsResponse response;
  const absl::Status status = Call(&Txns::OpenTransactions, *txns_, request, &response);
  EXPECT_THAT(status, HasReason(ErrorReason::kInvalidRequest));
  EXPECT_EQ(last_.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(last_.error_message(), ::testing::HasSubstr("at most 4194304 are taken in"));

  grpc::ClientContext context;
  v1::WatchEventsRequest watch;
  watch.add_databases(std::string(5 << 20, 'x'));
  v1::WatchEventsResponse seen;
  const auto stream = events_->WatchEvents(&context, watch);
  EXPECT_FALSE(stream->Read(&seen));
  EXPECT_THAT(wire::FromGrpc(stream->Finish()), HasReason(ErrorReason::kInvalidRequest));

  // What is far too large never arrives: gRPC's own refusal carries no reason (docs/errors.md).
  request.set_agent(std::string(9 << 20, 'x'));
  const absl::Status far = Call(&Txns::OpenTransactions, *txns_, request, &response);
  EXPECT_THAT(far, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(last_.error_details(), "");
}

TEST_F(ErrorsTest, AWriteSetNamesEachTableOnce) {
  v1::CommitTransactionRequest request;
  request.set_txn_id(OpenTxn());
  for (const char* table : {"orders", "Orders"}) {
    auto* writes = request.add_write_set();
    writes->mutable_table()->set_database("sales");
    writes->mutable_table()->set_table(table);
  }
  v1::CommitTransactionResponse response;
  const absl::Status status = Call(&Txns::CommitTransaction, *txns_, request, &response);
  EXPECT_THAT(status, HasReason(ErrorReason::kInvalidRequest));
  EXPECT_EQ(MetadataOf(status).at("field"), "write_set[1].table");
  request.mutable_write_set()->RemoveLast();
  EXPECT_THAT(Call(&Txns::CommitTransaction, *txns_, request, &response), IsOk())
      << "it is open as before";
}

TEST_F(ErrorsTest, ACallWhoseDeadlinePassedIsNotBegun) {
  absl::Notification busy;
  absl::Notification go_on;
  server_->port().Post([&] {  // the loop has other things to do meanwhile
    busy.Notify();
    go_on.WaitForNotification();
  });
  busy.WaitForNotification();
  v1::OpenTransactionsRequest request;
  request.set_user("late");
  v1::OpenTransactionsResponse response;
  EXPECT_THAT(
      Call(&Txns::OpenTransactions, *txns_, request, &response, std::chrono::milliseconds(50)),
      StatusIs(absl::StatusCode::kDeadlineExceeded));
  go_on.Notify();
  v1::ListTransactionsResponse list;
  ASSERT_THAT(Call(&Txns::ListTransactions, *txns_, v1::ListTransactionsRequest(), &list), IsOk());
  EXPECT_EQ(list.transactions_size(), 0);
}

class AdmissionOverTheWireTest : public RpcFixture {
 protected:
  void SetUp() override {
    options_.transport.limits = {.in_flight = 4, .per_client = 1};
    RpcFixture::SetUp();
    CreateTable("orders");
  }
};

TEST_F(AdmissionOverTheWireTest, AClientBeyondItsShareIsRefusedButMayCommit) {
  const int64_t holder = OpenTxn();
  const int64_t second = OpenTxn();
  v1::AcquireLocksResponse held;
  ASSERT_THAT(Call(&Locks::AcquireLocks,
                   *locks_,
                   LockRequest(holder, "orders", v1::LOCK_KIND_EXCLUSIVE),
                   &held),
              IsOk());
  // A lock request that waits holds the client's only slot.
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  v1::AcquireLocksResponse waiting;
  grpc::Status status;
  auto stub = v1::LockService::NewStub(channel_);
  auto call = stub->AsyncAcquireLocks(
      &context, LockRequest(second, "orders", v1::LOCK_KIND_EXCLUSIVE), &queue);
  call->Finish(&waiting, &status, nullptr);
  absl::Status refused;
  do {
    v1::ListTablesResponse response;
    refused = Call(&Tables::ListTables, *tables_, v1::ListTablesRequest(), &response);
  } while (refused.ok());
  EXPECT_THAT(refused, HasReason(ErrorReason::kOverloaded));
  EXPECT_TRUE(wire::RetryDelay(last_).has_value());
  v1::GetStatusResponse seen;
  EXPECT_THAT(Call(&Admin::GetStatus, *admin_, v1::GetStatusRequest(), &seen), IsOk());
  v1::ExplainLockRequest who;
  who.set_lock_id(held.lock_id());
  v1::ExplainLockResponse explained;
  EXPECT_THAT(Call(&Admin::ExplainLock, *admin_, who, &explained), IsOk());
  EXPECT_THAT(Commit(holder), IsOk());
  void* tag = nullptr;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_EQ(waiting.state(), v1::LOCK_STATE_ACQUIRED);
}

}  // namespace
}  // namespace skep::rpc
