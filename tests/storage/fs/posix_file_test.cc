#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "storage/fs/posix_file_system.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::fs {
namespace {

using skep::testing::HasMessage;
using skep::testing::HasReason;
using skep::testing::IsOk;
using skep::testing::IsOkAndHolds;
using skep::testing::StatusIs;
using skep::testing::TempDir;
using ::testing::HasSubstr;

class PosixFile : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& bytes) {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto file, fs_.Create(dir_ / name));
    ASSERT_THAT(file->Append(bytes), IsOk());
    ASSERT_THAT(file->Close(), IsOk());
  }

  const TempDir dir_;
  PosixFileSystem fs_;
};

TEST_F(PosixFile, HoldsWhatWasAppendedInPiecesOfAnySize) {
  SKEP_ASSERT_OK_AND_ASSIGN(auto file, fs_.Create(dir_ / "f"));
  std::string expected;
  for (const size_t size : {1, 0, 70'000, 10, 65'536, 65'535, 2, 200'000, 3}) {
    const std::string piece(size, static_cast<char>('a' + expected.size() % 26));
    ASSERT_THAT(file->Append(piece), IsOk());
    expected += piece;
    EXPECT_EQ(file->size(), static_cast<int64_t>(expected.size()));
  }
  ASSERT_THAT(file->Close(), IsOk());
  ASSERT_THAT(file->Close(), IsOk());
  file.reset();
  EXPECT_THAT(ReadSmallFile(fs_, dir_ / "f", 1 << 20), IsOkAndHolds(expected));
}

TEST_F(PosixFile, IsVisibleToReadersAfterSync) {
  SKEP_ASSERT_OK_AND_ASSIGN(const auto file, fs_.Create(dir_ / "f"));
  ASSERT_THAT(file->Append("abc"), IsOk());
  ASSERT_THAT(file->Sync(), IsOk());
  EXPECT_THAT(ReadSmallFile(fs_, dir_ / "f", 10), IsOkAndHolds(std::string("abc")));
}

TEST_F(PosixFile, GoesWithItsWriterUnlessItWasClosed) {
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto file, fs_.Create(dir_ / "f"));
    ASSERT_THAT(file->Append("abc"), IsOk());
    ASSERT_THAT(file->Sync(), IsOk());
  }
  EXPECT_THAT(fs_.Stat(dir_ / "f"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(PosixFile, ThatWasReplacedMeanwhileIsLeftAlone) {
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto file, fs_.Create(dir_ / "f"));
    ASSERT_THAT(fs_.RemoveFile(dir_ / "f"), IsOk());
    Write("f", "of another writer");
  }
  EXPECT_THAT(ReadSmallFile(fs_, dir_ / "f", 100), IsOkAndHolds(std::string("of another writer")));
}

TEST_F(PosixFile, IsNotCreatedOverAnother) {
  Write("f", "x");
  EXPECT_THAT(fs_.Create(dir_ / "f"), HasReason(ErrorReason::kAlreadyExists));
  EXPECT_THAT(fs_.Create(dir_ / "no/f"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(PosixFile, IsReadAtAnyOffset) {
  Write("f", "0123456789");
  SKEP_ASSERT_OK_AND_ASSIGN(const auto file, fs_.OpenForRead(dir_ / "f"));
  EXPECT_EQ(file->size(), 10);
  EXPECT_EQ(file->path(), dir_ / "f");
  std::string out(4, '?');
  EXPECT_THAT(file->ReadAt(3, 4, out.data()), IsOk());
  EXPECT_EQ(out, "3456");
  EXPECT_THAT(file->ReadAt(10, 0, out.data()), IsOk());
}

TEST_F(PosixFile, ReadPastItsEndIsCorrupt) {
  Write("f", "0123456789");
  SKEP_ASSERT_OK_AND_ASSIGN(const auto file, fs_.OpenForRead(dir_ / "f"));
  struct Range {
    int64_t offset, length;
  };
  const std::vector<Range> ranges = {{8, 3}, {10, 1}, {11, 0}, {-1, 1}, {0, -1}, {5, INT64_MAX}};
  char out[16];
  for (const Range& range : ranges) {
    SCOPED_TRACE(std::to_string(range.offset) + "+" + std::to_string(range.length));
    const absl::Status status = file->ReadAt(range.offset, range.length, out);
    EXPECT_THAT(status, HasReason(ErrorReason::kCorruptFile));
    EXPECT_THAT(status, HasMessage(HasSubstr("ends at 10")));
    EXPECT_EQ(MetadataOf(status)["path"], dir_ / "f");
  }
}

TEST_F(PosixFile, CutShortUnderItsReaderIsCorrupt) {
  Write("f", "0123456789");
  SKEP_ASSERT_OK_AND_ASSIGN(const auto file, fs_.OpenForRead(dir_ / "f"));
  ASSERT_EQ(::truncate((dir_ / "f").c_str(), 4), 0);
  char out[16];
  const absl::Status status = file->ReadAt(0, 10, out);
  EXPECT_THAT(status, HasReason(ErrorReason::kCorruptFile));
  EXPECT_THAT(status, HasMessage(HasSubstr("ends at 4")));
}

TEST_F(PosixFile, IsRefusedForReadingIfItIsNotRegular) {
  ASSERT_EQ(::mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(fs_.OpenForRead(dir_ / "pipe"), HasReason(ErrorReason::kInternal));
  EXPECT_THAT(fs_.OpenForRead(dir_.path()), HasReason(ErrorReason::kInternal));
  EXPECT_THAT(fs_.OpenForRead(dir_ / "none"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(PosixFile, HasAStatThatFollowsLinks) {
  Write("f", "abc");
  ASSERT_EQ(::symlink("f", (dir_ / "link").c_str()), 0);
  SKEP_ASSERT_OK_AND_ASSIGN(const FileInfo info, fs_.Stat(dir_ / "link"));
  EXPECT_EQ(info.kind, EntryKind::kFile);
  EXPECT_EQ(info.size, 3);
  const auto age = SystemClock().Now() - info.modified;
  EXPECT_LT(age, std::chrono::hours(1));
  EXPECT_GT(age, -std::chrono::hours(1));
  EXPECT_THAT(fs_.Canonical(dir_ / "link"), IsOkAndHolds(dir_ / "f"));
  EXPECT_THAT(fs_.Canonical(dir_ / "none"), StatusIs(absl::StatusCode::kNotFound));
}

// Root may write everywhere, so the refusal is shown as another user.
TEST_F(PosixFile, InADirectoryWithoutPermissionIsUnwritable) {
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "d"), IsOk());
  ASSERT_EQ(::chmod(dir_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod((dir_ / "d").c_str(), 0555), 0);
  const bool was_root = ::geteuid() == 0;
  if (was_root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const absl::Status created = fs_.Create(dir_ / "d/f").status();
  const absl::Status made = fs_.CreateDirectories(dir_ / "d/sub/sub");
  if (was_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  for (const absl::Status& status : {created, made}) {
    EXPECT_THAT(status, HasReason(ErrorReason::kStorageUnwritable));
    EXPECT_EQ(MetadataOf(status)["errno"], "EACCES");
  }
  EXPECT_EQ(MetadataOf(created)["path"], dir_ / "d/f");
}

TEST_F(PosixFile, WhatMayNotBeReadIsUnreadable) {
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "d"), IsOk());
  ASSERT_THAT(WriteSmallFile(fs_, dir_ / "f", "x"), IsOk());
  ASSERT_EQ(::chmod(dir_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod((dir_ / "d").c_str(), 0), 0);
  ASSERT_EQ(::chmod((dir_ / "f").c_str(), 0), 0);
  const bool was_root = ::geteuid() == 0;
  if (was_root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const absl::Status listed = fs_.List(dir_ / "d").status();
  const absl::Status looked_at = fs_.Stat(dir_ / "d/f").status();
  const absl::Status opened = fs_.OpenForRead(dir_ / "f").status();
  if (was_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  for (const absl::Status& status : {listed, looked_at, opened}) {
    EXPECT_THAT(status, HasReason(ErrorReason::kStorageUnreadable));
    EXPECT_EQ(MetadataOf(status)["errno"], "EACCES");
  }
}

}  // namespace
}  // namespace skep::fs
