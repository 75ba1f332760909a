#include "server/duties/pacer.h"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "tests/testing/manual_clock.h"
#include "tests/testing/manual_executor.h"

namespace skep::duties {
namespace {

using std::chrono::milliseconds;

// A duty whose passes end when the test says so, or at once with what the test laid out.
class PacerTest : public ::testing::Test {
 protected:
  PacerTest() {
    Pacer::Options options;
    options.name = "duty";
    options.rest = milliseconds(5'000);
    options.first_delay = milliseconds(1'000);
    options.max_delay = milliseconds(8'000);
    pacer_ = std::make_unique<Pacer>(options, executor_, clock_, [this](Pacer::Finished finished) {
      ++passes_;
      if (hold_) {
        held_ = std::move(finished);
      } else {
        finished(next_);
      }
    });
  }
  ~PacerTest() override {
    bool stopped = stopped_;
    if (!stopped) pacer_->Stop([&stopped] { stopped = true; });
    executor_.RunReady();
    EXPECT_TRUE(stopped);
  }

  testing::ManualClock clock_;
  testing::ManualExecutor executor_{clock_};
  std::unique_ptr<Pacer> pacer_;
  PassResult next_;
  bool hold_ = false;
  Pacer::Finished held_;
  int passes_ = 0;
  bool stopped_ = false;
};

TEST_F(PacerTest, RestsBetweenPasses) {
  pacer_->Start();
  EXPECT_EQ(passes_, 0) << "not on the caller's stack";
  executor_.RunReady();
  EXPECT_EQ(passes_, 1);
  executor_.Advance(milliseconds(4'999));
  EXPECT_EQ(passes_, 1);
  executor_.Advance(milliseconds(1));
  EXPECT_EQ(passes_, 2);
}

TEST_F(PacerTest, GoesOnAtOnceWhileThereIsMore) {
  hold_ = true;
  pacer_->Start();
  executor_.RunReady();
  held_({absl::OkStatus(), PassResult::Next::kGoOn});
  executor_.RunReady();
  EXPECT_EQ(passes_, 2);
  held_({absl::OkStatus(), PassResult::Next::kRest});
  executor_.RunReady();
  EXPECT_EQ(passes_, 2);
}

TEST_F(PacerTest, WakesFromRest) {
  pacer_->Start();
  executor_.RunReady();
  pacer_->Wake();
  pacer_->Wake();
  executor_.RunReady();
  EXPECT_EQ(passes_, 2);
}

TEST_F(PacerTest, RunsAgainWhenWokenDuringAPassAndNeverTwoAtOnce) {
  hold_ = true;
  pacer_->Start();
  executor_.RunReady();
  pacer_->Wake();
  executor_.RunReady();
  EXPECT_EQ(passes_, 1);
  held_({});
  executor_.RunReady();
  EXPECT_EQ(passes_, 2);
  held_({});
  executor_.RunReady();
  EXPECT_EQ(passes_, 2);
}

TEST_F(PacerTest, WaitsLongerAfterEachFailureUpToALimitAndWakingDoesNotHelp) {
  next_.status = MakeError(ErrorReason::kInternal, "disk on fire");
  pacer_->Start();
  executor_.RunReady();
  EXPECT_EQ(passes_, 1);
  for (const int delay : {1'000, 2'000, 4'000, 8'000, 8'000}) {
    const int before = passes_;
    pacer_->Wake();
    executor_.Advance(milliseconds(delay - 1));
    EXPECT_EQ(passes_, before) << delay;
    executor_.Advance(milliseconds(1));
    EXPECT_EQ(passes_, before + 1) << delay;
  }
  EXPECT_EQ(pacer_->status().failures, 6);
  EXPECT_EQ(pacer_->status().last_error, "disk on fire");
  next_.status = absl::OkStatus();
  executor_.Advance(milliseconds(8'000));
  EXPECT_EQ(pacer_->status().failures, 0);
  EXPECT_EQ(pacer_->status().last_error, "");
  pacer_->Wake();
  executor_.RunReady();
  EXPECT_EQ(passes_, 8);
}

TEST_F(PacerTest, StopsAfterTheRunningPass) {
  hold_ = true;
  pacer_->Start();
  executor_.RunReady();
  pacer_->Stop([this] { stopped_ = true; });
  EXPECT_TRUE(pacer_->stopping());
  executor_.RunReady();
  EXPECT_FALSE(stopped_);
  held_({absl::OkStatus(), PassResult::Next::kGoOn});
  EXPECT_FALSE(stopped_) << "not on the caller's stack";
  executor_.RunReady();
  EXPECT_TRUE(stopped_);
  EXPECT_EQ(passes_, 1);
}

TEST_F(PacerTest, StopsFromRestWithoutAnotherPass) {
  pacer_->Start();
  executor_.RunReady();
  pacer_->Stop([this] { stopped_ = true; });
  pacer_->Wake();
  executor_.RunReady();
  EXPECT_TRUE(stopped_);
  EXPECT_EQ(passes_, 1);
  EXPECT_FALSE(executor_.HasTimers());
}

TEST_F(PacerTest, StopsWithoutHavingStarted) {
  pacer_->Stop([this] { stopped_ = true; });
  executor_.RunReady();
  EXPECT_TRUE(stopped_);
  EXPECT_EQ(passes_, 0);
}

}  // namespace
}  // namespace skep::duties
