#include "storage/meta/sqlite/migrations.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "storage/meta/sqlite/sqlite_store.h"
#include "tests/storage/meta/sample_state.h"
#include "tests/storage/meta/store_files.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::meta {
namespace {

using skep::testing::HasMessage;
using skep::testing::HasReason;
using skep::testing::IsOk;
using skep::testing::IsOkAndHolds;
using skep::testing::TempDir;
using ::testing::HasSubstr;

std::unique_ptr<Database> OpenDatabase(const std::string& path) {
  DatabaseOptions options;
  options.path = path;
  options.create = true;
  absl::StatusOr<std::unique_ptr<Database>> db = Database::Open(options);
  EXPECT_THAT(db, IsOk());
  EXPECT_THAT((*db)->UseWriteAheadLog(), IsOk());
  return *std::move(db);
}

// The text of all tables, as the file itself tells it.
std::string SchemaOf(Database& db) {
  absl::StatusOr<std::string> text = db.QueryText(
      "SELECT group_concat(name || ': ' || sql, char(10)) FROM (SELECT name, sql FROM "
      "sqlite_schema ORDER BY name)");
  EXPECT_THAT(text, IsOk());
  return text.value_or("");
}

// A history that goes on after the real first step.
constexpr MigrationStep kFirst = {1, "one", "CREATE TABLE a (x INTEGER) STRICT;"};
constexpr MigrationStep kSecond = {2, "two", "CREATE TABLE b (x INTEGER) STRICT;"};
constexpr MigrationStep kThird = {3, "three", "INSERT INTO b SELECT x + 1 FROM a; DROP TABLE a;"};
constexpr MigrationStep kBroken = {2, "broken", "DROP TABLE a; CREATE TABLE nonsense;"};

class Migrations : public ::testing::Test {
 protected:
  MigrateOptions Options(bool auto_migrate) {
    return {auto_migrate, Timestamp(std::chrono::milliseconds(1'790'812'800'000)), "test 1"};
  }
  // A store of version 1 with one row.
  void MakeFirst() {
    const auto db = OpenDatabase(path_);
    ASSERT_THAT(Migrate(*db, std::vector{kFirst}, Options(false)), IsOk());
    ASSERT_THAT(db->Execute("INSERT INTO a VALUES (41)", "fill"), IsOk());
  }
  absl::Status MigrateTo(const std::vector<MigrationStep>& steps, bool auto_migrate) {
    const auto db = OpenDatabase(path_);
    return Migrate(*db, steps, Options(auto_migrate));
  }
  absl::StatusOr<int64_t> Ask(const std::string& path, const std::string& sql) {
    return OpenDatabase(path)->QueryInt(sql);
  }

  const TempDir dir_;
  const std::string path_ = dir_ / "skep.db";
  const std::string backup_ = path_ + ".v1-20261001T000000Z.backup";
};

TEST_F(Migrations, ANewFileGetsEveryStep) {
  ASSERT_THAT(MigrateTo({kFirst, kSecond, kThird}, false), IsOk());
  EXPECT_THAT(Ask(path_, "PRAGMA user_version"), IsOkAndHolds(3));
  EXPECT_THAT(Ask(path_, "PRAGMA application_id"), IsOkAndHolds(kApplicationId));
  EXPECT_THAT(Ask(path_, "SELECT count(*) FROM schema_migrations"), IsOkAndHolds(3));
  EXPECT_FALSE(std::filesystem::exists(backup_));
}

TEST_F(Migrations, AnOlderStoreIsRefusedUnlessAskedTo) {
  MakeFirst();
  const absl::Status refused = MigrateTo({kFirst, kSecond}, false);
  EXPECT_THAT(refused, HasReason(ErrorReason::kNotSupported));
  EXPECT_THAT(refused, HasMessage(HasSubstr("auto_migrate")));
  EXPECT_EQ(MetadataOf(refused)["found"], "1");
  EXPECT_EQ(MetadataOf(refused)["known"], "2");
  EXPECT_THAT(Ask(path_, "PRAGMA user_version"), IsOkAndHolds(1));
}

TEST_F(Migrations, AnOlderStoreIsCopiedThenMigrated) {
  MakeFirst();
  ASSERT_THAT(MigrateTo({kFirst, kSecond, kThird}, true), IsOk());
  EXPECT_THAT(Ask(path_, "PRAGMA user_version"), IsOkAndHolds(3));
  EXPECT_THAT(Ask(path_, "SELECT x FROM b"), IsOkAndHolds(42));
  EXPECT_THAT(Ask(backup_, "PRAGMA user_version"), IsOkAndHolds(1));
  EXPECT_THAT(Ask(backup_, "SELECT x FROM a"), IsOkAndHolds(41));
  EXPECT_THAT(MigrateTo({kFirst, kSecond, kThird}, false), IsOk());
}

TEST_F(Migrations, ANewerStoreIsRefused) {
  ASSERT_THAT(MigrateTo({kFirst, kSecond}, false), IsOk());
  const absl::Status refused = MigrateTo({kFirst}, true);
  EXPECT_THAT(refused, HasReason(ErrorReason::kNotSupported));
  EXPECT_THAT(refused, HasMessage(HasSubstr("newer program")));
  EXPECT_THAT(Ask(path_, "PRAGMA user_version"), IsOkAndHolds(2));
}

TEST_F(Migrations, AStepThatFailsLeavesTheVersionBefore) {
  MakeFirst();
  EXPECT_FALSE(MigrateTo({kFirst, kBroken}, true).ok());
  EXPECT_THAT(Ask(path_, "PRAGMA user_version"), IsOkAndHolds(1));
  EXPECT_THAT(Ask(path_, "SELECT x FROM a"), IsOkAndHolds(41));
}

TEST_F(Migrations, AFirstStepThatFailsLeavesAnEmptyFile) {
  EXPECT_FALSE(MigrateTo({kFirst, kBroken}, false).ok());
  EXPECT_THAT(Ask(path_, "SELECT count(*) FROM sqlite_schema"), IsOkAndHolds(0));
  EXPECT_THAT(MigrateTo({kFirst, kSecond}, false), IsOk());
}

TEST_F(Migrations, AStoreMadeByOtherStepsIsRefused) {
  MakeFirst();
  const MigrationStep edited = {1, "one", "CREATE TABLE a (x INTEGER, y INTEGER) STRICT;"};
  EXPECT_THAT(MigrateTo({edited, kSecond}, true), HasReason(ErrorReason::kCorruptStore));
}

TEST(MigrationSteps, CountFromOneWithoutGaps) {
  int expected = 1;
  for (const MigrationStep& step : MigrationSteps()) EXPECT_EQ(step.version, expected++);
}

// Every released schema keeps a dump with sample rows here (tests/storage/meta/schema_v<N>.sql,
// made with `sqlite3 -readonly skep.db .dump` and the two pragmas); each must migrate to what a new
// store has.
class ReleasedSchema : public ::testing::TestWithParam<int> {};

TEST_P(ReleasedSchema, MigratesToTheCurrentOneWithItsRows) {
  const TempDir dir;
  const std::string dump_path =
      std::string(SKEP_TEST_DIR) + "/schema_v" + std::to_string(GetParam()) + ".sql";
  std::ifstream dump(dump_path, std::ios::binary);
  const std::string sql{std::istreambuf_iterator<char>(dump), std::istreambuf_iterator<char>()};
  ASSERT_FALSE(sql.empty()) << dump_path;
  {
    const auto db = OpenDatabase(dir / "skep.db");
    ASSERT_THAT(db->Execute(sql, "load the dump"), IsOk());
    ASSERT_THAT(db->QueryInt("PRAGMA user_version"), IsOkAndHolds(GetParam()));
  }
  {
    SqliteOptions options = OptionsFor(dir.path());
    options.auto_migrate = true;
    SKEP_ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(options));
    const absl::StatusOr<StoredState> loaded = store->Load();
    ASSERT_THAT(loaded, IsOk());
    EXPECT_EQ(*loaded, SampleState(GetParam()));
  }
  const TempDir fresh;
  { ASSERT_THAT(SqliteStore::Open(OptionsFor(fresh.path())), IsOk()); }
  EXPECT_EQ(SchemaOf(*OpenDatabase(dir / "skep.db")), SchemaOf(*OpenDatabase(fresh / "skep.db")));
}

TEST(MigrationSteps, GiveTheAbortedOfAnOlderStoreTheLeaseItAssumed) {
  const TempDir dir;
  const auto db = OpenDatabase(dir / "skep.db");
  const MigrateOptions options{true, Timestamp(std::chrono::milliseconds(0)), "test 1"};
  ASSERT_THAT(Migrate(*db, MigrationSteps().first(2), options), IsOk());
  ASSERT_THAT(
      db->Execute("INSERT INTO ended_transactions VALUES (9, 4, 1, 0), (9, 5, 1, 1)", "fill"),
      IsOk());
  ASSERT_THAT(Migrate(*db, MigrationSteps(), options), IsOk());
  EXPECT_THAT(db->QueryText("SELECT group_concat(txn_id || ':' || pinned_ms) FROM "
                            "(SELECT * FROM ended_transactions ORDER BY txn_id)"),
              IsOkAndHolds("4:300000,5:0"));
}

// A view of an older store must not be taken for fresh: nobody knows what happened since.
TEST(MigrationSteps, TakeTheTablesOfAnOlderStoreForChangedJustNow) {
  const TempDir dir;
  const auto db = OpenDatabase(dir / "skep.db");
  const MigrateOptions options{true, Timestamp(std::chrono::milliseconds(0)), "test 1"};
  ASSERT_THAT(Migrate(*db, MigrationSteps().first(4), options), IsOk());
  ASSERT_THAT(db->Execute("INSERT INTO counters VALUES (1, 34, 18, 9, 7, 5, 41);"
                          "INSERT INTO tables SELECT value, 'd', 't' || value, 'FULL_ACID', 'orc', "
                          "'/w/' || value, '{}', '{}', 0, 1, 1, 0, 0, '[]' FROM json_each('[3,4]')",
                          "fill"),
              IsOk());
  ASSERT_THAT(Migrate(*db, MigrationSteps(), options), IsOk());
  EXPECT_THAT(db->QueryText("SELECT group_concat(table_id || ':' || rows_changed_seq || ':' || "
                            "compacted_seq) FROM (SELECT * FROM table_changes ORDER BY table_id)"),
              IsOkAndHolds("3:34:34,4:34:34"));
  EXPECT_THAT(db->QueryInt("SELECT count(*) FROM view_rebuilds"), IsOkAndHolds(0));
}

INSTANTIATE_TEST_SUITE_P(Versions, ReleasedSchema, ::testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace skep::meta
