#include "storage/compact/job.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/compact/clean.h"
#include "storage/format/orc/tail.h"
#include "storage/fs/posix_file_system.h"
#include "tests/storage/compact/acid_files.h"
#include "tests/testing/fault_fs.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::compact {
namespace {

using testing::AllVisible;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::HasReason;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::StatusIs;
using testing::Txns;
using testing::WriteIds;

constexpr auto kMajor = CompactionType::kMajor;
constexpr auto kMinor = CompactionType::kMinor;

class JobTest : public ::testing::Test {
 protected:
  std::vector<std::string> Rows(const std::string& write_ids, const std::string& txns) {
    return ScanRows(posix_, root_.path(), WriteIds(write_ids), Txns(txns));
  }
  std::vector<std::string> Events(const std::string& relative) {
    return FileEvents(posix_, root_ / relative);
  }
  orc::Tail TailOf(const std::string& relative) {
    auto file = posix_.OpenForRead(root_ / relative);
    EXPECT_TRUE(file.ok()) << file.status().ToString();
    auto tail = orc::ReadTail(**file, (*file)->size());
    EXPECT_TRUE(tail.ok()) << tail.status().ToString();
    return *std::move(tail);
  }
  absl::StatusOr<CompactionResult> Run(CompactionType type,
                                       int64_t txn,
                                       const std::string& write_ids) {
    return RunCompaction(posix_, RequestFor(root_.path(), type, txn, write_ids));
  }
  void Write(const std::string& name, const std::vector<TestEvent>& events) {
    WriteAcidFile(posix_, root_.path(), name, events);
  }

  testing::TempDir root_;
  fs::PosixFileSystem posix_;
};

// ---- acid-layout §16 ----

TEST_F(JobTest, MajorOfTheWorkedExampleKeepsTheRowId) {
  WriteWorkedExample(posix_, root_.path());
  const std::vector<std::string> before = Rows("3:::", "6:::");
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult result, Run(kMajor, 7, "3:::"));
  EXPECT_THAT(result.outputs, ElementsAre("base_0000003_v0000007"));
  EXPECT_EQ(result.plan.highest_write_id, WriteId(3));
  EXPECT_EQ(result.totals.rows_read, 3);
  EXPECT_EQ(result.totals.rows_deleted, 2);
  EXPECT_EQ(result.totals.rows_written, 1);
  EXPECT_EQ(result.totals.deletes_read, 2);

  EXPECT_THAT(NamesIn(root_.path()),
              ElementsAre("base_0000003_v0000007",
                          "delete_delta_0000002_0000002_0000",
                          "delete_delta_0000003_0000003_0000",
                          "delta_0000001_0000001_0000",
                          "delta_0000002_0000002_0000"));
  EXPECT_THAT(NamesIn(root_ / "base_0000003_v0000007"),
              ElementsAre("_orc_acid_version", "bucket_00000"));
  EXPECT_THAT(fs::ReadSmallFile(posix_, root_ / "base_0000003_v0000007/_orc_acid_version", 10),
              testing::IsOkAndHolds("2"));
  EXPECT_THAT(Events("base_0000003_v0000007/bucket_00000"), ElementsAre("0 (2,536870912,0) 2"));
  const orc::Tail tail = TailOf("base_0000003_v0000007/bucket_00000");
  EXPECT_EQ(tail.user_metadata.at("hive.acid.version"), "2");
  EXPECT_EQ(tail.user_metadata.at("hive.acid.key.index"), "2,536870912,0;");
  EXPECT_EQ(tail.user_metadata.at("hive.acid.stats"), "1,0,0");

  EXPECT_THAT(before, ElementsAre("(2,536870912,0) {\"id\":1,\"status\":\"paid\"}"));
  EXPECT_EQ(Rows("3:::", "7:::"), before);
  EXPECT_EQ(Rows("3:::", "6:::"), before);  // a snapshot that does not see transaction 7

  SKEP_ASSERT_OK_AND_ASSIGN(
      const CleanReport cleaned,
      Clean(posix_,
            {.directory = root_.path(),
             .obsolete = ObsoleteScope{WriteIds("3:::"), Txns("7:::"), WriteId(3)}}));
  EXPECT_TRUE(cleaned.IsDone());
  EXPECT_THAT(NamesIn(root_.path()), ElementsAre("base_0000003_v0000007"));
  EXPECT_EQ(Rows("3:::", "7:::"), before);
}

TEST_F(JobTest, MinorOfTheWorkedExampleServesEverySnapshot) {
  WriteWorkedExample(posix_, root_.path());
  const std::vector<std::string> snapshots = {"1:::", "2:::", "3:::", "3:2:2:", "3:::2", "3:3:3:"};
  std::vector<std::vector<std::string>> before;
  for (const std::string& snapshot : snapshots) before.push_back(Rows(snapshot, "6:::"));
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult result, Run(kMinor, 7, "3:::"));
  EXPECT_THAT(
      result.outputs,
      ElementsAre("delete_delta_0000001_0000003_v0000007", "delta_0000001_0000003_v0000007"));
  EXPECT_THAT(Events("delta_0000001_0000003_v0000007/bucket_00000"),
              ElementsAre("0 (1,536870912,0) 1", "0 (1,536870912,1) 1", "0 (2,536870912,0) 2"));
  EXPECT_THAT(Events("delete_delta_0000001_0000003_v0000007/bucket_00000"),
              ElementsAre("2 (1,536870912,0) 2", "2 (1,536870912,1) 3"));
  EXPECT_EQ(TailOf("delete_delta_0000001_0000003_v0000007/bucket_00000")
                .user_metadata.at("hive.acid.stats"),
            "0,0,2");
  for (size_t i = 0; i < snapshots.size(); ++i) {
    SCOPED_TRACE(snapshots[i]);
    EXPECT_EQ(Rows(snapshots[i], "7:::"), before[i]);
    EXPECT_EQ(Rows(snapshots[i], "6:::"), before[i]);
  }
}

// ---- Rows ----

TEST_F(JobTest, DropsRowsAndDeletesOfAbortedIds) {  // OUT-8, OUT-10
  for (const CompactionType type : {kMajor, kMinor}) {
    SCOPED_TRACE(CompactionTypeName(type));
    testing::TempDir dir;
    const auto write = [&](const std::string& name, const std::vector<TestEvent>& events) {
      WriteAcidFile(posix_, dir.path(), name, events);
    };
    write("delta_0000001_0000001_0000", {{.write_id = 1, .row_id = 0, .id = 1}});
    write("delete_delta_0000002_0000002_0000",
          {{.write_id = 1, .row_id = 0, .current_write_id = 2}});
    write("delta_0000003_0000003_0000", {{.write_id = 3, .row_id = 0, .id = 3}});
    // A streaming batch of which 5 was aborted.
    write("delta_0000004_0000006",
          {{.write_id = 4, .row_id = 0, .id = 4},
           {.write_id = 5, .row_id = 0, .id = 5},
           {.write_id = 5, .row_id = 1, .id = 6},
           {.write_id = 6, .row_id = 0, .id = 7}});
    SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult result,
                              RunCompaction(posix_, RequestFor(dir.path(), type, 9, "6:::2,5")));
    EXPECT_EQ(result.totals.rows_read, 6);
    EXPECT_EQ(result.totals.rows_aborted, 2);
    EXPECT_EQ(result.totals.rows_deleted, 0);
    ASSERT_EQ(result.outputs.size(), 1U);  // no delete delta: the one delete was aborted
    EXPECT_THAT(FileEvents(posix_, dir / (result.outputs[0] + "/bucket_00000")),
                ElementsAre("0 (1,536870912,0) 1",
                            "0 (3,536870912,0) 3",
                            "0 (4,536870912,0) 4",
                            "0 (6,536870912,0) 6"));
  }
}

TEST_F(JobTest, MergesBucketsAndStatementsEachIntoItsFile) {  // OUT-5, B-5
  constexpr int32_t kB0S1 = 536870913;
  constexpr int32_t kB1S0 = 536936448;
  Write("delta_0000001_0000001_0000",
        {{.write_id = 1, .row_id = 0, .id = 1},
         {.write_id = 1, .bucket = kB1S0, .row_id = 0, .id = 2}});
  Write("delta_0000001_0000001_0001", {{.write_id = 1, .bucket = kB0S1, .row_id = 0, .id = 3}});
  Write("delta_0000002_0000002_0000", {{.write_id = 2, .row_id = 0, .id = 4}});
  // Bucket 2 occurs in deletes only, of rows that never were.
  Write("delete_delta_0000003_0000003_0000",
        {{.write_id = 1, .bucket = kB0S1, .row_id = 0, .current_write_id = 3},
         {.write_id = 1, .bucket = 537001984, .row_id = 0, .current_write_id = 3}});
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult result, Run(kMajor, 9, "3:::"));
  EXPECT_EQ(result.totals.files_written, 2);
  EXPECT_THAT(NamesIn(root_ / "base_0000003_v0000009"),
              ElementsAre("_orc_acid_version", "bucket_00000", "bucket_00001"));
  EXPECT_THAT(Events("base_0000003_v0000009/bucket_00000"),
              ElementsAre("0 (1,536870912,0) 1", "0 (2,536870912,0) 2"));
  EXPECT_THAT(Events("base_0000003_v0000009/bucket_00001"), ElementsAre("0 (1,536936448,0) 1"));
}

TEST_F(JobTest, KeepsRowAndDeleteOfOneRangeInAMinor) {  // OUT-9
  constexpr int32_t kS1 = 536870913;
  Write("delta_0000007_0000007_0000", {{.write_id = 7, .row_id = 0, .id = 1}});
  Write("delta_0000007_0000007_0001", {{.write_id = 7, .bucket = kS1, .row_id = 0, .id = 2}});
  Write("delete_delta_0000007_0000007_0002", {{.write_id = 7, .row_id = 0, .current_write_id = 7}});
  const std::vector<std::string> before = Rows("7:::", "18:::");
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult result, Run(kMinor, 19, "7:::"));
  EXPECT_THAT(
      result.outputs,
      ElementsAre("delete_delta_0000007_0000007_v0000019", "delta_0000007_0000007_v0000019"));
  EXPECT_EQ(Rows("7:::", "19:::"), before);  // D-6: Hive would show the deleted row again
  EXPECT_THAT(before, ElementsAre("(7,536870913,0) {\"id\":2,\"status\":null}"));
}

TEST_F(JobTest, OrdersSeveralDeletesOfOneRowNewestFirst) {  // RW-8
  Write("delta_0000001_0000001_0000",
        {{.write_id = 1, .row_id = 0, .id = 1}, {.write_id = 1, .row_id = 1, .id = 2}});
  Write("delete_delta_0000002_0000002_0000", {{.write_id = 1, .row_id = 0, .current_write_id = 2}});
  Write("delete_delta_0000003_0000003_0000", {{.write_id = 1, .row_id = 0, .current_write_id = 3}});
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult minor, Run(kMinor, 9, "3:::"));
  EXPECT_THAT(Events("delete_delta_0000001_0000003_v0000009/bucket_00000"),
              ElementsAre("2 (1,536870912,0) 3", "2 (1,536870912,0) 2"));
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult major, Run(kMajor, 10, "3:::"));
  EXPECT_THAT(Events("base_0000003_v0000010/bucket_00000"), ElementsAre("0 (1,536870912,1) 1"));
}

TEST_F(JobTest, MakesABaseAlsoWhenNothingIsLeft) {  // OUT-6
  Write("delta_0000001_0000001_0000", {{.write_id = 1, .row_id = 0, .id = 1}});
  Write("delete_delta_0000002_0000002_0000", {{.write_id = 1, .row_id = 0, .current_write_id = 2}});
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult result, Run(kMajor, 9, "2:::"));
  EXPECT_EQ(result.totals.rows_written, 0);
  EXPECT_THAT(NamesIn(root_ / "base_0000002_v0000009"), ElementsAre("_orc_acid_version"));
  EXPECT_THAT(Rows("2:::", "9:::"), IsEmpty());
  // Later data stays readable and compactable.
  Write("delta_0000003_0000003_0000", {{.write_id = 3, .row_id = 0, .id = 3}});
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult next, Run(kMajor, 10, "3:::"));
  EXPECT_EQ(next.totals.rows_written, 1);
  EXPECT_THAT(Rows("3:::", "10:::"), ElementsAre("(3,536870912,0) {\"id\":3,\"status\":null}"));
}

TEST_F(JobTest, MakesOneKindOfDeltaWhereTheOtherHasNoEvents) {  // OUT-4
  Write("delta_0000001_0000001_0000", {{.write_id = 1, .row_id = 0, .id = 1}});
  Write("delta_0000002_0000002_0000", {{.write_id = 2, .row_id = 0, .id = 2}});
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult inserts, Run(kMinor, 9, "2:::"));
  EXPECT_THAT(inserts.outputs, ElementsAre("delta_0000001_0000002_v0000009"));

  testing::TempDir deletes_only;
  WriteAcidFile(posix_,
                deletes_only.path(),
                "base_0000004",
                {{.write_id = 4, .row_id = 0, .id = 1}, {.write_id = 4, .row_id = 1, .id = 2}});
  WriteAcidFile(posix_,
                deletes_only.path(),
                "delete_delta_0000005_0000005_0000",
                {{.write_id = 4, .row_id = 0, .current_write_id = 5}});
  WriteAcidFile(posix_,
                deletes_only.path(),
                "delete_delta_0000007_0000007_0000",
                {{.write_id = 4, .row_id = 1, .current_write_id = 7}});
  SKEP_ASSERT_OK_AND_ASSIGN(
      const CompactionResult deletes,
      RunCompaction(posix_, RequestFor(deletes_only.path(), kMinor, 12, "7:::")));
  EXPECT_THAT(deletes.outputs, ElementsAre("delete_delta_0000005_0000007_v0000012"));
  EXPECT_THAT(ScanRows(posix_, deletes_only.path(), WriteIds("7:::"), Txns("12:::")), IsEmpty());
}

TEST_F(JobTest, CoversInputsOfWhichNothingIsValid) {
  Write("delta_0000001_0000002", {{.write_id = 1, .row_id = 0, .id = 1}});
  Write("delta_0000003_0000004", {{.write_id = 3, .row_id = 0, .id = 1}});
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult result, Run(kMinor, 9, "4:::1,3"));
  EXPECT_THAT(result.outputs, ElementsAre("delta_0000001_0000004_v0000009"));
  EXPECT_THAT(NamesIn(root_ / "delta_0000001_0000004_v0000009"), ElementsAre("_orc_acid_version"));
  EXPECT_THAT(Rows("4:::1,3", "9:::"), IsEmpty());
}

TEST_F(JobTest, LeavesAStraddlingBatchAlone) {  // OUT-15
  Write("base_0000040", {{.write_id = 40, .row_id = 0, .id = 40}});
  Write("delta_0000041_0000042", {{.write_id = 41, .row_id = 0, .id = 41}});
  Write("delta_0000044_0000047",
        {{.write_id = 44, .row_id = 0, .id = 44}, {.write_id = 45, .row_id = 0, .id = 45}});
  const std::vector<std::string> before = Rows("47:45:45,46,47:", "59:::");
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult result, Run(kMajor, 60, "47:45:45,46,47:"));
  EXPECT_THAT(result.outputs, ElementsAre("base_0000043_v0000060"));
  EXPECT_EQ(result.plan.highest_write_id, WriteId(43));
  EXPECT_EQ(Rows("47:45:45,46,47:", "60:::"), before);
  EXPECT_EQ(before.size(), 3U);
}

TEST_F(JobTest, MergesManyDeleteFilesByParts) {  // OUT-14
  std::vector<TestEvent> rows;
  for (int64_t i = 0; i < 40; ++i)
    rows.push_back({.write_id = 1, .row_id = i, .id = static_cast<int32_t>(i)});
  Write("delta_0000001_0000001_0000", rows);
  // Write id 2 + i deletes rows i and 39 - i; 7 was aborted and shares a directory with 8.
  const auto deletes_of = [](int64_t id) -> std::vector<TestEvent> {
    return {{.write_id = 1, .row_id = id - 2, .current_write_id = id},
            {.write_id = 1, .row_id = 41 - id, .current_write_id = id}};
  };
  for (int64_t id = 2; id <= 16; ++id) {
    std::vector<TestEvent> events = deletes_of(id);
    const int64_t last = id == 7 ? 8 : id;
    if (id == 7) {
      const std::vector<TestEvent> more = deletes_of(8);
      events.insert(events.begin() + 1, more.begin(), more.end());
    }
    Write(acid::DeltaDirName(acid::DirKind::kDeleteDelta, WriteId(id), WriteId(last), std::nullopt),
          events);
    id = last;
  }
  const std::vector<std::string> before = Rows("16:::7", "19:::");
  EXPECT_EQ(before.size(), 12U);
  for (const CompactionType type : {kMinor, kMajor}) {
    SCOPED_TRACE(CompactionTypeName(type));
    const int64_t txn = type == kMinor ? 20 : 21;
    CompactionRequest request = RequestFor(root_.path(), type, txn, "16:::7");
    request.max_open_deletes = 3;
    SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult result, RunCompaction(posix_, request));
    // The major reads the minor's output, which is rid of the aborted ones.
    EXPECT_EQ(result.totals.deletes_read, type == kMinor ? 30 : 28);
    EXPECT_EQ(result.totals.deletes_aborted, type == kMinor ? 2 : 0);
    EXPECT_EQ(Rows("16:::7", std::to_string(txn) + ":::"), before);
    EXPECT_THAT(NamesIn(root_.path()), Not(Contains(HasSubstr("skep-tmp"))));
  }
}

TEST_F(JobTest, MergesSmallBatchesOfInterleavedSources) {
  std::vector<TestEvent> even;
  std::vector<TestEvent> odd;
  std::vector<TestEvent> deletes;
  std::vector<std::string> expected;
  for (int64_t w = 1; w <= 20; ++w) {
    for (int64_t r = 0; r < 5; ++r) {
      TestEvent event{.write_id = w, .row_id = r, .id = static_cast<int32_t>(w * 10 + r)};
      (w % 2 == 0 ? even : odd).push_back(event);
      if ((w + r) % 3 == 0) {
        deletes.push_back({.write_id = w, .row_id = r, .current_write_id = 21});
      } else {
        expected.push_back("0 (" + std::to_string(w) + ",536870912," + std::to_string(r) + ") " +
                           std::to_string(w));
      }
    }
  }
  // No writer makes ranges that interleave so; the merge must not rely on it. Batches of 3 rows
  // make every path of it turn.
  Write("delta_0000001_0000019", odd);
  Write("delta_0000002_0000020", even);
  Write("delete_delta_0000021_0000021_0000", deletes);
  CompactionRequest request = RequestFor(root_.path(), kMajor, 30, "21:::");
  request.batch_rows = 3;
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult result, RunCompaction(posix_, request));
  EXPECT_EQ(Events("base_0000021_v0000030/bucket_00000"), expected);
  EXPECT_EQ(result.totals.rows_deleted, static_cast<int64_t>(deletes.size()));
}

// Random batches, deletes and aborted ids, in batches of random size: the scan is the same behind a
// minor, behind a major of that, and behind a major of the inputs.
TEST_F(JobTest, ChangesNoSnapshotsRows) {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](int64_t n) {
      return std::uniform_int_distribution<int64_t>(0, n - 1)(random);
    };
    testing::TempDir dir;
    std::vector<TestEvent> rows;  // all that were ever inserted
    std::string aborted;
    int64_t next = 1;
    for (int group = 0; group < 8; ++group) {
      const int64_t first = next;
      next += 1 + below(3);
      std::vector<TestEvent> inserts;
      std::vector<TestEvent> deletes;
      for (int64_t id = first; id < next; ++id) {
        if (below(5) == 0) aborted += (aborted.empty() ? "" : ",") + std::to_string(id);
        for (int64_t r = 0; r < below(5); ++r) {
          inserts.push_back({.write_id = id, .row_id = r, .id = static_cast<int32_t>(id * 10 + r)});
        }
      }
      for (const TestEvent& row : rows) {
        if (below(4) == 0) {
          deletes.push_back({.write_id = row.write_id,
                             .row_id = row.row_id,
                             .current_write_id = first + below(next - first)});
        }
      }
      const auto name = [&](acid::DirKind kind) {
        return acid::DeltaDirName(kind, WriteId(first), WriteId(next - 1), std::nullopt);
      };
      WriteAcidFile(posix_, dir.path(), name(acid::DirKind::kDelta), inserts);
      if (!deletes.empty()) {
        WriteAcidFile(posix_, dir.path(), name(acid::DirKind::kDeleteDelta), deletes);
      }
      rows.insert(rows.end(), inserts.begin(), inserts.end());
    }
    const std::string list = std::to_string(next - 1) + ":::" + aborted;
    const auto scan = [&](int64_t txn) {
      return ScanRows(posix_, dir.path(), WriteIds(list), Txns(std::to_string(txn) + ":::"));
    };
    const std::vector<std::string> before = scan(1);
    const auto run = [&](CompactionType type, int64_t txn, int64_t sees) {
      CompactionRequest request = RequestFor(dir.path(), type, txn, list);
      request.visibility = Txns(std::to_string(sees) + ":::");
      request.batch_rows = 1 + below(6);
      const auto result = RunCompaction(posix_, request);
      EXPECT_TRUE(result.ok()) << result.status().ToString();
      EXPECT_EQ(scan(txn), before);
    };
    run(kMajor, 9, 1);
    std::filesystem::remove_all(dir / acid::BaseDirName(WriteId(next - 1), TxnId(9)));
    run(kMinor, 10, 1);
    run(kMajor, 11, 10);
  }
}

// ---- Schema ----

TEST_F(JobTest, WritesTheTablesColumns) {  // OUT-12
  WriteWorkedExample(posix_, root_.path());
  CompactionRequest request = RequestFor(root_.path(), kMajor, 7, "3:::");
  request.columns = *ParseColumns("id int, status string, note string");
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult result, RunCompaction(posix_, request));
  EXPECT_EQ(result.totals.rows_written, 1);
  EXPECT_THAT(Rows("3:::", "7:::"),
              ElementsAre("(2,536870912,0) {\"id\":1,\"status\":\"paid\",\"note\":null}"));
}

TEST_F(JobTest, RefusesByPathAndColumnWhatCannotBeConverted) {
  WriteWorkedExample(posix_, root_.path());
  CompactionRequest request = RequestFor(root_.path(), kMajor, 7, "3:::");
  request.columns = *ParseColumns("id int, status double");
  const auto result = RunCompaction(posix_, request);
  ASSERT_THAT(result, HasReason(ErrorReason::kNotSupported));
  EXPECT_EQ(MetadataOf(result.status()).at("column"), "status");
  EXPECT_THAT(MetadataOf(result.status()).at("path"), HasSubstr("bucket_00000"));
  EXPECT_EQ(NamesIn(root_.path()).size(), 4U);  // nothing left behind
}

TEST_F(JobTest, WritesAsTheTablesPropertiesSay) {
  WriteWorkedExample(posix_, root_.path());
  CompactionRequest request = RequestFor(root_.path(), kMajor, 7, "3:::");
  request.properties = {{"orc.compress", "NONE"}};
  ASSERT_THAT(RunCompaction(posix_, request), testing::IsOk());
  EXPECT_EQ(TailOf("base_0000003_v0000007/bucket_00000").compression, orc::Compression::kNone);
  request.txn = TxnId(8);
  request.visibility = Txns("6:::");
  request.properties = {{"orc.compress", "rar"}};
  EXPECT_THAT(RunCompaction(posix_, request), HasReason(ErrorReason::kInvalidRequest));
}

// ---- Nothing to do, damage, cancel ----

TEST_F(JobTest, WritesNothingWhereThereIsNotEnough) {
  Write("delta_0000001_0000001_0000", {{.write_id = 1, .row_id = 0, .id = 1}});
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult nothing, Run(kMajor, 9, "1:::"));
  EXPECT_EQ(nothing.plan.outcome, PlanOutcome::kNothing);
  EXPECT_THAT(nothing.outputs, IsEmpty());
  EXPECT_THAT(NamesIn(root_.path()), ElementsAre("delta_0000001_0000001_0000"));

  Write("delta_0000002_0000002_0000", {{.write_id = 2, .row_id = 0, .id = 1}});
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult clean, Run(kMajor, 10, "2:::2"));
  EXPECT_EQ(clean.plan.outcome, PlanOutcome::kCleanOnly);
  EXPECT_THAT(clean.outputs, IsEmpty());
}

TEST_F(JobTest, PlansWithoutWriting) {
  WriteWorkedExample(posix_, root_.path());
  SKEP_ASSERT_OK_AND_ASSIGN(const Plan plan,
                            PlanCompaction(posix_, RequestFor(root_.path(), kMajor, 7, "3:::")));
  ASSERT_EQ(plan.buckets.size(), 1U);
  EXPECT_EQ(plan.buckets[0].files.size(), 4U);
  EXPECT_THAT(DescribePlan(plan), HasSubstr("1 rows"));
  EXPECT_EQ(NamesIn(root_.path()).size(), 4U);
}

TEST_F(JobTest, RefusesAnInputWithAFileItDoesNotKnow) {
  WriteWorkedExample(posix_, root_.path());
  std::ofstream(root_ / "delta_0000002_0000002_0000/notes.txt") << "x";
  const auto result = Run(kMajor, 7, "3:::");
  ASSERT_THAT(result, HasReason(ErrorReason::kMalformedDirectory));
  EXPECT_THAT(MetadataOf(result.status()).at("path"), HasSubstr("notes.txt"));
  std::filesystem::rename(root_ / "delta_0000002_0000002_0000/notes.txt",
                          root_ / "delta_0000002_0000002_0000/.notes.txt");
  EXPECT_THAT(Run(kMajor, 7, "3:::"), testing::IsOk());
}

TEST_F(JobTest, RefusesTwoRowsOfOneId) {
  Write("delta_0000001_0000001_0000", {{.write_id = 1, .row_id = 0, .id = 1}});
  Write("delta_0000001_0000001_0001", {{.write_id = 1, .row_id = 0, .id = 2}});
  const auto result = Run(kMajor, 9, "1:::");
  ASSERT_THAT(result, HasReason(ErrorReason::kCorruptFile));
  EXPECT_THAT(MessageOf(result.status()), HasSubstr("(1,536870912,0)"));
  EXPECT_THAT(NamesIn(root_.path()),
              ElementsAre("delta_0000001_0000001_0000", "delta_0000001_0000001_0001"));
}

TEST_F(JobTest, LeavesNothingOfATruncatedInput) {
  WriteWorkedExample(posix_, root_.path());
  const std::string victim = root_ / "delta_0000002_0000002_0000/bucket_00000";
  std::filesystem::resize_file(victim, std::filesystem::file_size(victim) / 2);
  EXPECT_THAT(Run(kMajor, 7, "3:::"), HasReason(ErrorReason::kCorruptFile));
  EXPECT_EQ(NamesIn(root_.path()).size(), 4U);
}

TEST_F(JobTest, StopsWhereItIsTold) {
  WriteWorkedExample(posix_, root_.path());
  for (int stop_at = 0;; ++stop_at) {
    SCOPED_TRACE(stop_at);
    CompactionRequest request = RequestFor(root_.path(), kMinor, 7, "3:::");
    int calls = 0;
    request.on_progress = [&](const CompactionProgress& progress) {
      EXPECT_EQ(progress.buckets, 1U);
      return calls++ == stop_at ? absl::CancelledError("claim lost") : absl::OkStatus();
    };
    const auto result = RunCompaction(posix_, request);
    if (result.ok()) {
      EXPECT_GT(stop_at, 4);  // it was asked before, between and after merging and verifying
      break;
    }
    EXPECT_THAT(result, StatusIs(absl::StatusCode::kCancelled));
    EXPECT_EQ(NamesIn(root_.path()).size(), 4U);
  }
}

TEST_F(JobTest, RunsAgainUnderTheSameTransaction) {
  WriteWorkedExample(posix_, root_.path());
  ASSERT_THAT(Run(kMinor, 7, "3:::"), testing::IsOk());
  // As if the process had died before the commit: its own output is no input and no obstacle.
  std::filesystem::create_directories(root_ / ".skep-tmp-7/base_0000003_v0000007");
  SKEP_ASSERT_OK_AND_ASSIGN(const CompactionResult again, Run(kMinor, 7, "3:::"));
  EXPECT_EQ(again.totals.rows_read, 3);
  EXPECT_THAT(
      again.outputs,
      ElementsAre("delete_delta_0000001_0000003_v0000007", "delta_0000001_0000003_v0000007"));
}

TEST_F(JobTest, NeverWritesOverADirectory) {
  WriteWorkedExample(posix_, root_.path());
  CompactionRequest request = RequestFor(root_.path(), kMajor, 7, "3:::");
  request.at_step = [&](std::string_view step) {
    if (step == kStepVerified) std::filesystem::create_directories(root_ / "base_0000003_v0000007");
  };
  EXPECT_THAT(RunCompaction(posix_, request), HasReason(ErrorReason::kAlreadyExists));
  EXPECT_THAT(NamesIn(root_ / "base_0000003_v0000007"), IsEmpty());
}

}  // namespace
}  // namespace skep::compact
