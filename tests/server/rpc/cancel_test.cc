// Calls that their clients give up while they wait, at any moment of their life on the server.

#include <atomic>
#include <random>
#include <thread>

#include "tests/server/rpc/rpc_fixture.h"

namespace skep::rpc {
namespace {

using ::skep::testing::IsOk;

constexpr int kClients = 4;
constexpr int kCallsEach = 60;

class CancelTest : public RpcFixture {
 protected:
  // A table with one holder that never lets go.
  void HoldOrders() {
    CreateTable("orders");
    v1::AcquireLocksResponse held;
    ASSERT_THAT(Call(&Locks::AcquireLocks,
                     *locks_,
                     LockRequest(OpenTxn(), "orders", v1::LOCK_KIND_EXCLUSIVE),
                     &held),
                IsOk());
  }

  // Waits for a lock that it does not get; the wait ends by its deadline or by a cancel some
  // milliseconds after the begin, whichever comes first.
  void WaitInVain(int64_t txn, std::mt19937& random, Executor& canceller) {
    grpc::ClientContext context;
    const std::chrono::milliseconds deadline(1 + random() % 12);
    const std::chrono::milliseconds cancel(1 + random() % 12);
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    absl::Notification cancelled;
    const Executor::TimerId timer = canceller.PostAt(clock_.MonoNow() + cancel, [&] {
      context.TryCancel();
      cancelled.Notify();
    });
    v1::AcquireLocksResponse response;
    const grpc::Status status = locks_->AcquireLocks(
        &context, LockRequest(txn, "orders", v1::LOCK_KIND_EXCLUSIVE), &response);
    if (!canceller.Cancel(timer)) cancelled.WaitForNotification();
    if (status.ok()) {
      EXPECT_EQ(response.state(), v1::LOCK_STATE_WAITING);
    } else {
      EXPECT_THAT(
          status.error_code(),
          ::testing::AnyOf(grpc::StatusCode::CANCELLED, grpc::StatusCode::DEADLINE_EXCEEDED));
    }
  }

  int64_t LocksOnServer() {
    v1::ListLocksResponse response;
    EXPECT_THAT(Call(&Locks::ListLocks, *locks_, v1::ListLocksRequest(), &response), IsOk());
    return response.locks_size();
  }

  ThreadExecutor canceller_{"cancel", 1, clock_};
};

TEST_F(CancelTest, WaitsThatAreGivenUpLeaveNothingBehind) {
  ASSERT_NO_FATAL_FAILURE(HoldOrders());
  std::vector<std::thread> clients;
  for (int client = 0; client < kClients; ++client) {
    clients.emplace_back([this, client] {
      std::mt19937 random(client);
      v1::OpenTransactionsRequest open;
      open.set_user("ada");
      open.set_host("h");
      for (int i = 0; i < kCallsEach; ++i) {
        grpc::ClientContext opening;
        v1::OpenTransactionsResponse opened;
        ASSERT_TRUE(txns_->OpenTransactions(&opening, open, &opened).ok());
        WaitInVain(opened.first_txn_id(), random, canceller_);
        grpc::ClientContext aborting;
        v1::AbortTransactionsRequest abort;
        abort.add_txn_ids(opened.first_txn_id());
        v1::AbortTransactionsResponse aborted;
        ASSERT_TRUE(txns_->AbortTransactions(&aborting, abort, &aborted).ok());
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(LocksOnServer(), 1);
  size_t waiting = 0;
  OnLoop([&] { waiting = server_->core().waiting(); });
  EXPECT_EQ(waiting, 0u);
}

TEST_F(CancelTest, AStopEndsCallsThatWaitAndThoseThatComeMeanwhile) {
  ASSERT_NO_FATAL_FAILURE(HoldOrders());
  std::vector<int64_t> txns(kClients);
  for (int64_t& txn : txns) txn = OpenTxn();
  std::atomic<bool> stopping{false};
  std::vector<std::thread> clients;
  for (const int64_t txn : txns) {
    clients.emplace_back([&, txn] {
      while (true) {
        grpc::ClientContext context;
        context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
        v1::AcquireLocksResponse response;
        const grpc::Status status = locks_->AcquireLocks(
            &context, LockRequest(txn, "orders", v1::LOCK_KIND_EXCLUSIVE), &response);
        if (!status.ok()) return;
        // Told to wait before its time is over: only the end of the server does that.
        EXPECT_EQ(response.state(), v1::LOCK_STATE_WAITING);
        EXPECT_TRUE(stopping);
      }
    });
  }
  size_t waiting = 0;
  while (waiting < txns.size()) OnLoop([&] { waiting = server_->core().waiting(); });
  stopping = true;
  pool_->Stop();
  server_->Stop(std::chrono::system_clock::now() + std::chrono::seconds(5));
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(server_->in_flight(), 0);
  EXPECT_EQ(server_->core().waiting(), 0u);
}

}  // namespace
}  // namespace skep::rpc
