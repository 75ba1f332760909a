// The parts of the simulation by themselves.

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/fiber.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/sim_disk.h"
#include "tests/sim/sim_stream.h"
#include "tests/testing/status_matchers.h"

namespace skep::sim {
namespace {

using ::skep::testing::IsOk;
using ::testing::ElementsAre;

TEST(Scheduler, RunsEventsInOrderOfTheirTimeAndHoldsThoseOfAPausedProcessBack) {
  SimClock clock;
  Dice dice(1);
  Scheduler scheduler(clock, dice);
  std::vector<int> ran;
  const auto paused = std::make_shared<Process>();
  paused->paused_until = clock.MonoNow() + Nanos(100);
  scheduler.After(Nanos(30), [&] { ran.push_back(3); });
  scheduler.After(Nanos(10), [&] { ran.push_back(1); });
  scheduler.After(
      Nanos(20), [&] { ran.push_back(2); }, paused);
  const auto cancelled = scheduler.After(Nanos(15), [&] { ran.push_back(9); });
  EXPECT_TRUE(scheduler.Cancel(cancelled));
  while (scheduler.RunOne()) {
  }
  EXPECT_THAT(ran, ElementsAre(1, 3, 2));
}

TEST(Fiber, ComesBackWhereItYielded) {
  std::vector<int> ran;
  Fiber fiber([&] {
    ran.push_back(1);
    Fiber::Yield();
    ran.push_back(3);
  });
  fiber.Resume();
  ran.push_back(2);
  fiber.Resume();
  EXPECT_TRUE(fiber.ended());
  EXPECT_THAT(ran, ElementsAre(1, 2, 3));
}

std::string Content(SimDisk& disk, const std::string& path) {
  const auto text = fs::ReadSmallFile(disk, path, 1 << 20);
  return text.ok() ? *text : text.status().ToString();
}

TEST(SimDisk, KeepsWhatWasSyncedAndMayLoseTheRest) {
  bool lost = false, kept = false, torn = false;
  for (uint64_t seed = 1; seed < 60; ++seed) {
    Dice dice(seed);
    SimDisk disk(dice);
    const std::string old(2048, 'a');
    EXPECT_THAT(fs::WriteSmallFile(disk, "/f", old), IsOk());
    const auto file = disk.OpenInPlace("/f");
    ASSERT_THAT(file, IsOk());
    EXPECT_THAT((*file)->WriteAt(0, std::string(512, 'b')), IsOk());
    EXPECT_THAT((*file)->SyncData(), IsOk());
    EXPECT_THAT((*file)->WriteAt(512, std::string(1536, 'c')), IsOk());
    disk.Stop();
    EXPECT_FALSE((*file)->SyncData().ok());
    disk.Start(SimDisk::Loss::kPower);
    const std::string now = Content(disk, "/f");
    EXPECT_EQ(now.substr(0, 512), std::string(512, 'b')) << "a synced sector is gone";
    const std::string rest = now.substr(512);
    lost |= rest == std::string(1536, 'a');
    kept |= rest == std::string(1536, 'c');
    torn |= rest.find('a') != std::string::npos && rest.find('c') != std::string::npos;
  }
  EXPECT_TRUE(lost && kept && torn);
}

TEST(SimDisk, KeepsEverythingWhenOnlyTheProcessDies) {
  Dice dice(1);
  SimDisk disk(dice);
  EXPECT_THAT(fs::WriteSmallFile(disk, "/f", "aaaa"), IsOk());
  const auto file = disk.OpenInPlace("/f");
  EXPECT_THAT((*file)->WriteAt(0, "bb"), IsOk());
  disk.Stop();
  disk.Start(SimDisk::Loss::kProcess);
  EXPECT_EQ(Content(disk, "/f"), "bbaa");
}

TEST(SimDisk, LosesNamesThatNoDirectorySyncMadeDurable) {
  bool there = false, gone = false;
  for (uint64_t seed = 1; seed < 20; ++seed) {
    Dice dice(seed);
    SimDisk disk(dice);
    {
      const auto file = disk.Create("/f");
      ASSERT_THAT((*file)->Append("x"), IsOk());
      ASSERT_THAT((*file)->Close(), IsOk());
    }
    disk.Stop();
    disk.Start(SimDisk::Loss::kPower);
    (disk.Find("/f") != nullptr ? there : gone) = true;
  }
  EXPECT_TRUE(there && gone);
}

TEST(SimDisk, RenamesAsOneStep) {
  for (uint64_t seed = 1; seed < 40; ++seed) {
    Dice dice(seed);
    SimDisk disk(dice);
    EXPECT_THAT(fs::WriteSmallFile(disk, "/a", "x"), IsOk());
    EXPECT_THAT(disk.RenameNoReplace("/a", "/b"), IsOk());
    disk.Stop();
    disk.Start(SimDisk::Loss::kPower);
    EXPECT_EQ((disk.Find("/a") != nullptr) + (disk.Find("/b") != nullptr), 1) << seed;
  }
}

// what a failed sync was to carry is seen as before, and only what is written again is safe.
TEST(SimDisk, CallsCleanWhatAFailedSyncDidNotCarry) {
  bool lost = false;
  for (uint64_t seed = 1; seed < 60; ++seed) {
    Dice dice(seed);
    SimDisk disk(dice);
    EXPECT_THAT(fs::WriteSmallFile(disk, "/f", std::string(1024, 'a')), IsOk());
    auto file = disk.OpenInPlace("/f");
    EXPECT_THAT((*file)->WriteAt(0, std::string(1024, 'b')), IsOk());
    disk.FailNextSync();
    EXPECT_FALSE((*file)->SyncData().ok());
    EXPECT_FALSE((*file)->SyncData().ok()) << "asked again";
    file = disk.OpenInPlace("/f");  // another process
    EXPECT_EQ(Content(disk, "/f"), std::string(1024, 'b'));
    EXPECT_THAT((*file)->WriteAt(0, std::string(512, 'b')), IsOk());
    EXPECT_THAT((*file)->SyncData(), IsOk());
    disk.Stop();
    disk.Start(SimDisk::Loss::kPower);
    const std::string now = Content(disk, "/f");
    EXPECT_EQ(now.substr(0, 512), std::string(512, 'b')) << "was written again and synced";
    lost |= now.substr(512) == std::string(512, 'a');
  }
  EXPECT_TRUE(lost);
}

TEST(SimStream, LetsMessagesLeaveInOrderAndKnowsWhetherTheyWereTaken) {
  std::vector<std::string> sent;
  int written = 0;
  SimStream stream(
      0,
      [&](SimStream::Out out) { sent.push_back(out.end ? "end" : out.bytes); },
      [&](SimStream&) { ++written; });
  stream.WriteBytes("a");
  stream.WriteBytes("b");
  stream.Finish(grpc::Status::OK);
  stream.WriteBytes("late");
  EXPECT_EQ(written, 3);
  std::vector<MonoTime> times;
  stream.LeaveFrom(MonoTime(Nanos(5)), [&](MonoTime when) { times.push_back(when); });
  ASSERT_EQ(times.size(), 3u);
  EXPECT_LT(times[0], times[1]);
  for (int i = 0; i < 3; ++i) stream.LeaveOne();
  EXPECT_THAT(sent, ElementsAre("a", "b", "end"));
  EXPECT_FALSE(stream.Taken());
  EXPECT_TRUE(stream.busy());
  EXPECT_TRUE(stream.Taken());
  EXPECT_FALSE(stream.busy());
}

}  // namespace
}  // namespace skep::sim
