#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "storage/table/sources.h"
#include "tests/storage/table/acid_files.h"
#include "tests/testing/fault_fs.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<std::string> DirNames(const acid::Listing& listing) {
  std::vector<std::string> names;
  for (const acid::AcidDir& dir : listing.dirs) names.push_back(dir.name.name);
  return names;
}

std::vector<std::string> OriginalPaths(const acid::Listing& listing) {
  std::vector<std::string> paths;
  for (const acid::OriginalFile& file : listing.originals) paths.push_back(file.relative_path);
  return paths;
}

TEST(ListDirectory, ClassifiesWhatItSees) {
  TestTable table;
  table.Text("000000_0", "x");
  table.Text("HIVE_UNION_SUBDIR_1/000000_0", "xy");
  table.Text("HIVE_UNION_SUBDIR_1/.hidden", "x");
  table.Directory("delta_0000001_0000001_0000");
  table.Directory("delete_delta_0000002_0000002_0000");
  table.Directory("base_0000003_v0000007");
  table.Directory("_tmp.base_0000007/delta_9_9");
  table.Directory(".hive-staging_hive_2024/-ext-10000");
  table.Text("_SUCCESS", "");

  SKEP_ASSERT_OK_AND_ASSIGN(const acid::Listing listing,
                            table::ListDirectory(table.fs(), table.dir()));

  EXPECT_THAT(DirNames(listing),
              UnorderedElementsAre("delta_0000001_0000001_0000",
                                   "delete_delta_0000002_0000002_0000",
                                   "base_0000003_v0000007"));
  EXPECT_THAT(OriginalPaths(listing),
              UnorderedElementsAre("000000_0", "HIVE_UNION_SUBDIR_1/000000_0"));
  EXPECT_THAT(listing.original_dirs, ElementsAre("HIVE_UNION_SUBDIR_1"));
  for (const acid::OriginalFile& file : listing.originals) {
    EXPECT_EQ(file.size, file.relative_path == "000000_0" ? 1 : 2);
  }
}

TEST(ListDirectory, ReadsTheMetadataOfBasesWithoutVisibility) {
  TestTable table;
  table.Text("base_0000003/_metadata_acid", R"({"thisFileVersion":"0","dataFormat":"compacted"})");
  table.Text("base_0000004/_metadata_acid", R"({"thisFileVersion":"0","dataFormat":"truncated"})");
  table.Directory("base_0000005");

  SKEP_ASSERT_OK_AND_ASSIGN(const acid::Listing listing,
                            table::ListDirectory(table.fs(), table.dir()));

  ASSERT_THAT(DirNames(listing), ElementsAre("base_0000003", "base_0000004", "base_0000005"));
  EXPECT_EQ(listing.dirs[0].metadata, "compacted");
  EXPECT_EQ(listing.dirs[1].metadata, "truncated");
  EXPECT_THAT(listing.dirs[2].metadata, IsEmpty());
}

TEST(ListDirectory, RefusesWhatItCannotUnderstand) {
  struct Case {
    std::string name;
    std::string path;  // of a file to make
    std::string message;
  };
  const std::vector<Case> cases = {
      {"looks like a delta", "delta_0000001_0000001_x/bucket_00000", "delta_0000001_0000001_x"},
      {"reversed range", "delta_0000005_0000003/bucket_00000", "delta_0000005_0000003"},
      {"looks like a base", "base_12a/bucket_00000", "base_12a"},
      {"delta in an ordinary directory",
       "data/delta_0000001_0000001_0000/bucket_00000",
       "below an ordinary one"},
      {"broken metadata", "base_0000003/_metadata_acid", "dataFormat"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    TestTable table;
    table.Text(c.path, "?");
    const auto listing = table::ListDirectory(table.fs(), table.dir());
    EXPECT_THAT(listing, HasReason(ErrorReason::kMalformedDirectory));
    EXPECT_THAT(listing, HasMessage(HasSubstr(c.message)));
    EXPECT_THAT(listing, HasMessage(HasSubstr(table.dir())));
  }
}

TEST(ListDirectory, RefusesALinkThatLeadsNowhere) {
  TestTable table;
  std::filesystem::create_symlink("/nowhere/at/all", table.Path("000000_0"));
  EXPECT_THAT(table::ListDirectory(table.fs(), table.dir()),
              HasReason(ErrorReason::kMalformedDirectory));
}

// A cleaner removes the originals that a major compaction replaced, while somebody reads who needs
// the base alone.
TEST(ListDirectory, LooksAnewAtWhatGoesMeanwhile) {
  TestTable table;
  table.Text("000000_0", "12345");
  table.Directory("base_0000005_v0000009");
  TempDir attic;
  FaultFs faults(table.fs(), attic.path());
  const absl::Status gone = absl::NotFoundError("gone");
  faults.FailCall(FsCall::kStat, 1, gone);
  const auto listing = table::ListDirectory(faults, table.dir());
  ASSERT_THAT(listing, IsOk());
  EXPECT_EQ(listing->originals.size(), 1u);
  EXPECT_EQ(listing->dirs.size(), 1u);
  faults.FailCall(FsCall::kStat, 1, gone, FaultSpan::kFromThere);
  EXPECT_THAT(table::ListDirectory(faults, table.dir()), HasReason(ErrorReason::kNotEnoughHistory))
      << "not for ever";
}

TEST(ListDirectory, AnAbsentDirectoryIsNotFound) {
  TestTable table;
  EXPECT_THAT(table::ListDirectory(table.fs(), table.Path("no")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(ListPartitionDirectories, WalksToTheLeavesInByteOrder) {
  TestTable table;
  table.Directory("p=b/q=1/delta_0000001_0000001_0000");
  table.Directory("p=a/q=2");
  table.Directory("p=a/q=10");
  table.Directory("p=a!/q=1");
  table.Directory("p=c");  // no leaf below it yet
  table.Directory("_tmp/q=1");
  table.Text("stray", "ignored, as Hive does");

  EXPECT_THAT(table::ListPartitionDirectories(table.fs(), table.dir(), 2),
              IsOkAndHolds(ElementsAre("p=a!/q=1", "p=a/q=10", "p=a/q=2", "p=b/q=1")));
  EXPECT_THAT(table::ListPartitionDirectories(table.fs(), table.dir(), 0),
              IsOkAndHolds(ElementsAre("")));
}

TEST(ListPartitionDirectories, RefusesDataAboveTheLeaves) {
  TestTable table;
  table.Directory("p=a/delta_0000001_0000001_0000");
  const auto names = table::ListPartitionDirectories(table.fs(), table.dir(), 2);
  EXPECT_THAT(names, HasReason(ErrorReason::kMalformedDirectory));
  EXPECT_THAT(names, HasMessage(HasSubstr("p=a/delta_0000001_0000001_0000")));
}

}  // namespace
}  // namespace skep::testing
