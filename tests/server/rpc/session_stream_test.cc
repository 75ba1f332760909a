// The session stream over a real socket.

#include <thread>

#include "tests/server/rpc/rpc_fixture.h"

namespace skep::rpc {
namespace {

using testing::HasReason;
using testing::IsOk;

class SessionStreamTest : public RpcFixture {
 protected:
  using Stream = grpc::ClientReaderWriterInterface<v1::SessionRequest, v1::SessionResponse>;

  struct Client {
    grpc::ClientContext context;
    std::unique_ptr<Stream> stream;
    std::map<int64_t, v1::SessionAnswer> answers;
    std::vector<v1::SessionNotice> notices;
    v1::SessionWelcome welcome;

    // Reads until `done`; false where the stream ended before.
    template <class Done>
    bool ReadUntil(Done done) {
      while (!done()) {
        v1::SessionResponse response;
        if (!stream->Read(&response)) return false;
        if (response.has_welcome()) welcome = response.welcome();
        for (const auto& answer : response.answers()) answers[answer.number()] = answer;
        for (const auto& notice : response.notices()) notices.push_back(notice);
      }
      return true;
    }
    bool Await(int64_t number) {
      return ReadUntil([&] { return answers.contains(number); });
    }
    absl::Status StatusOf(int64_t number) { return wire::FromProto(answers[number].error()); }
  };

  std::unique_ptr<Client> Connect(int64_t epoch = 1, bool resume = false, int64_t seen = 0) {
    auto client = std::make_unique<Client>();
    client->context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    client->stream = sessions_->Session(&client->context);
    v1::SessionRequest hello;
    hello.mutable_hello()->set_session_id("0123456789abcdef");
    hello.mutable_hello()->set_epoch(epoch);
    hello.mutable_hello()->set_resume(resume);
    hello.set_answered_below(seen);
    client->stream->Write(hello);
    return client;
  }
  static void AddOpen(v1::SessionRequest& request, int64_t number) {
    auto* operation = request.add_operations();
    operation->set_number(number);
    operation->mutable_open_transactions()->set_user("ada");
  }
  static void AddLock(v1::SessionRequest& request, int64_t number, v1::AcquireLocksRequest lock) {
    auto* operation = request.add_operations();
    operation->set_number(number);
    *operation->mutable_acquire_locks() = std::move(lock);
  }
};

TEST_F(SessionStreamTest, ManyOperationsGoEachWay) {
  auto client = Connect();
  for (int64_t number = 1; number <= 1'000; number += 100) {
    v1::SessionRequest request;
    for (int64_t i = number; i < number + 100; ++i) AddOpen(request, i);
    ASSERT_TRUE(client->stream->Write(request));
  }
  ASSERT_TRUE(client->ReadUntil([&] { return client->answers.size() == 1'000; }));
  EXPECT_EQ(client->welcome.credit_operations(), 4'096);
  for (const auto& [number, answer] : client->answers) {
    EXPECT_EQ(answer.open_transactions().first_txn_id(), number);
  }
  client->stream->WritesDone();
  EXPECT_TRUE(client->stream->Finish().ok());
}

TEST_F(SessionStreamTest, AGrantIsPushedIntoTheStream) {
  CreateTable("orders");
  const int64_t holder = OpenTxn();
  v1::AcquireLocksResponse held;
  ASSERT_THAT(Call(&Locks::AcquireLocks,
                   *locks_,
                   LockRequest(holder, "orders", v1::LOCK_KIND_EXCLUSIVE),
                   &held),
              IsOk());
  auto client = Connect();
  v1::SessionRequest request;
  AddOpen(request, 1);
  AddLock(request, 2, LockRequest(holder + 1, "orders", v1::LOCK_KIND_SHARED_READ));
  client->stream->Write(request);
  ASSERT_TRUE(client->Await(2));
  EXPECT_EQ(client->answers[2].acquire_locks().state(), v1::LOCK_STATE_WAITING);
  ASSERT_THAT(Commit(holder), IsOk());
  ASSERT_TRUE(client->ReadUntil([&] { return !client->notices.empty(); }));
  EXPECT_EQ(client->notices[0].lock().state(), v1::LOCK_STATE_ACQUIRED);
  client->context.TryCancel();
  client->stream->Finish();
}

TEST_F(SessionStreamTest, AStreamThatBrokeIsFollowedByAnother) {
  auto first = Connect();
  v1::SessionRequest request;
  AddOpen(request, 1);
  AddOpen(request, 2);
  first->stream->Write(request);
  ASSERT_TRUE(first->Await(2));
  first->context.TryCancel();
  first->stream->Finish();
  auto second = Connect(2, true, 2);
  ASSERT_TRUE(second->Await(2));
  EXPECT_EQ(second->answers.size(), 1u);
  EXPECT_EQ(second->welcome.next_number(), 3);
  // Taken over while it lives.
  auto third = Connect(3, true, 3);
  ASSERT_TRUE(third->ReadUntil([&] { return third->welcome.next_number() == 3; }));
  v1::SessionResponse nothing;
  EXPECT_FALSE(second->stream->Read(&nothing));
  EXPECT_THAT(wire::FromGrpc(second->stream->Finish()), HasReason(ErrorReason::kSessionFenced));
  v1::FenceSessionRequest fence;
  fence.set_session_id("0123456789abcdef");
  fence.set_epoch(4);
  v1::FenceSessionResponse fenced;
  ASSERT_THAT(Call(&v1::SessionService::StubInterface::FenceSession, *sessions_, fence, &fenced),
              IsOk());
  EXPECT_TRUE(fenced.known());
  EXPECT_EQ(fenced.next_number(), 3);
  EXPECT_FALSE(third->stream->Read(&nothing));
  EXPECT_THAT(wire::FromGrpc(third->stream->Finish()), HasReason(ErrorReason::kSessionFenced));
}

TEST_F(SessionStreamTest, AClientThatDoesNotReadIsCutAndOthersAreServed) {
  Stop();
  session_options_.max_unread_bytes = 256 * 1024;
  Start();
  auto client = Connect();
  // Each answer names ten thousand ids that are not there.
  v1::HeartbeatTransactionsRequest beat;
  for (int64_t id = 1; id <= 10'000; ++id) beat.add_txn_ids((int64_t{1} << 60) + id);
  bool open = true;
  for (int64_t number = 1; open && number <= 400; ++number) {
    v1::SessionRequest request;
    auto* operation = request.add_operations();
    operation->set_number(number);
    *operation->mutable_heartbeat_transactions() = beat;
    open = client->stream->Write(request);
  }
  EXPECT_FALSE(open);
  v1::SessionResponse late;
  while (client->stream->Read(&late)) {
  }
  EXPECT_EQ(client->stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_GT(OpenTxn(), 0);
}

TEST_F(SessionStreamTest, AStopEndsTheStream) {
  auto client = Connect();
  v1::SessionRequest request;
  AddOpen(request, 1);
  client->stream->Write(request);
  ASSERT_TRUE(client->Await(1));
  Stop();
  v1::SessionResponse nothing;
  EXPECT_FALSE(client->stream->Read(&nothing));
  EXPECT_EQ(client->stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  // A restart does not know the session; what it did is there.
  Start();
  auto again = Connect(2, true);
  EXPECT_FALSE(again->stream->Read(&nothing));
  EXPECT_THAT(wire::FromGrpc(again->stream->Finish()), HasReason(ErrorReason::kNoSuchSession));
  EXPECT_THAT(Commit(1), IsOk());
}

}  // namespace
}  // namespace skep::rpc
