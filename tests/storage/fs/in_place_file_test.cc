#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "storage/fs/posix_file_system.h"
#include "storage/fs/posix_in_place_file.h"
#include "tests/testing/fault_fs.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::fs {
namespace {

using skep::testing::FaultFs;
using skep::testing::FsCall;
using skep::testing::HasReason;
using skep::testing::IsOk;
using skep::testing::IsOkAndHolds;
using skep::testing::TempDir;
using skep::testing::Unsynced;

class InPlace : public ::testing::Test {
 protected:
  std::unique_ptr<InPlaceFile> Open(InPlaceFiles& files) {
    EXPECT_THAT(WriteSmallFile(posix_, dir_ / "f", "0123456789"), IsOk());
    auto file = files.OpenInPlace(dir_ / "f");
    EXPECT_THAT(file, IsOk());
    return file.ok() ? *std::move(file) : nullptr;
  }
  absl::StatusOr<std::string> Content(const std::string& name = "f") {
    return ReadSmallFile(posix_, dir_ / name, 100);
  }

  const TempDir dir_;
  const TempDir attic_;
  PosixFileSystem posix_;
  PosixInPlaceFiles in_place_;
  FaultFs faults_{posix_, attic_.path()};
};

TEST_F(InPlace, BytesAreReplacedAndTheLengthStays) {
  const auto file = Open(in_place_);
  EXPECT_EQ(file->size(), 10);
  EXPECT_THAT(file->WriteAt(3, "abc"), IsOk());
  EXPECT_THAT(file->SyncData(), IsOk());
  EXPECT_THAT(Content(), IsOkAndHolds("012abc6789"));
  std::string read(4, ' ');
  EXPECT_THAT(file->ReadAt(5, 4, read.data()), IsOk());
  EXPECT_EQ(read, "c678");
  EXPECT_THAT(file->ReadAt(7, 4, read.data()), HasReason(ErrorReason::kCorruptFile));
  EXPECT_THAT(file->WriteAt(8, "xyz"), HasReason(ErrorReason::kInternal));
  EXPECT_THAT(file->WriteAt(-1, "x"), HasReason(ErrorReason::kInternal));
  EXPECT_THAT(Content(), IsOkAndHolds("012abc6789"));
}

TEST_F(InPlace, OnlyFilesThatAreThere) {
  EXPECT_TRUE(absl::IsNotFound(in_place_.OpenInPlace(dir_ / "none").status()));
  EXPECT_FALSE(in_place_.OpenInPlace(dir_.path()).ok());
}

TEST_F(InPlace, ACrashTakesBackWhatWasNotSynced) {
  struct Case {
    Unsynced unsynced;
    std::string left;
  };
  for (const Case& c : {Case{Unsynced::kLost, "A123456789"},
                        Case{Unsynced::kKept, "ABCDEfg789"},
                        Case{Unsynced::kFirstHalf, "ABC34f6789"},
                        Case{Unsynced::kSecondHalf, "A12DE5g789"}}) {
    SCOPED_TRACE(c.left);
    if (posix_.Stat(dir_ / "f").ok()) {
      ASSERT_THAT(posix_.RemoveFile(dir_ / "f"), IsOk());
    }
    const auto file = Open(faults_);
    ASSERT_THAT(file->WriteAt(0, "A"), IsOk());
    ASSERT_THAT(file->SyncData(), IsOk());
    ASSERT_THAT(file->WriteAt(1, "BCDE"), IsOk());
    ASSERT_THAT(file->WriteAt(5, "fg"), IsOk());
    faults_.Crash(c.unsynced);
    EXPECT_FALSE(file->WriteAt(0, "x").ok());
    faults_.Restart();
    EXPECT_THAT(Content(), IsOkAndHolds(c.left));
  }
}

TEST_F(InPlace, ACrashFindsAFileThatWasRenamed) {
  const auto file = Open(faults_);
  ASSERT_THAT(file->WriteAt(0, "AB"), IsOk());
  ASSERT_THAT(faults_.RenameNoReplace(dir_ / "f", dir_ / "g"), IsOk());
  ASSERT_THAT(faults_.SyncDirectory(dir_.path()), IsOk());
  ASSERT_THAT(file->WriteAt(2, "CD"), IsOk());
  faults_.Crash();
  EXPECT_THAT(Content("g"), IsOkAndHolds("0123456789"));
}

TEST_F(InPlace, AFailedWritePutsHalfDownAndAFailedSyncIsForEver) {
  const auto file = Open(faults_);
  const absl::Status full = MakeError(ErrorReason::kStorageUnwritable, "full");
  faults_.FailCall(FsCall::kWriteAt, 1, full);
  EXPECT_THAT(file->WriteAt(0, "ABCD"), HasReason(ErrorReason::kStorageUnwritable));
  EXPECT_THAT(Content(), IsOkAndHolds("AB23456789"));
  EXPECT_THAT(file->WriteAt(0, "EFGH"), IsOk());
  faults_.FailCall(FsCall::kSyncData, 1, full);
  EXPECT_FALSE(file->SyncData().ok());
  faults_.Heal();
  EXPECT_FALSE(file->SyncData().ok());
  EXPECT_FALSE(file->WriteAt(0, "x").ok());
  faults_.Crash();
  EXPECT_THAT(Content(), IsOkAndHolds("0123456789"));
}

}  // namespace
}  // namespace skep::fs
