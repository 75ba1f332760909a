#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "storage/base/status_macros.h"
#include "storage/fs/posix_in_place_file.h"
#include "storage/meta/sqlite/sqlite_store.h"
#include "tests/storage/meta/store_files.h"
#include "tests/testing/fault_vfs.h"
#include "tests/testing/random_effects.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::meta {
namespace {

using skep::testing::FaultVfs;
using skep::testing::HasReason;
using skep::testing::IsOk;
using skep::testing::kAllVfsCalls;
using skep::testing::Mask;
using skep::testing::RandomEffects;
using skep::testing::TempDir;
using skep::testing::VfsCall;

constexpr int kUnits = 5;
constexpr uint64_t kSeed = 5;

// What a caller knows after some units: what must be there, and what may be.
struct Known {
  StoredState sure;
  StoredState maybe;  // equals `sure` unless the last unit's outcome is unknown
  absl::Status last;
  int acknowledged = 0;
};

SqliteOptions FaultOptions(const TempDir& dir, const FaultVfs& vfs) {
  SqliteOptions options = OptionsFor(dir.path());
  options.vfs = vfs.name();
  options.checkpoint_frames = 8;  // checkpoints belong to the story
  return options;
}

// Opens and appends units until one fails for good. Refused units must have left no trace.
Known RunUnits(const SqliteOptions& options, std::unique_ptr<SqliteStore>& store) {
  Known known;
  absl::StatusOr<std::unique_ptr<SqliteStore>> opened = SqliteStore::Open(options);
  if (!opened.ok()) {
    known.last = opened.status();
    return known;
  }
  store = *std::move(opened);
  // Whatever failed on the way, a store that opens works with its log (a switch that failed
  // unnoticed would leave it with SQLite's slower journal).
  EXPECT_TRUE(std::filesystem::exists(options.path + "-wal"));
  RandomEffects random(kSeed);
  for (int i = 0; i < kUnits; ++i) {
    const Effects unit = random.NextUnit(4);
    known.last = store->Append(unit);
    const ErrorReason reason = ReasonOf(known.last);
    if (known.last.ok()) {
      ApplyEffects(known.sure, unit);
      known.maybe = known.sure;
      ++known.acknowledged;
    } else if (reason == ErrorReason::kOutcomeUnknown) {
      ApplyEffects(known.maybe, unit);
      return known;
    } else if (reason == ErrorReason::kCorruptStore) {
      return known;
    } else {
      EXPECT_TRUE(reason == ErrorReason::kStoreFull || reason == ErrorReason::kStoreBusy ||
                  reason == ErrorReason::kStorageUnwritable)
          << known.last;
    }
    store->Idle();
  }
  return known;
}

void ExpectKept(const Known& known, const std::string& dir, const std::string& how) {
  const absl::StatusOr<StoredState> loaded = LoadFrom(dir);
  ASSERT_THAT(loaded, IsOk()) << how;
  EXPECT_TRUE(*loaded == known.sure || *loaded == known.maybe)
      << how << ": " << known.acknowledged << " units were acknowledged, the store is at "
      << loaded->counters.seq << " after " << known.last;
}

struct Fault {
  std::string name;
  uint32_t calls;
  int code;
};

class SqliteFault : public ::testing::TestWithParam<Fault> {
 protected:
  // Fails the nth such call for n = 1, 2, … until a run meets no failure.
  void FailEveryNth(FaultVfs::Span span) {
    int met = 0;
    for (int nth = 1;; ++nth) {
      SCOPED_TRACE(GetParam().name + " " + std::to_string(nth));
      const TempDir dir = TempDir::InMemory();
      const TempDir killed = TempDir::InMemory();
      const TempDir power_cut = TempDir::InMemory();
      FaultVfs vfs;
      vfs.Fail(GetParam().calls, nth, GetParam().code, span);
      std::unique_ptr<SqliteStore> store;
      const Known known = RunUnits(FaultOptions(dir, vfs), store);
      const bool fired = vfs.fired();
      vfs.Heal();
      CopyFiles(dir.path(), killed.path());
      vfs.SaveSyncedImage(power_cut.path());
      store.reset();
      ExpectKept(known, killed.path(), "after a kill");
      ExpectKept(known, power_cut.path(), "after a power cut");
      ExpectKept(known, dir.path(), "after an orderly end");
      if (HasFatalFailure() || HasNonfatalFailure()) return;
      if (!fired) {
        EXPECT_EQ(known.acknowledged, kUnits);
        break;
      }
      ++met;
      ASSERT_LT(nth, 2'000);
    }
    EXPECT_GT(met, 0) << "no call was made to fail";
  }
};

TEST_P(SqliteFault, OneFailureIsToldHonestly) { FailEveryNth(FaultVfs::Span::kOnce); }

TEST_P(SqliteFault, FailureFromThereOnIsToldHonestly) { FailEveryNth(FaultVfs::Span::kFromThere); }

INSTANTIATE_TEST_SUITE_P(
    Calls,
    SqliteFault,
    ::testing::Values(Fault{"WriteFull", Mask(VfsCall::kWrite), SQLITE_FULL},
                      Fault{"WriteError", Mask(VfsCall::kWrite), SQLITE_IOERR_WRITE},
                      Fault{"Sync", Mask(VfsCall::kSync), SQLITE_IOERR_FSYNC},
                      Fault{"Open", Mask(VfsCall::kOpen), SQLITE_CANTOPEN},
                      Fault{"Read", Mask(VfsCall::kRead), SQLITE_IOERR_READ},
                      Fault{"FileSize", Mask(VfsCall::kFileSize), SQLITE_IOERR_FSTAT},
                      Fault{"SharedMemory", Mask(VfsCall::kShmMap), SQLITE_IOERR_SHMSIZE}),
    [](const auto& info) { return info.param.name; });

// A kill at some moment, then an error in the middle of the recovery from it, then a good start.
TEST(SqliteRecovery, ThatFailsLosesNothing) {
  const TempDir dir = TempDir::InMemory();
  FaultVfs quiet;
  std::unique_ptr<SqliteStore> store;
  SqliteOptions options = FaultOptions(dir, quiet);
  options.checkpoint_frames = 10'000;  // everything is still in the log
  const Known known = RunUnits(options, store);
  ASSERT_THAT(known.last, IsOk());
  int met = 0;
  for (int nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    const TempDir copy = TempDir::InMemory();
    const TempDir power_cut = TempDir::InMemory();
    CopyFiles(dir.path(), copy.path());
    FaultVfs vfs;
    vfs.Fail(kAllVfsCalls, nth, SQLITE_IOERR, FaultVfs::Span::kFromThere);
    SqliteOptions again = OptionsFor(copy.path());
    again.vfs = vfs.name();
    absl::StatusOr<std::unique_ptr<SqliteStore>> opened = SqliteStore::Open(again);
    if (!vfs.fired()) {
      EXPECT_THAT(opened, IsOk());
      break;
    }
    // Whatever fails before the store is open is told; nothing was promised yet.
    EXPECT_FALSE(opened.ok());
    opened = absl::UnknownError("");
    ExpectKept(known, copy.path(), "after a good start");
    ++met;
    ASSERT_LT(nth, 2'000);
  }
  EXPECT_GT(met, 10);
}

// Says what was written in place of which file, and whether a sync came after the last of it.
class RecordingFiles final : public fs::InPlaceFiles {
 public:
  struct Seen {
    int64_t written = 0;
    bool synced = false;
  };
  const std::map<std::string, Seen>& seen() const { return seen_; }

  absl::StatusOr<std::unique_ptr<fs::InPlaceFile>> OpenInPlace(const std::string& path) override {
    SKEP_ASSIGN_OR_RETURN(std::unique_ptr<fs::InPlaceFile> file, real_.OpenInPlace(path));
    return std::make_unique<File>(std::move(file), seen_[path]);
  }

 private:
  class File final : public fs::InPlaceFile {
   public:
    File(std::unique_ptr<fs::InPlaceFile> real, Seen& seen) : real_(std::move(real)), seen_(seen) {}
    int64_t size() const override { return real_->size(); }
    const std::string& path() const override { return real_->path(); }
    absl::Status ReadAt(int64_t offset, int64_t length, void* out) const override {
      return real_->ReadAt(offset, length, out);
    }
    absl::Status WriteAt(int64_t offset, std::string_view bytes) override {
      seen_.written += static_cast<int64_t>(bytes.size());
      seen_.synced = false;
      return real_->WriteAt(offset, bytes);
    }
    absl::Status SyncData() override {
      seen_.synced = true;
      return real_->SyncData();
    }

   private:
    const std::unique_ptr<fs::InPlaceFile> real_;
    Seen& seen_;
  };

  fs::PosixInPlaceFiles real_;
  std::map<std::string, Seen> seen_;
};

// a page that an earlier sync failed to carry is clean to the system, and no later sync takes
// it: the log is written over itself before anything rests on it.
TEST(SqliteRecovery, WritesTheLogAgainBeforeItReadsIt) {
  const TempDir dir = TempDir::InMemory();
  FaultVfs vfs;
  std::unique_ptr<SqliteStore> store;
  SqliteOptions options = FaultOptions(dir, vfs);
  options.checkpoint_frames = 10'000;
  const Known known = RunUnits(options, store);
  const TempDir killed = TempDir::InMemory();
  CopyFiles(dir.path(), killed.path());
  store.reset();

  RecordingFiles files;
  SqliteOptions again = OptionsFor(killed.path());
  again.in_place_files = &files;
  const std::string log = again.path + "-wal";
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(log));
  ASSERT_GT(bytes, 0);
  SKEP_ASSERT_OK_AND_ASSIGN(store, SqliteStore::Open(again));
  ASSERT_TRUE(files.seen().contains(log));
  EXPECT_EQ(files.seen().at(log).written, bytes);
  EXPECT_TRUE(files.seen().at(log).synced);
  EXPECT_EQ(*store->Load(), known.sure);
}

// the answer of a start rests on what is on the disk, not on what the system kept in memory.
TEST(SqliteRecovery, MakesTheLogDurableBeforeItAnswers) {
  const TempDir dir = TempDir::InMemory();
  FaultVfs quiet;
  std::unique_ptr<SqliteStore> store;
  SqliteOptions options = FaultOptions(dir, quiet);
  options.checkpoint_frames = 10'000;
  const Known known = RunUnits(options, store);
  const TempDir killed = TempDir::InMemory();
  CopyFiles(dir.path(), killed.path());
  store.reset();

  FaultVfs vfs;  // knows of no sync so far: a power cut now would leave nothing
  SqliteOptions again = OptionsFor(killed.path());
  again.vfs = vfs.name();
  SKEP_ASSERT_OK_AND_ASSIGN(store, SqliteStore::Open(again));
  EXPECT_GE(vfs.syncs(), 2);  // the log, then the file
  const TempDir power_cut = TempDir::InMemory();
  vfs.SaveSyncedImage(power_cut.path());
  ExpectKept(known, power_cut.path(), "after a power cut behind the start");
}

TEST(SqliteStore, WritesNothingMoreAfterAnUnknownOutcome) {
  const TempDir dir = TempDir::InMemory();
  FaultVfs vfs;
  SKEP_ASSERT_OK_AND_ASSIGN(std::unique_ptr<SqliteStore> store,
                            SqliteStore::Open(FaultOptions(dir, vfs)));
  RandomEffects random(1);
  StoredState sure;
  const Effects first = random.NextUnit(4);
  ASSERT_THAT(store->Append(first), IsOk());
  ApplyEffects(sure, first);
  StoredState maybe = sure;
  const Effects unknown = random.NextUnit(4);
  ApplyEffects(maybe, unknown);
  vfs.Fail(Mask(VfsCall::kSync), 1, SQLITE_IOERR_FSYNC);
  ASSERT_THAT(store->Append(unknown), HasReason(ErrorReason::kOutcomeUnknown));
  const int syncs = vfs.syncs();
  EXPECT_THAT(store->Append(random.NextUnit(4)), HasReason(ErrorReason::kOutcomeUnknown));
  EXPECT_THAT(store->Load(), HasReason(ErrorReason::kOutcomeUnknown));
  store->Idle();
  store.reset();
  EXPECT_EQ(vfs.syncs(), syncs);
  const absl::StatusOr<StoredState> loaded = LoadFrom(dir.path());
  ASSERT_THAT(loaded, IsOk());
  EXPECT_TRUE(*loaded == sure || *loaded == maybe);
}

TEST(SqliteStore, GoesOnAfterAFullDisk) {
  const TempDir dir = TempDir::InMemory();
  FaultVfs vfs;
  SKEP_ASSERT_OK_AND_ASSIGN(std::unique_ptr<SqliteStore> store,
                            SqliteStore::Open(FaultOptions(dir, vfs)));
  RandomEffects random(1);
  StoredState expected;
  for (int i = 0; i < 10; ++i) {
    const Effects unit = random.NextUnit(12);  // of several pages
    vfs.Fail(Mask(VfsCall::kWrite), 1 + i % 5, SQLITE_FULL, FaultVfs::Span::kFromThere);
    const absl::Status refused = store->Append(unit);
    EXPECT_THAT(refused, HasReason(ErrorReason::kStoreFull));
    vfs.Heal();
    EXPECT_THAT(store->Load(), skep::testing::IsOkAndHolds(expected));
    ASSERT_THAT(store->Append(unit), IsOk());
    ApplyEffects(expected, unit);
  }
  store.reset();
  EXPECT_THAT(LoadFrom(dir.path()), skep::testing::IsOkAndHolds(expected));
}

}  // namespace
}  // namespace skep::meta
