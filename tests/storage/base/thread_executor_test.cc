#include "storage/base/thread_executor.h"

#include <future>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skep {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(ThreadExecutor, RunsTasksOfOneThreadInOrder) {
  SystemClock clock;
  ThreadExecutor executor("test", 1, clock);
  std::vector<int> seen;
  std::promise<void> done;
  for (int i = 0; i < 100; ++i) executor.Post([&seen, i] { seen.push_back(i); });
  executor.Post([&done] { done.set_value(); });
  done.get_future().wait();
  ASSERT_EQ(seen.size(), 100u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST(ThreadExecutor, RunsTimersInOrderOfTheirTimes) {
  SystemClock clock;
  ThreadExecutor executor("test", 1, clock);
  std::vector<int> seen;
  std::promise<void> done;
  const MonoTime now = clock.MonoNow();
  executor.PostAt(now + milliseconds(20), [&] {
    seen.push_back(2);
    done.set_value();
  });
  executor.PostAt(now + milliseconds(5), [&] { seen.push_back(1); });
  done.get_future().wait();
  EXPECT_THAT(seen, ::testing::ElementsAre(1, 2));
}

TEST(ThreadExecutor, CancelTakesBackWhatHasNotBegun) {
  SystemClock clock;
  ThreadExecutor executor("test", 2, clock);
  bool ran = false;
  const Executor::TimerId id = executor.PostAt(clock.MonoNow() + hours(1), [&ran] { ran = true; });
  EXPECT_TRUE(executor.Cancel(id));
  EXPECT_FALSE(executor.Cancel(id));
  executor.Stop();
  EXPECT_FALSE(ran);
}

TEST(ThreadExecutor, StopIsIdempotentAndDropsWhatWaits) {
  SystemClock clock;
  ThreadExecutor executor("test", 1, clock);
  executor.PostAt(clock.MonoNow() + hours(1), [] { FAIL() << "a dropped timer ran"; });
  executor.Stop();
  executor.Stop();
  executor.Post([] { FAIL() << "a stopped executor ran a task"; });
}

// The answer of a call that is lost with its task is posted by a destructor.
TEST(ThreadExecutor, WhatADroppedTaskOwnsMayPost) {
  SystemClock clock;
  ThreadExecutor executor("test", 1, clock);
  int ended = 0;
  const auto owner = [&] {
    return std::shared_ptr<void>(nullptr, [&](void*) {
      executor.Post([] {});
      ++ended;
    });
  };
  const MonoTime later = clock.MonoNow() + hours(1);
  const Executor::TimerId id = executor.PostAt(later, [owned = owner()] {});
  executor.PostAt(later, [owned = owner()] {});
  EXPECT_TRUE(executor.Cancel(id));
  EXPECT_EQ(ended, 1);
  executor.Stop();
  EXPECT_EQ(ended, 2);
}

}  // namespace
}  // namespace skep
