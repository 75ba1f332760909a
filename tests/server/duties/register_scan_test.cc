#include "server/duties/register_scan.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/duties/table_facts.h"
#include "storage/base/text.h"
#include "storage/fs/posix_file_system.h"
#include "storage/model/errors.h"
#include "storage/table/scan.h"
#include "tests/storage/compact/acid_files.h"
#include "tests/storage/format/fixtures.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::duties {
namespace {

using ::skep::testing::Fixture;
using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kNothingOpen = ":9223372036854775807::";

std::string ColumnsText(const std::vector<Column>& columns) {
  std::string text;
  for (const Column& column : columns) {
    text += (text.empty() ? "" : ", ") + column.name + " " + column.type.ToString();
  }
  return text;
}

class RegisterScanTest : public ::testing::Test {
 protected:
  RegisterScanRequest Request(const std::string& location) {
    RegisterScanRequest request;
    request.name = {"sales", "orders"};
    request.location = location;
    return request;
  }
  absl::StatusOr<RegisterScanResult> Scan(const RegisterScanRequest& request) {
    return ScanForRegister(fs_, request);
  }
  absl::StatusOr<RegisterScanResult> Scan() { return Scan(Request(root_.path())); }

  void Insert(const std::string& dir, int64_t write_id) {
    compact::WriteAcidFile(
        fs_,
        root_ / dir,
        acid::DeltaDirName(acid::DirKind::kDelta, WriteId(write_id), WriteId(write_id), 0),
        {{.write_id = write_id, .row_id = 0, .id = 1, .status = "new"}});
  }
  void WriteText(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  testing::TempDir root_;
  fs::PosixFileSystem fs_;
};

// ---- directories made here ----

TEST_F(RegisterScanTest, TakesNoPartOfATable) {
  compact::WriteWorkedExample(fs_, root_.path());
  for (const char* part : {"delta_0000001_0000001_0000", "delta_0000001_0000001_0000/p=1"}) {
    SCOPED_TRACE(part);
    EXPECT_THAT(Scan(Request(root_ / part)), HasReason(ErrorReason::kLocationNotAllowed));
  }
}

TEST_F(RegisterScanTest, TakesOverAPlainTable) {
  compact::WriteWorkedExample(fs_, root_.path());
  SKEP_ASSERT_OK_AND_ASSIGN(const RegisterScanResult found, Scan());
  EXPECT_EQ(found.command.name.ToString(), "sales.orders");
  EXPECT_EQ(found.command.location, root_.path());
  EXPECT_EQ(found.command.kind, TableKind::kFullAcid);
  EXPECT_EQ(found.command.format, FileFormat::kOrc);
  EXPECT_EQ(ColumnsText(found.command.schema.columns), "id int, status string");
  EXPECT_THAT(found.command.schema.partition_columns, IsEmpty());
  EXPECT_THAT(found.command.partitions, IsEmpty());
  EXPECT_EQ(found.command.highest_write_id, WriteId(3));
  EXPECT_TRUE(found.command.adopted_txn_bound.is_none());
  EXPECT_THAT(found.notes, Contains(HasSubstr("up to write id 3, counts as committed")));
  EXPECT_THAT(found.notes, Contains(HasSubstr("delete_delta_0000003_0000003_0000/bucket_00000")));
}

TEST_F(RegisterScanTest, TakesOverPartitions) {
  Insert("order_date=2026-10-01/region=EU", 1);
  Insert("order_date=2026-10-02/region=__HIVE_DEFAULT_PARTITION__", 4);
  SKEP_ASSERT_OK_AND_ASSIGN(const RegisterScanResult found, Scan());
  EXPECT_EQ(ColumnsText(found.command.schema.partition_columns),
            "order_date string, region string");
  EXPECT_THAT(found.command.partitions,
              ElementsAre("order_date=2026-10-01/region=EU",
                          "order_date=2026-10-02/region=__HIVE_DEFAULT_PARTITION__"));
  EXPECT_EQ(found.command.highest_write_id, WriteId(4));
  EXPECT_THAT(found.notes, Contains(HasSubstr("order_date, region")));
}

TEST_F(RegisterScanTest, PrefersTheGivenDefinition) {
  Insert("order_date=2026-10-01", 1);
  RegisterScanRequest request = Request(root_.path());
  request.definition.emplace();
  request.definition->schema.columns = *ParseColumns("id bigint, status varchar(10), more int");
  request.definition->schema.partition_columns = *ParseColumns("order_date date");
  request.definition->properties = {{"transactional", "true"}};
  SKEP_ASSERT_OK_AND_ASSIGN(const RegisterScanResult found, Scan(request));
  EXPECT_EQ(ColumnsText(found.command.schema.columns), "id bigint, status varchar(10), more int");
  EXPECT_EQ(ColumnsText(found.command.schema.partition_columns), "order_date date");
  EXPECT_EQ(found.command.properties.at("transactional"), "true");
  EXPECT_THAT(found.command.partitions, ElementsAre("order_date=2026-10-01"));
}

TEST_F(RegisterScanTest, TakesTheNewestFilesColumns) {
  Insert("", 5);
  std::filesystem::create_directories(root_ / "delta_0000009_0000009_0000");
  compact::WriteAcidFile(fs_,
                         root_.path(),
                         "delete_delta_0000007_0000007_0000",
                         {{.write_id = 5, .row_id = 0, .current_write_id = 7}});
  SKEP_ASSERT_OK_AND_ASSIGN(const RegisterScanResult found, Scan());
  EXPECT_EQ(ColumnsText(found.command.schema.columns), "id int, status string");
  EXPECT_EQ(found.command.highest_write_id, WriteId(9)) << "an empty delta takes its number too";
}

TEST_F(RegisterScanTest, RefusesWhatItCannotRead) {
  struct Case {
    const char* name;
    std::function<void()> make;
    ErrorReason reason;
    const char* says;
  };
  const Case cases[] = {
      {"malformed",
       [&] { std::filesystem::create_directory(root_ / "delta_1_x"); },
       ErrorReason::kMalformedDirectory,
       "delta_1_x"},
      {"reversed range",
       [&] { std::filesystem::create_directory(root_ / "delta_0000005_0000004"); },
       ErrorReason::kMalformedDirectory,
       "delta_0000005_0000004"},
      {"partitions beside data",
       [&] { Insert("p=1", 2); },
       ErrorReason::kMalformedDirectory,
       "p=1"},
      {"text file",
       [&] { WriteText("delta_0000002_0000002_0000/000000_0", "1\001new\n"); },
       ErrorReason::kNotSupported,
       "--ddl"},
      {"truncated file",
       [&] {
         Insert("", 2);
         std::filesystem::resize_file(root_ / "delta_0000002_0000002_0000/bucket_00000", 100);
       },
       ErrorReason::kCorruptFile,
       "delta_0000002_0000002_0000/bucket_00000"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    for (const auto& entry : std::filesystem::directory_iterator(root_.path())) {
      std::filesystem::remove_all(entry.path());
    }
    Insert("", 1);
    c.make();
    const auto found = Scan();
    EXPECT_THAT(found, HasReason(c.reason));
    EXPECT_THAT(MessageOf(found.status()), HasSubstr(c.says));
  }
}

TEST_F(RegisterScanTest, RefusesADirectoryThatIsNone) {
  EXPECT_THAT(Scan(Request(root_ / "nowhere")), HasReason(ErrorReason::kInvalidRequest));
  WriteText("file", "x");
  EXPECT_THAT(Scan(Request(root_ / "file")), HasReason(ErrorReason::kInvalidRequest));
}

TEST_F(RegisterScanTest, SaysWhatToGiveForAnEmptyDirectory) {
  const auto found = Scan();
  EXPECT_THAT(found, HasReason(ErrorReason::kNotSupported));
  EXPECT_THAT(MessageOf(found.status()), HasSubstr("--ddl"));
  RegisterScanRequest request = Request(root_.path());
  request.definition.emplace();
  request.definition->schema.columns = compact::OrderColumns();
  SKEP_ASSERT_OK_AND_ASSIGN(const RegisterScanResult empty, Scan(request));
  EXPECT_EQ(empty.command.highest_write_id, WriteId());
}

TEST_F(RegisterScanTest, WantsPartitionsSpelledAsHiveSpellsThem) {
  Insert("p=a b%41", 1);  // Hive writes %41 only where it escapes, and 'A' needs none
  EXPECT_THAT(Scan(), HasReason(ErrorReason::kMalformedDirectory));
}

TEST_F(RegisterScanTest, DecidesTheKindByTheDefinition) {
  WriteText("delta_0000001_0000001_0000/000000_0", "1\001new\n");
  RegisterScanRequest request = Request(root_.path());
  request.definition.emplace();
  request.definition->schema.columns = compact::OrderColumns();
  request.definition->format = FileFormat::kText;
  request.definition->properties = {{"transactional", "true"},
                                    {"transactional_properties", "insert_only"}};
  SKEP_ASSERT_OK_AND_ASSIGN(RegisterScanResult found, Scan(request));
  EXPECT_EQ(found.command.kind, TableKind::kInsertOnly);
  EXPECT_EQ(found.command.format, FileFormat::kText);
  EXPECT_EQ(found.command.highest_write_id, WriteId(1));

  request.definition->properties = {{"EXTERNAL", "TRUE"}};
  SKEP_ASSERT_OK_AND_ASSIGN(found, Scan(request));
  EXPECT_EQ(found.command.kind, TableKind::kExternal);
  EXPECT_EQ(found.command.highest_write_id, WriteId());

  request.definition->properties = {{"transactional", "false"}};
  EXPECT_THAT(Scan(request), HasReason(ErrorReason::kTableNotTransactional));

  request.definition->properties = {{"transactional", "true"},
                                    {"transactional_properties", "insert_only"}};
  std::filesystem::create_directory(root_ / "delete_delta_0000002_0000002_0000");
  EXPECT_THAT(Scan(request), HasReason(ErrorReason::kMalformedDirectory));
}

// ---- directories of others ----

struct FixtureCase {
  const char* path;  // below the fixtures, a table directory
  std::string write_ids;
  const char* txns;
  int64_t rows;  // visible under the highest snapshot
  int64_t highest;
};

class RegisterFixtureTest : public RegisterScanTest {
 protected:
  // Rows of the registered table, by the newest snapshot that it would have.
  int64_t CountRows(const RegisterScanResult& found) {
    TableRow row;
    row.location = found.command.location;
    row.adopted_txn_bound = found.command.adopted_txn_bound;
    row.adopted_aborted_txns = found.command.adopted_aborted_txns;
    WriteIdSnapshot write_ids;
    write_ids.ids.high = found.command.highest_write_id.value();
    write_ids.ids.aborted = found.command.aborted_write_ids;
    std::vector<std::string> partitions = found.command.partitions;
    if (found.command.schema.partition_columns.empty()) partitions = {""};
    int64_t count = 0;
    for (const std::string& partition : partitions) {
      table::ScanOptions options;
      options.columns.emplace();
      auto scan = table::Scan::Open(fs_,
                                    DirectoryOf(row, partition),
                                    write_ids,
                                    VisibilityOf(row, AllTxnsVisible()),
                                    options);
      EXPECT_THAT(scan, IsOk());
      if (!scan.ok()) return -1;
      while (true) {
        auto batch = (*scan)->Next();
        EXPECT_THAT(batch, IsOk());
        if (!batch.ok()) return -1;
        if (*batch == nullptr) break;
        count += static_cast<int64_t>((*batch)->row_id.size());
      }
    }
    return count;
  }
};

TEST_F(RegisterFixtureTest, TakesOverAcidCases) {
  SKEP_REQUIRE_FIXTURES();
  const FixtureCase cases[] = {
      {"acid/nation-25k-deletes", "", "", 23000, 4},
      {"acid/nation-25k-deletes", std::string("x.y:4") + kNothingOpen + "3", "", 24000, 4},
      {"acid/delete-deltas-only", "", "", 0, 7},
      {"acid/originals-with-copies", "", "", 19, 10000001},
      {"acid/alltypes-original", "", "", 7300, 0},
      {"acid/streaming-two-txns", "", "", 4, 2},
      {"acid/streaming-two-txns", std::string("x.y:2") + kNothingOpen + "1", "", 2, 2},
      {"acid/three-inserts", "", "", 3, 3},
      {"acid/partitioned", "", "", 2, 1},
  };
  for (const FixtureCase& c : cases) {
    SCOPED_TRACE(c.path);
    RegisterScanRequest request = Request(Fixture(c.path));
    request.valid_write_ids = c.write_ids;
    request.valid_txns = c.txns;
    const auto found = Scan(request);
    ASSERT_THAT(found, IsOk());
    EXPECT_EQ(found->command.highest_write_id, WriteId(c.highest));
    EXPECT_EQ(CountRows(*found), c.rows);
  }
}

TEST_F(RegisterFixtureTest, RefusesTheLegacyTable) {
  SKEP_REQUIRE_FIXTURES();
  const auto found = Scan(Request(Fixture("acid/legacy-v1-table")));
  EXPECT_THAT(found, HasReason(ErrorReason::kLegacyLayout));
}

// Hive's own list of write ids is given, and for each `_vN` the word that it was committed, as it
// was.
TEST_F(RegisterFixtureTest, TakesOverWhatHiveWrote) {
  SKEP_REQUIRE_FIXTURES();
  int taken = 0;
  for (const char* version : {"3.1.3", "4.1.0"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             Fixture(std::string("hive-written/") + version))) {
      const std::filesystem::path dir = entry.path();
      if (entry.path().filename() != "writeids.txt") continue;
      const std::string stage = dir.parent_path().string();
      const std::string name = stage.substr(stage.find(version));
      // The letters that this release reads: a b c d e k n, and types.
      const char letter = name[std::string(version).size() + 1];
      if (std::string("abcdekng").find(letter) == std::string::npos) continue;
      if (!std::filesystem::exists(stage + "/expected.jsonl")) continue;
      SCOPED_TRACE(name);
      std::string list = testing::ReadFile(entry.path().string());
      list = list.substr(0, list.find('\n'));
      list = list.substr(list.find(": ") + 2);
      RegisterScanRequest request = Request(stage + "/table");
      request.valid_write_ids = list;
      request.valid_txns = "all";
      const auto found = Scan(request);
      if (name.ends_with("n-open/1-open")) {
        EXPECT_THAT(found, HasReason(ErrorReason::kInvalidRequest));
        EXPECT_THAT(MessageOf(found.status()), HasSubstr("open ones (2)"));
        continue;
      }
      if (!found.ok()) {
        EXPECT_THAT(found, HasReason(ErrorReason::kNotSupported)) << found.status();
        ADD_FAILURE() << "refused: " << found.status();
        continue;
      }
      EXPECT_EQ(CountRows(*found),
                static_cast<int64_t>(testing::ReadJsonLines(stage + "/expected.jsonl").size()));
      ++taken;
    }
  }
  EXPECT_GT(taken, 40);
}

TEST_F(RegisterFixtureTest, TakesOverAbortedIdsByTheList) {
  SKEP_REQUIRE_FIXTURES();
  RegisterScanRequest request = Request(Fixture("hive-written/3.1.3/k-aborted/table"));
  request.valid_write_ids = std::string("default.k_a:6") + kNothingOpen + "2,4,5";
  SKEP_ASSERT_OK_AND_ASSIGN(const RegisterScanResult found, Scan(request));
  EXPECT_THAT(found.command.aborted_write_ids, ElementsAre(2, 4, 5));
  EXPECT_EQ(CountRows(found), 4);
}

TEST_F(RegisterFixtureTest, WantsAWordOnCompactionsWhoseInputsAreThere) {
  SKEP_REQUIRE_FIXTURES();
  RegisterScanRequest request =
      Request(Fixture("hive-written/4.1.0/e-minor-major-mr/2-minor-compacted/table"));
  request.valid_write_ids = std::string("default.e_u:4") + kNothingOpen;
  const auto ambiguous = Scan(request);
  EXPECT_THAT(ambiguous, HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(MessageOf(ambiguous.status()), HasSubstr("_v0000008"));
  int64_t rows = -1;
  for (const char* txns : {"all", "20:9223372036854775807::", "20:9223372036854775807::8"}) {
    SCOPED_TRACE(txns);
    request.valid_txns = txns;
    SKEP_ASSERT_OK_AND_ASSIGN(const RegisterScanResult found, Scan(request));
    EXPECT_EQ(found.command.adopted_txn_bound, TxnId(8));
    if (rows < 0) rows = CountRows(found);
    EXPECT_EQ(CountRows(found), rows) << "a compaction changes no rows, committed or aborted";
  }
  request.location = Fixture("hive-written/4.1.0/e-minor-major-mr/3-minor-cleaned/table");
  request.valid_txns = "";
  EXPECT_THAT(Scan(request), IsOk()) << "no inputs, no question";
}

}  // namespace
}  // namespace skep::duties
