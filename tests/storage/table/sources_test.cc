#include "storage/table/sources.h"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/acid/selection.h"
#include "storage/model/errors.h"
#include "storage/table/delete_set.h"
#include "tests/storage/table/acid_files.h"
#include "tests/testing/listings.h"
#include "tests/testing/status_matchers.h"

namespace skep::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<std::map<int32_t, table::BucketSources>> Collect(
    TestTable& table, const std::string& write_ids = "99999999:::") {
  auto listing = table::ListDirectory(table.fs(), table.dir());
  if (!listing.ok()) return listing.status();
  auto selection = acid::SelectDirectories(*listing, WriteIds(write_ids), Txns("1000:::"));
  if (!selection.ok()) return selection.status();
  return table::CollectSources(table.fs(), table.dir(), *selection);
}

TEST(CollectSources, NumbersOriginalsThroughTheCopiesOfABucket) {
  // O-2, O-3: path order, digits as characters; each bucket on its own.
  TestTable table;
  table.PlainFile("000002_0", {1, 2});
  table.PlainFile("000002_0_copy_1", {3});
  table.PlainFile("000002_0_copy_10", {4, 5, 6});
  table.PlainFile("000002_0_copy_2", {7});
  table.PlainFile("000001_0", {8});
  table.PlainFile("HIVE_UNION_SUBDIR_15/000002_0", {9});

  SKEP_ASSERT_OK_AND_ASSIGN(const auto sources, Collect(table));

  std::vector<std::string> numbered;
  for (const table::SourceFile& file : sources.at(2).inserts) {
    numbered.push_back(file.path.substr(table.dir().size() + 1) + "@" +
                       std::to_string(file.synthetic->first_row_id));
    EXPECT_EQ(file.synthetic->write_id, 0);
    EXPECT_EQ(file.synthetic->bucket_property, 537001984);
  }
  EXPECT_THAT(numbered,
              ElementsAre("000002_0@0",
                          "000002_0_copy_1@2",
                          "000002_0_copy_10@3",
                          "000002_0_copy_2@6",
                          "HIVE_UNION_SUBDIR_15/000002_0@7"));
  EXPECT_EQ(sources.at(1).inserts.at(0).synthetic->bucket_property, 536936448);
  EXPECT_EQ(sources.at(1).inserts.at(0).synthetic->first_row_id, 0);
}

TEST(CollectSources, NumbersRawFilesWithinTheirDirectory) {
  // O-6: write id and statement of the directory.
  TestTable table;
  table.PlainFile("delta_0000002_0000002_0001/000000_0", {1, 2});
  table.PlainFile("delta_0000002_0000002_0001/000000_0_copy_1", {3});
  table.PlainFile("delta_0000003_0000003_0000/000000_0", {4});

  SKEP_ASSERT_OK_AND_ASSIGN(const auto sources, Collect(table));

  const auto& files = sources.at(0).inserts;
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].synthetic->write_id, 2);
  EXPECT_EQ(files[0].synthetic->bucket_property, 536870913);
  EXPECT_EQ(files[1].synthetic->first_row_id, 2);
  EXPECT_EQ(files[2].synthetic->write_id, 3);
  EXPECT_EQ(files[2].synthetic->bucket_property, 536870912);
  EXPECT_EQ(files[2].synthetic->first_row_id, 0);
}

TEST(CollectSources, TakesTheWriteIdOfARawBase) {
  TestTable table;
  table.PlainFile("base_0000005/000000_0", {1});
  SKEP_ASSERT_OK_AND_ASSIGN(const auto sources, Collect(table));
  ASSERT_EQ(sources.at(0).inserts.size(), 1u);
  EXPECT_EQ(sources.at(0).inserts[0].synthetic->write_id, 5);
  EXPECT_EQ(sources.at(0).inserts[0].synthetic->bucket_property, 536870912);
}

TEST(CollectSources, TakesTheBucketOfAnAcidFileUnderAnOriginalsNameFromItsRows) {
  TestTable table;
  table.AcidFile("00000_0", {Insert(1, 0, 10, /*bucket=*/2)});
  SKEP_ASSERT_OK_AND_ASSIGN(const auto sources, Collect(table));
  ASSERT_EQ(sources.size(), 1u);
  EXPECT_EQ(sources.begin()->first, 2);
  EXPECT_FALSE(sources.at(2).inserts.at(0).synthetic.has_value());
}

TEST(CollectSources, LeavesOutEmptyFilesAndForeignNames) {
  TestTable table;
  table.Text("000000_0", "");
  table.Text("delta_0000001_0000001_0000/bucket_00000", "");
  table.Text("delta_0000001_0000001_0000/notes.txt", "not data");
  table.Text("delta_0000001_0000001_0000/_orc_acid_version", "2");
  EXPECT_THAT(Collect(table), IsOkAndHolds(IsEmpty()));
}

// RW-7: left out in silence, its victims would be back, and a major compaction would make that
// last.
TEST(CollectSources, RefusesADeleteDeltaWithoutBytes) {
  for (const std::string path : {"delete_delta_0000002_0000002_0000/bucket_00000",
                                 "delete_delta_0000002_0000002/bucket_00000_1",
                                 "delete_delta_0000002_0000004/bucket_00000",
                                 "delete_delta_0000002_0000004_v0000009/bucket_00000",
                                 "delete_delta_0000002_0000002_0000/000000_0",
                                 "delete_delta_0000002_0000002_0000/sub/bucket_00000"}) {
    SCOPED_TRACE(path);
    TestTable table;
    table.AcidFile("delta_0000001_0000001_0000/bucket_00000", {Insert(1, 0, 1)});
    table.Text(path, "");
    const auto sources = Collect(table);
    EXPECT_THAT(sources, HasReason(ErrorReason::kCorruptFile));
    EXPECT_THAT(sources, HasMessage(HasSubstr(path)));
    EXPECT_THAT(Collect(table, "1:::"), IsOk()) << "who does not see it does not need it";
  }
}

TEST(CollectSources, SortsInsertsAndDeletesByBucket) {
  TestTable table;
  table.AcidFile("base_0000002_v0000007/bucket_00001", {Insert(1, 0, 1, 1)});
  table.AcidFile("delta_0000003_0000003_0000/bucket_00001_0", {Insert(3, 0, 2, 1)});
  table.AcidFile("delete_delta_0000004_0000004_0000/bucket_00001_3", {Delete(1, 0, 4, 1)});
  table.AcidFile("delta_0000005_0000005_0000/bucket_00000", {Insert(5, 0, 3)});

  SKEP_ASSERT_OK_AND_ASSIGN(const auto sources, Collect(table));

  ASSERT_EQ(sources.size(), 2u);
  ASSERT_EQ(sources.at(1).inserts.size(), 2u);
  EXPECT_EQ(sources.at(1).inserts[0].dir->kind, acid::DirKind::kBase);
  ASSERT_EQ(sources.at(1).deletes.size(), 1u);
  EXPECT_THAT(sources.at(0).deletes, IsEmpty());
}

TEST(CollectSources, RefusesFilesThatNoRuleExplains) {
  struct Case {
    std::string name;
    std::string path;
    std::string second;  // another file, of the other format
    ErrorReason reason;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"plain rows in a compacted delta",
       "delta_0000001_0000003/000000_0",
       "",
       ErrorReason::kNotSupported,
       "insert-only"},
      {"plain rows in a compacted base",
       "base_0000003_v0000009/000000_0",
       "",
       ErrorReason::kNotSupported,
       "insert-only"},
      {"plain rows in a delete delta",
       "delete_delta_0000003_0000003_0000/000000_0",
       "",
       ErrorReason::kNotSupported,
       "O-9"},
      {"plain rows under an ACID name",
       "delta_0000003_0000003_0000/bucket_00000",
       "",
       ErrorReason::kCorruptFile,
       "hive.acid.version"},
      {"original without a bucket in its name",
       "part-00000.orc",
       "",
       ErrorReason::kMalformedDirectory,
       "part-00000.orc"},
      {"original under an ACID name",
       "bucket_00000",
       "",
       ErrorReason::kMalformedDirectory,
       "bucket_00000"},
      {"plain rows of a statement that no row id can name",
       "delta_0000003_0000003_4096/000000_0",
       "",
       ErrorReason::kMalformedDirectory,
       "statement 4096"},
      {"two formats",
       "delta_0000003_0000003_0000/000000_0",
       "delta_0000003_0000003_0000/bucket_00000",
       ErrorReason::kMalformedDirectory,
       "one format"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    TestTable table;
    table.PlainFile(c.path, {1});
    if (!c.second.empty()) table.AcidFile(c.second, {Insert(3, 0, 1)});
    const auto sources = Collect(table);
    EXPECT_THAT(sources, HasReason(c.reason));
    EXPECT_THAT(sources, HasMessage(HasSubstr(c.message)));
    EXPECT_THAT(sources, HasMessage(HasSubstr(c.path)));
  }
}

TEST(CollectSources, RefusesWhatIsNotOrc) {
  TestTable table;
  table.Text("delta_0000001_0000001_0000/000000_0", "1\tone\n2\ttwo\n");
  const auto text = Collect(table);
  EXPECT_THAT(text, HasReason(ErrorReason::kNotSupported));
  EXPECT_THAT(text, HasMessage(HasSubstr("insert-only")));

  TestTable torn;
  torn.AcidFile("delta_0000001_0000001_0000/bucket_00000", {Insert(1, 0, 1)});
  const std::string whole = torn.Bytes("delta_0000001_0000001_0000/bucket_00000");
  torn.Text("delta_0000001_0000001_0000/bucket_00000", whole.substr(0, whole.size() - 7));
  const auto truncated = Collect(torn);
  EXPECT_THAT(truncated, HasReason(ErrorReason::kCorruptFile));
  EXPECT_THAT(truncated, HasMessage(HasSubstr("bucket_00000")));
}

TEST(CollectSources, FindsTheLayoutBeforeHive3) {
  struct Case {
    std::string name;
    std::string path;
    Event event;
    bool legacy;
  };
  Event update = Insert(1, 0, 1);
  update.operation = 1;
  Event removal = Delete(1, 0, 2);
  const std::vector<Case> cases = {
      {"update in a base", "base_0000006/bucket_00000", update, true},
      {"update in a delta", "delta_0000002_0000002/bucket_00000", update, true},
      {"update in a delete delta", "delete_delta_0000002_0000002/bucket_00000", update, true},
      {"delete in a delta", "delta_0000002_0000002/bucket_00000", removal, true},
      {"delete in a delete delta", "delete_delta_0000002_0000002/bucket_00000", removal, false},
      {"insert in a delta", "delta_0000002_0000002/bucket_00000", Insert(2, 0, 1), false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    TestTable table;
    table.AcidFile(c.path, {c.event});
    const auto sources = Collect(table);
    if (c.legacy) {
      EXPECT_THAT(sources, HasReason(ErrorReason::kLegacyLayout));
      EXPECT_THAT(sources, HasMessage(HasSubstr(c.path)));
    } else {
      EXPECT_THAT(sources, IsOk());
    }
  }
}

// D-6, line by line.
TEST(RelevantDeletes, LeavesOutOnlyWhatCannotHit) {
  struct Case {
    std::string insert_dir;
    std::string delete_dir;
    bool loaded;
  };
  const std::vector<Case> cases = {
      {"delta_8_8_0", "delete_delta_6_6_0", false},
      {"delta_8_8_0", "delete_delta_8_8_0", false},
      {"delta_8_8_0", "delete_delta_8_8_3", true},
      {"delta_8_8_3", "delete_delta_8_8_1", false},
      {"delta_8_8", "delete_delta_9_9_0", true},
      {"delta_4_8_v19", "delete_delta_4_8_v19", true},
      {"delta_7_7_v19", "delete_delta_7_7_v19", true},
      {"base_9", "delete_delta_11_11_0", true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.insert_dir + " " + c.delete_dir);
    SKEP_ASSERT_OK_AND_ASSIGN(const auto inserts, acid::ParseDirName(c.insert_dir));
    SKEP_ASSERT_OK_AND_ASSIGN(const auto deletes, acid::ParseDirName(c.delete_dir));
    table::BucketSources bucket;
    bucket.inserts.push_back({.path = "i", .dir = *inserts});
    bucket.deletes.push_back({.path = "d", .dir = *deletes});
    EXPECT_EQ(table::RelevantDeletes(bucket).size(), c.loaded ? 1u : 0u);
    // Originals: always.
    bucket.inserts[0].dir.reset();
    EXPECT_EQ(table::RelevantDeletes(bucket).size(), 1u);
  }
}

TEST(RelevantDeletes, LeavesOutFilesWhoseWriteIdsMissTheRows) {
  // D-11, by trusted statistics of both sides.
  TestTable table;
  table.AcidFile("delta_0000005_0000005_0000/bucket_00000", {Insert(5, 0, 1)});
  table.AcidFile("delete_delta_0000006_0000006_0000/bucket_00000", {Delete(5, 0, 6)});
  table.AcidFile("delete_delta_0000007_0000007_0000/bucket_00000", {Delete(3, 0, 7)});
  SKEP_ASSERT_OK_AND_ASSIGN(auto sources, Collect(table));
  const auto relevant = table::RelevantDeletes(sources.at(0));
  ASSERT_EQ(relevant.size(), 1u);
  EXPECT_THAT(relevant[0].path, HasSubstr("delete_delta_0000006"));

  // Without statistics to trust nothing is left out (M-4).
  auto untrusted = std::make_shared<orc::Tail>(*sources.at(0).deletes[1].tail);
  untrusted->row_index_stride = 0;
  sources.at(0).deletes[1].tail = untrusted;
  EXPECT_EQ(table::RelevantDeletes(sources.at(0)).size(), 2u);
}

}  // namespace
}  // namespace skep::testing
