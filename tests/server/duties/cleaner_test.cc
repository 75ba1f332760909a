#include "server/duties/cleaner.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/duties/duty_world.h"
#include "tests/testing/fault_fs.h"
#include "tests/testing/status_matchers.h"

namespace skep::duties {
namespace {

using ::skep::testing::IsOk;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class CleanerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.CreateTable("t");
    for (int i = 0; i < 3; ++i) world_.InsertOne("t");
    id_ = world_.Enqueue("t", "", CompactionType::kMajor);
    world_.WorkOnce();
    ASSERT_EQ(world_.Compaction(id_).state, CompactionState::kReadyForCleaning);
    base_ = "base_0000003_v000000" + world_.Compaction(id_).txn.ToString();
  }

  Timestamp Now() { return world_.clock.Now(); }

  DutyWorld world_;
  CompactionId id_;
  std::string base_;
};

TEST_F(CleanerTest, RemovesWhatWasReplacedAndNothingElse) {
  std::filesystem::create_directory(world_.Dir("t") + "/.hive-staging_1");
  std::filesystem::create_directory(world_.Dir("t") + "/notes");
  world_.InsertOne("t");
  world_.CleanOnce();
  EXPECT_THAT(world_.Names("t"),
              ::testing::UnorderedElementsAre(
                  ".hive-staging_1", "notes", base_, "delta_0000004_0000004_0000"));
  EXPECT_EQ(world_.Compaction(id_).state, CompactionState::kSucceeded);
}

TEST_F(CleanerTest, RemovesAbortedDirectoriesOfTheSamePlace) {
  const TxnId txn = world_.Open();
  ASSERT_EQ(world_.Allocate(txn, "t"), WriteId(4));
  compact::WriteAcidFile(world_.fs,
                         world_.Dir("t"),
                         "delta_0000004_0000004_0000",
                         {{.write_id = 4, .row_id = 0, .id = 4}});
  world_.Abort(txn);
  world_.CleanOnce();
  EXPECT_THAT(world_.Names("t"), ::testing::ElementsAre(base_));
}

TEST_F(CleanerTest, KeepsWhatAnOpenTransactionWrites) {
  const TxnId txn = world_.Open();
  ASSERT_EQ(world_.Allocate(txn, "t"), WriteId(4));
  compact::WriteAcidFile(world_.fs,
                         world_.Dir("t"),
                         "delta_0000004_0000004_0000",
                         {{.write_id = 4, .row_id = 0, .id = 4}});
  world_.CleanOnce();
  EXPECT_THAT(world_.Names("t"), Contains("delta_0000004_0000004_0000"));
  EXPECT_THAT(world_.Commit(txn, "t", "", WriteOp::kInsert), IsOk());
  EXPECT_THAT(world_.Rows(world_.Open(), "t"), SizeIs(4));
}

TEST_F(CleanerTest, TriesAgainLaterAndLaterWhatWouldNotGo) {  // RB-1, RB-2
  testing::TempDir attic;
  testing::FaultFs faulty(world_.fs, attic.path());
  const absl::Status denied = MakeError(ErrorReason::kStorageUnwritable, "permission denied");
  faulty.FailCall(testing::FsCall::kRemoveTree, 1, denied, testing::FaultSpan::kFromThere);
  Cleaner cleaner({}, world_.port, world_.executor, world_.clock, faulty);
  cleaner.Start();
  world_.executor.RunReady();
  const CompactionRow row = world_.Compaction(id_);
  EXPECT_EQ(row.state, CompactionState::kReadyForCleaning);
  EXPECT_EQ(row.clean_attempts, 1);
  EXPECT_THAT(row.error, HasSubstr("permission denied"));
  int attempts = 1;
  for (const int seconds : {300, 600, 1200, 2400, 4800}) {
    EXPECT_EQ(world_.Compaction(id_).clean_attempts, attempts);
    const auto left = world_.Compaction(id_).next_clean_time - Now();
    EXPECT_LE(left, std::chrono::seconds(seconds));
    EXPECT_GT(left, std::chrono::seconds(seconds) - std::chrono::seconds(10));
    world_.executor.Advance(left - std::chrono::seconds(1));
    EXPECT_EQ(world_.Compaction(id_).clean_attempts, attempts);
    world_.executor.Advance(std::chrono::seconds(7));  // the cleaner looks every five seconds
    ++attempts;
  }
  // The sixth failure was one too many.
  const CompactionRow given_up = world_.Compaction(id_);
  EXPECT_EQ(given_up.state, CompactionState::kFailed);
  EXPECT_THAT(given_up.error, HasSubstr("given up after 6 attempts"));
  EXPECT_THAT(given_up.error, HasSubstr("permission denied"));
  EXPECT_THAT(world_.Names("t"), SizeIs(4)) << "and nothing is lost by it";
  // Once the cause is gone, the next compaction cleans for both.
  faulty.Heal();
  world_.InsertOne("t");
  const CompactionId next = world_.Enqueue("t", "", CompactionType::kMajor);
  world_.WorkOnce();
  world_.executor.Advance(std::chrono::minutes(1));
  EXPECT_EQ(world_.Compaction(next).state, CompactionState::kSucceeded);
  EXPECT_THAT(world_.Names("t"), SizeIs(1));
  EXPECT_THAT(world_.Rows(world_.Open(), "t"), SizeIs(4));
  world_.Stop(cleaner);
}

TEST_F(CleanerTest, ComesBackWhenTheCauseIsGoneInTime) {  // RB-1
  testing::TempDir attic;
  testing::FaultFs faulty(world_.fs, attic.path());
  faulty.FailCall(testing::FsCall::kRemoveTree,
                  1,
                  MakeError(ErrorReason::kStorageUnwritable, "permission denied"),
                  testing::FaultSpan::kFromThere);
  Cleaner cleaner({}, world_.port, world_.executor, world_.clock, faulty);
  cleaner.Start();
  world_.executor.RunReady();
  ASSERT_EQ(world_.Compaction(id_).clean_attempts, 1);
  faulty.Heal();
  world_.executor.Advance(std::chrono::minutes(6));
  EXPECT_EQ(world_.Compaction(id_).state, CompactionState::kSucceeded);
  EXPECT_THAT(world_.Names("t"), SizeIs(1));
  world_.Stop(cleaner);
}

// A compaction without anything left to merge still cleans after one that was given up.
TEST_F(CleanerTest, IsGivenAnotherTryByACompactionThatHasNothingToMerge) {  // RB-1, WK-8
  for (int i = 0; i < 6; ++i) {
    ASSERT_THAT(world_.port.Do([&](state::State& s, state::Now now, state::Unit& unit) {
      return s.FinishCleaning({id_, false, "permission denied", {}}, now, unit);
    }),
                IsOk());
  }
  ASSERT_EQ(world_.Compaction(id_).state, CompactionState::kFailed);
  const CompactionId next = world_.Enqueue("t", "", CompactionType::kMajor);
  world_.WorkOnce();
  world_.CleanOnce();
  EXPECT_EQ(world_.Compaction(next).state, CompactionState::kSucceeded);
  EXPECT_THAT(world_.Names("t"), ::testing::ElementsAre(base_));
}

TEST_F(CleanerTest, GoesOnWithTheOthersAfterAFailure) {
  world_.CreateTable("u");
  for (int i = 0; i < 2; ++i) world_.InsertOne("u");
  const CompactionId other = world_.Enqueue("u", "", CompactionType::kMajor);
  world_.WorkOnce();
  std::filesystem::create_directory(world_.Dir("t") + "/delta_nonsense");
  world_.CleanOnce();
  EXPECT_EQ(world_.Compaction(id_).state, CompactionState::kReadyForCleaning);
  EXPECT_THAT(world_.Compaction(id_).error, HasSubstr("delta_nonsense"));
  EXPECT_THAT(world_.Names("t"), SizeIs(5))
      << "nothing is deleted in a directory that is not understood";
  EXPECT_EQ(world_.Compaction(other).state, CompactionState::kSucceeded);
}

TEST_F(CleanerTest, EndsWhereSomebodyElseRemovedEverything) {  // CL-7
  std::filesystem::remove_all(world_.Dir("t"));
  world_.CleanOnce();
  EXPECT_EQ(world_.Compaction(id_).state, CompactionState::kSucceeded);
}

TEST_F(CleanerTest, StopsBetweenRemovalsAndAnotherFinishes) {
  std::unique_ptr<Cleaner> cleaner;
  int removals = 0;
  bool stopped = false;
  Cleaner::Options options;
  options.before_removal = [&](const acid::Removal&) {
    if (++removals == 1) cleaner->Stop([&] { stopped = true; });
  };
  cleaner =
      std::make_unique<Cleaner>(options, world_.port, world_.executor, world_.clock, world_.fs);
  cleaner->Start();
  world_.executor.RunReady();
  EXPECT_TRUE(stopped);
  EXPECT_EQ(removals, 1);
  EXPECT_THAT(world_.Names("t"), SizeIs(3));
  EXPECT_EQ(world_.Compaction(id_).state, CompactionState::kReadyForCleaning);
  world_.port.Restart();
  world_.CleanOnce();
  EXPECT_EQ(world_.Compaction(id_).state, CompactionState::kSucceeded);
  EXPECT_THAT(world_.Names("t"), SizeIs(1));
}

TEST_F(CleanerTest, DeletesNothingBeforeItsMarkIsDurable) {
  world_.port.FailNext(2);  // the answer to "what is ready" passes, BeginClean does not
  Cleaner cleaner({}, world_.port, world_.executor, world_.clock, world_.fs);
  cleaner.Start();
  world_.executor.RunReady();
  EXPECT_THAT(world_.Names("t"), SizeIs(4));
  EXPECT_EQ(world_.Table("t").cleaned_seq, CommitSeq());
  world_.executor.Advance(std::chrono::minutes(1));
  EXPECT_THAT(world_.Names("t"), SizeIs(1));
  EXPECT_EQ(world_.Table("t").cleaned_seq, world_.Compaction(id_).published_seq);
  world_.Stop(cleaner);
}

TEST_F(CleanerTest, RestsWhereTheStoreHasNoRoomForItsReport) {
  Cleaner::Options options;
  options.before_removal = [&](const acid::Removal&) {
    world_.port.FailNext(1000, ErrorReason::kStoreFull);
  };
  Cleaner cleaner(options, world_.port, world_.executor, world_.clock, world_.fs);
  cleaner.Start();
  world_.executor.RunReady();
  EXPECT_THAT(world_.Names("t"), SizeIs(1));
  EXPECT_EQ(world_.Compaction(id_).state, CompactionState::kReadyForCleaning);
  EXPECT_EQ(cleaner.status().failures, 1) << "one try, then a rest";
  world_.port.FailNext(0);
  world_.executor.Advance(std::chrono::minutes(1));
  EXPECT_EQ(world_.Compaction(id_).state, CompactionState::kSucceeded);
  world_.Stop(cleaner);
}

TEST_F(CleanerTest, LeavesATableWithNoCleanupAlone) {  // CL-7
  ASSERT_THAT(world_.port.Do([&](state::State& s, state::Now now, state::Unit& unit) {
    return s.SetProperties(NameOf("t"), {{"NO_CLEANUP", "true"}}, {}, now, unit);
  }),
              IsOk());
  world_.CleanOnce();
  EXPECT_THAT(world_.Names("t"), SizeIs(4));
  EXPECT_EQ(world_.Compaction(id_).state, CompactionState::kRefused);
}

}  // namespace
}  // namespace skep::duties
