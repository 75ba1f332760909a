#include "storage/meta/sqlite/file_care.h"

#include <sys/stat.h>
#include <sys/time.h>

#include <string>

#include <gtest/gtest.h>

#include "storage/fs/posix_file_system.h"
#include "storage/fs/posix_in_place_file.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::meta {
namespace {

using skep::testing::IsOk;
using skep::testing::IsOkAndHolds;
using skep::testing::StatusIs;
using skep::testing::TempDir;

TEST(RewriteInPlace, WritesTheSameBytesAgain) {
  const TempDir dir;
  fs::PosixFileSystem fs;
  fs::PosixInPlaceFiles files;
  std::string bytes;
  for (int i = 0; i < 400'000; ++i) bytes += std::to_string(i);  // more than one buffer
  ASSERT_THAT(fs::WriteSmallFile(fs, dir / "log", bytes), IsOk());
  const timeval long_ago[2] = {{1'000'000, 0}, {1'000'000, 0}};
  ASSERT_EQ(::utimes((dir / "log").c_str(), long_ago), 0);

  ASSERT_THAT(RewriteInPlace(files, dir / "log"), IsOk());
  EXPECT_THAT(fs::ReadSmallFile(fs, dir / "log", 1 << 24), IsOkAndHolds(bytes));
  SKEP_ASSERT_OK_AND_ASSIGN(const fs::FileInfo info, fs.Stat(dir / "log"));
  EXPECT_GT(info.modified, Timestamp(std::chrono::seconds(2'000'000))) << "nothing was written";
}

TEST(RewriteInPlace, AcceptsAnAbsentFileAndMakesNone) {
  const TempDir dir;
  fs::PosixInPlaceFiles files;
  EXPECT_THAT(RewriteInPlace(files, dir / "log"), IsOk());
  EXPECT_THAT(fs::PosixFileSystem().Stat(dir / "log"), StatusIs(absl::StatusCode::kNotFound));
}

TEST(SyncFileAndName, WantsTheFileToBeThere) {
  const TempDir dir;
  fs::PosixFileSystem fs;
  fs::PosixInPlaceFiles files;
  ASSERT_THAT(fs::WriteSmallFile(fs, dir / "copy", "x"), IsOk());
  EXPECT_THAT(SyncFileAndName(fs, files, dir / "copy"), IsOk());
  EXPECT_THAT(SyncFileAndName(fs, files, dir / "none"), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace skep::meta
