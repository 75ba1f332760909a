#include <thread>

#include <absl/synchronization/notification.h>

#include "tests/server/rpc/rpc_fixture.h"

namespace skep::rpc {
namespace {

using testing::HasReason;
using testing::IsOk;

class LockCallsTest : public RpcFixture {
 protected:
  void SetUp() override {
    RpcFixture::SetUp();
    CreateTable("orders");
    holder_ = OpenTxn();
    second_ = OpenTxn();
    v1::AcquireLocksResponse held;
    ASSERT_THAT(Call(&Locks::AcquireLocks,
                     *locks_,
                     LockRequest(holder_, "orders", v1::LOCK_KIND_EXCLUSIVE),
                     &held),
                IsOk());
    ASSERT_EQ(held.state(), v1::LOCK_STATE_ACQUIRED);
    held_ = held.lock_id();
  }

  v1::ListLocksResponse WaitingLocks() {
    v1::ListLocksRequest request;
    request.set_waiting_only(true);
    v1::ListLocksResponse response;
    EXPECT_THAT(Call(&Locks::ListLocks, *locks_, request, &response), IsOk());
    return response;
  }
  // Asks until the queue looks as it should: the other call is on its way.
  v1::ListLocksResponse AwaitWaiting(int count) {
    v1::ListLocksResponse response;
    do {
      response = WaitingLocks();
    } while (response.locks_size() != count && !::testing::Test::HasFailure());
    return response;
  }

  int64_t holder_ = 0;
  int64_t second_ = 0;
  int64_t held_ = 0;
};

TEST_F(LockCallsTest, AWaitingCallIsAnsweredByTheGrant) {
  v1::AcquireLocksResponse granted;
  absl::Status status;
  std::thread waiter([&] {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    status = wire::FromGrpc(locks_->AcquireLocks(
        &context, LockRequest(second_, "orders", v1::LOCK_KIND_SHARED_READ), &granted));
  });
  const v1::ListLocksResponse waiting = AwaitWaiting(1);
  EXPECT_EQ(waiting.locks(0).txn_id(), second_);
  EXPECT_EQ(waiting.locks(0).blocked_by_lock_id(), held_);
  EXPECT_EQ(waiting.locks(0).blocked_by_component(), 1);
  ASSERT_THAT(Commit(holder_), IsOk());
  waiter.join();
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(granted.state(), v1::LOCK_STATE_ACQUIRED);
}

TEST_F(LockCallsTest, AtItsDeadlineACallIsToldToWait) {
  v1::AcquireLocksResponse response;
  ASSERT_THAT(Call(&Locks::AcquireLocks,
                   *locks_,
                   LockRequest(second_, "orders", v1::LOCK_KIND_SHARED_READ),
                   &response,
                   std::chrono::milliseconds(400)),
              IsOk());
  EXPECT_EQ(response.state(), v1::LOCK_STATE_WAITING);
  ASSERT_EQ(response.blocked_by_size(), 1);
  EXPECT_EQ(response.blocked_by(0).txn_id(), holder_);
  EXPECT_EQ(response.queue_position(), 1);
  ASSERT_THAT(Commit(holder_), IsOk());
  v1::CheckLockRequest check;
  check.set_lock_id(response.lock_id());
  v1::CheckLockResponse checked;
  ASSERT_THAT(Call(&Locks::CheckLock, *locks_, check, &checked), IsOk());
  EXPECT_EQ(checked.state(), v1::LOCK_STATE_ACQUIRED);
}

TEST_F(LockCallsTest, ACancelledCallLeavesTheQueue) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  grpc::Status status;
  std::thread waiter([&] {
    v1::AcquireLocksResponse response;
    status = locks_->AcquireLocks(
        &context, LockRequest(second_, "orders", v1::LOCK_KIND_SHARED_READ), &response);
  });
  AwaitWaiting(1);
  context.TryCancel();
  waiter.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
  AwaitWaiting(0);
  EXPECT_THAT(Commit(second_), IsOk());  // giving up never aborts
}

TEST_F(LockCallsTest, NoWaitIsRefusedAndLeavesNothing) {
  v1::AcquireLocksRequest request = LockRequest(second_, "orders", v1::LOCK_KIND_SHARED_READ);
  request.set_no_wait(true);
  v1::AcquireLocksResponse response;
  ASSERT_THAT(Call(&Locks::AcquireLocks, *locks_, request, &response), IsOk());
  EXPECT_EQ(response.state(), v1::LOCK_STATE_NOT_ACQUIRED);
  EXPECT_EQ(WaitingLocks().locks_size(), 0);
}

TEST_F(LockCallsTest, ExplainFollowsTheChainOfWaiters) {
  const int64_t third = OpenTxn();
  const auto wait = std::chrono::milliseconds(200);
  v1::AcquireLocksResponse b;
  v1::AcquireLocksResponse c;
  ASSERT_THAT(Call(&Locks::AcquireLocks,
                   *locks_,
                   LockRequest(second_, "orders", v1::LOCK_KIND_EXCLUSIVE),
                   &b,
                   wait),
              IsOk());
  ASSERT_THAT(Call(&Locks::AcquireLocks,
                   *locks_,
                   LockRequest(third, "orders", v1::LOCK_KIND_SHARED_READ),
                   &c,
                   wait),
              IsOk());
  v1::ExplainLockRequest request;
  request.set_lock_id(c.lock_id());
  v1::ExplainLockResponse response;
  ASSERT_THAT(Call(&Admin::ExplainLock, *admin_, request, &response), IsOk());
  EXPECT_EQ(response.locks_size(), 1);
  EXPECT_FALSE(response.summary().empty());
  bool followed = false;
  for (const auto& step : response.steps()) {
    followed |= step.level() == 2 && step.waiting_lock_id() == b.lock_id() &&
                step.blocker().lock_id() == held_ && step.has_last_heartbeat_time();
  }
  EXPECT_TRUE(followed) << response.DebugString();
  EXPECT_THAT(response.waiting_lock_ids(), ::testing::IsEmpty()) << "it does not hold anything";

  request.set_lock_id(held_);
  ASSERT_THAT(Call(&Admin::ExplainLock, *admin_, request, &response), IsOk());
  EXPECT_THAT(response.waiting_lock_ids(), ::testing::Contains(b.lock_id()));
}

TEST_F(LockCallsTest, StoppingTellsWaitersToWait) {
  v1::AcquireLocksResponse response;
  absl::Status status;
  std::thread waiter([&] {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    status = wire::FromGrpc(locks_->AcquireLocks(
        &context, LockRequest(second_, "orders", v1::LOCK_KIND_SHARED_READ), &response));
  });
  AwaitWaiting(1);
  Stop();
  waiter.join();
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(response.state(), v1::LOCK_STATE_WAITING);
  // Still queued after the restart.
  Start();
  EXPECT_EQ(WaitingLocks().locks_size(), 1);
}

}  // namespace
}  // namespace skep::rpc
