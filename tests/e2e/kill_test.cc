// Kill -9 at chosen and at random moments: nothing acknowledged is missing after the restart, and
// what the worked example left half done can be read, compacted and cleaned.

#include <signal.h>

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/random.h"
#include "storage/base/text.h"
#include "tests/e2e/processes.h"
#include "tests/testing/temp_dir.h"

namespace skep::e2e {
namespace {

using std::chrono::milliseconds;

const std::vector<std::string> kQuickCleaner = {"--cleaner.interval", "20ms"};

DaemonOptions CrashingAt(const std::string& point, const std::string& directory) {
  return {.program = SkepdCrashPath(),
          .directory = directory,
          .args = kQuickCleaner,
          .env = {{"SKEP_TEST_CRASH", point}}};
}

// What the example has said was committed, by its own output: a statement is acknowledged once its
// line "transaction N committed" is there.
struct Acknowledged {
  bool insert = false;
  bool update = false;
  bool remove = false;
};

Acknowledged WhatWasAcknowledged(const std::string& output) {
  const auto said = [&](const char* statement) {
    const size_t at = output.find(statement);
    return at != std::string::npos && output.find("committed:", at) != std::string::npos;
  };
  return {said("INSERT orders 1 and 2"), said("UPDATE order 1"), said("DELETE order 2")};
}

class KillTest : public ::testing::Test {
 protected:
  // The rows of sales.orders as "order_id:status", sorted by the tool; "" before the table exists.
  std::string Rows(DaemonProcess& daemon) {
    const Finished read = daemon.Tool(
        {"read", "sales.orders", "--columns", "order_id,status", "-o", "csv", "--no-headers"});
    if (read.exit_code == 3) return "";
    EXPECT_EQ(read.exit_code, 0) << read.err << daemon.Log();
    std::vector<std::string> lines;
    for (const std::string_view line : SplitText(read.out, '\n')) {
      if (!line.empty()) lines.emplace_back(line);
    }
    std::sort(lines.begin(), lines.end());
    return JoinText(lines, ";");
  }

  // A statement that was not acknowledged may have been committed or not; one that was must be
  // seen.
  void ExpectConsistent(const Acknowledged& acknowledged, const std::string& rows) {
    std::vector<std::string> allowed;
    if (!acknowledged.insert) allowed.push_back("");
    if (!acknowledged.update) allowed.push_back("1,NEW;2,NEW");
    if (!acknowledged.remove) allowed.push_back("1,PAID;2,NEW");
    allowed.push_back("1,PAID");
    EXPECT_THAT(allowed, ::testing::Contains(rows));
  }

  // After a kill: starts anew, compares, compacts what is there to the end, compares again.
  void ExpectRecovers(DaemonProcess& daemon, const std::string& output) {
    ASSERT_TRUE(daemon.Start()) << daemon.Log();
    const Acknowledged acknowledged = WhatWasAcknowledged(output);
    const std::string rows = Rows(daemon);
    ExpectConsistent(acknowledged, rows);
    if (rows.empty()) return;
    const Finished compact = daemon.Tool({"compact",
                                          "sales.orders/order_date=2026-10-01",
                                          "--type",
                                          "major",
                                          "--wait",
                                          "--timeout",
                                          "60s"});
    EXPECT_EQ(compact.exit_code, 0) << compact.out << compact.err << daemon.Log();
    EXPECT_EQ(Rows(daemon), rows) << "after a compaction";
  }
};

// Runs the example until it ends or the daemon is gone; what it printed.
std::string RunExampleBeside(DaemonProcess& daemon, const std::string& output_file) {
  SystemClock clock;
  BackgroundProgram example(ExamplePath(), {daemon.endpoint()}, output_file);
  while (example.Running() && daemon.Running())
    clock.SleepUntil(clock.MonoNow() + milliseconds(2), {});
  example.Kill();
  return example.Output();
}

// The switch is not in what people run.
TEST_F(KillTest, TheDaemonOfProductionHasNoSuchPoints) {
  testing::TempDir dir;
  DaemonProcess daemon({.directory = dir.path(), .env = {{"SKEP_TEST_CRASH", "before-unit:1"}}});
  ASSERT_TRUE(daemon.Start()) << daemon.Log();
  const Finished created = daemon.Tool({"create", "table", "sales.t", "--columns", "id bigint"});
  EXPECT_EQ(created.exit_code, 0) << created.err << daemon.Log();
  EXPECT_EQ(ReadWholeFile(SkepdPath()).find("SKEP_TEST_CRASH"), std::string::npos);
  EXPECT_TRUE(daemon.Running());
}

// Each store unit of the example, before it is written and after it is durable.
TEST_F(KillTest, NothingAcknowledgedIsLostAtAnyUnit) {
  int crashed = 0;
  for (const char* kind : {"before-unit", "after-unit"}) {
    for (int unit = 1;; ++unit) {
      const std::string point = std::string(kind) + ":" + std::to_string(unit);
      SCOPED_TRACE(point);
      testing::TempDir dir;
      std::string output;
      {
        DaemonProcess daemon(CrashingAt(point, dir.path()));
        if (daemon.Start()) output = RunExampleBeside(daemon, dir / "example.out");
        if (daemon.Running()) break;  // the example needs fewer units: each one was a point
        EXPECT_EQ(daemon.exit_code(), -SIGKILL);
      }
      ++crashed;
      DaemonProcess again({.directory = dir.path(), .args = kQuickCleaner});
      ExpectRecovers(again, output);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(crashed, 20);
}

// Each step of the compaction, its publication, and each removal of the cleaner.
TEST_F(KillTest, NothingAcknowledgedIsLostAtAnyStepOfACompaction) {
  for (const char* point : {"step:planned",
                            "step:prepared",
                            "step:bucket-merged",
                            "step:sealed",
                            "step:verified",
                            "step:installed",
                            "step:tidied",
                            "step:published",
                            "removal:1",
                            "removal:2",
                            "removal:4"}) {
    SCOPED_TRACE(point);
    testing::TempDir dir;
    std::string output;
    {
      DaemonProcess daemon(CrashingAt(point, dir.path()));
      ASSERT_TRUE(daemon.Start()) << daemon.Log();
      output = RunExampleBeside(daemon, dir / "example.out");
      EXPECT_FALSE(daemon.Running()) << "the point was not reached";
      EXPECT_EQ(daemon.exit_code(), -SIGKILL);
    }
    DaemonProcess again({.directory = dir.path(), .args = kQuickCleaner});
    ExpectRecovers(again, output);
    if (HasFailure()) return;
  }
}

// A random moment of the example, a hundred times.
TEST_F(KillTest, NothingAcknowledgedIsLostAtRandomMoments) {
  const uint64_t seed = SystemRandom().NextUint64();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRandom random(seed);
  SystemClock clock;
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    testing::TempDir dir;
    DaemonProcess daemon({.directory = dir.path(), .args = kQuickCleaner});
    ASSERT_TRUE(daemon.Start()) << daemon.Log();
    BackgroundProgram example(ExamplePath(), {daemon.endpoint()}, dir / "example.out");
    clock.SleepUntil(clock.MonoNow() + milliseconds(random.NextUint64() % 800), {});
    daemon.Kill();
    example.Kill();
    ExpectRecovers(daemon, example.Output());
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace skep::e2e
