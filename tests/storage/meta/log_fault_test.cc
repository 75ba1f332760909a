#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "storage/fs/posix_file_system.h"
#include "storage/meta/log/log_store.h"
#include "tests/storage/meta/store_files.h"
#include "tests/testing/fault_fs.h"
#include "tests/testing/fault_vfs.h"
#include "tests/testing/manual_executor.h"
#include "tests/testing/random_effects.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::meta {
namespace {

using skep::testing::FaultFs;
using skep::testing::FaultSpan;
using skep::testing::FaultVfs;
using skep::testing::FsCall;
using skep::testing::IsOk;
using skep::testing::kAllVfsCalls;
using skep::testing::ManualClock;
using skep::testing::ManualExecutor;
using skep::testing::Mask;
using skep::testing::RandomEffects;
using skep::testing::TempDir;
using skep::testing::Unsynced;
using skep::testing::VfsCall;

constexpr int kUnits = 14;
constexpr uint64_t kSeed = 5;

// A store on a disk that fails and loses power.
struct Machine {
  Machine() {
    options.fs = &faults;
    options.in_place_files = &faults;
    options.executor = &executor;
    options.clock = &clock;
    options.tables.vfs = vfs.name();
    options.tables.checkpoint_frames = 8;
  }

  // The disk as a power cut leaves it, tables and log at the same moment.
  void CutPower(const TempDir& image, Unsynced unsynced) {
    vfs.SaveSyncedImage(image.path());
    faults.Crash(unsynced);
    CopyLog(dir.path(), image.path());
  }

  const TempDir dir = TempDir::InMemory();
  const TempDir attic = TempDir::InMemory();
  fs::PosixFileSystem posix;
  FaultFs faults{posix, attic.path()};
  FaultVfs vfs;
  ManualClock clock;
  ManualExecutor executor{clock};
  LogStoreOptions options = LogOptionsFor(dir.path());
  std::unique_ptr<LogStore> store;

  // What a caller knows: what must be there, and what may be.
  StoredState sure;
  StoredState maybe;  // equals `sure` unless the last unit's outcome is unknown
  absl::Status last;
  int acknowledged = 0;

  // Opens and appends units until one fails for good; the tables follow every third.
  void Run() {
    absl::StatusOr<std::unique_ptr<LogStore>> opened = LogStore::Open(options);
    last = opened.status();
    if (!last.ok()) return;
    store = *std::move(opened);
    RandomEffects random(kSeed);
    for (int i = 0; i < kUnits; ++i) {
      const Effects unit = random.NextUnit(4);
      last = store->Append(unit);
      const ErrorReason reason = ReasonOf(last);
      if (last.ok()) {
        ApplyEffects(sure, unit);
        maybe = sure;
        ++acknowledged;
      } else if (reason == ErrorReason::kOutcomeUnknown) {
        ApplyEffects(maybe, unit);
        return;
      } else if (reason == ErrorReason::kCorruptStore) {
        return;
      }
      if (i % 3 == 2) executor.Advance(std::chrono::milliseconds(100));
    }
  }

  void ExpectKept(const std::string& in, const std::string& how) const {
    const absl::StatusOr<StoredState> loaded = LoadFromLog(in);
    ASSERT_THAT(loaded, IsOk()) << how;
    EXPECT_TRUE(*loaded == sure || *loaded == maybe)
        << how << ": " << acknowledged << " units were acknowledged, the store is at "
        << loaded->counters.seq << " after " << last;
  }
};

struct Fault {
  std::string name;
  std::function<void(Machine&, int nth)> plan;
  std::function<bool(Machine&)> fired;
};

absl::Status DiskError(const char* name) {
  const std::string error = name;
  return MakeError(error == "ENOSPC" ? ErrorReason::kStorageUnwritable : ErrorReason::kInternal,
                   "injected " + error,
                   {{"errno", error}});
}

Fault OfFs(const std::string& name, std::optional<FsCall> call, const char* error, FaultSpan span) {
  return {name + error + (span == FaultSpan::kOnce ? "Once" : "FromThere"),
          [=](Machine& machine, int nth) {
            if (call) {
              machine.faults.FailCall(*call, nth, DiskError(error), span);
            } else {
              machine.faults.FailAnyCall(nth, DiskError(error), span);
            }
          },
          [](Machine& machine) { return machine.faults.Fired(); }};
}

Fault OfTables(const std::string& name, uint32_t calls, int code, FaultVfs::Span span) {
  return {name + (span == FaultVfs::Span::kOnce ? "Once" : "FromThere"),
          [=](Machine& machine, int nth) { machine.vfs.Fail(calls, nth, code, span); },
          [](Machine& machine) { return machine.vfs.fired(); }};
}

class LogFault : public ::testing::TestWithParam<Fault> {};

// Fails the nth such call for n = 1, 2, … until a run meets no failure; each time all the ways in
// which it may end.
TEST_P(LogFault, IsToldHonestly) {
  const Fault& fault = GetParam();
  int met = 0;
  for (int nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    bool fired = false;
    {
      Machine machine;
      fault.plan(machine, nth);
      machine.Run();
      fired = fault.fired(machine);
      const TempDir killed = TempDir::InMemory();
      CopyFiles(machine.dir.path(), killed.path());
      machine.ExpectKept(killed.path(), "after a kill");
      machine.store.reset();  // the fault stays
      machine.faults.Heal();
      machine.vfs.Heal();
      machine.ExpectKept(machine.dir.path(), "after an orderly end");
    }
    for (const Unsynced unsynced :
         {Unsynced::kLost, Unsynced::kKept, Unsynced::kFirstHalf, Unsynced::kSecondHalf}) {
      Machine machine;
      fault.plan(machine, nth);
      machine.Run();
      const TempDir image = TempDir::InMemory();
      machine.CutPower(image, unsynced);
      machine.ExpectKept(image.path(),
                         "after a power cut " + std::to_string(static_cast<int>(unsynced)));
      if (!fired) {
        EXPECT_EQ(machine.acknowledged, kUnits);
      }
    }
    if (HasFatalFailure() || HasNonfatalFailure()) return;
    if (!fired) break;
    ++met;
    ASSERT_LT(nth, 2'000);
  }
  EXPECT_GT(met, 0) << "no call was made to fail";
}

INSTANTIATE_TEST_SUITE_P(
    Calls,
    LogFault,
    ::testing::Values(
        OfFs("Write", FsCall::kWriteAt, "ENOSPC", FaultSpan::kOnce),
        OfFs("Write", FsCall::kWriteAt, "ENOSPC", FaultSpan::kFromThere),
        OfFs("Write", FsCall::kWriteAt, "EIO", FaultSpan::kOnce),
        OfFs("Sync", FsCall::kSyncData, "EIO", FaultSpan::kOnce),
        OfFs("Sync", FsCall::kSyncData, "EIO", FaultSpan::kFromThere),
        OfFs("Any", std::nullopt, "EIO", FaultSpan::kOnce),
        OfFs("Any", std::nullopt, "EIO", FaultSpan::kFromThere),
        OfFs("Any", std::nullopt, "ENOSPC", FaultSpan::kOnce),
        OfFs("Any", std::nullopt, "ENOSPC", FaultSpan::kFromThere),
        OfTables("TablesFull", Mask(VfsCall::kWrite), SQLITE_FULL, FaultVfs::Span::kOnce),
        OfTables("TablesFull", Mask(VfsCall::kWrite), SQLITE_FULL, FaultVfs::Span::kFromThere),
        OfTables("TablesSync", Mask(VfsCall::kSync), SQLITE_IOERR_FSYNC, FaultVfs::Span::kOnce),
        OfTables(
            "TablesSync", Mask(VfsCall::kSync), SQLITE_IOERR_FSYNC, FaultVfs::Span::kFromThere),
        OfTables("TablesWrite", Mask(VfsCall::kWrite), SQLITE_IOERR_WRITE, FaultVfs::Span::kOnce),
        OfTables("TablesOpen", Mask(VfsCall::kOpen), SQLITE_CANTOPEN, FaultVfs::Span::kOnce),
        OfTables("TablesOpen", Mask(VfsCall::kOpen), SQLITE_CANTOPEN, FaultVfs::Span::kFromThere)),
    [](const auto& info) { return info.param.name; });

// The power goes after each call of the run: the nth and all later ones fail, and what was not
// synced is gone or torn. Then the start that follows is cut off at each of its calls, too.
TEST(LogPower, MayGoAgainInTheMiddleOfTheStart) {
  int cuts = 0;
  for (int nth = 1; cuts < 2000; nth += 7) {
    SCOPED_TRACE(nth);
    Machine machine;
    machine.faults.FailAnyCall(nth, DiskError("EIO"), FaultSpan::kFromThere);
    machine.Run();
    const bool fired = machine.faults.Fired();
    const TempDir image = TempDir::InMemory();
    machine.CutPower(image, Unsynced::kFirstHalf);
    for (int again = 1;; ++again) {
      SCOPED_TRACE(again);
      Machine second;
      CopyFiles(image.path(), second.dir.path());
      second.vfs.TakeAsSynced(second.options.tables.path);
      second.faults.FailAnyCall(again, DiskError("EIO"), FaultSpan::kFromThere);
      const absl::Status opened = LogStore::Open(second.options).status();
      const bool met = second.faults.Fired();
      const TempDir cut = TempDir::InMemory();
      second.CutPower(cut, Unsynced::kSecondHalf);
      machine.ExpectKept(cut.path(), "after a second power cut");
      if (::testing::Test::HasFailure()) return;
      ++cuts;
      if (!met) break;
    }
    if (!fired) break;
  }
  EXPECT_GT(cuts, 50);
}

}  // namespace
}  // namespace skep::meta
