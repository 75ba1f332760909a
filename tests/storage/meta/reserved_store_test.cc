#include "storage/meta/reserved_store.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "tests/testing/manual_clock.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::meta {
namespace {

using std::chrono::seconds;
using testing::HasReason;
using testing::IsOk;

absl::Status Full() { return MakeError(ErrorReason::kStoreFull, "no space"); }

class FakeReserve final : public DiskReserve {
 public:
  FakeReserve(bool& room, bool& held) : room_(room), held_(held) {}
  bool Take() override { return held_ = room_; }
  void GiveBack() override { held_ = false; }

 private:
  bool& room_;
  bool& held_;
};

class ReservedStoreTest : public ::testing::Test {
 protected:
  void Open() {
    auto memory = std::make_unique<testing::MemoryStore>();
    memory_ = memory.get();
    store_ = std::make_unique<ReservedStore>(
        std::move(memory), std::make_unique<FakeReserve>(room_, held_), clock_);
  }
  Effects Unit() {
    CounterRow row;
    row.seq = CommitSeq(++seq_);
    return {Put<CounterRow>{row}};
  }

  testing::ManualClock clock_;
  bool room_ = true;
  bool held_ = false;
  int64_t seq_ = 0;
  testing::MemoryStore* memory_ = nullptr;
  std::unique_ptr<ReservedStore> store_;
};

TEST_F(ReservedStoreTest, WritesTheUnitThatFindsTheDiskFullIntoTheReserve) {
  Open();
  EXPECT_TRUE(held_);
  EXPECT_TRUE(store_->HasRoom());
  room_ = false;
  memory_->FailAppend(1, Full());
  EXPECT_THAT(store_->Append(Unit()), IsOk());
  EXPECT_EQ(memory_->state().counters.seq, CommitSeq(1));
  EXPECT_FALSE(held_) << "its room is the unit's";
  EXPECT_FALSE(store_->HasRoom());
  EXPECT_THAT(store_->Append(Unit()), IsOk()) << "what ends things goes on";
  clock_.Advance(seconds(1));
  EXPECT_FALSE(store_->HasRoom());
  room_ = true;
  clock_.Advance(seconds(1));
  EXPECT_TRUE(store_->HasRoom()) << "somebody made room";
  EXPECT_TRUE(held_);
}

TEST_F(ReservedStoreTest, TellsHowFarTheTablesOfTheStoreAreBehind) {
  Open();
  memory_->SetLag({.bytes = 5, .limit = 9, .cause = Full(), .since = {}});
  EXPECT_EQ(store_->TablesLag().bytes, 5);
  EXPECT_THAT(store_->TablesLag().cause, HasReason(ErrorReason::kStoreFull));
}

TEST_F(ReservedStoreTest, SaysSoWhenTheReserveIsUsedUpToo) {
  room_ = false;
  Open();
  EXPECT_FALSE(store_->HasRoom());
  memory_->FailAppend(1, Full());
  EXPECT_THAT(store_->Append(Unit()), HasReason(ErrorReason::kStoreFull));
  EXPECT_THAT(store_->Append(Unit()), IsOk());
}

TEST_F(ReservedStoreTest, RepeatsNothingElse) {
  Open();
  memory_->FailAppend(1, MakeError(ErrorReason::kOutcomeUnknown, "EIO"));
  EXPECT_THAT(store_->Append(Unit()), HasReason(ErrorReason::kOutcomeUnknown));
  EXPECT_EQ(memory_->units(), 0);
  EXPECT_TRUE(held_);
}

TEST(FileReserve, TakesUpTheBytesAndGoesWithItsOwner) {
  testing::TempDir dir;
  const std::string store = dir.path() + "/skep.db";
  const std::string file = store + "-reserve";
  std::ofstream(file) << "left by a kill";
  auto reserve = FileReserve(store, 1 << 20);
  ASSERT_TRUE(reserve->Take());
  EXPECT_EQ(std::filesystem::file_size(file), 1u << 20);
  reserve->GiveBack();
  EXPECT_FALSE(std::filesystem::exists(file));
  ASSERT_TRUE(reserve->Take());
  reserve.reset();
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(FileReserve, ThatDoesNotFitLeavesNothing) {
  testing::TempDir dir;
  auto reserve = FileReserve(dir.path() + "/skep.db", int64_t{1} << 62);
  EXPECT_FALSE(reserve->Take());
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

}  // namespace
}  // namespace skep::meta
