// Every table directory that Hive 4.1.0 and 3.1.3 wrote, through dump under the lists that were in
// force: read as Hive reads it, or refused by a sentence. A directory that comes to the fixtures
// later is read as Hive reads it, or the test says so.

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/ddl/create_table.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "tests/conformance/fixtures.h"
#include "tests/conformance/reading.h"
#include "tests/testing/status_matchers.h"

namespace skep::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Cases whose name begins so are refused, with this reason and sentence.
struct Refusal {
  std::string prefix;
  ErrorReason reason;
  std::string sentence;
};

const std::vector<Refusal>& Refusals() {
  static const std::vector<Refusal> refusals = {
      // Insert-only tables come with a later release.
      {"3.1.3/f-", ErrorReason::kNotSupported, "is an insert-only table"},
      {"4.1.0/f-", ErrorReason::kNotSupported, "is an insert-only table"},
      {"4.1.0/m-ctas-insert-only", ErrorReason::kNotSupported, "is an insert-only table"},
      // Schema evolution too; where every file was written or compacted after the change, it is
      // read.
      {"4.1.0/l-evolution/1",
       ErrorReason::kNotSupported,
       "column `id` is int in the file and bigint in the table"},
      {"4.1.0/l-evolution/2-rename",
       ErrorReason::kNotSupported,
       "column `id` is int in the file and bigint in the table"},
      {"4.1.0/l-type-changes",
       ErrorReason::kNotSupported,
       "column `a` is tinyint in the file and int in the table"},
      // Hive 3.1.3 cannot read its own compaction of loaded files: it put deletes of bucket 1 into
      // bucket 0's file.
      {"3.1.3/i-load-data/3-minor",
       ErrorReason::kCorruptFile,
       "row 2 is of bucket 1, in a file of bucket 0"},
  };
  return refusals;
}

const Refusal* RefusalOf(const std::string& name) {
  for (const Refusal& refusal : Refusals()) {
    if (name.starts_with(refusal.prefix)) return &refusal;
  }
  return nullptr;
}

// Folders with a table/ below the root, relative to it, in order.
std::vector<std::string> CasesBelow(const std::string& root) {
  std::vector<std::string> cases;
  auto it = std::filesystem::recursive_directory_iterator(root);
  for (; it != std::filesystem::recursive_directory_iterator(); ++it) {
    if (it->path().filename() != "table") continue;
    cases.push_back(std::filesystem::relative(it->path().parent_path(), root).string());
    it.disable_recursion_pending();
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

// The rest of the line that begins with `label` in writeids.txt.
std::string FieldOf(const std::string& text, const std::string& label) {
  const size_t at = text.find(label);
  if (at == std::string::npos) return "";
  const size_t begin = at + label.size();
  return std::string(TrimBlanks(text.substr(begin, text.find('\n', begin) - begin)));
}

class HiveWritten : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto root = FixtureRoot();
    if (!root) GTEST_SKIP() << "no fixtures: set SKEP_FIXTURES";
    root_ = *root + "/hive-written";
  }
  client::DumpOptions OptionsOf(const std::string& name) {
    const std::string folder = root_ + "/" + name;
    const std::string lists = ReadFile(folder + "/writeids.txt");
    return {.directory = folder + "/table",
            .write_ids = FieldOf(lists, "ValidWriteIdList: "),
            .txns = FieldOf(lists, "ValidTxnList: "),
            .ddl = ReadFile(folder + "/ddl.sql")};
  }
  std::map<std::string, HiveType> TypesOf(const client::DumpOptions& options) {
    std::map<std::string, HiveType> types;
    const auto ddl = ddl::ParseCreateTable(options.ddl);
    EXPECT_THAT(ddl, IsOk());
    if (!ddl.ok()) return types;
    for (const Column& column : ddl->columns) types[column.name] = column.type;
    for (const Column& column : ddl->partition_columns) types[column.name] = column.type;
    return types;
  }
  RowMap Expected(const std::string& name) {
    return RowsOfHive(ReadJsonLines(root_ + "/" + name + "/expected.jsonl"));
  }
  bool HasExpectation(const std::string& name) {
    return std::filesystem::exists(root_ + "/" + name + "/expected.jsonl");
  }
  // "(1,536870912,1)" of each row, in order.
  std::vector<std::string> RowIds(const Reading& reading) {
    std::vector<std::string> ids;
    for (const auto& [key, row] : RowsOfDump(reading.lines)) {
      ids.push_back("(" + std::to_string(std::get<1>(key)) + "," +
                    std::to_string(std::get<2>(key)) + "," + std::to_string(std::get<3>(key)) +
                    ")");
    }
    return ids;
  }

  std::string root_;
};

TEST_F(HiveWritten, EveryDirectoryIsReadAsHiveReadsItOrRefusedByASentence) {
  size_t read = 0;
  for (const std::string& name : CasesBelow(root_)) {
    SCOPED_TRACE(name);
    const client::DumpOptions options = OptionsOf(name);
    const Reading reading = DumpOf(options);
    if (const Refusal* refusal = RefusalOf(name)) {
      EXPECT_THAT(reading.status, HasReason(refusal->reason));
      EXPECT_THAT(reading.status, HasMessage(HasSubstr(refusal->sentence)));
      RecordResult(
          name, options.write_ids, "-", "refused: " + MessageOf(reading.status).substr(0, 160));
      continue;
    }
    EXPECT_THAT(reading.status, IsOk());
    if (!reading.status.ok() || !HasExpectation(name)) continue;
    const std::string difference =
        Difference(Expected(name), RowsOfDump(reading.lines), TypesOf(options));
    EXPECT_TRUE(difference.empty()) << difference;
    RecordResult(name,
                 options.write_ids,
                 std::to_string(reading.lines.size()),
                 difference.empty() ? "as Hive" : "WRONG");
    ++read;
  }
  EXPECT_GT(read, 100u);
}

TEST_F(HiveWritten, ColumnsComeFromTheNewestFileWithoutDdl) {
  for (const std::string& name : CasesBelow(root_)) {
    if (RefusalOf(name) != nullptr || !HasExpectation(name)) continue;
    SCOPED_TRACE(name);
    client::DumpOptions options = OptionsOf(name);
    const std::map<std::string, HiveType> types = TypesOf(options);
    const auto ddl = ddl::ParseCreateTable(options.ddl);
    options.ddl.clear();
    const Reading reading = DumpOf(options);
    EXPECT_THAT(reading.status, IsOk());
    RowMap expected = Expected(name);
    for (auto& [key, row] : expected) {
      for (const Column& column : ddl->partition_columns) row.erase(column.name);
    }
    EXPECT_EQ(Difference(expected, RowsOfDump(reading.lines), types), "");
  }
}

TEST_F(HiveWritten, OnePartitionHasItsTypedColumnsFromThePath) {
  const std::string name = "4.1.0/b-part-int-date";
  client::DumpOptions options = OptionsOf(name);
  const std::string partition = "y=2021/d=2024-02-29";
  RowMap expected;
  for (const auto& [key, row] : Expected(name)) {
    if (std::get<0>(key) != partition) continue;
    expected[{"", std::get<1>(key), std::get<2>(key), std::get<3>(key)}] = row;
  }
  ASSERT_FALSE(expected.empty());
  options.directory += "/" + partition;
  const Reading reading = DumpOf(options);
  ASSERT_THAT(reading.status, IsOk());
  const std::string difference = Difference(expected, RowsOfDump(reading.lines), TypesOf(options));
  EXPECT_TRUE(difference.empty()) << difference;
}

// Hive 3.1.3 fails on the aborted overwrite that 4.1.0 passes over.
TEST_F(HiveWritten, AnAbortedOverwriteHidesNothing) {
  // 4.1.0 gives the new row of an update a statement id of its own.
  const std::map<std::string, std::string> updated = {{"3.1.3/k-aborted", "(3,536870912,0)"},
                                                      {"4.1.0/k-aborted", "(3,536870913,0)"}};
  for (const auto& [name, new_row] : updated) {
    SCOPED_TRACE(name);
    client::DumpOptions options = OptionsOf(name);
    const Reading reading = DumpOf(options);
    ASSERT_THAT(reading.status, IsOk());
    EXPECT_THAT(RowIds(reading),
                ElementsAre("(1,536870912,1)", "(1,536870912,2)", new_row, "(6,536870912,0)"));
    if (!HasExpectation(name)) {
      RecordResult(name,
                   options.write_ids,
                   std::to_string(reading.lines.size()),
                   "right (Hive 3.1.3 fails)");
    }
  }
}

TEST_F(HiveWritten, ACompactedBaseNeedsAListThatKnowsItsHistory) {
  // S-8 and V-5 on one base: an id below it that is open makes the list too old, one that is
  // aborted does not matter.
  client::DumpOptions options = OptionsOf("3.1.3/e-minor-major-mr/5-major-cleaned");
  options.write_ids = "default.e_u:6:3:3:";
  const Reading open = DumpOf(options);
  EXPECT_THAT(open.status, HasReason(ErrorReason::kNotEnoughHistory));
  EXPECT_THAT(open.status, HasMessage(HasSubstr("base_0000006")));
  RecordResult("3.1.3/e-minor-major-mr/5-major-cleaned",
               options.write_ids,
               "-",
               "refused: NOT_ENOUGH_HISTORY");

  options.write_ids = "default.e_u:6:9223372036854775807::3";
  const Reading aborted = DumpOf(options);
  ASSERT_THAT(aborted.status, IsOk());
  EXPECT_EQ(Difference(Expected("3.1.3/e-minor-major-mr/5-major-cleaned"),
                       RowsOfDump(aborted.lines),
                       TypesOf(options)),
            "");
  EXPECT_EQ(aborted.lines.size(), 21u);
  RecordResult("3.1.3/e-minor-major-mr/5-major-cleaned", options.write_ids, "21", "right");
}

// What is right and what is refused in the type fixtures, column by column. A reading of all
// columns is compared by the tests above; here the values that Arrow's adapter alone would get
// wrong are named.
TEST_F(HiveWritten, EveryColumnOfTheTypeFixturesIsRight) {
  struct Value {
    std::string name;
    RowKey key;
    std::string column;
    std::string json;
  };
  const std::vector<Value> values = {
      // Outside 1677–2262, and before 1582-10-15: 3.1.3's file counts in the hybrid calendar.
      {"3.1.3/g-types", {"", 4, 536870912, 0}, "ts", R"("0001-01-01 00:00:00")"},
      {"3.1.3/g-types", {"", 4, 536870912, 0}, "dt", R"("0001-01-01")"},
      {"4.1.0/g-types", {"", 4, 536870912, 0}, "ts", R"("0001-01-01 00:00:00")"},
      {"4.1.0/g-types", {"", 4, 536870912, 0}, "dt", R"("0001-01-01")"},
      // Between −1 s and 0 with a fraction: ORC cannot hold 1969-12-31 23:59:59.999; what Hive
      // shows is shown.
      {"4.1.0/g-types", {"", 2, 536870912, 0}, "ts", R"("1970-01-01 00:00:00.999")"},
      {"4.1.0/g-types", {"", 2, 536870912, 0}, "dt", R"("1582-10-15")"},
      {"4.1.0/g-types", {"", 2, 536870912, 0}, "d", R"("NaN")"},
      {"4.1.0/g-types", {"", 2, 536870912, 0}, "c", R"("          ")"},
      {"4.1.0/g-types", {"", 2, 536870912, 0}, "bin", R"("base64:AP8Q")"},
      {"4.1.0/g-types", {"", 5, 536870913, 0}, "ts", R"("2024-02-29 23:59:59.123456789")"},
      {"4.1.0/g-types",
       {"", 5, 536870913, 0},
       "dc",
       R"("12345678901234567890.123456789012345678")"},
      {"4.1.0/g-types", {"", 4, 536870912, 0}, "f", R"("Infinity")"},
  };
  for (const Value& v : values) {
    SCOPED_TRACE(v.name + " " + v.column + " " + v.json);
    const Reading reading = DumpOf(OptionsOf(v.name));
    ASSERT_THAT(reading.status, IsOk());
    const RowMap rows = RowsOfDump(reading.lines);
    ASSERT_TRUE(rows.contains(v.key));
    EXPECT_EQ(rows.at(v.key)[v.column].dump(), v.json);
  }
}

// Hive 4.1.0 writes the epoch for every TIMESTAMP WITH LOCAL TIME ZONE (seconds 0, nanoseconds 0 in
// the file) and cannot read it back: what is stored is shown.
TEST_F(HiveWritten, InstantsThatHiveCannotReadBackAreShownAsStored) {
  const client::DumpOptions options = OptionsOf("4.1.0/g-tz");
  const Reading reading = DumpOf(options);
  ASSERT_THAT(reading.status, IsOk());
  EXPECT_THAT(
      reading.lines,
      ElementsAre(
          R"({"writeid":1,"bucket":536870912,"rowid":0,"row":{"k":1,"tz":"1970-01-01 00:00:00"}})",
          R"({"writeid":2,"bucket":536870912,"rowid":0,"row":{"k":2,"tz":"1970-01-01 00:00:00"}})"));
  RecordResult("4.1.0/g-tz",
               options.write_ids,
               std::to_string(reading.lines.size()),
               "as stored (Hive 4.1.0 fails)");
}

}  // namespace
}  // namespace skep::testing
