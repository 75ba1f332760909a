// Readers that pass a waiting request for a while, where that is configured.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using skep::testing::IsOk;
using ::testing::SizeIs;

constexpr std::chrono::seconds kBound{10};

class LockBypassTest : public ::testing::Test {
 protected:
  explicit LockBypassTest(std::chrono::milliseconds bound = kBound) : server_(OptionsWith(bound)) {
    server_.MakeTable("t");
    server_.MakeTable("u");
  }
  static Options OptionsWith(std::chrono::milliseconds bound) {
    Options options;
    options.reader_bypass = bound;
    return options;
  }
  LockAnswer Ask(TxnId txn, std::vector<LockComponent> components) {
    const auto answer = server_.Lock(txn, std::move(components));
    EXPECT_THAT(answer, IsOk());
    return *answer;
  }
  LockState Read() { return Ask(server_.Open(), {OnTable("t", LockKind::kSharedRead)}).state; }
  LockAnswer Wait() {
    Ask(holder_ = server_.Open(), {OnTable("t", LockKind::kSharedRead)});
    const LockAnswer waiting = Ask(server_.Open(), {OnTable("t", LockKind::kExclusive)});
    EXPECT_EQ(waiting.state, LockState::kWaiting);
    return waiting;
  }

  Server server_;
  TxnId holder_;
};

class NoBypassTest : public LockBypassTest {
 protected:
  NoBypassTest() : LockBypassTest(std::chrono::milliseconds(0)) {}
};

TEST_F(NoBypassTest, IsTheDefault) {  // LCQ-1
  EXPECT_EQ(Options().reader_bypass, std::chrono::milliseconds(0));
  Wait();
  EXPECT_EQ(Read(), LockState::kWaiting);
}

TEST_F(LockBypassTest, LetsReadersPassUntilTheBound) {  // LCQ-1
  const LockAnswer waiting = Wait();
  EXPECT_EQ(Read(), LockState::kAcquired);
  server_.Pass(kBound - std::chrono::milliseconds(1));
  EXPECT_EQ(Read(), LockState::kAcquired);
  server_.Pass(std::chrono::milliseconds(1));
  EXPECT_EQ(Read(), LockState::kWaiting) << "nobody starves the writer";
  const auto blocked = server_.state().ExplainLock(waiting.lock, server_.now());
  ASSERT_THAT(blocked, IsOk());
  EXPECT_THAT(blocked->blocked_by, SizeIs(3));
}

TEST_F(LockBypassTest, IsForReadersAlone) {
  Wait();
  EXPECT_EQ(Ask(server_.Open(), {OnTable("t", LockKind::kSharedWrite)}).state, LockState::kWaiting);
  EXPECT_EQ(Ask(server_.Open(),
                {OnTable("t", LockKind::kSharedRead), OnTable("u", LockKind::kSharedWrite)})
                .state,
            LockState::kWaiting)
      << "a request that does not only read waits as a whole";
}

TEST_F(LockBypassTest, EndsForReadersThatWaitElsewhereToo) {
  const TxnId other = server_.Open();
  Ask(other, {OnTable("u", LockKind::kExclusive)});
  const LockAnswer writer = Wait();
  const LockAnswer reader = Ask(
      server_.Open(), {OnTable("t", LockKind::kSharedRead), OnTable("u", LockKind::kSharedRead)});
  ASSERT_EQ(reader.state, LockState::kWaiting) << "for u";
  server_.Pass(kBound);
  ASSERT_THAT(server_.Commit(other), IsOk());
  EXPECT_EQ(server_.state().ExplainLock(reader.lock, server_.now())->state, LockState::kWaiting)
      << "u is free, but the writer on t is first by now";
  ASSERT_THAT(server_.Commit(holder_), IsOk());
  EXPECT_EQ(server_.state().ExplainLock(writer.lock, server_.now())->state, LockState::kAcquired);
}

TEST_F(LockBypassTest, IsOverAfterALoad) {
  Wait();
  ASSERT_EQ(Read(), LockState::kAcquired);
  server_.Restart();
  EXPECT_EQ(Read(), LockState::kWaiting) << "how long it waited is not known: first come again";
}

TEST_F(LockBypassTest, MayCloseACircleWhenItEnds) {
  const TxnId a = server_.Open();
  const TxnId b = server_.Open();
  const TxnId c = server_.Open();
  const TxnId d = server_.Open();
  server_.MakeTable("z");
  Ask(a, {OnTable("z", LockKind::kExclusive)});
  Ask(d, {OnTable("t", LockKind::kSharedRead)});
  Ask(b, {OnTable("u", LockKind::kExclusive)});
  ASSERT_EQ(Ask(c, {OnTable("t", LockKind::kExclusive)}).state, LockState::kWaiting) << "for d";
  ASSERT_EQ(
      Ask(a, {OnTable("t", LockKind::kSharedRead), OnTable("u", LockKind::kSharedRead)}).state,
      LockState::kWaiting)
      << "for b alone: it passes c";
  ASSERT_EQ(Ask(d, {OnTable("z", LockKind::kSharedRead)}).state, LockState::kWaiting) << "for a";
  server_.Pass(kBound);
  server_.Reap();
  EXPECT_EQ(server_.StateOf(d), TxnState::kAborted) << "a waits for c, c for d, d for a";
  EXPECT_EQ(server_.state().GetTxn(d, server_.now())->cause, AbortCause::kDeadlock);
  EXPECT_EQ(server_.StateOf(a), TxnState::kOpen);
}

TEST(ExplainLock, NamesOwnerAgeHeartbeatAndPlace) {
  Server server;
  server.MakeTable("t");
  AcquireLocks outside;
  outside.components = {OnTable("t", LockKind::kSharedRead)};
  outside.user = "ann";
  outside.host = "h1";
  outside.agent = "query 5";
  const auto ask = [&](const AcquireLocks& command) {
    return *server.Do([&](State& s, Now now, Unit& u) { return s.Lock(command, now, u); });
  };
  const LockAnswer held = ask(outside);
  server.Pass(std::chrono::seconds(40));
  ASSERT_TRUE(server.Beat({}, {held.lock}).locks_not_found.empty());
  const Timestamp beat = server.now().wall;
  server.Pass(std::chrono::seconds(20));
  const auto first = server.Lock(server.Open(), {OnTable("t", LockKind::kExclusive)});
  const auto second = server.Lock(server.Open(), {OnTable("t", LockKind::kExclusive)});
  ASSERT_THAT(second, IsOk());
  const auto explained = server.state().ExplainLock(second->lock, server.now());
  ASSERT_THAT(explained, IsOk());
  EXPECT_EQ(explained->position, 2);
  ASSERT_THAT(explained->blocked_by, SizeIs(2));
  const Blocker& holder = explained->blocked_by[0];
  EXPECT_EQ(holder.lock, held.lock);
  EXPECT_EQ(holder.agent, "query 5");
  EXPECT_EQ(server.now().wall - holder.since, std::chrono::minutes(1));
  EXPECT_EQ(holder.last_heartbeat, beat) << "of a lock outside transactions its own";
  EXPECT_EQ(holder.position, 0);
  const Blocker& ahead = explained->blocked_by[1];
  EXPECT_EQ(ahead.lock, first->lock);
  EXPECT_EQ(ahead.state, LockState::kWaiting);
  EXPECT_EQ(ahead.position, 1);
  EXPECT_EQ(ahead.last_heartbeat, server.now().wall);
}

}  // namespace
}  // namespace skep::state
