// Clients that do not keep to the contract: they are refused, and hurt nobody else.

#include "storage/base/random.h"
#include "tests/server/rpc/session_world.h"

namespace skep::rpc {
namespace {

using testing::HasReason;
using testing::IsOk;

class SessionHostileTest : public SessionWorld {};

TEST_F(SessionHostileTest, WhatTheFirstMessageMustAndOthersMustNotSay) {
  struct Case {
    const char* name;
    std::function<void(v1::SessionRequest&)> damage;
    ErrorReason reason;
  };
  const Case cases[] = {
      {"no hello", [](auto& r) { r.clear_hello(); }, ErrorReason::kInvalidRequest},
      {"no id",
       [](auto& r) { r.mutable_hello()->clear_session_id(); },
       ErrorReason::kInvalidRequest},
      {"a long id",
       [](auto& r) { r.mutable_hello()->set_session_id(std::string(17, 'x')); },
       ErrorReason::kInvalidRequest},
      {"no epoch", [](auto& r) { r.mutable_hello()->clear_epoch(); }, ErrorReason::kInvalidRequest},
      {"the lowest epoch",
       [](auto& r) { r.mutable_hello()->set_epoch(std::numeric_limits<int64_t>::min()); },
       ErrorReason::kInvalidRequest},
      {"answers that were never given",
       [](auto& r) { r.set_answered_below(2); },
       ErrorReason::kInvalidRequest},
      {"all answers there can be",
       [](auto& r) { r.set_answered_below(std::numeric_limits<int64_t>::max()); },
       ErrorReason::kInvalidRequest},
      {"notices that were never given",
       [](auto& r) { r.set_notices_below(2); },
       ErrorReason::kInvalidRequest},
      {"single answers that were never given",
       [](auto& r) { r.add_answered_above(1); },
       ErrorReason::kInvalidRequest},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    v1::SessionRequest request = HelloOf(1, false);
    c.damage(request);
    FakeStream& stream = NewStream();
    Send(stream, request);
    EXPECT_THAT(stream.error(), HasReason(c.reason));
    EXPECT_EQ(sessions().size(), 0u) << "what is refused begins no session";
    sessions().Closed(stream);
  }
  FakeStream& stream = Connect();
  Send(stream, HelloOf(2, true));
  EXPECT_THAT(stream.error(), HasReason(ErrorReason::kInvalidRequest)) << "hello twice";
}

TEST_F(SessionHostileTest, BadNumbersEndTheStreamAndNothingElse) {
  struct Case {
    const char* name;
    std::vector<int64_t> numbers;
    int64_t opened;  // by those before the bad one
  };
  const Case cases[] = {
      {"a gap", {1, 3}, 1},
      {"none", {0}, 0},
      {"below zero", {-5}, 0},
      {"the highest", {std::numeric_limits<int64_t>::max()}, 0},
      {"a gap after many", {1, 2, 3, 4, 6, 5}, 4},
  };
  int64_t before = 0;
  int64_t epoch = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    v1::SessionRequest request = HelloOf(1, false, "session number " + std::to_string(epoch++));
    for (const int64_t number : c.numbers) AddOpen(request, number);
    FakeStream& stream = NewStream();
    Send(stream, request);
    EXPECT_THAT(stream.error(), HasReason(ErrorReason::kInvalidRequest));
    EXPECT_EQ(Highest() - before, c.opened);
    before = Highest();
    // The session goes on where it was.
    FakeStream& next = NewStream();
    Send(next, HelloOf(2, true, request.hello().session_id()));
    const v1::SessionResponse response = Read(next);
    EXPECT_EQ(response.welcome().next_number(), c.opened + 1);
    EXPECT_EQ(response.answers_size(), c.opened);
  }
}

TEST_F(SessionHostileTest, WithoutCreditOperationsAreRefusedOneByOne) {
  options_.limits.operations = 3;
  Restart();
  FakeStream& stream = Connect();
  v1::SessionRequest request;
  for (int i = 1; i <= 6; ++i) AddOpen(request, i);
  Send(stream, request);
  const v1::SessionResponse response = Read(stream);
  for (int i = 1; i <= 3; ++i) EXPECT_THAT(StatusOf(response, i), IsOk());
  for (int i = 4; i <= 6; ++i) {
    EXPECT_THAT(StatusOf(response, i), HasReason(ErrorReason::kOverloaded));
  }
  EXPECT_EQ(Highest(), 3);
  v1::SessionRequest more;
  more.set_answered_below(7);
  AddOpen(more, 7);
  Send(stream, more);
  EXPECT_THAT(StatusOf(Read(stream), 7), IsOk());
}

TEST_F(SessionHostileTest, WhoNeverAcknowledgesIsCutOff) {
  options_.limits.operations = 3;
  Restart();
  FakeStream& stream = Connect();
  v1::SessionRequest request;
  for (int i = 1; i <= 13; ++i) AddBeat(request, i, 1);  // these need no credit
  Send(stream, request);
  EXPECT_THAT(stream.error(), HasReason(ErrorReason::kOverloaded));
}

TEST_F(SessionHostileTest, AReaderThatDoesNotReadIsCutByBytes) {
  options_.max_unread_bytes = 2'000;
  Restart();
  FakeStream& stream = Connect();
  stream.slow = true;
  v1::SessionRequest request;
  for (int i = 1; i <= 10; ++i) AddBeat(request, i, 1);
  Send(stream, request);  // this one goes into the pipe
  int64_t number = 11;
  while (!stream.cut && number < 1'000) {
    v1::SessionRequest more;
    AddBeat(more, number++, 1);
    Send(stream, more);
  }
  EXPECT_TRUE(stream.cut);
  EXPECT_GT(number, 20) << "not at the first full pipe";
  // What it did not read is there for its next stream.
  sessions().Closed(stream);
  FakeStream& next = Connect(2, true);
  EXPECT_EQ(Read(next).answers_size(), number - 1);
}

TEST_F(SessionHostileTest, AReaderThatDoesNotReadIsCutByTime) {
  FakeStream& stream = Connect();
  stream.slow = true;
  v1::SessionRequest request;
  AddBeat(request, 1, 1);
  Send(stream, request);
  for (int i = 0; i < 3 && !stream.cut; ++i) {
    Pass(options_.lease / 3);
    Arrive(stream, v1::SessionRequest());
  }
  EXPECT_TRUE(stream.cut);
}

TEST_F(SessionHostileTest, WhileAWriteIsUnderWayAnswersGather) {
  FakeStream& stream = Connect();
  Read(stream);
  stream.slow = true;
  for (int i = 1; i <= 5; ++i) {
    v1::SessionRequest request;
    AddBeat(request, i, 1);
    Send(stream, request);
  }
  ASSERT_EQ(stream.written.size(), 1u);
  stream.slow = false;
  stream.Read();
  sessions().Writable(stream);
  ASSERT_EQ(stream.written.size(), 2u);
  EXPECT_EQ(Read(stream).answers_size(), 5);
}

TEST_F(SessionHostileTest, TooManySessionsAreRefused) {
  options_.max_sessions = 2;
  Restart();
  Connect();
  FakeStream& second = NewStream();
  Send(second, HelloOf(1, false, "another session!"));
  EXPECT_FALSE(second.ended());
  FakeStream& third = NewStream();
  Send(third, HelloOf(1, false, "yet another one!"));
  EXPECT_THAT(third.error(), HasReason(ErrorReason::kOverloaded));
  FakeStream& call = NewStream(loop::Sessions::kFence);
  v1::FenceSessionRequest fence;
  fence.set_session_id("yet another one!");
  fence.set_epoch(1);
  sessions().Message(call, fence.SerializeAsString());
  EXPECT_THAT(call.error(), HasReason(ErrorReason::kOverloaded));
}

TEST_F(SessionHostileTest, EpochsCannotBeUsedUpByOthers) {
  FakeStream& stream = Connect();
  FakeStream& highest = NewStream();
  Send(highest, HelloOf(std::numeric_limits<int64_t>::max(), true));
  EXPECT_FALSE(highest.ended());
  EXPECT_THAT(stream.error(), HasReason(ErrorReason::kSessionFenced));
  FakeStream& next = NewStream();
  Send(next, HelloOf(std::numeric_limits<int64_t>::max(), true));
  EXPECT_THAT(next.error(), HasReason(ErrorReason::kSessionFenced));
}

TEST_F(SessionHostileTest, BytesThatAreNoMessageEndTheStream) {
  for (const std::string& bytes : {std::string("\x12"),
                                   std::string("\x12\x05\x01"),
                                   std::string("\xff\xff\xff\xff"),
                                   std::string("\x12\x02\x08\xff"),
                                   std::string("\x0a\x02\x08", 3),
                                   std::string("garbage")}) {
    FakeStream& stream = NewStream();
    sessions().Message(stream, bytes);
    Round();
    EXPECT_EQ(stream.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(wire::FromGrpc(stream.status), HasReason(ErrorReason::kInvalidRequest));
    sessions().Closed(stream);
  }
  FakeStream& call = NewStream(loop::Sessions::kFence);
  sessions().Message(call, "\xff");
  EXPECT_EQ(call.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(sessions().size(), 0u);
}

// A walk over mangled messages: whatever arrives, the server stays and others are served.
TEST_F(SessionHostileTest, MangledMessagesHurtNobody) {
  FakeStream& good = Connect();
  Read(good);
  SeededRandom random(11);
  int64_t good_number = 0;
  for (int i = 0; i < 400; ++i) {
    v1::SessionRequest request = HelloOf(1, false, "a mangled one " + std::to_string(10 + i % 50));
    AddOpen(request, 1);
    AddLock(request, 2, 1, "orders", v1::LOCK_KIND_SHARED_READ);
    AddCommit(request, 3, 1);
    AddBeat(request, 4, 1);
    request.set_answered_below(1);
    std::string bytes = request.SerializeAsString();
    for (int k = 0; k < 3; ++k) {
      bytes[random.NextUint64() % bytes.size()] = static_cast<char>(random.NextUint64());
    }
    if (i % 3 == 0) bytes.resize(random.NextUint64() % bytes.size());
    FakeStream& stream = NewStream();
    sessions().Message(stream, bytes);
    Round();
    sessions().Closed(stream);
  }
  v1::SessionRequest request;
  AddOpen(request, ++good_number);
  Send(good, request);
  EXPECT_THAT(StatusOf(Read(good), good_number), IsOk());
}

TEST_F(SessionHostileTest, WhileTheServerDrainsOnlyWhatEndsIsAccepted) {
  FakeStream& stream = Connect();
  v1::SessionRequest open;
  AddOpen(open, 1);
  Send(stream, open);
  sessions().Drain();
  v1::SessionRequest request;
  AddOpen(request, 2);
  AddBeat(request, 3, 1);
  AddCommit(request, 4, 1);
  Send(stream, request);
  const v1::SessionResponse response = Read(stream);
  EXPECT_THAT(StatusOf(response, 2), HasReason(ErrorReason::kShuttingDown));
  EXPECT_THAT(StatusOf(response, 3), IsOk());
  EXPECT_THAT(StatusOf(response, 4), IsOk());
  FakeStream& fresh = NewStream();
  Send(fresh, HelloOf(1, false, "comes too late!!"));
  EXPECT_THAT(fresh.error(), HasReason(ErrorReason::kShuttingDown));
}

}  // namespace
}  // namespace skep::rpc
