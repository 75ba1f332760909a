#include "server/loop/loop_executor.h"

#include <functional>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/manual_clock.h"

namespace skep::loop {
namespace {

using std::chrono::milliseconds;

class LoopExecutorTest : public ::testing::Test {
 protected:
  Executor::Task Note(int what) {
    return [this, what] { ran_.push_back(what); };
  }

  testing::ManualClock clock_;
  LoopExecutor executor_{clock_};
  std::vector<int> ran_;
};

TEST_F(LoopExecutorTest, RunsPostedTasksInOrderAndOnlyWhenAsked) {
  executor_.Post(Note(1));
  executor_.Post(Note(2));
  EXPECT_TRUE(ran_.empty());
  EXPECT_TRUE(executor_.HasPosted());
  executor_.RunPosted();
  EXPECT_THAT(ran_, ::testing::ElementsAre(1, 2));
  EXPECT_FALSE(executor_.HasPosted());
}

TEST_F(LoopExecutorTest, WhatATaskPostsWaitsForTheNextRound) {
  executor_.Post([this] { executor_.Post(Note(2)); });
  executor_.RunPosted();
  EXPECT_TRUE(ran_.empty());
  executor_.RunPosted();
  EXPECT_THAT(ran_, ::testing::ElementsAre(2));
}

TEST_F(LoopExecutorTest, WakesOnceUntilTheTasksRan) {
  int wakes = 0;
  executor_.SetWake([&] { ++wakes; });
  executor_.Post(Note(1));
  executor_.Post(Note(2));
  EXPECT_EQ(wakes, 1);
  executor_.RunPosted();
  executor_.Post(Note(3));
  EXPECT_EQ(wakes, 2);
}

TEST_F(LoopExecutorTest, TimersRunInOrderOfTheirTimeWhenDue) {
  const MonoTime now = clock_.MonoNow();
  executor_.PostAt(now + milliseconds(20), Note(2));
  executor_.PostAt(now + milliseconds(10), Note(1));
  executor_.PostAt(now + milliseconds(30), Note(3));
  EXPECT_EQ(executor_.NextDue(), now + milliseconds(10));
  executor_.RunDue();
  EXPECT_TRUE(ran_.empty());
  clock_.Advance(milliseconds(25));
  executor_.RunDue();
  EXPECT_THAT(ran_, ::testing::ElementsAre(1, 2));
  EXPECT_EQ(executor_.NextDue(), now + milliseconds(30));
}

TEST_F(LoopExecutorTest, ATimerThatPostsATimerForNowDoesNotRunForEver) {
  std::function<void()> again = [&] {
    ran_.push_back(1);
    executor_.PostAt(clock_.MonoNow(), [&] { again(); });
  };
  executor_.PostAt(clock_.MonoNow(), [&] { again(); });
  executor_.RunDue();
  EXPECT_EQ(ran_.size(), 1u);
  executor_.RunDue();
  EXPECT_EQ(ran_.size(), 2u);
}

TEST_F(LoopExecutorTest, ACancelledTimerDoesNotRun) {
  const auto id = executor_.PostAt(clock_.MonoNow(), Note(1));
  EXPECT_TRUE(executor_.Cancel(id));
  EXPECT_FALSE(executor_.Cancel(id));
  executor_.RunDue();
  EXPECT_TRUE(ran_.empty());
}

TEST_F(LoopExecutorTest, AfterCloseEverythingIsDropped) {
  auto held = std::make_shared<int>(0);
  executor_.Post([held] {});
  executor_.PostAt(clock_.MonoNow(), [held] {});
  executor_.Close();
  executor_.Post([held] {});
  EXPECT_EQ(held.use_count(), 1);
  executor_.RunPosted();
  executor_.RunDue();
}

}  // namespace
}  // namespace skep::loop
