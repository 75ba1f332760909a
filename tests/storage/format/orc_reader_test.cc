#include <filesystem>

#include "storage/base/text.h"
#include "storage/format/orc/reader.h"
#include "tests/storage/format/fixtures.h"
#include "tests/testing/status_matchers.h"

namespace skep::orc {
namespace {

using nlohmann::json;
using ::skep::testing::Difference;
using ::skep::testing::FileRow;
using ::skep::testing::Fixture;
using ::skep::testing::HasReason;
using ::skep::testing::OpenOrc;
using ::skep::testing::ReadJsonLines;
using ::skep::testing::ReadRows;

struct Plain {
  std::string file;
  std::string expected;
};

std::vector<Plain> PlainFiles() {
  std::vector<Plain> files;
  const std::string root = Fixture("orc");
  for (const std::string& expected : ::skep::testing::FilesBelow(root + "/apache-orc/expected")) {
    std::string stem = std::filesystem::path(expected).stem().stem().string();
    files.push_back({root + "/apache-orc/" + stem + ".orc", expected});
  }
  for (const std::string& expected : ::skep::testing::FilesBelow(root + "/expected-decoded")) {
    std::string relative = std::filesystem::relative(expected, root + "/expected-decoded").string();
    relative = relative.substr(0, relative.size() - std::string(".jsonl.gz").size());
    for (const char* extension : {".orc", ""}) {
      if (std::filesystem::is_regular_file(root + "/" + relative + extension)) {
        files.push_back({root + "/" + relative + extension, expected});
        break;
      }
    }
  }
  return files;
}

// Where the recorded rows are not what Hive shows, with the reason (see the fixtures' README).
void Correct(const std::string& file, std::vector<json>* rows) {
  if (file.ends_with("orc-file-11-format.orc")) {
    for (json& row : *rows) row.erase("decimal1");  // recorded with six of its seven digits
  } else if (file.ends_with("TestOrcFile.int16.rle.size.orc")) {
    for (json& row : *rows) {  // recorded before narrowing to 16 bits
      for (json& pair : row["_c3"]) {
        for (const char* field : {"key", "value"}) {
          if (pair[field].is_number())
            pair[field] = static_cast<int16_t>(pair[field].get<int64_t>());
        }
      }
    }
  } else if (file.ends_with("orc_legacy_mixed_dates.orc")) {
    const char* const kDates[] = {"2012-02-21",
                                  "2014-02-11",
                                  "1947-02-11",
                                  "8200-02-11",
                                  "1012-02-21",
                                  "1014-02-11",
                                  "0947-02-11",
                                  "0200-02-11"};
    for (size_t i = 0; i < rows->size(); ++i)
      (*rows)[i]["d"] = kDates[i];  // proleptic reading recorded
  } else if (file.ends_with("date_tbl.orc")) {
    for (json& row : *rows) {
      if (row["d"] == "0-12-30") row["d"] = "0001-01-01";  // the same
    }
  }
}

TEST(Reader, ReadsEveryPlainFixture) {
  SKEP_REQUIRE_FIXTURES();
  for (const Plain& plain : PlainFiles()) {
    SCOPED_TRACE(plain.file);
    auto reader = OpenOrc(plain.file);
    if (plain.file.ends_with("version1999.orc")) {
      EXPECT_THAT(reader, HasReason(ErrorReason::kNotSupported));
      continue;
    }
    if (!reader.ok()) {
      ADD_FAILURE() << reader.status().ToString();
      continue;
    }
    auto rows = ReadRows(**reader);
    if (!rows.ok()) {
      ADD_FAILURE() << rows.status().ToString();
      continue;
    }
    std::vector<json> expected = ReadJsonLines(plain.expected);
    Correct(plain.file, &expected);
    EXPECT_EQ(rows->size(), expected.size());
    HiveType type;
    type.kind = TypeKind::kStruct;
    for (const Column& column : (*reader)->columns()) {
      type.field_names.push_back(column.name);
      type.children.push_back(column.type);
    }
    size_t bad = 0;
    for (size_t i = 0; i < expected.size() && i < rows->size(); ++i) {
      json want = expected[i];
      if (!want.is_object()) want = json{{"value", want}};
      json got = (*rows)[i].row;
      if (plain.file.ends_with("orc-file-11-format.orc")) got.erase("decimal1");
      const std::string found = Difference(want, got, type);
      if (!found.empty() && bad++ < 3) ADD_FAILURE() << "row " << i << ": " << found;
    }
    if (bad > 0) ADD_FAILURE() << bad << " rows differ";
  }
}

}  // namespace
}  // namespace skep::orc
