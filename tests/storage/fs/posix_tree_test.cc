#include "storage/fs/posix_tree.h"

#include <sys/stat.h>
#include <unistd.h>

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
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PosixTree : public ::testing::Test {
 protected:
  void Write(const std::string& name) {
    ASSERT_THAT(WriteSmallFile(fs_, dir_ / name, name), IsOk());
  }
  bool Exists(const std::string& name) {
    struct stat info {};
    return ::lstat((dir_ / name).c_str(), &info) == 0;
  }

  const TempDir dir_;
  PosixFileSystem fs_;
};

TEST_F(PosixTree, ListsInByteOrderWithKinds) {
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "delta_2"), IsOk());
  Write("b");
  Write("B");
  Write("_marker");
  Write("\xc3\xa9");
  ASSERT_EQ(::mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("delta_2", (dir_ / "to-dir").c_str()), 0);
  ASSERT_EQ(::symlink("b", (dir_ / "to-file").c_str()), 0);
  ASSERT_EQ(::symlink("none", (dir_ / "to-nothing").c_str()), 0);
  EXPECT_THAT(fs_.List(dir_.path()),
              IsOkAndHolds(ElementsAre(DirEntry{"B", EntryKind::kFile},
                                       DirEntry{"_marker", EntryKind::kFile},
                                       DirEntry{"b", EntryKind::kFile},
                                       DirEntry{"delta_2", EntryKind::kDirectory},
                                       DirEntry{"pipe", EntryKind::kOther},
                                       DirEntry{"to-dir", EntryKind::kDirectory},
                                       DirEntry{"to-file", EntryKind::kFile},
                                       DirEntry{"to-nothing", EntryKind::kOther},
                                       DirEntry{"\xc3\xa9", EntryKind::kFile})));
}

TEST_F(PosixTree, ListSeesWhatChangedSinceTheLastOne) {
  EXPECT_THAT(fs_.List(dir_.path()), IsOkAndHolds(std::vector<DirEntry>{}));
  Write("a");
  EXPECT_THAT(fs_.List(dir_.path()), IsOkAndHolds(ElementsAre(DirEntry{"a", EntryKind::kFile})));
}

TEST_F(PosixTree, ListOfWhatIsNoDirectoryIsNotFound) {
  Write("f");
  EXPECT_THAT(fs_.List(dir_ / "none"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(fs_.List(dir_ / "f"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(PosixTree, CreateDirectoriesMakesParentsAndAcceptsWhatIsThere) {
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "a/b/c"), IsOk());
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "a/b/c"), IsOk());
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "a/b/d"), IsOk());
  EXPECT_THAT(fs_.List(dir_ / "a/b"),
              IsOkAndHolds(ElementsAre(DirEntry{"c", EntryKind::kDirectory},
                                       DirEntry{"d", EntryKind::kDirectory})));
  ASSERT_THAT(fs_.SyncDirectory(dir_ / "a/b"), IsOk());
  EXPECT_THAT(fs_.SyncDirectory(dir_ / "none"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(PosixTree, CreateDirectoriesRefusesAFileInItsPlace) {
  Write("f");
  EXPECT_THAT(fs_.CreateDirectories(dir_ / "f"), HasReason(ErrorReason::kAlreadyExists));
  EXPECT_THAT(fs_.CreateDirectories(dir_ / "f/sub"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(PosixTree, RemoveFileTakesFilesOnly) {
  Write("f");
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "d"), IsOk());
  EXPECT_THAT(fs_.RemoveFile(dir_ / "f"), IsOk());
  EXPECT_FALSE(Exists("f"));
  EXPECT_THAT(fs_.RemoveFile(dir_ / "f"), IsOk());
  EXPECT_THAT(fs_.RemoveFile(dir_ / "d"), HasReason(ErrorReason::kInternal));
  EXPECT_TRUE(Exists("d"));
}

TEST_F(PosixTree, RemoveTreeTakesEverythingBelow) {
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "t/a/b/c"), IsOk());
  Write("t/f");
  Write("t/a/f");
  Write("t/a/b/c/f");
  ASSERT_EQ(::mkfifo((dir_ / "t/pipe").c_str(), 0600), 0);
  EXPECT_THAT(fs_.RemoveTree(dir_ / "t"), IsOk());
  EXPECT_FALSE(Exists("t"));
}

TEST_F(PosixTree, RemoveTreeTakesASingleFileAndAcceptsNothing) {
  Write("f");
  EXPECT_THAT(fs_.RemoveTree(dir_ / "f"), IsOk());
  EXPECT_FALSE(Exists("f"));
  EXPECT_THAT(fs_.RemoveTree(dir_ / "f"), IsOk());
  EXPECT_THAT(fs_.RemoveTree(dir_ / "none/deeper"), IsOk());
}

TEST_F(PosixTree, RemoveTreeNeverFollowsALink) {
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "elsewhere"), IsOk());
  Write("elsewhere/precious");
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "t/a"), IsOk());
  ASSERT_EQ(::symlink((dir_ / "elsewhere").c_str(), (dir_ / "t/link").c_str()), 0);
  ASSERT_EQ(::symlink("../../elsewhere/precious", (dir_ / "t/a/link").c_str()), 0);
  EXPECT_THAT(fs_.RemoveTree(dir_ / "t"), IsOk());
  EXPECT_FALSE(Exists("t"));
  ASSERT_EQ(::symlink("elsewhere", (dir_ / "top").c_str()), 0);
  EXPECT_THAT(fs_.RemoveTree(dir_ / "top/"), IsOk());
  EXPECT_FALSE(Exists("top"));
  EXPECT_TRUE(Exists("elsewhere/precious"));
}

TEST_F(PosixTree, RemoveTreeStopsAtAnAbsurdDepth) {
  std::string path = dir_ / "t";
  for (int i = 0; i < 210; ++i) path += "/d";
  ASSERT_THAT(fs_.CreateDirectories(path), IsOk());
  const absl::Status status = fs_.RemoveTree(dir_ / "t");
  EXPECT_THAT(status, HasReason(ErrorReason::kInternal));
  EXPECT_THAT(status, HasMessage(HasSubstr("levels deep")));
  EXPECT_TRUE(Exists("t"));
}

}  // namespace
}  // namespace skep::fs
