#include "tests/testing/fault_fs.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "storage/base/status_macros.h"
#include "storage/fs/posix_file_system.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::testing {
namespace {

using fs::DirEntry;
using fs::EntryKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FaultFsTest : public ::testing::Test {
 protected:
  absl::Status Write(const std::string& name, const std::string& bytes) {
    SKEP_ASSIGN_OR_RETURN(const auto file, fs_.Create(dir_ / name));
    SKEP_RETURN_IF_ERROR(file->Append(bytes));
    return file->Close();
  }
  absl::StatusOr<std::string> Read(const std::string& name) {
    return fs::ReadSmallFile(fs_, dir_ / name, 1000);
  }
  absl::Status SyncDir() { return fs_.SyncDirectory(dir_.path()); }
  void CrashAndRestart() {
    fs_.Crash();
    fs_.Restart();
  }
  std::vector<std::string> Names(const std::string& dir) {
    std::vector<std::string> names;
    const auto entries = posix_.List(dir);
    if (!entries.ok()) return {entries.status().ToString()};
    for (const DirEntry& entry : *entries) names.push_back(entry.name);
    return names;
  }

  const TempDir dir_;
  const TempDir attic_;
  fs::PosixFileSystem posix_;
  FaultFs fs_{posix_, attic_.path()};
  const absl::Status error_ = MakeError(ErrorReason::kStorageUnwritable, "disk full");
};

TEST_F(FaultFsTest, FailsTheNthCallOfAKindOnce) {
  fs_.FailCall(FsCall::kStat, 2, error_);
  EXPECT_THAT(fs_.Stat(dir_.path()), IsOk());
  EXPECT_THAT(fs_.List(dir_.path()), IsOk());
  EXPECT_FALSE(fs_.Fired());
  EXPECT_THAT(fs_.Stat(dir_.path()), HasReason(ErrorReason::kStorageUnwritable));
  EXPECT_TRUE(fs_.Fired());
  EXPECT_THAT(fs_.Stat(dir_.path()), IsOk());
  EXPECT_EQ(fs_.Calls(FsCall::kStat), 3);
  EXPECT_EQ(fs_.Calls(), 4);
}

TEST_F(FaultFsTest, FailsFromTheNthCallOn) {
  fs_.FailAnyCall(2, error_, FaultSpan::kFromThere);
  EXPECT_THAT(fs_.Stat(dir_.path()), IsOk());
  EXPECT_THAT(fs_.List(dir_.path()), HasReason(ErrorReason::kStorageUnwritable));
  EXPECT_THAT(fs_.Stat(dir_.path()), HasReason(ErrorReason::kStorageUnwritable));
  fs_.Heal();
  EXPECT_FALSE(fs_.Fired());
  EXPECT_THAT(fs_.Stat(dir_.path()), IsOk());
}

// Every call of a small story can fail, and each failure is told to the caller.
TEST_F(FaultFsTest, ReachesEveryCallOfAStory) {
  const auto story = [&](const std::string& name) -> absl::Status {
    SKEP_RETURN_IF_ERROR(fs_.CreateDirectories(dir_ / name));
    SKEP_ASSIGN_OR_RETURN(const auto file, fs_.Create(dir_ / (name + "/tmp")));
    SKEP_RETURN_IF_ERROR(file->Append("abc"));
    SKEP_RETURN_IF_ERROR(file->Sync());
    SKEP_RETURN_IF_ERROR(file->Close());
    SKEP_RETURN_IF_ERROR(fs_.RenameNoReplace(dir_ / (name + "/tmp"), dir_ / (name + "/f")));
    SKEP_RETURN_IF_ERROR(fs_.SyncDirectory(dir_ / name));
    SKEP_RETURN_IF_ERROR(fs_.List(dir_ / name).status());
    SKEP_RETURN_IF_ERROR(fs_.Stat(dir_ / name).status());
    SKEP_RETURN_IF_ERROR(fs_.Canonical(dir_ / name).status());
    SKEP_RETURN_IF_ERROR(fs::ReadSmallFile(fs_, dir_ / (name + "/f"), 10).status());
    SKEP_RETURN_IF_ERROR(fs_.RemoveFile(dir_ / (name + "/f")));
    return fs_.RemoveTree(dir_ / name);
  };
  constexpr int kCalls = 14;
  for (int nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    fs_.FailAnyCall(nth, error_);
    const absl::Status status = story("s" + std::to_string(nth));
    if (!fs_.Fired()) {
      EXPECT_THAT(status, IsOk());
      EXPECT_EQ(nth, kCalls + 1);
      break;
    }
    EXPECT_THAT(status, HasReason(ErrorReason::kStorageUnwritable));
  }
}

TEST_F(FaultFsTest, CrashTakesBytesThatWereNotSynced) {
  SKEP_ASSERT_OK_AND_ASSIGN(const auto file, fs_.Create(dir_ / "f"));
  ASSERT_THAT(file->Append("synced"), IsOk());
  ASSERT_THAT(file->Sync(), IsOk());
  ASSERT_THAT(SyncDir(), IsOk());
  ASSERT_THAT(file->Append(" lost"), IsOk());
  CrashAndRestart();
  EXPECT_THAT(Read("f"), IsOkAndHolds(std::string("synced")));
  EXPECT_THAT(file->Append("more"), HasReason(ErrorReason::kInternal));
}

TEST_F(FaultFsTest, CrashTakesANameWhoseDirectoryWasNotSynced) {
  ASSERT_THAT(Write("f", "closed"), IsOk());
  CrashAndRestart();
  EXPECT_THAT(Read("f"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(FaultFsTest, CrashLeavesWhatWasSynced) {
  ASSERT_THAT(Write("f", "closed"), IsOk());
  ASSERT_THAT(SyncDir(), IsOk());
  CrashAndRestart();
  EXPECT_THAT(Read("f"), IsOkAndHolds(std::string("closed")));
}

TEST_F(FaultFsTest, CrashUndoesARenameUnlessItsDirectoryWasSynced) {
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "tmp"), IsOk());
  ASSERT_THAT(Write("tmp/f", "x"), IsOk());
  ASSERT_THAT(fs_.SyncDirectory(dir_ / "tmp"), IsOk());
  ASSERT_THAT(fs_.RenameNoReplace(dir_ / "tmp", dir_ / "base_1"), IsOk());
  CrashAndRestart();
  EXPECT_THAT(Names(dir_.path()), ElementsAre("tmp"));
  EXPECT_THAT(Read("tmp/f"), IsOkAndHolds(std::string("x")));
  ASSERT_THAT(fs_.RenameNoReplace(dir_ / "tmp", dir_ / "base_1"), IsOk());
  ASSERT_THAT(SyncDir(), IsOk());
  CrashAndRestart();
  EXPECT_THAT(Read("base_1/f"), IsOkAndHolds(std::string("x")));
}

TEST_F(FaultFsTest, CrashFindsAnUnsyncedFileInARenamedDirectory) {
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "tmp"), IsOk());
  ASSERT_THAT(Write("tmp/f", "x"), IsOk());
  ASSERT_THAT(fs_.RenameNoReplace(dir_ / "tmp", dir_ / "base_1"), IsOk());
  ASSERT_THAT(SyncDir(), IsOk());
  CrashAndRestart();
  EXPECT_THAT(Names(dir_.path()), ElementsAre("base_1"));
  EXPECT_THAT(Names(dir_ / "base_1"), IsEmpty());
}

TEST_F(FaultFsTest, CrashBringsRemovedThingsBackUnlessSynced) {
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "delta"), IsOk());
  ASSERT_THAT(Write("delta/f", "x"), IsOk());
  ASSERT_THAT(fs_.SyncDirectory(dir_ / "delta"), IsOk());
  ASSERT_THAT(fs_.RemoveTree(dir_ / "delta"), IsOk());
  EXPECT_THAT(Names(dir_.path()), IsEmpty());
  CrashAndRestart();
  EXPECT_THAT(Read("delta/f"), IsOkAndHolds(std::string("x")));
  ASSERT_THAT(fs_.RemoveFile(dir_ / "delta/f"), IsOk());
  ASSERT_THAT(fs_.SyncDirectory(dir_ / "delta"), IsOk());
  ASSERT_THAT(fs_.RemoveTree(dir_ / "delta"), IsOk());
  ASSERT_THAT(SyncDir(), IsOk());
  CrashAndRestart();
  EXPECT_THAT(Names(dir_.path()), IsEmpty());
  EXPECT_THAT(Names(attic_.path()), IsEmpty());
}

TEST_F(FaultFsTest, CrashGoesBackThroughAChainOfChanges) {
  ASSERT_THAT(Write("a", "first"), IsOk());
  ASSERT_THAT(SyncDir(), IsOk());
  ASSERT_THAT(fs_.RenameNoReplace(dir_ / "a", dir_ / "b"), IsOk());
  ASSERT_THAT(Write("a", "second"), IsOk());
  ASSERT_THAT(fs_.RemoveFile(dir_ / "b"), IsOk());
  ASSERT_THAT(fs_.RenameNoReplace(dir_ / "a", dir_ / "c"), IsOk());
  CrashAndRestart();
  EXPECT_THAT(Names(dir_.path()), ElementsAre("a"));
  EXPECT_THAT(Read("a"), IsOkAndHolds(std::string("first")));
}

TEST_F(FaultFsTest, IsDownBetweenCrashAndRestart) {
  ASSERT_THAT(Write("f", "x"), IsOk());
  ASSERT_THAT(SyncDir(), IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(const auto reader, fs_.OpenForRead(dir_ / "f"));
  fs_.Crash();
  char byte = 0;
  EXPECT_THAT(reader->ReadAt(0, 1, &byte), HasReason(ErrorReason::kInternal));
  EXPECT_THAT(fs_.List(dir_.path()), HasReason(ErrorReason::kInternal));
  fs_.Restart();
  EXPECT_THAT(fs_.List(dir_.path()), IsOk());
}

TEST_F(FaultFsTest, AWriterThatIsDroppedLeavesNothing) {
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto file, fs_.Create(dir_ / "f"));
    ASSERT_THAT(file->Append("x"), IsOk());
  }
  EXPECT_THAT(Names(dir_.path()), IsEmpty());
  CrashAndRestart();
  EXPECT_THAT(Names(dir_.path()), IsEmpty());
}

}  // namespace
}  // namespace skep::testing
