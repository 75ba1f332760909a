#include "storage/compact/clean.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/fs/posix_file_system.h"
#include "tests/testing/fault_fs.h"
#include "tests/testing/listings.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::compact {
namespace {

using ::testing::ElementsAre;
using testing::HasReason;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::Txns;
using testing::WriteIds;

std::vector<std::string> NamesOf(const std::vector<acid::Removal>& removals) {
  std::vector<std::string> names;
  for (const acid::Removal& removal : removals) names.push_back(removal.name);
  return names;
}

class CleanTest : public ::testing::Test {
 protected:
  // A directory with one data file, or (without "delta" or "base" in front) a file.
  void Make(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const std::filesystem::path path = root_ / name;
      if (name.find("delta") != std::string::npos || name.starts_with("base")) {
        std::filesystem::create_directories(path);
        std::ofstream(path / "bucket_00000") << "x";
        std::ofstream(path / "_orc_acid_version") << "2";
      } else {
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << "x";
      }
    }
  }

  std::vector<std::string> OnDisk() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(root_.path())) {
      names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }

  // What transaction 7's compaction up to write id 3 may remove.
  CleanRequest AfterTxn7() const {
    CleanRequest request;
    request.directory = root_.path();
    request.obsolete = ObsoleteScope{
        .write_ids = WriteIds("3:::"), .visibility = Txns("7:::"), .highest = WriteId(3)};
    return request;
  }

  testing::TempDir root_;
  testing::TempDir attic_;
  fs::PosixFileSystem posix_;
};

TEST_F(CleanTest, RemovesWhatTheCompactionReplaced) {
  Make({"delta_1_1_0", "delta_2_2_0", "delete_delta_3_3_0", "base_3_v7", "delta_4_4_0"});
  SKEP_ASSERT_OK_AND_ASSIGN(const CleanReport report, Clean(posix_, AfterTxn7()));
  EXPECT_THAT(NamesOf(report.removed),
              ElementsAre("delete_delta_3_3_0", "delta_1_1_0", "delta_2_2_0"));
  EXPECT_EQ(report.removed.front().because, "covered by base_3_v7");
  EXPECT_TRUE(report.IsDone());
  EXPECT_THAT(OnDisk(), ElementsAre("base_3_v7", "delta_4_4_0"));
}

TEST_F(CleanTest, LeavesToALaterCompactionWhatIsIts) {
  Make({"delta_1_1_0", "base_3_v7", "delta_4_4_0", "base_4_v9"});
  SKEP_ASSERT_OK_AND_ASSIGN(const CleanReport report, Clean(posix_, AfterTxn7()));
  EXPECT_TRUE(report.IsDone());
  EXPECT_THAT(OnDisk(), ElementsAre("base_3_v7", "base_4_v9", "delta_4_4_0"));
}

TEST_F(CleanTest, TouchesNothingItDoesNotKnow) {
  Make({"delta_1_1_0",
        "base_3_v7",
        "000000_0",
        "notes.txt",
        "other/readme",
        ".hidden",
        "_tmp/x",
        ".skep-tmp-9/x"});
  SKEP_ASSERT_OK_AND_ASSIGN(const CleanReport report, Clean(posix_, AfterTxn7()));
  EXPECT_THAT(NamesOf(report.removed), ElementsAre("000000_0", "delta_1_1_0"));
  EXPECT_TRUE(report.IsDone());
  EXPECT_THAT(OnDisk(),
              ElementsAre(".hidden", ".skep-tmp-9", "_tmp", "base_3_v7", "notes.txt", "other"));
}

// What came since the compaction, which refuses the same (CL-14).
TEST_F(CleanTest, LeavesADirectoryThatHoldsWhatItDoesNotKnow) {
  struct Case {
    std::string name;
    std::string path;    // of a file to make; of a directory where it ends with '/'
    std::string keeper;  // the directory that stays for it
    std::string message;
  };
  const std::vector<Case> cases = {
      {"a file", "delta_1_1_0/notes.txt", "delta_1_1_0", "notes.txt is not named like"},
      {"a deep file", "delta_1_1_0/a/b/notes.txt", "delta_1_1_0", "b/notes.txt is not named like"},
      {"an empty directory",
       "delta_1_1_0/sub/",
       "delta_1_1_0",
       "sub is a directory without a data"},
      {"of an older base", "base_2_v3/notes.txt", "base_2_v3", "notes.txt is not named like"},
      {"of a union leg",
       "HIVE_UNION_SUBDIR_1/readme",
       "HIVE_UNION_SUBDIR_1",
       "readme is not named"},
      {"of an aborted write",
       "delta_5_5_0/notes.txt",
       "delta_5_5_0",
       "notes.txt is not named like"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::filesystem::remove_all(root_.path());
    Make({"delta_1_1_0",
          "delta_2_2_0",
          "base_2_v3",
          "HIVE_UNION_SUBDIR_1/000000_0",
          "delta_5_5_0",
          "base_3_v7"});
    if (c.path.ends_with("/")) {
      std::filesystem::create_directories(root_ / c.path);
    } else {
      std::filesystem::create_directories(std::filesystem::path(root_ / c.path).parent_path());
      std::ofstream(root_ / c.path) << "mine";
    }
    CleanRequest request = AfterTxn7();
    request.aborted = AbortedScope{.write_ids = WriteIds("7:::5"), .visibility = Txns("9:::")};
    request.before_removal = [&](const acid::Removal& removal) {
      EXPECT_NE(removal.name, c.keeper) << "no removal is announced that is none";
      return absl::OkStatus();
    };
    SKEP_ASSERT_OK_AND_ASSIGN(const CleanReport report, Clean(posix_, request));
    ASSERT_EQ(report.failed.size(), 1U);
    EXPECT_EQ(report.failed[0].removal.name, c.keeper);
    EXPECT_THAT(report.failed[0].status, HasReason(ErrorReason::kMalformedDirectory));
    EXPECT_THAT(report.failed[0].status, testing::HasMessage(::testing::HasSubstr(c.message)));
    EXPECT_THAT(NamesOf(report.left), ElementsAre(c.keeper));
    EXPECT_THAT(OnDisk(), ::testing::UnorderedElementsAre("base_3_v7", c.keeper));
    EXPECT_TRUE(std::filesystem::exists(root_ / c.path));
    if (c.keeper.find("delta") != std::string::npos) {
      EXPECT_TRUE(std::filesystem::exists(root_ / (c.keeper + "/bucket_00000"))) << "not in part";
    }
  }
}

// Union legs, list bucketing and the side files of streaming are part of the layout.
TEST_F(CleanTest, RemovesADirectoryWithSubdirectoriesOfData) {
  Make({"delta_1_1_0", "delta_2_2_0", "base_3_v7"});
  for (const std::string name : {"delta_1_1_0/HIVE_UNION_SUBDIR_1/000000_0",
                                 "delta_1_1_0/a=1/b=2/bucket_00000",
                                 "delta_2_2_0/bucket_00000_flush_length"}) {
    std::filesystem::create_directories(std::filesystem::path(root_ / name).parent_path());
    std::ofstream(root_ / name) << "x";
  }
  std::filesystem::create_directories(root_ / "delta_2_2_0/HIVE_UNION_SUBDIR_2");
  SKEP_ASSERT_OK_AND_ASSIGN(const CleanReport report, Clean(posix_, AfterTxn7()));
  EXPECT_TRUE(report.IsDone());
  EXPECT_THAT(OnDisk(), ElementsAre("base_3_v7"));
}

TEST_F(CleanTest, StopsAtANameThatLooksLikeADelta) {
  Make({"delta_1_1_0", "base_3_v7", "delta_x"});
  EXPECT_THAT(Clean(posix_, AfterTxn7()), HasReason(ErrorReason::kMalformedDirectory));
  EXPECT_THAT(OnDisk(), ElementsAre("base_3_v7", "delta_1_1_0", "delta_x"));
}

TEST_F(CleanTest, IsDoneWhereNothingIsLeft) {
  Make({"base_3_v7"});
  SKEP_ASSERT_OK_AND_ASSIGN(const CleanReport report, Clean(posix_, AfterTxn7()));
  EXPECT_THAT(report.removed, IsEmpty());
  EXPECT_TRUE(report.IsDone());
  EXPECT_FALSE(report.directory_gone);
}

TEST_F(CleanTest, IsDoneWhereTheDirectoryIsGone) {  // CL-7
  CleanRequest request = AfterTxn7();
  request.directory = root_ / "dropped";
  SKEP_ASSERT_OK_AND_ASSIGN(const CleanReport report, Clean(posix_, request));
  EXPECT_TRUE(report.directory_gone);
  EXPECT_TRUE(report.IsDone());
  SKEP_ASSERT_OK_AND_ASSIGN(const auto removable, ListRemovable(posix_, request));
  EXPECT_THAT(removable, IsEmpty());
}

TEST_F(CleanTest, RemovesAbortedDirectoriesAboveItsCompaction) {  // CL-10
  Make({"delta_1_1_0", "base_3_v7", "delta_5_5_0", "delete_delta_5_5_0", "delta_6_7", "base_3_v8"});
  CleanRequest request = AfterTxn7();
  request.aborted = AbortedScope{.write_ids = WriteIds("7:::5,6"), .visibility = Txns("9:::8")};
  SKEP_ASSERT_OK_AND_ASSIGN(const CleanReport report, Clean(posix_, request));
  EXPECT_TRUE(report.IsDone());
  EXPECT_THAT(OnDisk(), ElementsAre("base_3_v7", "delta_6_7"));
  EXPECT_THAT(report.aborted_write_ids, ElementsAre(5));
  EXPECT_TRUE(report.mixes_aborted);
}

TEST_F(CleanTest, CleansAbortedDirectoriesAlone) {
  Make({"delta_1_1_0", "delta_2_2_0", "base_9"});
  CleanRequest request{.directory = root_.path()};
  request.aborted = AbortedScope{.write_ids = WriteIds("9:::2,9"), .visibility = Txns("9:::")};
  SKEP_ASSERT_OK_AND_ASSIGN(const CleanReport report, Clean(posix_, request));
  EXPECT_THAT(OnDisk(), ElementsAre("delta_1_1_0"));
  EXPECT_THAT(report.aborted_write_ids, ElementsAre(2, 9));
  EXPECT_FALSE(report.mixes_aborted);
}

TEST_F(CleanTest, GoesOnAfterAFailureAndSaysWhatIsLeft) {  // CL-11, CL-12
  Make({"delta_1_1_0", "delta_2_2_0", "base_3_v7"});
  testing::FaultFs faulty(posix_, attic_.path());
  faulty.FailCall(testing::FsCall::kRemoveTree, 1, absl::UnavailableError("stale handle"));
  SKEP_ASSERT_OK_AND_ASSIGN(const CleanReport report, Clean(faulty, AfterTxn7()));
  ASSERT_EQ(report.failed.size(), 1U);
  EXPECT_EQ(report.failed[0].removal.name, "delta_1_1_0");
  EXPECT_THAT(NamesOf(report.removed), ElementsAre("delta_2_2_0"));
  EXPECT_THAT(NamesOf(report.left), ElementsAre("delta_1_1_0"));
  EXPECT_FALSE(report.IsDone());

  SKEP_ASSERT_OK_AND_ASSIGN(const CleanReport again, Clean(faulty, AfterTxn7()));
  EXPECT_TRUE(again.IsDone());
  EXPECT_THAT(OnDisk(), ElementsAre("base_3_v7"));
}

TEST_F(CleanTest, TakesAnAbsentNameForRemoved) {
  Make({"delta_1_1_0", "delta_2_2_0", "base_3_v7"});
  CleanRequest request = AfterTxn7();
  request.before_removal = [&](const acid::Removal& removal) -> absl::Status {
    std::filesystem::remove_all(root_ / removal.name);
    return absl::OkStatus();
  };
  SKEP_ASSERT_OK_AND_ASSIGN(const CleanReport report, Clean(posix_, request));
  EXPECT_EQ(report.removed.size(), 2U);
  EXPECT_TRUE(report.IsDone());
}

TEST_F(CleanTest, CanStopAnywhereAndBeRepeated) {
  const std::vector<std::string> all = {"delta_1_1_0", "delta_2_2_0", "delta_3_3_0", "base_3_v7"};
  for (int stop_at = 0; stop_at < 3; ++stop_at) {
    SCOPED_TRACE(stop_at);
    Make(all);
    CleanRequest request = AfterTxn7();
    int calls = 0;
    request.before_removal = [&](const acid::Removal&) {
      return calls++ == stop_at ? absl::CancelledError("no longer the cleaner") : absl::OkStatus();
    };
    EXPECT_THAT(Clean(posix_, request), testing::StatusIs(absl::StatusCode::kCancelled));
    EXPECT_EQ(OnDisk().size(), all.size() - static_cast<size_t>(stop_at));
    SKEP_ASSERT_OK_AND_ASSIGN(const CleanReport report, Clean(posix_, AfterTxn7()));
    EXPECT_TRUE(report.IsDone());
    EXPECT_THAT(OnDisk(), ElementsAre("base_3_v7"));
  }
}

TEST_F(CleanTest, SurvivesACrashAtEveryCall) {
  for (int nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    Make({"delta_1_1_0", "delta_2_2_0", "base_3_v7"});
    testing::FaultFs faulty(posix_, attic_.path());
    faulty.FailAnyCall(nth, absl::InternalError("power off"), testing::FaultSpan::kFromThere);
    const auto cut = Clean(faulty, AfterTxn7());
    const bool fired = faulty.Fired();
    faulty.Crash();
    faulty.Restart();
    faulty.Heal();
    SKEP_ASSERT_OK_AND_ASSIGN(const CleanReport report, Clean(faulty, AfterTxn7()));
    EXPECT_TRUE(report.IsDone());
    EXPECT_THAT(OnDisk(), ElementsAre("base_3_v7"));
    if (!fired) {
      EXPECT_THAT(cut, IsOk());
      break;
    }
  }
}

TEST_F(CleanTest, ShowsWithoutRemoving) {
  Make({"delta_1_1_0", "base_3_v7"});
  SKEP_ASSERT_OK_AND_ASSIGN(const auto removable, ListRemovable(posix_, AfterTxn7()));
  EXPECT_THAT(NamesOf(removable), ElementsAre("delta_1_1_0"));
  EXPECT_THAT(OnDisk(), ElementsAre("base_3_v7", "delta_1_1_0"));
}

TEST_F(CleanTest, SweepsOnlyTemporariesOfEndedTransactions) {
  Make({".skep-tmp-7/base_3_v7/bucket_00000",
        ".skep-tmp-8/x",
        ".skep-tmp-x/x",
        "_tmp_7/x",
        "delta_1_1_0"});
  const std::vector<TxnId> ended = {TxnId(7), TxnId(9)};
  SKEP_ASSERT_OK_AND_ASSIGN(const SweepReport report, SweepTemporary(posix_, root_.path(), ended));
  EXPECT_THAT(report.removed, ElementsAre(".skep-tmp-7"));
  EXPECT_THAT(report.failed, IsEmpty());
  EXPECT_THAT(OnDisk(), ElementsAre(".skep-tmp-8", ".skep-tmp-x", "_tmp_7", "delta_1_1_0"));
  SKEP_ASSERT_OK_AND_ASSIGN(const SweepReport gone,
                            SweepTemporary(posix_, root_ / "dropped", ended));
  EXPECT_THAT(gone.removed, IsEmpty());
}

}  // namespace
}  // namespace skep::compact
