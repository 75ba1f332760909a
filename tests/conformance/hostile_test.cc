// Real directories, damaged: each damage is an error that names the place, never fewer rows.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/table/dump.h"
#include "storage/fs/posix_file_system.h"
#include "storage/model/errors.h"
#include "tests/conformance/fixtures.h"
#include "tests/conformance/reading.h"
#include "tests/testing/fault_fs.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class Hostile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto root = FixtureRoot();
    if (!root) GTEST_SKIP() << "no fixtures: set SKEP_FIXTURES";
    root_ = *root;
  }
  // A writable copy of a fixture.
  void Copy(const std::string& name) {
    std::filesystem::copy(
        root_ + "/" + name, table_.path(), std::filesystem::copy_options::recursive);
  }
  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(table_ / name, std::ios::binary | std::ios::trunc) << bytes;
  }
  Reading Read(const std::string& fields = "") {
    return DumpOf({.directory = table_.path(),
                   .write_ids = fields.empty() ? "" : "default.t:" + fields,
                   .txns = "",
                   .ddl = ""});
  }

  std::string root_;
  TempDir table_;
};

TEST_F(Hostile, ADirectoryThatLooksLikeADelta) {
  Copy("acid/three-inserts");
  for (const std::string name : {"delta_0000004_0000004_x",
                                 "delta_4",
                                 "delete_delta_0000005_0000004",
                                 "base_",
                                 "base_4_w7"}) {
    SCOPED_TRACE(name);
    std::filesystem::create_directory(table_ / name);
    const Reading reading = Read();
    EXPECT_THAT(reading.status, HasReason(ErrorReason::kMalformedDirectory));
    EXPECT_THAT(reading.status, HasMessage(HasSubstr(name)));
    EXPECT_THAT(reading.lines, SizeIs(0));
    std::filesystem::remove(table_ / name);
  }
  EXPECT_THAT(Read().lines, SizeIs(3));
}

TEST_F(Hostile, ATruncatedFile) {
  Copy("acid/three-inserts");
  const std::string file = "delta_0000002_0000002_0000/bucket_00000";
  const std::string whole = ReadFile(table_ / file);
  for (size_t length = 1; length < whole.size(); ++length) {
    SCOPED_TRACE(length);
    Write(file, whole.substr(0, length));
    const Reading reading = Read();
    // Too short to be known as ORC, or ORC and damaged.
    EXPECT_THAT(reading.status,
                AnyOf(HasReason(ErrorReason::kCorruptFile), HasReason(ErrorReason::kNotSupported)));
    EXPECT_THAT(reading.status, HasMessage(HasSubstr(file)));
    EXPECT_THAT(reading.lines, SizeIs(0));
  }
}

TEST_F(Hostile, AFileThatIsNotOrc) {
  Copy("acid/three-inserts");
  Write("delta_0000002_0000002_0000/bucket_00000", "id,name\n1,one\n");
  EXPECT_THAT(Read().status, HasReason(ErrorReason::kNotSupported));
  EXPECT_THAT(Read().status, HasMessage(HasSubstr("is not an ORC file")));
}

TEST_F(Hostile, AFileThatCannotBeRead) {
  Copy("acid/originals-with-copies");
  fs::PosixFileSystem posix;
  TempDir attic;
  FaultFs faults(posix, attic.path());
  bool finished = false;
  for (int nth = 1; nth < 1000 && !finished; ++nth) {
    SCOPED_TRACE(nth);
    faults.FailAnyCall(nth,
                       MakeError(ErrorReason::kInternal, "Permission denied", {{"errno", "13"}}));
    size_t lines = 0;
    const auto report = client::Dump(faults, {.directory = table_.path()}, [&](std::string_view) {
      ++lines;
      return absl::OkStatus();
    });
    finished = !faults.Fired();
    EXPECT_EQ(report.ok(), finished);
    EXPECT_EQ(lines, finished ? 19u : 0u);
  }
  EXPECT_TRUE(finished);
}

TEST_F(Hostile, ADirectoryThatIsNotThere) {
  EXPECT_THAT(DumpOf({.directory = table_ / "no"}).status, StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(Hostile, ListsAndDdlThatContradictThemselves) {
  Copy("acid/three-inserts");
  struct Case {
    std::string name;
    std::string write_ids;
    std::string txns;
    std::string ddl;
    ErrorReason reason;
  };
  const std::string orc = "STORED AS ORC TBLPROPERTIES ('transactional'='true'";
  const std::vector<Case> cases = {
      {"id above the high mark", "default.t:2:3:3:", "", "", ErrorReason::kInvalidRequest},
      {"id open and aborted", "default.t:3:2:2:2", "", "", ErrorReason::kInvalidRequest},
      {"ids that descend", "default.t:3:::2,1", "", "", ErrorReason::kInvalidRequest},
      {"no list at all", "3", "", "", ErrorReason::kInvalidRequest},
      {"transactions open and aborted", "", "9:2:2:2", "", ErrorReason::kInvalidRequest},
      {"no statement", "", "", "SELECT 1", ErrorReason::kInvalidRequest},
      {"not transactional",
       "",
       "",
       "CREATE TABLE t (fld int) STORED AS ORC",
       ErrorReason::kTableNotTransactional},
      {"external",
       "",
       "",
       "CREATE EXTERNAL TABLE t (fld int) STORED AS ORC",
       ErrorReason::kTableNotTransactional},
      {"insert-only",
       "",
       "",
       "CREATE TABLE t (fld int) " + orc + ", 'transactional_properties'='insert_only')",
       ErrorReason::kNotSupported},
      {"another column",
       "",
       "",
       "CREATE TABLE t (other int) " + orc + ")",
       ErrorReason::kNotSupported},
      {"another type",
       "",
       "",
       "CREATE TABLE t (fld string) " + orc + ")",
       ErrorReason::kNotSupported},
      {"partitioned where the directory is not",
       "",
       "",
       "CREATE TABLE t (fld int) PARTITIONED BY (p int) " + orc + ")",
       ErrorReason::kMalformedDirectory},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Reading reading = DumpOf(
        {.directory = table_.path(), .write_ids = c.write_ids, .txns = c.txns, .ddl = c.ddl});
    EXPECT_THAT(reading.status, HasReason(c.reason));
    EXPECT_THAT(reading.lines, SizeIs(0));
  }
  // MIN_OPEN is recomputed, the name is not compared.
  EXPECT_THAT(DumpOf({.directory = table_.path(), .write_ids = "other.name:3:9:2:"}).lines,
              SizeIs(2));
  EXPECT_THAT(DumpOf({.directory = table_.path(),
                      .ddl = "CREATE TABLE t (fld int, later string) " + orc + ")"})
                  .lines,
              SizeIs(3));
}

std::string FlushLengths(const std::vector<int64_t>& lengths) {
  std::string bytes;
  for (const int64_t length : lengths) {
    for (int shift = 56; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<char>(length >> shift));
  }
  return bytes;
}

TEST_F(Hostile, AStreamingFileIsReadUpToItsFlushedLength) {
  // The intermediate footers of this file end at 410 and 831; what lies behind the recorded length
  // is not looked at.
  Copy("acid/streaming-two-txns");
  const std::string data = "delta_0000001_0000002/bucket_00000";
  const std::string side = data + "_flush_length";
  const std::string whole = ReadFile(table_ / data);
  struct Case {
    std::string name;
    std::string bytes;
    std::string side;
    std::string fields;
    size_t rows;
  };
  const std::vector<Case> cases = {
      {"nothing flushed", whole, FlushLengths({0}), "2:::", 0},
      {"first commit", whole, FlushLengths({0, 410}), "2:::", 2},
      {"first commit, garbage behind",
       whole.substr(0, 410) + std::string(700, 'x'),
       FlushLengths({0, 410}),
       "2:::",
       2},
      {"first commit, nothing behind", whole.substr(0, 410), FlushLengths({0, 410}), "2:::", 2},
      {"second commit", whole, FlushLengths({0, 410, 831}), "2:::", 4},
      {"a value that repeats", whole, FlushLengths({0, 410, 410}), "2:::", 2},
      {"torn last record", whole, FlushLengths({0, 410}) + "abc", "2:::", 2},
      {"rows of the open transaction are flushed too",
       whole,
       FlushLengths({0, 410, 831}),
       "2:2:2:",
       2},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Write(data, c.bytes);
    Write(side, c.side);
    const Reading reading = Read(c.fields);
    EXPECT_THAT(reading.status, IsOk());
    EXPECT_EQ(reading.lines.size(), c.rows);
  }
  Write(data, whole);
  for (const std::string& bad : {std::string(),
                                 std::string("short"),
                                 FlushLengths({-1}),
                                 FlushLengths({0, 411}),
                                 FlushLengths({0, 1138}),
                                 FlushLengths({0, 100})}) {
    SCOPED_TRACE(bad.size());
    Write(side, bad);
    EXPECT_THAT(Read("2:::").status, HasReason(ErrorReason::kCorruptFile));
  }
}

TEST_F(Hostile, StatsNameEveryDirectoryAndItsReason) {
  Copy("acid/three-inserts");
  const Reading reading = Read("2:::");
  const std::string text = client::FormatDumpReport(reading.report);
  EXPECT_THAT(text, HasSubstr("delta_0000001_0000001_0000  read"));
  EXPECT_THAT(text, HasSubstr("delta_0000003_0000003_0000  not visible"));
  EXPECT_THAT(text, HasSubstr("2 rows in all"));
}

}  // namespace
}  // namespace skep::testing
