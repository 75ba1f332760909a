// The client library's session stream over a real socket, against a server in this process.

#include <atomic>
#include <thread>

#include "client/session/session_impl.h"
#include "skep/session.h"
#include "tests/server/rpc/rpc_fixture.h"

namespace skep::client {
namespace {

using testing::IsOk;

class GrpcSessionTest : public rpc::RpcFixture {
 protected:
  std::unique_ptr<Session> NewSession() {
    auto session = Session::Connect({.endpoint = server_->endpoints()[0], .user = "ann"});
    EXPECT_THAT(session, IsOk());
    return *std::move(session);
  }
  size_t Sessions() {
    size_t count = 0;
    OnLoop([&] { count = sessions_service_->sessions().size(); });
    return count;
  }
};

TEST_F(GrpcSessionTest, ThreadsShareOneStream) {
  auto session = NewSession();
  std::atomic<int> committed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) {
        auto txn = session->Begin();
        if (txn.ok() && (*txn)->Commit().ok()) ++committed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(committed, 400);
  const SessionStream::Counts counts = session->impl().stream()->counts();
  EXPECT_EQ(counts.streams, 1);
  EXPECT_EQ(counts.unary, 0);
  EXPECT_EQ(counts.operations, 800);
  EXPECT_LT(counts.messages, 800);
  EXPECT_EQ(Sessions(), 1u);
  session.reset();
  EXPECT_EQ(Sessions(), 0u);
}

TEST_F(GrpcSessionTest, ASessionOutlivesARestartOfTheServer) {
  auto session = NewSession();
  auto before = session->Begin();
  ASSERT_THAT(before, IsOk());
  Stop();
  Start();
  EXPECT_THAT((*before)->Commit(), IsOk());
  auto after = session->Begin();
  ASSERT_THAT(after, IsOk());
  EXPECT_THAT((*after)->Commit(), IsOk());
}

TEST_F(GrpcSessionTest, AnUnreachableServerIsAnErrorInTime) {
  auto session = Session::Connect({.endpoint = "unix:" + dir_.path() + "/nobody.sock",
                                   .user = "ann",
                                   .call_deadline = std::chrono::milliseconds(500)});
  ASSERT_THAT(session, IsOk());
  const auto txn = (*session)->Begin();
  EXPECT_FALSE(txn.ok());
}

}  // namespace
}  // namespace skep::client
