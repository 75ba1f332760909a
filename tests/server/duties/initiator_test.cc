#include "server/duties/initiator.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/duties/duty_world.h"
#include "tests/testing/status_matchers.h"

namespace skep::duties {
namespace {

using ::skep::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// ---- who may be compacted by itself (IN-4…IN-12) ----

CompactionRow Row(int64_t id, CompactionState state, Timestamp enqueued = {}) {
  CompactionRow row;
  row.id = CompactionId(id);
  row.state = state;
  row.enqueue_time = enqueued;
  if (state == CompactionState::kFailed) row.error = "disk on fire";
  return row;
}

struct ObstacleCase {
  const char* name;
  std::vector<CompactionState> history;  // ids from 1
  const char* says;                      // empty: no obstacle
};

TEST(FindObstacle, IsNoCompactionWhoseCleaningWasGivenUp) {  // RB-1: it merged
  std::vector<CompactionRow> rows = {Row(1, CompactionState::kFailed),
                                     Row(2, CompactionState::kFailed)};
  EXPECT_TRUE(FindObstacle({}, "", rows, {}, Timestamp()));
  rows[1].published_seq = CommitSeq(7);
  EXPECT_FALSE(FindObstacle({}, "", rows, {}, Timestamp()));
}

TEST(FindObstacle, LooksAtTheObjectsCompactions) {
  using S = CompactionState;
  const ObstacleCase cases[] = {
      {"new", {}, ""},
      {"initiated", {S::kInitiated}, "compaction 1 is INITIATED"},
      {"working", {S::kSucceeded, S::kWorking}, "compaction 2 is WORKING"},
      {"ready for cleaning never skips", {S::kReadyForCleaning}, ""},
      {"failed once", {S::kFailed}, ""},
      {"failed twice",
       {S::kFailed, S::kFailed},
       "the last 2 compactions failed, compaction 2 with: disk on fire"},
      {"others do not count",
       {S::kFailed, S::kRefused, S::kFailed, S::kCancelled},
       "the last 2 compactions failed"},
      {"worked in between", {S::kFailed, S::kSucceeded, S::kFailed}, ""},
      {"worked since", {S::kFailed, S::kFailed, S::kReadyForCleaning}, ""},
  };
  for (const ObstacleCase& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<CompactionRow> rows;
    for (const CompactionState state : c.history) {
      rows.push_back(Row(static_cast<int64_t>(rows.size()) + 1, state));
    }
    const auto obstacle = FindObstacle(TableRow(), "", rows, {}, Timestamp());
    EXPECT_EQ(obstacle.has_value(), *c.says != '\0');
    if (obstacle) {
      EXPECT_THAT(obstacle->reason, HasSubstr(c.says));
    }
  }
}

TEST(FindObstacle, TriesAgainAfterSevenDays) {  // IN-6
  const Timestamp day(std::chrono::hours(24 * 365));
  const std::vector<CompactionRow> rows = {
      Row(1, CompactionState::kFailed, day),
      Row(2, CompactionState::kFailed, day + std::chrono::hours(5))};
  const Timestamp until = day + std::chrono::hours(5 + 7 * 24);
  const auto obstacle =
      FindObstacle(TableRow(), "", rows, {}, until - std::chrono::milliseconds(1));
  ASSERT_TRUE(obstacle.has_value());
  EXPECT_EQ(obstacle->until, until);
  EXPECT_FALSE(FindObstacle(TableRow(), "", rows, {}, until).has_value());
  InitiatorRules never;
  never.failed_retry = std::chrono::milliseconds(0);
  EXPECT_TRUE(FindObstacle(TableRow(), "", rows, never, until).has_value());
  InitiatorRules patient;
  patient.failed_threshold = 3;
  EXPECT_FALSE(FindObstacle(TableRow(), "", rows, patient, day).has_value());
}

TEST(FindObstacle, LeavesAloneWhatTheTableSays) {
  TableRow external;
  external.kind = TableKind::kExternal;
  EXPECT_TRUE(FindObstacle(external, "", {}, {}, {}).has_value());
  TableRow insert_only;
  insert_only.kind = TableKind::kInsertOnly;
  EXPECT_TRUE(FindObstacle(insert_only, "", {}, {}, {}).has_value());
  TableRow off;  // IN-9
  off.properties = {{"No_Auto_Compaction", "TRUE"}};
  EXPECT_TRUE(FindObstacle(off, "", {}, {}, {}).has_value());
  TableRow partitioned;  // IN-11
  partitioned.schema.partition_columns = {{"p", HiveType{}, ""}};
  EXPECT_TRUE(FindObstacle(partitioned, "", {}, {}, {}).has_value());
  EXPECT_FALSE(FindObstacle(partitioned, "p=1", {}, {}, {}).has_value());
}

// ---- the duty ----

class InitiatorTest : public ::testing::Test {
 protected:
  Initiator::Options Defaults() { return {}; }
  void Insert(const std::string& table, int count, const std::string& partition = "") {
    for (int i = 0; i < count; ++i) world_.InsertOne(table, partition);
  }
  std::vector<CompactionState> OfTable(const std::string& table) {
    std::vector<CompactionState> states;
    for (const CompactionRow& row : world_.Compactions()) {
      if (row.name == NameOf(table)) states.push_back(row.state);
    }
    return states;
  }

  DutyWorld world_;
};

TEST_F(InitiatorTest, EnqueuesAboveTheThresholdWithTheReason) {
  world_.CreateTable("many");
  world_.CreateTable("few");
  Insert("many", 11);
  Insert("few", 10);
  Initiator initiator(Defaults(), world_.port, world_.executor, world_.clock, world_.fs);
  world_.RunOnce(initiator);
  ASSERT_THAT(world_.Compactions(), SizeIs(1));
  const CompactionRow row = world_.Compactions()[0];
  EXPECT_EQ(row.name, NameOf("many"));
  EXPECT_EQ(row.type, CompactionType::kMajor) << "no base";
  EXPECT_EQ(row.state, CompactionState::kInitiated);
  EXPECT_THAT(row.reason, HasSubstr("11"));
}

TEST_F(InitiatorTest, TakesThresholdsFromTheTablesProperties) {  // IN-13
  world_.CreateTable("t", "", {{"compactorthreshold.hive.compactor.delta.num.threshold", "2"}});
  Insert("t", 3);
  Initiator initiator(Defaults(), world_.port, world_.executor, world_.clock, world_.fs);
  world_.RunOnce(initiator);
  EXPECT_THAT(world_.Compactions(), SizeIs(1));
}

TEST_F(InitiatorTest, LooksAtEachPartitionOnItsOwn) {
  world_.CreateTable("t", "p string");
  Insert("t", 11, "p=a");
  Insert("t", 3, "p=b");
  Initiator initiator(Defaults(), world_.port, world_.executor, world_.clock, world_.fs);
  world_.RunOnce(initiator);
  ASSERT_THAT(world_.Compactions(), SizeIs(1));
  EXPECT_EQ(world_.Compactions()[0].partition, "p=a");
}

TEST_F(InitiatorTest, HonoursNoAutoCompaction) {  // IN-9
  world_.CreateTable("t", "", {{"NO_AUTO_COMPACTION", "true"}});
  Insert("t", 12);
  Initiator initiator(Defaults(), world_.port, world_.executor, world_.clock, world_.fs);
  world_.RunOnce(initiator);
  EXPECT_THAT(world_.Compactions(), IsEmpty());
}

TEST_F(InitiatorTest, LooksOnlyAtWhatChangedAfterItsFirstPass) {
  world_.CreateTable("t");
  world_.CreateTable("u");
  Insert("t", 10);
  Insert("u", 10);
  Initiator initiator(Defaults(), world_.port, world_.executor, world_.clock, world_.fs);
  initiator.Start();
  world_.executor.RunReady();
  EXPECT_THAT(world_.Compactions(), IsEmpty());
  Insert("t", 1);
  // Nobody says that u changed: put there behind the server's back, it is not looked at.
  std::filesystem::copy(world_.Dir("u") + "/delta_0000001_0000001_0000",
                        world_.Dir("u") + "/delta_0000001_0000001_0001",
                        std::filesystem::copy_options::recursive);
  world_.executor.Advance(std::chrono::minutes(5));
  ASSERT_THAT(world_.Compactions(), SizeIs(1));
  EXPECT_EQ(world_.Compactions()[0].name, NameOf("t"));
  world_.Stop(initiator);
}

TEST_F(InitiatorTest, ComesBackWhenTheRunningCompactionIsOver) {
  world_.CreateTable("t");
  Insert("t", 3);
  const CompactionId asked = world_.Enqueue("t", "", CompactionType::kMinor);
  Insert("t", 9);
  Initiator initiator(Defaults(), world_.port, world_.executor, world_.clock, world_.fs);
  initiator.Start();
  world_.executor.RunReady();
  EXPECT_THAT(world_.Compactions(), SizeIs(1)) << "IN-5";
  ASSERT_THAT(world_.port.Do([&](state::State& s, state::Now now, state::Unit& unit) {
    return s.Cancel(asked, now, unit);
  }),
              IsOk());
  world_.executor.Advance(std::chrono::minutes(5));
  EXPECT_THAT(world_.Compactions(), SizeIs(2));
  world_.Stop(initiator);
}

TEST_F(InitiatorTest, OneBadCandidateDoesNotStopTheOthers) {
  world_.CreateTable("a");
  world_.CreateTable("b");
  Insert("a", 11);
  Insert("b", 11);
  std::filesystem::create_directory(world_.Dir("a") + "/delta_nonsense");
  Initiator initiator(Defaults(), world_.port, world_.executor, world_.clock, world_.fs);
  initiator.Start();
  world_.executor.RunReady();
  EXPECT_THAT(OfTable("b"), ElementsAre(CompactionState::kInitiated));
  EXPECT_EQ(initiator.status().failures, 0);
  // It is on record (IN-17), once however often it is looked at …
  world_.executor.Advance(std::chrono::minutes(11));
  EXPECT_THAT(OfTable("a"), ElementsAre(CompactionState::kNotInitiated));
  EXPECT_THAT(world_.Compactions()[0].error, HasSubstr("delta_nonsense"));
  // … and not forgotten.
  std::filesystem::remove(world_.Dir("a") + "/delta_nonsense");
  world_.executor.Advance(std::chrono::minutes(11));
  EXPECT_THAT(OfTable("a"),
              ElementsAre(CompactionState::kNotInitiated, CompactionState::kInitiated));
  world_.Stop(initiator);
}

TEST_F(InitiatorTest, GoesThroughMoreCandidatesThanFitInAPass) {
  world_.CreateTable("t", "p string");
  for (const char* partition : {"p=a", "p=b", "p=c"}) Insert("t", 11, partition);
  Initiator::Options options;
  options.per_pass = 1;
  Initiator initiator(options, world_.port, world_.executor, world_.clock, world_.fs);
  world_.RunOnce(initiator);
  EXPECT_THAT(world_.Compactions(), SizeIs(3));
}

TEST_F(InitiatorTest, LosesNobodyWhenTheLoopIsBusy) {
  world_.CreateTable("t");
  Insert("t", 11);
  Initiator initiator(Defaults(), world_.port, world_.executor, world_.clock, world_.fs);
  for (int failing = 1; failing <= 3; ++failing) {
    SCOPED_TRACE(failing);
    world_.port.FailNext(1);
    if (failing == 1) initiator.Start();
    world_.executor.RunReady();
  }
  world_.executor.Advance(std::chrono::minutes(2));
  EXPECT_THAT(world_.Compactions(), SizeIs(1));
  world_.Stop(initiator);
}

TEST_F(InitiatorTest, StopsRetryingAnObjectThatKeepsFailing) {  // IN-6
  world_.CreateTable("t");
  Insert("t", 11);
  std::filesystem::resize_file(world_.Dir("t") + "/delta_0000002_0000002_0000/bucket_00000", 10);
  Initiator initiator(Defaults(), world_.port, world_.executor, world_.clock, world_.fs);
  initiator.Start();
  for (int i = 0; i < 5; ++i) {
    world_.executor.RunReady();
    world_.WorkOnce();
    Insert("t", 1);
    world_.executor.Advance(std::chrono::minutes(5));
  }
  using S = CompactionState;
  EXPECT_THAT(OfTable("t"), ElementsAre(S::kFailed, S::kFailed, S::kNotInitiated));
  EXPECT_THAT(world_.Compactions().back().error, HasSubstr("the last 2 compactions failed"));
  world_.executor.Advance(std::chrono::hours(24 * 7));
  EXPECT_THAT(OfTable("t"), ElementsAre(S::kFailed, S::kFailed, S::kNotInitiated, S::kInitiated))
      << "after seven days";
  world_.Stop(initiator);
}

}  // namespace
}  // namespace skep::duties
