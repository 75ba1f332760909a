#include <string>

#include <gtest/gtest.h>

#include "storage/fs/posix_file_system.h"
#include "tests/testing/fault_fs.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::fs {
namespace {

using skep::testing::FaultFs;
using skep::testing::HasReason;
using skep::testing::IsOk;
using skep::testing::IsOkAndHolds;
using skep::testing::StatusIs;
using skep::testing::TempDir;

TEST(SmallFile, IsReadAsItWasWritten) {
  const TempDir dir;
  PosixFileSystem fs;
  const std::string bytes("2\n\0x", 4);
  ASSERT_THAT(WriteSmallFile(fs, dir / "_orc_acid_version", bytes), IsOk());
  EXPECT_THAT(ReadSmallFile(fs, dir / "_orc_acid_version", 4), IsOkAndHolds(bytes));
}

TEST(SmallFile, LongerThanItsLimitIsNotRead) {
  const TempDir dir;
  PosixFileSystem fs;
  ASSERT_THAT(WriteSmallFile(fs, dir / "f", "12345"), IsOk());
  EXPECT_THAT(ReadSmallFile(fs, dir / "f", 4), HasReason(ErrorReason::kCorruptFile));
}

TEST(SmallFile, AbsentIsNotFound) {
  const TempDir dir;
  PosixFileSystem fs;
  EXPECT_THAT(ReadSmallFile(fs, dir / "f", 4), StatusIs(absl::StatusCode::kNotFound));
}

TEST(SmallFile, IsNeverWrittenOverAnother) {
  const TempDir dir;
  PosixFileSystem fs;
  ASSERT_THAT(WriteSmallFile(fs, dir / "f", "first"), IsOk());
  EXPECT_THAT(WriteSmallFile(fs, dir / "f", "second"), HasReason(ErrorReason::kAlreadyExists));
  EXPECT_THAT(ReadSmallFile(fs, dir / "f", 100), IsOkAndHolds(std::string("first")));
}

TEST(SmallFile, SurvivesACrashOnceItIsWritten) {
  const TempDir dir;
  const TempDir attic;
  PosixFileSystem posix;
  FaultFs fs(posix, attic.path());
  ASSERT_THAT(WriteSmallFile(fs, dir / "f", "kept"), IsOk());
  fs.Crash();
  fs.Restart();
  EXPECT_THAT(ReadSmallFile(fs, dir / "f", 100), IsOkAndHolds(std::string("kept")));
}

}  // namespace
}  // namespace skep::fs
