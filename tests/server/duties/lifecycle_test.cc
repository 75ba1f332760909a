// Tables live their whole life under the duties: written, compacted, cleaned, read all the while.

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/duties/duties.h"
#include "server/duties/register_scan.h"
#include "tests/server/duties/duty_world.h"
#include "tests/storage/format/fixtures.h"
#include "tests/testing/status_matchers.h"

namespace skep::duties {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kDay = "order_date=2026-10-01";
constexpr const char* kPaid = R"((2,536870912,0) {"id":1,"status":"paid"})";
const std::vector<std::string> kInputs = {"delete_delta_0000002_0000002_0000",
                                          "delete_delta_0000003_0000003_0000",
                                          "delta_0000001_0000001_0000",
                                          "delta_0000002_0000002_0000"};

TEST(Lifecycle, CompactsAndCleansTheWorkedExample) {
  DutyWorld world;
  world.CreateTable("orders", "order_date date");
  world.WorkedExample("orders", kDay);
  ASSERT_EQ(world.Names("orders", kDay), kInputs);
  const CompactionId id = world.Enqueue("orders", kDay, CompactionType::kMajor);

  world.WorkOnce();
  const CompactionRow done = world.Compaction(id);
  EXPECT_EQ(done.state, CompactionState::kReadyForCleaning);
  EXPECT_EQ(done.highest_write_id, WriteId(3));
  const std::string base = "base_0000003_v000000" + done.txn.ToString();
  EXPECT_THAT(world.Names("orders", kDay), Contains(base));
  EXPECT_THAT(world.Names("orders", kDay), SizeIs(5));

  world.CleanOnce();
  EXPECT_EQ(world.Compaction(id).state, CompactionState::kSucceeded);
  EXPECT_THAT(world.Names("orders", kDay), ElementsAre(base));
  EXPECT_THAT(world.Rows(world.Open(), "orders", kDay), ElementsAre(kPaid));
  world.port.Restart();
  EXPECT_THAT(world.Rows(world.Open(), "orders", kDay), ElementsAre(kPaid));
}

TEST(Lifecycle, KeepsDirectoriesForAReaderUntilItEnds) {
  DutyWorld world;
  world.CreateTable("orders", "order_date date");
  world.WorkedExample("orders", kDay);
  const TxnId reader = world.Open(TxnType::kReadOnly);
  const TxnId late = world.Open(TxnType::kReadOnly);
  EXPECT_THAT(world.Rows(reader, "orders", kDay), ElementsAre(kPaid));
  const CompactionId id = world.Enqueue("orders", kDay, CompactionType::kMajor);
  world.WorkOnce();

  world.CleanOnce();
  EXPECT_THAT(world.Names("orders", kDay), SizeIs(5));
  EXPECT_EQ(world.Compaction(id).state, CompactionState::kReadyForCleaning);
  EXPECT_THAT(world.Rows(reader, "orders", kDay), ElementsAre(kPaid));

  EXPECT_THAT(world.Commit(late), IsOk());
  world.CleanOnce();
  EXPECT_THAT(world.Names("orders", kDay), SizeIs(5)) << "the first reader named the table";

  EXPECT_THAT(world.Rows(reader, "orders", kDay), ElementsAre(kPaid));
  EXPECT_THAT(world.Commit(reader), IsOk());
  world.CleanOnce();
  EXPECT_THAT(world.Names("orders", kDay), SizeIs(1));
  EXPECT_EQ(world.Compaction(id).state, CompactionState::kSucceeded);
}

TEST(Lifecycle, ReadersOfOtherTablesHoldNothingBack) {
  DutyWorld world;
  world.CreateTable("orders");
  world.CreateTable("other");
  world.WorkedExample("orders", "");
  world.InsertOne("other");
  const TxnId reader = world.Open(TxnType::kReadOnly);
  EXPECT_THAT(world.Rows(reader, "other"), SizeIs(1));
  world.Enqueue("orders", "", CompactionType::kMajor);
  world.WorkOnce();
  world.CleanOnce();
  EXPECT_THAT(world.Names("orders"), SizeIs(1));
  // R-8: what it did not name in time it cannot read any more; never fewer rows.
  state::GetValidWriteIds command;
  command.txn = reader;
  command.tables = {NameOf("orders")};
  EXPECT_THAT(world.port.Do([&](state::State& s, state::Now now, state::Unit& unit) {
    return s.ValidWriteIdsOf(command, now, unit);
  }),
              HasReason(ErrorReason::kSnapshotTooOld));
}

TEST(Lifecycle, LeavesToALaterCompactionWhatIsItsOwn) {  // CL-2, compaction §9.3
  DutyWorld world;
  world.CreateTable("t");
  world.InsertOne("t");
  world.InsertOne("t");
  const CompactionId first = world.Enqueue("t", "", CompactionType::kMinor);
  world.WorkOnce();
  world.InsertOne("t");
  const TxnId reader = world.Open(TxnType::kReadOnly);
  EXPECT_THAT(world.Rows(reader, "t"), SizeIs(3));
  const CompactionId second = world.Enqueue("t", "", CompactionType::kMinor);
  world.WorkOnce();

  world.CleanOnce();
  EXPECT_EQ(world.Compaction(first).state, CompactionState::kSucceeded);
  EXPECT_EQ(world.Compaction(second).state, CompactionState::kReadyForCleaning);
  const std::string first_output =
      "delta_0000001_0000002_v000000" + world.Compaction(first).txn.ToString();
  EXPECT_THAT(world.Names("t"), Contains(first_output));
  EXPECT_THAT(world.Names("t"), Contains("delta_0000003_0000003_0000"));
  EXPECT_THAT(world.Names("t"), Not(Contains("delta_0000001_0000001_0000")));
  EXPECT_THAT(world.Rows(reader, "t"), SizeIs(3));

  EXPECT_THAT(world.Commit(reader), IsOk());
  world.CleanOnce();
  EXPECT_EQ(world.Compaction(second).state, CompactionState::kSucceeded);
  EXPECT_THAT(world.Names("t"), SizeIs(1));
  EXPECT_THAT(world.Rows(world.Open(), "t"), SizeIs(3));
}

TEST(Lifecycle, TakesOverARealTableCompactsAndCleansIt) {
  SKEP_REQUIRE_FIXTURES();
  DutyWorld world;
  const std::string dir = world.Warehouse() + "/sales.db/nation";
  std::filesystem::create_directories(dir);
  std::filesystem::copy(
      testing::Fixture("acid/nation-25k-deletes"), dir, std::filesystem::copy_options::recursive);
  SKEP_ASSERT_OK_AND_ASSIGN(const RegisterScanResult found,
                            ScanForRegister(world.fs, {NameOf("nation"), dir, {}, "", ""}));
  ASSERT_THAT(world.port.Do([&](state::State& s, state::Now now, state::Unit& unit) {
    return s.Register(found.command, now, unit);
  }),
              IsOk());
  const auto rows = [&] {
    const TxnId reader = world.Open(TxnType::kReadOnly);
    std::vector<std::string> all = world.Rows(reader, "nation", "", found.command.schema.columns);
    EXPECT_THAT(world.Commit(reader), IsOk());
    return all;
  };
  const std::vector<std::string> before = rows();
  EXPECT_THAT(before, SizeIs(23000));
  const CompactionId id = world.Enqueue("nation", "", CompactionType::kMajor);
  world.WorkOnce();
  world.CleanOnce();
  EXPECT_EQ(world.Compaction(id).state, CompactionState::kSucceeded);
  EXPECT_THAT(world.Names("nation"),
              ElementsAre("base_0000004_v000000" + world.Compaction(id).txn.ToString()));
  EXPECT_TRUE(rows() == before) << "row ids and values";
}

// All duties together, as the daemon starts them: nobody asks for anything.
TEST(Lifecycle, RunsByItself) {
  DutyWorld world;
  world.CreateTable("t");
  Duties::Options options;
  options.workers = 2;
  Duties duties(
      options,
      world.port,
      [&](const std::string&) -> Executor& { return world.executor; },
      world.clock,
      world.fs);
  duties.Start();
  for (int i = 0; i < 11; ++i) world.InsertOne("t");
  world.executor.Advance(std::chrono::minutes(6));
  ASSERT_THAT(world.Compactions(), SizeIs(1));
  EXPECT_EQ(world.Compactions()[0].state, CompactionState::kSucceeded);
  EXPECT_EQ(world.Compactions()[0].type, CompactionType::kMajor);
  EXPECT_EQ(world.Compactions()[0].initiator, "initiator");
  EXPECT_THAT(world.Names("t"), SizeIs(1));
  EXPECT_THAT(world.Rows(world.Open(), "t"), SizeIs(11));
  bool stopped = false;
  duties.Stop([&] { stopped = true; });
  world.executor.RunReady();
  EXPECT_TRUE(stopped);
}

}  // namespace
}  // namespace skep::duties
