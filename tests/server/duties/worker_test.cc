#include "server/duties/worker.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/duties/duty_world.h"
#include "tests/storage/format/fixtures.h"
#include "tests/testing/fault_fs.h"
#include "tests/testing/status_matchers.h"

namespace skep::duties {
namespace {

using ::skep::testing::IsOk;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class WorkerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.CreateTable("t");
    for (int i = 0; i < 3; ++i) world_.InsertOne("t");
    before_ = world_.Names("t");
  }

  Worker::Options At(std::string_view step, std::function<void()> what) {
    Worker::Options options;
    options.at_step = [step, what = std::move(what)](std::string_view now) {
      if (now == step) what();
    };
    return options;
  }

  void Run(Worker::Options options) {
    Worker worker(std::move(options), world_.port, world_.executor, world_.clock, world_.fs);
    world_.RunOnce(worker);
  }

  DutyWorld world_;
  std::vector<std::string> before_;
};

TEST_F(WorkerTest, DoesNothingWithoutWork) {
  world_.WorkOnce();
  EXPECT_EQ(world_.Names("t"), before_);
}

TEST_F(WorkerTest, WorksOffTheWholeQueueAndWakesOnWork) {
  world_.CreateTable("u");
  world_.InsertOne("u");
  world_.InsertOne("u");
  Worker worker({}, world_.port, world_.executor, world_.clock, world_.fs);
  world_.port.WatchCompactions([&] { worker.Wake(); });
  worker.Start();
  world_.executor.RunReady();
  const CompactionId first = world_.Enqueue("t", "", CompactionType::kMajor);
  const CompactionId second = world_.Enqueue("u", "", CompactionType::kMinor);
  world_.executor.RunReady();
  EXPECT_EQ(world_.Compaction(first).state, CompactionState::kReadyForCleaning);
  EXPECT_EQ(world_.Compaction(second).state, CompactionState::kReadyForCleaning);
  EXPECT_EQ(world_.Compaction(first).worker, "worker");
  world_.Stop(worker);
}

TEST_F(WorkerTest, RefusesWhatIsNotWorthIt) {  // WK-8
  world_.CreateTable("u");
  world_.InsertOne("u");
  const CompactionId id = world_.Enqueue("u", "", CompactionType::kMinor);
  world_.WorkOnce();
  EXPECT_EQ(world_.Compaction(id).state, CompactionState::kRefused);
  EXPECT_THAT(world_.Compaction(id).error, Not(IsEmpty()));
}

TEST_F(WorkerTest, RecordsAFailureWithItsTextAndGoesOn) {
  world_.CreateTable("u");
  world_.InsertOne("u");
  world_.InsertOne("u");
  std::ofstream(world_.Dir("t") + "/delta_0000002_0000002_0000/bucket_00000", std::ios::trunc)
      << "ORC no more";
  const CompactionId bad = world_.Enqueue("t", "", CompactionType::kMajor);
  const CompactionId good = world_.Enqueue("u", "", CompactionType::kMajor);
  world_.WorkOnce();
  EXPECT_EQ(world_.Compaction(bad).state, CompactionState::kFailed);
  EXPECT_THAT(world_.Compaction(bad).error, HasSubstr("delta_0000002_0000002_0000/bucket_00000"));
  EXPECT_EQ(world_.Names("t"), before_);
  EXPECT_EQ(world_.Compaction(good).state, CompactionState::kReadyForCleaning);
}

TEST_F(WorkerTest, FailsOnANameThatItDoesNotUnderstand) {
  std::filesystem::create_directory(world_.Dir("t") + "/delta_0000x");
  const CompactionId id = world_.Enqueue("t", "", CompactionType::kMajor);
  world_.WorkOnce();
  EXPECT_EQ(world_.Compaction(id).state, CompactionState::kFailed);
  EXPECT_THAT(world_.Compaction(id).error, HasSubstr("delta_0000x"));
}

TEST_F(WorkerTest, RefusesHive2sLayoutAndChangesNothing) {
  SKEP_REQUIRE_FIXTURES();
  state::RegisterTable command;  // as if an older release had taken it over
  command.name = NameOf("legacy");
  command.location = world_.Warehouse() + "/sales.db/legacy";
  command.schema.columns = compact::OrderColumns();
  command.schema.partition_columns = *ParseColumns("continent string, country string");
  command.partitions = {"continent=Asia/country=India"};
  command.highest_write_id = WriteId(7);
  std::filesystem::copy(testing::Fixture("acid/legacy-v1-table"),
                        command.location,
                        std::filesystem::copy_options::recursive);
  ASSERT_THAT(world_.port.Do([&](state::State& s, state::Now now, state::Unit& unit) {
    return s.Register(command, now, unit);
  }),
              IsOk());
  const std::string& partition = command.partitions[0];
  const std::vector<std::string> before = world_.Names("legacy", partition);
  const CompactionId id = world_.Enqueue("legacy", partition, CompactionType::kMajor);
  world_.WorkOnce();
  EXPECT_EQ(world_.Compaction(id).state, CompactionState::kRefused);
  EXPECT_THAT(world_.Compaction(id).error, HasSubstr("holds update events (operation 1)"));
  EXPECT_EQ(world_.Names("legacy", partition), before);
}

TEST_F(WorkerTest, LeavesTheTableAsItWasWhereTheDiskFails) {
  const CompactionId id = world_.Enqueue("t", "", CompactionType::kMajor);
  testing::TempDir attic;
  testing::FaultFs faulty(world_.fs, attic.path());
  faulty.FailCall(testing::FsCall::kRename,
                  1,
                  MakeError(ErrorReason::kStorageUnwritable, "no space left on device"));
  Worker worker({}, world_.port, world_.executor, world_.clock, faulty);
  world_.RunOnce(worker);
  EXPECT_EQ(world_.Compaction(id).state, CompactionState::kFailed);
  EXPECT_THAT(world_.Compaction(id).error, HasSubstr("no space left"));
  EXPECT_EQ(world_.Names("t"), before_);
  // The next attempt is not in the way of the first.
  const CompactionId again = world_.Enqueue("t", "", CompactionType::kMajor);
  world_.WorkOnce();
  EXPECT_EQ(world_.Compaction(again).state, CompactionState::kReadyForCleaning);
}

TEST_F(WorkerTest, ThrowsItsWorkAwayWhenTheClaimWasLost) {
  const CompactionId id = world_.Enqueue("t", "", CompactionType::kMajor);
  TxnId lost;
  const auto lose_the_first = [&] {
    if (!lost.is_none()) return;
    lost = world_.Compaction(id).txn;
    // The worker was paused for longer than its lease: the claim goes back into the queue.
    world_.clock.Advance(std::chrono::hours(1));
    world_.port.Do([](state::State& s, state::Now now, state::Unit& unit) {
      s.Reap(now, unit);
      return 0;
    });
    EXPECT_EQ(world_.Compaction(id).state, CompactionState::kInitiated);
  };
  Run(At(compact::kStepInstalled, lose_the_first));
  ASSERT_FALSE(lost.is_none());
  EXPECT_EQ(world_.Names("t"), before_);
  world_.WorkOnce();
  EXPECT_EQ(world_.Compaction(id).state, CompactionState::kReadyForCleaning);
  EXPECT_EQ(world_.Compaction(id).claim, 2);
  EXPECT_NE(world_.Compaction(id).txn, lost);
}

TEST_F(WorkerTest, StopsBetweenBatchesAndGivesTheClaimBack) {
  const CompactionId id = world_.Enqueue("t", "", CompactionType::kMajor);
  std::unique_ptr<Worker> worker;
  bool stopped = false;
  worker = std::make_unique<Worker>(
      At(compact::kStepPrepared, [&] { worker->Stop([&] { stopped = true; }); }),
      world_.port,
      world_.executor,
      world_.clock,
      world_.fs);
  worker->Start();
  world_.executor.RunReady();
  EXPECT_TRUE(stopped);
  EXPECT_EQ(world_.Compaction(id).state, CompactionState::kInitiated);
  EXPECT_EQ(world_.Names("t"), before_);
  world_.WorkOnce();
  EXPECT_EQ(world_.Compaction(id).state, CompactionState::kReadyForCleaning);
}

TEST_F(WorkerTest, PublishesAgainWhereTheLoopCouldNotTakeIt) {
  const CompactionId id = world_.Enqueue("t", "", CompactionType::kMajor);
  Worker worker(At(compact::kStepTidied, [&] { world_.port.FailNext(2); }),
                world_.port,
                world_.executor,
                world_.clock,
                world_.fs);
  worker.Start();
  world_.executor.RunReady();
  EXPECT_EQ(world_.Compaction(id).state, CompactionState::kWorking);
  EXPECT_THAT(world_.Names("t"), SizeIs(before_.size() + 1))
      << "nothing is removed while it is not known";
  world_.executor.Advance(std::chrono::seconds(5));
  EXPECT_EQ(world_.Compaction(id).state, CompactionState::kReadyForCleaning);
  world_.Stop(worker);
}

TEST_F(WorkerTest, SweepsWhatDeadCompactorsLeft) {
  const CompactionId id = world_.Enqueue("t", "", CompactionType::kMajor);
  ASSERT_THAT(world_.fs.CreateDirectories(world_.Dir("t") + "/.skep-tmp-1/base_0000003_v0000001"),
              IsOk());
  ASSERT_THAT(world_.fs.CreateDirectories(world_.Dir("t") + "/.skep-tmp-99"), IsOk());
  world_.WorkOnce();
  EXPECT_EQ(world_.Compaction(id).state, CompactionState::kReadyForCleaning);
  EXPECT_THAT(world_.Names("t"), Not(Contains(".skep-tmp-1")));
  EXPECT_THAT(world_.Names("t"), Contains(".skep-tmp-99")) << "not known to have ended";
}

}  // namespace
}  // namespace skep::duties
