#include "storage/fs/posix_rename.h"

#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "storage/fs/posix_file_system.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::fs {
namespace {

using skep::testing::HasReason;
using skep::testing::IsOk;
using skep::testing::IsOkAndHolds;
using skep::testing::StatusIs;
using skep::testing::TempDir;

// Both ways must keep the same promise.
struct Way {
  std::string name;
  absl::Status (*rename)(const std::string& from, const std::string& to);
};

class Rename : public ::testing::TestWithParam<Way> {
 protected:
  absl::Status Move(const std::string& from, const std::string& to) {
    return GetParam().rename(dir_ / from, dir_ / to);
  }
  void Write(const std::string& name, const std::string& bytes) {
    ASSERT_THAT(WriteSmallFile(fs_, dir_ / name, bytes), IsOk());
  }
  absl::StatusOr<std::string> Read(const std::string& name) {
    return ReadSmallFile(fs_, dir_ / name, 100);
  }

  const TempDir dir_;
  PosixFileSystem fs_;
};

TEST_P(Rename, MovesAFile) {
  Write("a", "x");
  ASSERT_THAT(Move("a", "b"), IsOk());
  EXPECT_THAT(Read("b"), IsOkAndHolds(std::string("x")));
  EXPECT_THAT(Read("a"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(Rename, MovesADirectoryWithItsContent) {
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "a"), IsOk());
  Write("a/f", "x");
  ASSERT_THAT(Move("a", "b"), IsOk());
  EXPECT_THAT(Read("b/f"), IsOkAndHolds(std::string("x")));
  EXPECT_THAT(fs_.Stat(dir_ / "a"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(Rename, MovesALinkItself) {
  ASSERT_EQ(::symlink("nowhere", (dir_ / "a").c_str()), 0);
  ASSERT_THAT(Move("a", "b"), IsOk());
  char target[16] = {};
  EXPECT_EQ(::readlink((dir_ / "b").c_str(), target, sizeof target), 7);
}

TEST_P(Rename, NeverReplacesAnything) {
  Write("file", "old");
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "empty"), IsOk());
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "full"), IsOk());
  Write("full/f", "old");
  ASSERT_EQ(::symlink("nowhere", (dir_ / "link").c_str()), 0);
  Write("new", "new");
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "newdir"), IsOk());
  Write("newdir/g", "new");
  for (const std::string from : {"new", "newdir"}) {
    for (const std::string to : {"file", "empty", "full", "link"}) {
      SCOPED_TRACE(from + " to " + to);
      EXPECT_THAT(Move(from, to), HasReason(ErrorReason::kAlreadyExists));
    }
  }
  EXPECT_THAT(Read("file"), IsOkAndHolds(std::string("old")));
  EXPECT_THAT(Read("full/f"), IsOkAndHolds(std::string("old")));
  EXPECT_THAT(Read("new"), IsOkAndHolds(std::string("new")));
  EXPECT_THAT(Read("newdir/g"), IsOkAndHolds(std::string("new")));
  EXPECT_THAT(fs_.List(dir_ / "empty"), IsOkAndHolds(std::vector<DirEntry>{}));
}

TEST_P(Rename, OfAnAbsentNameOrIntoAnAbsentDirectoryIsNotFound) {
  EXPECT_THAT(Move("none", "b"), StatusIs(absl::StatusCode::kNotFound));
  Write("a", "x");
  EXPECT_THAT(Move("a", "none/b"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Read("a"), IsOkAndHolds(std::string("x")));
  EXPECT_THAT(fs_.Stat(dir_ / "b"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(Rename, OfADirectoryIntoItselfLeavesItAlone) {
  ASSERT_THAT(fs_.CreateDirectories(dir_ / "a"), IsOk());
  EXPECT_THAT(Move("a", "a/b"), HasReason(ErrorReason::kInternal));
  EXPECT_THAT(fs_.List(dir_ / "a"), IsOkAndHolds(std::vector<DirEntry>{}));
}

TEST_P(Rename, LetsExactlyOneOfManyWin) {
  constexpr int kWriters = 8;
  for (const bool directories : {false, true}) {
    SCOPED_TRACE(directories ? "directories" : "files");
    const std::string kind = directories ? "d" : "f";
    for (int i = 0; i < kWriters; ++i) {
      const std::string name = kind + std::to_string(i);
      if (directories) {
        ASSERT_THAT(fs_.CreateDirectories(dir_ / name), IsOk());
        Write(name + "/owner", name);
      } else {
        Write(name, name);
      }
    }
    std::vector<absl::Status> results(kWriters);
    std::vector<std::thread> writers;
    for (int i = 0; i < kWriters; ++i) {
      writers.emplace_back(
          [&, i] { results[i] = Move(kind + std::to_string(i), kind + "-target"); });
    }
    for (std::thread& writer : writers) writer.join();
    int winners = 0;
    for (int i = 0; i < kWriters; ++i) {
      const std::string name = kind + std::to_string(i);
      if (results[i].ok()) {
        ++winners;
        EXPECT_THAT(Read(directories ? kind + "-target/owner" : kind + "-target"),
                    IsOkAndHolds(name));
      } else {
        EXPECT_THAT(results[i], HasReason(ErrorReason::kAlreadyExists));
        EXPECT_THAT(Read(directories ? name + "/owner" : name), IsOkAndHolds(name));
      }
    }
    EXPECT_EQ(winners, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways,
                         Rename,
                         ::testing::Values(Way{"Whole", &RenameWithoutReplacing},
                                           Way{"ByClaim", &RenameByClaim}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace skep::fs
