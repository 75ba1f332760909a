#include "storage/meta/log/log_store.h"

#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/crc32c.h"
#include "storage/base/log.h"
#include "storage/fs/posix_file_system.h"
#include "storage/meta/log/little_endian.h"
#include "storage/meta/log/recovery.h"
#include "storage/meta/log/segment.h"
#include "storage/meta/open_store.h"
#include "tests/storage/meta/sample_state.h"
#include "tests/storage/meta/store_files.h"
#include "tests/testing/fault_fs.h"
#include "tests/testing/fault_vfs.h"
#include "tests/testing/manual_executor.h"
#include "tests/testing/random_effects.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::meta {
namespace {

using skep::testing::FaultVfs;
using skep::testing::HasMessage;
using skep::testing::HasReason;
using skep::testing::IsOk;
using skep::testing::IsOkAndHolds;
using skep::testing::ManualClock;
using skep::testing::ManualExecutor;
using skep::testing::Mask;
using skep::testing::RandomEffects;
using skep::testing::TempDir;
using skep::testing::VfsCall;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// A store whose tables follow when the test says so.
class LogStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.executor = &executor_;
    options_.clock = &clock_;
    options_.tables.vfs = vfs_.name();
  }

  void Open() {
    store_.reset();
    SKEP_ASSERT_OK_AND_ASSIGN(store_, LogStore::Open(options_));
  }
  Effects Add(int size = 4) {
    const Effects unit = random_.NextUnit(size);
    EXPECT_THAT(store_->Append(unit), IsOk());
    ApplyEffects(expected_, unit);
    return unit;
  }
  void Follow() { executor_.Advance(milliseconds(100)); }
  // What the tables show to others.
  int64_t Shown() {
    DatabaseOptions options;
    options.path = options_.tables.path;
    auto db = Database::Open(options);
    EXPECT_THAT(db, IsOk());
    const auto seq = (*db)->QueryInt("SELECT seq FROM counters");
    (*db)->LeaveFilesAlone();
    return seq.ok() ? *seq : -1;
  }
  std::vector<std::string> LogFiles() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("skep.db-log.") && name != "skep.db-log.open")
        names.push_back(name.substr(12));
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  // The directory as a kill leaves it now.
  void CopyTo(const TempDir& killed) { CopyFiles(dir_.path(), killed.path()); }

  const TempDir dir_ = TempDir::InMemory();
  ManualClock clock_;
  ManualExecutor executor_{clock_};
  FaultVfs vfs_;
  LogStoreOptions options_ = LogOptionsFor(dir_.path());
  RandomEffects random_{11};
  StoredState expected_;
  std::unique_ptr<LogStore> store_;
};

TEST_F(LogStoreTest, TheTablesFollowAfterAWhileAndSayHowFarTheyAre) {
  Open();
  Add();
  Add();
  EXPECT_EQ(Shown(), 0);
  EXPECT_THAT(store_->Load(), IsOkAndHolds(expected_));
  executor_.Advance(milliseconds(99));
  EXPECT_EQ(Shown(), 0);
  executor_.Advance(milliseconds(1));
  EXPECT_EQ(Shown(), 2);
  Add();
  EXPECT_EQ(Shown(), 2);
  Follow();
  EXPECT_EQ(Shown(), 3);
  EXPECT_THAT(store_->Load(), IsOkAndHolds(expected_));
}

TEST_F(LogStoreTest, TheTablesFollowAtOnceWhereMuchWaits) {
  options_.apply_soon_bytes = 3000;
  Open();
  while (executor_.RunReady() == 0) Add();
  EXPECT_EQ(Shown(), expected_.counters.seq.value());
  EXPECT_GT(Shown(), 3);
}

TEST_F(LogStoreTest, AnOrderlyEndLeavesTheTablesOnly) {
  Open();
  for (int i = 0; i < 40; ++i) Add();
  EXPECT_THAT(LogFiles(), Not(IsEmpty()));
  store_.reset();
  EXPECT_THAT(LogFiles(), IsEmpty());
  EXPECT_THAT(LoadFrom(dir_.path()), IsOkAndHolds(expected_));
}

TEST_F(LogStoreTest, AKilledStoreFindsItsUnitsAgain) {
  Open();
  for (int i = 0; i < 60; ++i) {
    Add(i % 9);
    if (i % 13 == 12) Follow();
    const TempDir killed = TempDir::InMemory();
    CopyTo(killed);
    ASSERT_THAT(LoadFromLog(killed.path()), IsOkAndHolds(expected_)) << i;
  }
}

TEST_F(LogStoreTest, SegmentsAreUsedAgain) {
  Open();
  int64_t bytes = 0;
  for (int i = 0; i < 300; ++i) {
    Add();
    if (i % 3 == 2) Follow();
    bytes = 0;
    for (const std::string& name : LogFiles()) {
      bytes += static_cast<int64_t>(std::filesystem::file_size(dir_ / ("skep.db-log." + name)));
    }
    ASSERT_LE(bytes, 4 * 4096) << i;
    ASSERT_LE(LogFiles().size(), 4u);
  }
  // Numbers go on, whatever file they stand for.
  EXPECT_GT(std::stoi(LogFiles().back()), 8);
  EXPECT_THAT(store_->Load(), IsOkAndHolds(expected_));
}

TEST_F(LogStoreTest, AUnitMayBeLongerThanASegment) {
  Open();
  Add();
  for (const int size : {3'000, 1, 500, 2'000}) {
    Add(size);
    const TempDir killed = TempDir::InMemory();
    CopyTo(killed);
    ASSERT_THAT(LoadFromLog(killed.path()), IsOkAndHolds(expected_)) << size;
    ASSERT_THAT(store_->Load(), IsOkAndHolds(expected_)) << size;
  }
  Follow();
  EXPECT_EQ(Shown(), expected_.counters.seq.value());
  Add();
  EXPECT_THAT(store_->Load(), IsOkAndHolds(expected_));
}

TEST_F(LogStoreTest, AFullBacklogBringsTheTablesOn) {
  options_.backlog_bytes = 5000;
  Open();
  for (int i = 0; i < 60; ++i) Add();
  EXPECT_GT(Shown(), 20);
  EXPECT_LT(Shown(), 60);
  EXPECT_THAT(store_->Load(), IsOkAndHolds(expected_));
}

TEST_F(LogStoreTest, TablesThatCannotFollowCostNothingUntilTheLogIsFull) {
  options_.backlog_bytes = 20'000;
  Open();
  vfs_.Fail(Mask(VfsCall::kWrite), 1, SQLITE_FULL, FaultVfs::Span::kFromThere);
  absl::Status refused;
  Effects unit;
  int taken = 0;
  for (; refused.ok(); ++taken) {
    unit = random_.NextUnit(4);
    refused = store_->Append(unit);
    if (refused.ok()) ApplyEffects(expected_, unit);
    executor_.Advance(milliseconds(50));
    ASSERT_LT(taken, 1000);
  }
  EXPECT_GT(taken, 40);
  EXPECT_THAT(refused, HasReason(ErrorReason::kStoreFull));
  EXPECT_THAT(refused, HasMessage(HasSubstr("free space")));
  EXPECT_THAT(store_->Load(), IsOkAndHolds(expected_));
  EXPECT_THAT(store_->Append(unit), HasReason(ErrorReason::kStoreFull));
  const TempDir killed = TempDir::InMemory();
  CopyTo(killed);
  EXPECT_THAT(LoadFromLog(killed.path()), IsOkAndHolds(expected_));

  vfs_.Heal();  // somebody made room
  ASSERT_THAT(store_->Append(unit), IsOk());
  ApplyEffects(expected_, unit);
  executor_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(Shown(), expected_.counters.seq.value());
  EXPECT_THAT(store_->Load(), IsOkAndHolds(expected_));
}

TEST_F(LogStoreTest, TablesTryAgainByThemselves) {
  Open();
  vfs_.Fail(Mask(VfsCall::kWrite), 1, SQLITE_FULL, FaultVfs::Span::kFromThere);
  Add();
  Follow();
  EXPECT_EQ(Shown(), 0);
  vfs_.Heal();
  executor_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Shown(), 1);
}

TEST_F(LogStoreTest, SaysWhyTheTablesAreBehind) {
  Open();
  EXPECT_EQ(store_->TablesLag().bytes, 0);
  EXPECT_EQ(store_->TablesLag().limit, options_.backlog_bytes);
  vfs_.Fail(Mask(VfsCall::kWrite), 1, SQLITE_FULL, FaultVfs::Span::kFromThere);
  Add();
  EXPECT_GT(store_->TablesLag().bytes, 0);
  EXPECT_THAT(store_->TablesLag().cause, IsOk()) << "nobody tried yet";
  Follow();
  const Timestamp since = clock_.Now();
  executor_.Advance(std::chrono::seconds(5));  // in vain
  const MetaStore::Lag lag = store_->TablesLag();
  EXPECT_THAT(lag.cause, HasReason(ErrorReason::kStoreFull));
  EXPECT_EQ(lag.since, since);
  EXPECT_GT(lag.bytes, 0);
  vfs_.Heal();
  executor_.Advance(std::chrono::seconds(1));
  EXPECT_THAT(store_->TablesLag().cause, IsOk());
  EXPECT_EQ(store_->TablesLag().bytes, 0);
}

TEST_F(LogStoreTest, AnEndThatCannotEmptyTheLogKeepsIt) {
  Open();
  Add();
  vfs_.Fail(Mask(VfsCall::kWrite), 1, SQLITE_FULL, FaultVfs::Span::kFromThere);
  store_.reset();
  vfs_.Heal();
  EXPECT_THAT(LogFiles(), SizeIs(1));
  Open();
  EXPECT_THAT(store_->Load(), IsOkAndHolds(expected_));
}

TEST_F(LogStoreTest, TablesOfUnknownStateEndTheStoreAndLoseNothing) {
  Open();
  Add();
  vfs_.Fail(Mask(VfsCall::kSync), 1, SQLITE_IOERR_FSYNC);
  Follow();
  vfs_.Heal();
  EXPECT_THAT(store_->Append(random_.NextUnit(3)), HasReason(ErrorReason::kOutcomeUnknown));
  EXPECT_THAT(store_->Load(), Not(IsOk()));
  store_.reset();
  EXPECT_THAT(LoadFromLog(dir_.path()), IsOkAndHolds(expected_));
}

TEST_F(LogStoreTest, RefusesUnitsThatAreNotNewer) {
  Open();
  const Effects unit = Add();
  EXPECT_THAT(store_->Append(unit), HasReason(ErrorReason::kInternal));
  EXPECT_THAT(store_->Append({EraseTxn{TxnId(1)}}), HasReason(ErrorReason::kInternal));
  Add();
  EXPECT_THAT(store_->Load(), IsOkAndHolds(expected_));
}

TEST_F(LogStoreTest, RefusesTextThatTheTablesCannotHold) {
  Open();
  TableRow table;
  table.id = TableId(1);
  table.properties = {{"key", "\xff"}};
  const Put<CounterRow> counters{{CommitSeq(1), {}, {}, {}, {}, 0}};
  EXPECT_THAT(store_->Append({Put<TableRow>{table}, counters}), HasReason(ErrorReason::kInternal));
  Add();
  EXPECT_THAT(store_->Load(), IsOkAndHolds(expected_));
}

TEST_F(LogStoreTest, RefusesASecondDaemon) {
  Open();
  EXPECT_THAT(LogStore::Open(LogOptionsFor(dir_.path())), HasReason(ErrorReason::kStoreBusy));
  EXPECT_THAT(LoadFrom(dir_.path()), HasReason(ErrorReason::kStoreBusy));
  Add();
  EXPECT_THAT(store_->Load(), IsOkAndHolds(expected_));
}

TEST_F(LogStoreTest, TheTablesAreReadByTheSqliteShellMeanwhile) {
  if (std::system("command -v sqlite3 >/dev/null") != 0) GTEST_SKIP() << "no sqlite3";
  Open();
  Add();
  Follow();
  const std::string ask = "sqlite3 -readonly " + options_.tables.path +
                          " 'SELECT seq FROM counters' > " + (dir_ / "answer");
  ASSERT_EQ(std::system(ask.c_str()), 0);
  std::ifstream answer(dir_ / "answer");
  int64_t seq = 0;
  answer >> seq;
  EXPECT_EQ(seq, 1);
  Add();
  Follow();
  EXPECT_THAT(store_->Load(), IsOkAndHolds(expected_));
}

TEST_F(LogStoreTest, WorksWithAThreadOfItsOwn) {
  options_.executor = nullptr;
  options_.clock = nullptr;
  options_.tables.vfs.clear();
  options_.apply_delay = milliseconds(0);
  options_.apply_soon_bytes = 1;
  Open();
  for (int i = 0; i < 2'000; ++i) {
    Add();
    if (i % 500 == 499) {
      const absl::StatusOr<StoredState> loaded = store_->Load();
      ASSERT_THAT(loaded, IsOk());
      ASSERT_EQ(*loaded, expected_) << i;
    }
  }
  store_.reset();
  EXPECT_THAT(LogFiles(), IsEmpty());
  EXPECT_THAT(LoadFrom(dir_.path()), IsOkAndHolds(expected_));
}

// -- a start

class LogRecovery : public LogStoreTest {
 protected:
  // Units in the tables, then units in two segments, then a kill.
  void MakeKilled() {
    Open();
    for (int i = 0; i < 3; ++i) Add();
    Follow();
    while (LogFiles().size() < 2 || expected_.counters.seq.value() < 12) Add();
    CopyTo(killed_);
    vfs_.Heal();
    store_.reset();
  }
  absl::StatusOr<StoredState> Load() { return LoadFromLog(killed_.path()); }
  std::string Segment(int number) { return killed_ / ("skep.db-log." + std::to_string(number)); }
  std::string Read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void Write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  const TempDir killed_ = TempDir::InMemory();
};

TEST_F(LogRecovery, TakesUpTheLogOnceHoweverOftenItIsInterrupted) {
  MakeKilled();
  int interrupted = 0;
  for (int nth = 1;; ++nth) {
    FaultVfs vfs;
    vfs.Fail(skep::testing::kAllVfsCalls, nth, SQLITE_IOERR, FaultVfs::Span::kFromThere);
    LogStoreOptions options = LogOptionsFor(killed_.path());
    options.tables.vfs = vfs.name();
    const absl::Status opened = LogStore::Open(options).status();
    if (opened.ok()) break;
    ++interrupted;
    ASSERT_LT(nth, 2'000);
    const TempDir copy = TempDir::InMemory();
    CopyFiles(killed_.path(), copy.path());
    ASSERT_THAT(LoadFromLog(copy.path()), IsOkAndHolds(expected_)) << nth;
  }
  EXPECT_GT(interrupted, 20);
  EXPECT_THAT(Load(), IsOkAndHolds(expected_));
}

TEST_F(LogRecovery, ATornLastUnitIsNormal) {
  MakeKilled();
  Write(Segment(2), Read(Segment(2)));
  const std::string bytes = Read(Segment(2));
  const auto header = DecodeSegmentHeader(bytes, "");
  ASSERT_THAT(header, IsOk());
  const auto records = ScanSegment(bytes, *header, "");
  ASSERT_THAT(records, IsOk());
  ASSERT_THAT(*records, Not(IsEmpty()));
  std::string torn = bytes;
  torn[static_cast<size_t>(records->back().body.data() - bytes.data())] ^= 1;
  Write(Segment(2), torn);
  ConfigureLogging({.level = LogLevel::kWarn, .file = dir_ / "daemon.log"});
  const absl::StatusOr<StoredState> loaded = Load();
  FlushLog();
  ConfigureLogging({.level = LogLevel::kWarn});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(loaded->counters.seq.value(), expected_.counters.seq.value() - 1);
  // A unit that rotted would look the same.
  const auto offset = records->back().body.data() - kRecordHeaderSize - bytes.data();
  EXPECT_THAT(Read(dir_ / "daemon.log"),
              AllOf(HasSubstr("store.log_torn"),
                    HasSubstr("path=" + Segment(2)),
                    HasSubstr("offset=" + std::to_string(offset) + " bytes_not_zero=")));
}

TEST_F(LogRecovery, AWholeLogIsTakenUpWithoutAWarning) {
  MakeKilled();
  ConfigureLogging({.level = LogLevel::kWarn, .file = dir_ / "daemon.log"});
  EXPECT_THAT(Load(), IsOkAndHolds(expected_));
  FlushLog();
  ConfigureLogging({.level = LogLevel::kWarn});
  EXPECT_THAT(Read(dir_ / "daemon.log"), Not(HasSubstr("store.log_torn")));
}

TEST_F(LogRecovery, AFileThatWasCutShortStopsTheStart) {
  MakeKilled();
  const auto size = std::filesystem::file_size(Segment(2));
  for (const auto left : {size - 1, size / 2, std::uintmax_t{100}, std::uintmax_t{0}}) {
    SCOPED_TRACE(left);
    std::filesystem::resize_file(Segment(2), left);
    const absl::Status status = Load().status();
    EXPECT_THAT(status, HasReason(ErrorReason::kCorruptStore));
    EXPECT_EQ(MetadataOf(status)["path"], Segment(2));
  }
}

TEST_F(LogRecovery, DamageBeforeTheEndStopsTheStart) {
  MakeKilled();
  std::string bytes = Read(Segment(1));
  const auto records = ScanSegment(bytes, *DecodeSegmentHeader(bytes, ""), "");
  ASSERT_THAT(records, IsOk());
  // The last unit of a segment that another one follows.
  bytes[static_cast<size_t>(records->back().body.data() - bytes.data())] ^= 1;
  Write(Segment(1), bytes);
  const absl::Status status = Load().status();
  EXPECT_THAT(status, HasReason(ErrorReason::kCorruptStore));
  EXPECT_EQ(MetadataOf(status)["path"], Segment(2));
  EXPECT_THAT(Load(), HasReason(ErrorReason::kCorruptStore));  // and again
}

// Behind checksums that are right: no damage, but what this program does not write.
TEST_F(LogRecovery, UnitsOfAnotherProgramAreRefusedWithTheirPlace) {
  MakeKilled();
  const std::string whole = Read(Segment(2));
  const SegmentHeader segment = *DecodeSegmentHeader(whole, "");
  const auto records = ScanSegment(whole, segment, "");
  ASSERT_THAT(records, IsOk());
  const ScannedRecord& last = records->back();
  const auto at = static_cast<size_t>(last.offset);
  const auto seal = [&](std::string& bytes) {
    const auto body = at + kRecordHeaderSize;
    PutNumber(bytes, at + 12, Crc32c(std::string_view(bytes).substr(body, last.body.size())));
    std::string salt(8, '\0');
    PutNumber(salt, 0, segment.salt);
    PutNumber(bytes,
              at + 4,
              Crc32c(std::string_view(bytes).substr(at + 8, kRecordHeaderSize - 8), Crc32c(salt)));
  };
  std::string bytes = whole;
  seal(bytes);
  ASSERT_EQ(bytes, whole) << "the seal is the record's own";
  struct Case {
    const char* name;
    size_t at;
    char value;
    const char* says;
  };
  for (const Case& c : {Case{"tag", at + kRecordHeaderSize, '\x60', "an effect with tag 96"},
                        Case{"reserved field", at + 20, '\1', "a reserved field that is not 0"}}) {
    SCOPED_TRACE(c.name);
    bytes = whole;
    bytes[c.at] = c.value;
    seal(bytes);
    Write(Segment(2), bytes);
    const absl::Status status = Load().status();
    EXPECT_THAT(status, HasReason(ErrorReason::kCorruptStore));
    EXPECT_THAT(status, HasMessage(AllOf(HasSubstr(c.says), HasSubstr(Segment(2)))));
    EXPECT_EQ(MetadataOf(status)["path"], Segment(2));
    EXPECT_EQ(MetadataOf(status)["offset"], std::to_string(last.offset));
  }
  Write(Segment(2), whole);
  EXPECT_THAT(Load(), IsOkAndHolds(expected_)) << "a start that was refused took nothing away";
}

TEST_F(LogRecovery, AStartOnAFullDiskSaysWhatItNeedsRoomFor) {
  MakeKilled();
  LogStoreOptions options = LogOptionsFor(killed_.path());
  options.tables.vfs = vfs_.name();
  for (const StoreForm form : {StoreForm::kLog, StoreForm::kTables}) {
    vfs_.Fail(Mask(VfsCall::kWrite), 1, SQLITE_FULL, FaultVfs::Span::kFromThere);
    const absl::Status status = OpenStore(form, options).status();
    EXPECT_THAT(status, HasReason(ErrorReason::kStoreFull));
    EXPECT_THAT(status, HasMessage(HasSubstr("free some, then start again. Nothing is lost")));
    vfs_.Heal();
  }
  EXPECT_THAT(Load(), IsOkAndHolds(expected_));
}

// nothing between tables and log is missing unseen.
TEST_F(LogRecovery, AMissingSegmentStopsTheStart) {
  MakeKilled();
  std::filesystem::remove(Segment(1));
  const absl::Status status = Load().status();
  EXPECT_THAT(status, HasReason(ErrorReason::kCorruptStore));
  EXPECT_THAT(status, HasMessage(HasSubstr("move the files of the log away")));
}

TEST_F(LogRecovery, AMissingLogStopsTheStartUnlessTheStoreWasStoppedInOrder) {
  MakeKilled();
  std::filesystem::remove(Segment(1));
  std::filesystem::remove(Segment(2));
  const std::string before = Read(killed_ / "skep.db");
  for (const StoreForm form : {StoreForm::kLog, StoreForm::kTables}) {
    const absl::Status status = OpenStore(form, LogOptionsFor(killed_.path())).status();
    EXPECT_THAT(status, HasReason(ErrorReason::kCorruptStore));
    EXPECT_THAT(status, HasMessage(HasSubstr("remove " + (killed_ / "skep.db-log.open"))));
  }
  EXPECT_EQ(Read(killed_ / "skep.db"), before);
  // The way out leads on; and an orderly end leaves no mark.
  std::filesystem::remove(killed_ / "skep.db-log.open");
  EXPECT_THAT(Load(), IsOk());
  EXPECT_FALSE(std::filesystem::exists(killed_ / "skep.db-log.open"));
  EXPECT_THAT(Load(), IsOk());
}

TEST_F(LogRecovery, ALogOfAnotherStoreStopsTheStart) {
  MakeKilled();
  const TempDir other = TempDir::InMemory();
  EXPECT_THAT(LoadFromLog(other.path()), IsOk());
  CopyLog(killed_.path(), other.path());
  const absl::Status status = LoadFromLog(other.path()).status();
  EXPECT_THAT(status, HasReason(ErrorReason::kCorruptStore));
  EXPECT_THAT(status, HasMessage(HasSubstr("another store")));
}

TEST_F(LogRecovery, ALogOfAnotherVersionStopsTheStartBeforeTheTablesAreTouched) {
  MakeKilled();
  const std::string before = Read(killed_ / "skep.db");
  std::string bytes = Read(Segment(2));
  PutNumber(bytes, 8, kLogFormat + 1);
  Write(Segment(2), bytes);
  EXPECT_THAT(Load(), HasReason(ErrorReason::kNotSupported));
  EXPECT_EQ(Read(killed_ / "skep.db"), before);
  EXPECT_TRUE(std::filesystem::exists(killed_ / "skep.db-wal"));
}

TEST_F(LogRecovery, WhatWasInTheMakingIsPassedOver) {
  MakeKilled();
  Write(killed_ / "skep.db-log.new", "half a seg");
  EXPECT_THAT(Load(), IsOkAndHolds(expected_));
  EXPECT_FALSE(std::filesystem::exists(killed_ / "skep.db-log.new"));
}

// A removal of the segments that did not become durable: they come back beside those of the next
// run.
TEST_F(LogRecovery, UnitsThatTheTablesHaveArePassedOver) {
  MakeKilled();
  const TempDir old = TempDir::InMemory();
  CopyLog(killed_.path(), old.path());
  LogStoreOptions options = LogOptionsFor(killed_.path());
  const TempDir again = TempDir::InMemory();
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto store, LogStore::Open(options));
    const Effects unit = random_.NextUnit(3);
    ASSERT_THAT(store->Append(unit), IsOk());
    ApplyEffects(expected_, unit);
    CopyFiles(killed_.path(), again.path());
  }
  CopyLog(old.path(), again.path());
  EXPECT_THAT(LoadFromLog(again.path()), IsOkAndHolds(expected_));
}

// -- the two forms

TEST_F(LogRecovery, EachFormOpensWhatTheOtherLeft) {
  MakeKilled();
  LogStoreOptions options = LogOptionsFor(killed_.path());
  for (const StoreForm form :
       {StoreForm::kTables, StoreForm::kLog, StoreForm::kLog, StoreForm::kTables}) {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto store, OpenStore(form, options));
    EXPECT_THAT(store->Load(), IsOkAndHolds(expected_));
    const Effects unit = random_.NextUnit(5);
    ASSERT_THAT(store->Append(unit), IsOk());
    ApplyEffects(expected_, unit);
    EXPECT_THAT(store->Load(), IsOkAndHolds(expected_));
  }
  EXPECT_THAT(LoadFrom(killed_.path()), IsOkAndHolds(expected_));
}

TEST_F(LogRecovery, CheckLooksAtTablesAndLog) {
  const TempDir sound = TempDir::InMemory();
  LogStoreOptions options = LogOptionsFor(sound.path());
  options.executor = &executor_;
  options.clock = &clock_;
  const TempDir killed = TempDir::InMemory();
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto store, LogStore::Open(options));
    LockRow lock;
    lock.lock = LockId(5);
    lock.component = 1;
    lock.txn = TxnId(4);
    lock.resource = {"sales", "", ""};
    const Put<CounterRow> counters{
        {CommitSeq(1), TxnId(9), LockId(6), CompactionId(1), TableId(1), 0}};
    ASSERT_THAT(store->Append({Put<LockRow>{lock}, counters}), IsOk());
    CopyFiles(sound.path(), killed.path());
  }
  const auto findings = CheckStore(LogOptionsFor(killed.path()), SqliteStore::Depth::kDeep);
  EXPECT_THAT(findings, IsOkAndHolds(ElementsAre(HasSubstr("transaction 4, which is not open"))));
  // Nothing is made by a check.
  const TempDir empty = TempDir::InMemory();
  EXPECT_FALSE(CheckStore(LogOptionsFor(empty.path()), SqliteStore::Depth::kQuick).ok());
  EXPECT_TRUE(std::filesystem::is_empty(empty.path()));
  std::ofstream(empty / "skep.db").close();
  EXPECT_THAT(CheckStore(LogOptionsFor(empty.path()), SqliteStore::Depth::kQuick),
              HasReason(ErrorReason::kCorruptStore));
  EXPECT_EQ(std::filesystem::file_size(empty / "skep.db"), 0u);
}

}  // namespace
}  // namespace skep::meta
