// What lies in the wrong place, has the wrong name or is damaged: register, read, compact and dump,
// through the tool and the daemon. Whatever is refused is named, and nothing is changed.

#include "tests/e2e/bad_input.h"

#include <filesystem>
#include <fstream>

#include "storage/base/text.h"
#include "tests/testing/status_matchers.h"

namespace skep::e2e {
namespace {

using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr char kDelta[] = "/delta_0000001_0000001_0000";

class BadPlaces : public BadInputTest {
 protected:
  std::string In(const std::string& name) { return daemon_.warehouse() + "/" + name; }
  void Create(const std::string& location, int exit_code, const std::string& what) {
    ExpectToolRefused({"create", "table", "d.new", "--columns", "a int", "--location", location},
                      exit_code,
                      what);
    ExpectToolRefused({"register", "table", "d.new", location}, exit_code, what);
  }
};

TEST_F(BadPlaces, OfATable) {
  const std::string outside = dir_ / "outside";
  std::filesystem::create_directory(outside);
  std::filesystem::create_directory_symlink(outside, In("out"));
  std::filesystem::create_directory_symlink(In("d.db"), In("alias"));
  std::filesystem::create_directory_symlink(In("loop"), In("loop"));
  const std::string reason = "LOCATION_NOT_ALLOWED: ";
  Create(outside, 1, reason + outside + " is outside the warehouse roots");
  Create("/", 1, reason);
  Create(daemon_.warehouse(), 1, "is a warehouse root itself");
  Create(In("../outside"), 1, "contains '..'");
  Create(In("x/../../outside"), 1, "contains '..'");
  Create(In("out"), 1, "leads to " + outside);
  Create(In("out/deeper/x"), 1, "leads to " + outside);
  Create(In("loop"), 1, reason);
  Create(In("a\nb"), 1, "contains a control character");
  Create(In("a\xff"), 2, "is not valid UTF-8");
  Create(In(std::string(5000, 'a')), 1, "4096 are allowed");
  Create(In("d.db/full"), 1, "the place of d.full");
  Create(In("d.db/full/p=1"), 1, "the place of d.full");
  Create(In("alias/full/inner"), 1, "the place of d.full");
  Create(In("d.db"), 1, "overlaps");
  ExpectToolRefused({"register", "table", "d.new", In("nothing")}, 1, "does not exist");
  EXPECT_EQ(ListTree(outside), std::vector<std::string>());
  EXPECT_FALSE(std::filesystem::exists(In("d.db/full/inner")));
}

TEST_F(BadPlaces, PartOfATableIsNone) {
  const std::string part = In("copy/delta_0000001_0000001_0000");
  std::filesystem::create_directories(In("copy"));
  std::filesystem::copy(In("d.db/full/p=1"), In("copy"), std::filesystem::copy_options::recursive);
  ExpectToolRefused({"register", "table", "d.new", part}, 1, "lies in the ACID directory");
}

TEST_F(BadPlaces, WordsOfTheTool) {
  for (const std::string& name : {std::string("d"),
                                  std::string("..t"),
                                  std::string("d.t/x"),
                                  std::string("d.t.u"),
                                  std::string("."),
                                  std::string("d."),
                                  std::string("d.t\x01"),
                                  "d." + std::string(129, 'x')}) {
    ExpectToolRefused({"create", "table", name, "--columns", "a int"}, 2, "INVALID_REQUEST");
    ExpectToolRefused({"register", "table", name, In("x")}, 2, "INVALID_REQUEST");
    ExpectToolRefused({"show", "table", name}, 2, "INVALID_REQUEST");
    ExpectToolRefused({"drop", "table", name, "--yes"}, 2, "INVALID_REQUEST");
  }
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"create", "table", "d.\xff", "--columns", "a int"},
           {"create", "table", "d.t", "--columns", "\xff int"},
           {"create", "table", "d.t", "--columns", "a int", "--set", "\xff=1"},
           {"create", "table", "d.t", "--columns", "a int", "--set", "k=\xff"},
           {"read", "d.full/p=\xff"},
           {"read", "d.full", "--where", "id = '\xff'"},
           {"compact", "d.full/p=\xff", "--type", "major"},
           {"show", "transactions", "--user", "\xff"},
           {"register", "table", "d.t", "/w", "--write-ids", "\xff"}}) {
    ExpectToolRefused(args, 2, "is not valid UTF-8");
  }
  for (const char* id : {"0", "-5", "x", "1.5", "", "99999999999999999999"}) {
    for (const std::vector<std::string>& args :
         std::vector<std::vector<std::string>>{{"abort", "transactions", "--yes", "--", id},
                                               {"explain", "lock", "--", id},
                                               {"show", "compactions", std::string("--id=") + id},
                                               {"show", "locks", std::string("--txn=") + id},
                                               {"show", "snapshot", std::string("--txn=") + id}}) {
      const Finished finished = daemon_.Tool(args);
      EXPECT_EQ(finished.exit_code, 2) << JoinText(args, " ") << finished.err;
    }
  }
  ExpectToolRefused({"abort", "transactions", "999999", "--yes"}, 3, "NO_SUCH_TXN");
  ExpectToolRefused({"show", "snapshot", "--txn", "999999"}, 3, "NO_SUCH_TXN");
  ExpectToolRefused({"explain", "lock", "999999"}, 3, "NO_SUCH_LOCK");
  ExpectToolRefused({"show", "compactions", "--id", "999999"}, 3, "NO_SUCH_COMPACTION");
  ExpectToolRefused({"show", "snapshot", "--txn", "1"}, 4, "TXN_ALREADY_COMMITTED");
  for (const char* table : {"d.nothing", "nothing.full"}) {
    ExpectToolRefused({"read", table}, 3, "NO_SUCH_TABLE");
    ExpectToolRefused({"show", "table", table}, 3, "NO_SUCH_TABLE");
    ExpectToolRefused({"show", "deltas", table}, 3, "NO_SUCH_TABLE");
    ExpectToolRefused({"compact", table, "--type", "major"}, 3, "NO_SUCH_TABLE");
    ExpectToolRefused({"explain", "compaction", table}, 3, "NO_SUCH_TABLE");
    ExpectToolRefused({"drop", "table", table, "--yes"}, 3, "NO_SUCH_TABLE");
  }
  ExpectToolRefused({"compact", "d.full/p=7", "--type", "major"}, 1, "has no partition p=7");
  ExpectToolRefused({"read", "d.full/p=7"}, 1, "has no partition");
  ExpectToolRefused({"compact", "d.ext", "--type", "major"}, 4, "TABLE_NOT_TRANSACTIONAL");
  ExpectToolRefused({"read", "d.full", "--columns", "nothing"}, 1, "nothing");
  ExpectToolRefused({"drop", "table", "d.full"}, 2, "--yes");
}

// Copies of d.full's one partition, each damaged in its own way.
class BadFiles : public BadPlaces {
 protected:
  void SetUp() override {
    BadPlaces::SetUp();
    std::filesystem::copy(
        In("d.db/full/p=1"), In("copy"), std::filesystem::copy_options::recursive);
  }
  void Write(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  }
  // Register and dump say the same, and leave every byte as it was.
  void ExpectRefusedByBoth(int exit_code, const std::string& what) {
    const std::vector<std::string> before = ListTree(In("copy"));
    ExpectToolRefused({"register", "table", "d.copy", In("copy")}, exit_code, what);
    const Finished dumped = daemon_.Tool({"dump", In("copy")});
    EXPECT_EQ(dumped.exit_code, exit_code) << dumped.err;
    EXPECT_THAT(dumped.err, HasSubstr(what));
    EXPECT_EQ(ListTree(In("copy")), before);
    ExpectToolRefused({"show", "table", "d.copy"}, 3, "NO_SUCH_TABLE");
  }
  const std::string file_ = std::string(kDelta) + "/bucket_00000";
};

TEST_F(BadFiles, DirectoriesThatLookLikeDeltas) {
  for (const char* name : {"delta_12_x",
                           "delta_0000009",
                           "delta_0000009_0000003",
                           "base_",
                           "base_x_v0000003",
                           "delete_delta_1_2_3_4",
                           "delta_99999999999999999999_99999999999999999999"}) {
    SCOPED_TRACE(name);
    std::filesystem::create_directory(In("copy/") + name);
    ExpectRefusedByBoth(1, "MALFORMED_DIRECTORY: ");
    ExpectRefusedByBoth(1, name);
    std::filesystem::remove(In("copy/") + name);
  }
}

// Taken over, such ids would bring counters round to negative ones.
TEST_F(BadFiles, IdsAtTheEndOfTheirRange) {
  for (const char* name : {"delta_9223372036854775807_9223372036854775807_0000",
                           "base_0000001_v9223372036854775807"}) {
    SCOPED_TRACE(name);
    std::filesystem::create_directory(In("copy/") + name);
    ExpectToolRefused({"register", "table", "d.copy", In("copy"), "--txns", "all"}, 1, name);
    std::filesystem::remove(In("copy/") + name);
  }
  ExpectToolRefused({"register",
                     "table",
                     "d.copy",
                     In("copy"),
                     "--write-ids",
                     "d.copy:9223372036854775807:9223372036854775807::"},
                    1,
                    "INVALID_REQUEST");
  ASSERT_EQ(daemon_.Tool({"create", "table", "e.t", "--columns", "id bigint"}).exit_code, 0);
  EXPECT_THAT(Insert({"e", "t"}, "", 1), testing::IsOk()) << "ids are as they were";
  EXPECT_THAT(Read("e.t"), HasSubstr("\"writeid\":1,"));
}

TEST_F(BadFiles, DamagedOrcFiles) {
  const std::string good = ReadWholeFile(In("copy") + file_);
  ASSERT_GT(good.size(), 200u);
  std::string rubbish = good;
  for (size_t i = good.size() - 60; i < good.size() - 20; ++i) rubbish[i] ^= 0x5a;
  Write(In("copy") + file_, good.substr(0, good.size() / 2));
  ExpectRefusedByBoth(1, "CORRUPT_FILE: " + In("copy") + file_);
  Write(In("copy") + file_, rubbish);
  ExpectRefusedByBoth(1, file_);
  Write(In("copy") + file_, "ORC");
  ExpectRefusedByBoth(1, file_);
  Write(In("copy") + file_, std::string(1000, 'x'));
  ExpectRefusedByBoth(1, "is not an ORC file");
}

// Hive makes such files (FA-3): they hold nothing.
TEST_F(BadFiles, AFileOfNoBytesIsEmpty) {
  Write(In("copy") + kDelta + "/bucket_00001", "");
  const Finished dumped = daemon_.Tool({"dump", In("copy")});
  EXPECT_EQ(dumped.exit_code, 0) << dumped.err;
  EXPECT_EQ(SplitText(dumped.out, '\n').size(), 6u);
}

TEST_F(BadFiles, DamageAfterTheRegistration) {
  const Finished taken = daemon_.Tool({"register", "table", "d.copy", In("copy")});
  ASSERT_EQ(taken.exit_code, 0) << taken.err;
  const std::string good = ReadWholeFile(In("copy") + file_);
  Write(In("copy") + file_, good.substr(0, good.size() - 30));
  const std::vector<std::string> before = ListTree(In("copy"));
  ExpectToolRefused({"read", "d.copy"}, 1, "CORRUPT_FILE: " + In("copy") + file_);
  const Finished compact = daemon_.Tool({"compact", "d.copy", "--type", "major", "--wait"});
  EXPECT_EQ(compact.exit_code, 1);
  EXPECT_THAT(compact.out + compact.err, HasSubstr("failed: "));
  EXPECT_THAT(compact.out + compact.err, HasSubstr(file_));
  EXPECT_EQ(ListTree(In("copy")), before) << "a failed compaction leaves nothing and takes nothing";
  Write(In("copy") + file_, good);
  EXPECT_EQ(SplitText(Read("d.copy"), '\n').size(), 6u);
  const Finished again = daemon_.Tool({"compact", "d.copy", "--type", "major", "--wait"});
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_EQ(SplitText(Read("d.copy"), '\n').size(), 6u);
  ASSERT_EQ(daemon_.Tool({"drop", "table", "d.copy", "--yes"}).exit_code, 0);
}

// P-7: where the hash of a row decides its file, no row is added; reading and compaction go on.
TEST_F(BadFiles, RowsForABucketedTable) {
  Write(dir_ / "ddl.sql",
        "CREATE TABLE `copy`(`id` bigint) CLUSTERED BY (`id`) INTO 2 BUCKETS STORED AS ORC "
        "TBLPROPERTIES ('transactional'='true')");
  const Finished taken =
      daemon_.Tool({"register", "table", "d.copy", In("copy"), "--ddl", dir_ / "ddl.sql"});
  ASSERT_EQ(taken.exit_code, 0) << taken.err;
  daemon_.Kill();
  ASSERT_TRUE(daemon_.Start()) << daemon_.Log();
  const Finished shown = daemon_.Tool({"show", "tables", "d", "--json"});
  EXPECT_THAT(shown.out, ContainsRegex("\"bucketing\": *\\{[^}]*\"count\": *2"));
  const absl::Status refused = Insert({"d", "copy"}, "", 1);
  EXPECT_THAT(refused, HasReason(ErrorReason::kNotSupported));
  EXPECT_THAT(refused, HasMessage(HasSubstr("CLUSTERED BY (id) INTO 2 BUCKETS")));
  const std::string rows = Read("d.copy");
  EXPECT_EQ(SplitText(rows, '\n').size(), 6u);
  const Finished compact = daemon_.Tool({"compact", "d.copy", "--type", "major", "--wait"});
  EXPECT_EQ(compact.exit_code, 0) << compact.out << compact.err;
  EXPECT_EQ(Read("d.copy"), rows);
  ASSERT_EQ(daemon_.Tool({"drop", "table", "d.copy", "--yes"}).exit_code, 0);
}

// A name that is not UTF-8 is shown as far as it can be, and stands in nobody's way.
TEST_F(BadFiles, ForeignNamesThatAreNotUtf8) {
  std::filesystem::create_directory(In("d.db/full/p=1/caf\xe9"));
  const Finished shown = daemon_.Tool({"show", "deltas", "d.full"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("caf\uFFFD"));
  EXPECT_THAT(daemon_.Tool({"show", "deltas", "d.full", "--json"}).out, HasSubstr("caf\uFFFD"));
  std::filesystem::create_directory(In("copy/p=\xff"));
  ExpectToolRefused({"register", "table", "d.copy", In("copy")}, 1, "MALFORMED_DIRECTORY");
}

}  // namespace
}  // namespace skep::e2e
