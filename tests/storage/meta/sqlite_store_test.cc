#include "storage/meta/sqlite/sqlite_store.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/storage/meta/store_files.h"
#include "tests/testing/random_effects.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::meta {
namespace {

using skep::testing::HasMessage;
using skep::testing::HasReason;
using skep::testing::IsOk;
using skep::testing::IsOkAndHolds;
using skep::testing::RandomEffects;
using skep::testing::TempDir;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A second look at the file, as a person's shell would take it.
class Shell {
 public:
  explicit Shell(const std::string& path, int flags = SQLITE_OPEN_READONLY) {
    EXPECT_EQ(sqlite3_open_v2(path.c_str(), &db_, flags, nullptr), SQLITE_OK);
  }
  ~Shell() { sqlite3_close(db_); }
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  // Columns by '|', rows by line ends.
  std::string Query(const std::string& sql) {
    std::string out;
    char* error = nullptr;
    const auto row = [](void* to, int count, char** values, char**) {
      auto& text = *static_cast<std::string*>(to);
      for (int i = 0; i < count; ++i) {
        if (i > 0) text += '|';
        text += values[i] != nullptr ? values[i] : "NULL";
      }
      text += '\n';
      return 0;
    };
    sqlite3_exec(db_, sql.c_str(), row, &out, &error);
    if (error != nullptr) out += std::string("error: ") + error;
    sqlite3_free(error);
    return out;
  }

 private:
  sqlite3* db_ = nullptr;
};

Effects OneTable(std::string comment = "") {
  TableRow table;
  table.id = TableId(1);
  table.name = {"sales", "orders"};
  table.location = "/w/sales.db/orders";
  table.schema.columns = *ParseColumns("order_id bigint, amount decimal(12,2)");
  table.schema.columns[0].comment = std::move(comment);
  table.properties = {{"orc.compress", "zstd"}};
  TxnRow txn;
  txn.id = TxnId(1);
  txn.type = TxnType::kReadOnly;
  txn.user = "alice";
  LockRow lock;
  lock.lock = LockId(1);
  lock.component = 1;
  lock.txn = TxnId(1);
  lock.resource = {"sales", "orders", ""};
  lock.table = TableId(1);
  lock.kind = LockKind::kSharedRead;
  lock.state = LockState::kAcquired;
  return {Put<TableRow>{table},
          Put<TxnRow>{txn},
          Put<LockRow>{lock},
          Put<CounterRow>{{CommitSeq(1), TxnId(2), LockId(2), CompactionId(1), TableId(2), 0}}};
}

TEST(SqliteStore, IsSetUpAsTheDocumentsSay) {
  const TempDir dir;
  SqliteOptions options = OptionsFor(dir.path());
  SKEP_ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(options));
  Shell shell(options.path);
  EXPECT_EQ(shell.Query("PRAGMA journal_mode"), "wal\n");
  EXPECT_EQ(shell.Query("PRAGMA application_id"), "1397441872\n");
  EXPECT_EQ(shell.Query("PRAGMA user_version"), "5\n");
  EXPECT_EQ(shell.Query("SELECT version, name, applied_at, program FROM schema_migrations"),
            "1|first schema|2026-10-01T00:00:00.000Z|test 1\n"
            "2|store identity|2026-10-01T00:00:00.000Z|test 1\n"
            "3|pins of ended transactions|2026-10-01T00:00:00.000Z|test 1\n"
            "4|replicated transactions|2026-10-01T00:00:00.000Z|test 1\n"
            "5|sources and rebuilds of views|2026-10-01T00:00:00.000Z|test 1\n");
  EXPECT_EQ(shell.Query("SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND schema = "
                        "'main' AND strict = 0 AND name NOT LIKE 'sqlite%'"),
            "0\n");
  EXPECT_EQ(shell.Query("SELECT count(*) FROM sqlite_schema WHERE type IN ('index', 'trigger')"),
            "0\n");
  EXPECT_TRUE(std::filesystem::exists(dir / "skep.lock"));
}

TEST(SqliteStore, HoldsWordsThatAPersonReads) {
  const TempDir dir;
  SqliteOptions options = OptionsFor(dir.path());
  SKEP_ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(options));
  ASSERT_THAT(store->Append(OneTable("the key")), IsOk());
  Shell shell(options.path);
  EXPECT_EQ(shell.Query("SELECT database_name, table_name, kind, format, location FROM tables"),
            "sales|orders|FULL_ACID|orc|/w/sales.db/orders\n");
  EXPECT_EQ(shell.Query("SELECT value ->> 'name', value ->> 'type', value ->> 'comment' FROM "
                        "tables, json_each(schema, '$.columns')"),
            "order_id|bigint|the key\namount|decimal(12,2)|NULL\n");
  EXPECT_EQ(shell.Query("SELECT properties ->> '$.\"orc.compress\"' FROM tables"), "zstd\n");
  EXPECT_EQ(shell.Query("SELECT txn_id, type, user_name FROM open_transactions"),
            "1|READ_ONLY|alice\n");
  EXPECT_EQ(shell.Query("SELECT kind, state, operation FROM locks"), "SHARED_READ|ACQUIRED|NULL\n");
}

TEST(SqliteStore, IsReadByTheSqliteShellWhileItIsOpen) {
  if (::system("command -v sqlite3 > /dev/null") != 0) GTEST_SKIP() << "no sqlite3 shell here";
  const TempDir dir;
  SqliteOptions options = OptionsFor(dir.path());
  SKEP_ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(options));
  ASSERT_THAT(store->Append(OneTable()), IsOk());
  const std::string command =
      "sqlite3 -readonly '" + options.path + "' 'SELECT table_name FROM tables' 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  char answer[200] = {};
  const size_t size = ::fread(answer, 1, sizeof answer - 1, pipe);
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_EQ(std::string(answer, size), "orders\n");
  ASSERT_THAT(store->Append(OneTable("again")), IsOk());
}

TEST(SqliteStore, RefusesASecondDaemonByItsProcess) {
  const TempDir dir;
  SKEP_ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(OptionsFor(dir.path())));
  const absl::Status refused = SqliteStore::Open(OptionsFor(dir.path())).status();
  EXPECT_THAT(refused, HasReason(ErrorReason::kStoreBusy));
  EXPECT_EQ(MetadataOf(refused)["pid"], std::to_string(::getpid()));
  EXPECT_THAT(refused, HasMessage(HasSubstr("in use by process")));
}

TEST(SqliteStore, SaysWhatToDoAboutAMissingDirectory) {
  const TempDir dir;
  const absl::Status missing = SqliteStore::Open(OptionsFor(dir / "none")).status();
  EXPECT_THAT(missing, HasReason(ErrorReason::kStorageUnwritable));
  EXPECT_EQ(MetadataOf(missing), (ErrorMetadata{{"path", dir / "none"}, {"errno", "ENOENT"}}));
  EXPECT_THAT(missing, HasMessage(AllOf(HasSubstr(dir / "none"), HasSubstr("create it"))));
  std::ofstream(dir / "file") << "x";
  const absl::Status file = SqliteStore::Open(OptionsFor(dir / "file")).status();
  EXPECT_THAT(file, HasReason(ErrorReason::kStorageUnwritable));
  EXPECT_EQ(MetadataOf(file)["errno"], "ENOTDIR");
}

// Root may write everywhere, so the refusal is shown as another user (in a child: access(2) asks
// for the real one).
TEST(SqliteStore, SaysWhatToDoWithoutPermission) {
  const TempDir dir;
  ASSERT_EQ(::chmod(dir.path().c_str(), 0555), 0);
  EXPECT_EXIT(
      {
        if (::getuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
        const absl::Status status = SqliteStore::Open(OptionsFor(dir.path())).status();
        ::fprintf(stderr, "%s", status.ToString().c_str());
        const bool as_it_should = ReasonOf(status) == ErrorReason::kStorageUnwritable &&
                                  MetadataOf(status)["errno"] == "EACCES";
        ::_exit(as_it_should ? 0 : 1);
      },
      ::testing::ExitedWithCode(0),
      "write permission");
}

TEST(SqliteStore, RefusesAFileThatIsNoStoreAndLeavesItAlone) {
  const TempDir text;
  std::ofstream(text / "skep.db") << std::string(5'000, 'x');
  EXPECT_THAT(SqliteStore::Open(OptionsFor(text.path())), HasReason(ErrorReason::kCorruptStore));

  const TempDir other;
  Shell(other / "skep.db", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
      .Query("CREATE TABLE songs (title TEXT); PRAGMA application_id = 7");
  const absl::Status refused = SqliteStore::Open(OptionsFor(other.path())).status();
  EXPECT_THAT(refused, HasReason(ErrorReason::kCorruptStore));
  EXPECT_THAT(refused, HasMessage(HasSubstr("another program")));
  Shell shell(other / "skep.db");
  EXPECT_EQ(shell.Query("PRAGMA journal_mode"), "delete\n");
  EXPECT_EQ(shell.Query("SELECT name FROM sqlite_schema"), "songs\n");
}

// SQLite would open such a file for reading only, and the first unit would fail.
TEST(SqliteStore, RefusesAStoreThatMayNotBeWritten) {
  const TempDir dir;
  ASSERT_EQ(::chmod(dir.path().c_str(), 0777), 0);
  { ASSERT_THAT(SqliteStore::Open(OptionsFor(dir.path())), IsOk()); }
  ASSERT_EQ(::chmod((dir / "skep.db").c_str(), 0444), 0);
  ASSERT_EQ(::chmod((dir / "skep.lock").c_str(), 0666), 0);
  const ErrorMetadata expected = {{"path", dir / "skep.db"}, {"errno", "EACCES"}};
  EXPECT_EXIT(
      {
        if (::getuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
        const absl::Status status = SqliteStore::Open(OptionsFor(dir.path())).status();
        ::fprintf(stderr, "%s", status.ToString().c_str());
        const bool as_it_should =
            ReasonOf(status) == ErrorReason::kStorageUnwritable && MetadataOf(status) == expected;
        ::_exit(as_it_should ? 0 : 1);
      },
      ::testing::ExitedWithCode(0),
      "write permission");
}

// A new store gets its name when it is whole: what has the name and holds nothing was damaged.
TEST(SqliteStore, TakesNoEmptyFileForTheBeginningOfAStore) {
  const TempDir dir;
  std::ofstream(dir / "skep.db").close();
  const absl::Status empty = SqliteStore::Open(OptionsFor(dir.path())).status();
  EXPECT_THAT(empty, HasReason(ErrorReason::kCorruptStore));
  EXPECT_THAT(empty, HasMessage(AllOf(HasSubstr(dir / "skep.db"), HasSubstr("last backup"))));
  EXPECT_EQ(std::filesystem::file_size(dir / "skep.db"), 0u);

  const TempDir bare;
  Shell(bare / "skep.db", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE).Query("VACUUM");
  ASSERT_GT(std::filesystem::file_size(bare / "skep.db"), 0u);
  EXPECT_THAT(SqliteStore::Open(OptionsFor(bare.path())), HasReason(ErrorReason::kCorruptStore));
}

TEST(SqliteStore, BeginsNoNewStoreBesideWhatIsLeftOfOne) {
  for (const char* left : {"skep.db-wal", "skep.db-journal", "skep.db-log.1", "skep.db-log.17"}) {
    SCOPED_TRACE(left);
    const TempDir dir;
    std::ofstream(dir / left) << "units";
    const absl::Status status = SqliteStore::Open(OptionsFor(dir.path())).status();
    EXPECT_THAT(status, HasReason(ErrorReason::kCorruptStore));
    EXPECT_THAT(status, HasMessage(AllOf(HasSubstr("missing"), HasSubstr(left))));
    EXPECT_FALSE(std::filesystem::exists(dir / "skep.db"));
    EXPECT_TRUE(std::filesystem::exists(dir / left));
  }
}

TEST(SqliteStore, BeginsAnewWhereAFirstStartWasCutOff) {
  const TempDir dir;
  for (const char* left : {"skep.db.new", "skep.db.new-journal", "skep.db-log.new"}) {
    std::ofstream(dir / left) << std::string(6'000, 'x');
  }
  SKEP_ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(OptionsFor(dir.path())));
  EXPECT_THAT(store->Load(), IsOkAndHolds(StoredState()));
  EXPECT_FALSE(std::filesystem::exists(dir / "skep.db.new"));
  EXPECT_FALSE(std::filesystem::exists(dir / "skep.db.new-journal"));
}

TEST(SqliteStore, RefusesADamagedFile) {
  const TempDir dir = TempDir::InMemory();
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(OptionsFor(dir.path())));
    RandomEffects random(3);
    for (int i = 0; i < 40; ++i) ASSERT_THAT(store->Append(random.NextUnit(40)), IsOk());
  }
  {
    // Every page but the first.
    std::fstream file(dir / "skep.db", std::ios::in | std::ios::out | std::ios::binary);
    const auto size = static_cast<int64_t>(std::filesystem::file_size(dir / "skep.db"));
    for (int64_t at = 4096; at < size; at += 4096) {
      file.seekp(at);
      file << std::string(200, '\xee');
    }
  }
  EXPECT_THAT(LoadFrom(dir.path()), HasReason(ErrorReason::kCorruptStore));
}

TEST(SqliteStore, RefusesAWordItDoesNotKnow) {
  const TempDir dir;
  SqliteOptions options = OptionsFor(dir.path());
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(options));
    ASSERT_THAT(store->Append(OneTable()), IsOk());
  }
  const std::vector<std::string> changes = {
      "UPDATE locks SET kind = 'SHARED_SING'",
      "UPDATE open_transactions SET from_batch = 2",
      "UPDATE tables SET schema = '{\"columns\":[{\"name\":\"a\",\"type\":\"wave\"}]}'",
      "UPDATE tables SET properties = 'x'",
  };
  for (const std::string& change : changes) {
    SCOPED_TRACE(change);
    const TempDir copy;
    CopyFiles(dir.path(), copy.path());
    Shell(copy / "skep.db", SQLITE_OPEN_READWRITE).Query(change);
    EXPECT_THAT(LoadFrom(copy.path()), HasReason(ErrorReason::kCorruptStore));
  }
}

// Another hand was at it: no fault of the program, and the way out is that of a damaged store.
TEST(SqliteStore, RefusesAStoreWhoseSchemaWasChanged) {
  const TempDir dir;
  SqliteOptions options = OptionsFor(dir.path());
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(options));
    ASSERT_THAT(store->Append(OneTable()), IsOk());
  }
  for (const char* change : {"DROP TABLE locks",
                             "DROP TABLE schema_migrations",
                             "DROP TABLE dropped_tables",
                             "ALTER TABLE ended_transactions DROP COLUMN pinned_ms"}) {
    SCOPED_TRACE(change);
    const TempDir copy;
    CopyFiles(dir.path(), copy.path());
    Shell(copy / "skep.db", SQLITE_OPEN_READWRITE).Query(change);
    const absl::Status status = LoadFrom(copy.path()).status();
    EXPECT_THAT(status, HasReason(ErrorReason::kCorruptStore));
    EXPECT_THAT(status, HasMessage(HasSubstr("restore the last backup")));
    EXPECT_THAT(status, HasMessage(HasSubstr("the store lacks a table or column")));
  }
}

TEST(SqliteStore, IsBusyWhileAnotherProgramWritesAndGoesOnAfterwards) {
  const TempDir dir;
  SqliteOptions options = OptionsFor(dir.path());
  options.busy_timeout_ms = 1;
  SKEP_ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(options));
  {
    Shell intruder(options.path, SQLITE_OPEN_READWRITE);
    intruder.Query("PRAGMA wal_autocheckpoint = 0; BEGIN IMMEDIATE");
    EXPECT_THAT(store->Append(OneTable()), HasReason(ErrorReason::kStoreBusy));
    EXPECT_THAT(store->Load(), IsOkAndHolds(StoredState()));
    intruder.Query("ROLLBACK");
    ASSERT_THAT(store->Append(OneTable()), IsOk());
  }
  StoredState expected;
  ApplyEffects(expected, OneTable());
  EXPECT_THAT(store->Load(), IsOkAndHolds(expected));
}

TEST(SqliteStore, RefusesTextThatJsonCannotHoldAndStoresNothingOfTheUnit) {
  const TempDir dir;
  SKEP_ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(OptionsFor(dir.path())));
  EXPECT_THAT(store->Append(OneTable("\xff")), HasReason(ErrorReason::kInternal));
  EXPECT_THAT(store->Load(), IsOkAndHolds(StoredState()));
  EXPECT_THAT(store->Append(OneTable()), IsOk());
}

TEST(SqliteStore, KeepsTheLogShortUnderLoadAndWithoutIdleTime) {
  const TempDir dir = TempDir::InMemory();
  SqliteOptions options = OptionsFor(dir.path());
  options.checkpoint_frames = 100;
  SKEP_ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(options));
  RandomEffects random(11);
  std::uintmax_t longest = 0;
  for (int i = 0; i < 300; ++i) {
    ASSERT_THAT(store->Append(random.NextUnit(20)), IsOk());
    longest = std::max(longest, std::filesystem::file_size(options.path + "-wal"));
  }
  EXPECT_GT(longest, 50u * 4096);
  EXPECT_LT(longest, 200u * 4096);
}

TEST(SqliteStore, ShortensTheLogAgainAfterALongReader) {
  const TempDir dir = TempDir::InMemory();
  SqliteOptions options = OptionsFor(dir.path());
  options.checkpoint_frames = 50;
  SKEP_ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(options));
  RandomEffects random(11);
  {
    Shell reader(options.path);
    reader.Query("BEGIN; SELECT * FROM counters");
    for (int i = 0; i < 100; ++i) ASSERT_THAT(store->Append(random.NextUnit(20)), IsOk());
  }
  // It may grow until the next checkpoint comes round, and then is written from its start again.
  const auto grown = std::filesystem::file_size(options.path + "-wal");
  for (int i = 0; i < 100; ++i) ASSERT_THAT(store->Append(random.NextUnit(20)), IsOk());
  EXPECT_LT(std::filesystem::file_size(options.path + "-wal"), grown + 100u * 4096)
      << "the log still grows although nobody reads";
}

TEST(SqliteStore, LeavesOneFileAfterAnOrderlyEnd) {
  const TempDir dir;
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(OptionsFor(dir.path())));
    ASSERT_THAT(store->Append(OneTable()), IsOk());
    EXPECT_TRUE(std::filesystem::exists(dir / "skep.db-wal"));
  }
  EXPECT_FALSE(std::filesystem::exists(dir / "skep.db-wal"));
  EXPECT_FALSE(std::filesystem::exists(dir / "skep.db-shm"));
}

TEST(SqliteStore, CheckFindsRowsThatDoNotFitTheirTable) {
  const TempDir dir = TempDir::InMemory();
  const SqliteOptions options = OptionsFor(dir.path());
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(options));
    RandomEffects random(3);
    for (int i = 0; i < 40; ++i) ASSERT_THAT(store->Append(random.NextUnit(40)), IsOk());
    EXPECT_THAT(store->CheckFile(SqliteStore::Depth::kQuick), IsOkAndHolds(IsEmpty()));
    EXPECT_THAT(store->CheckFile(SqliteStore::Depth::kDeep), IsOkAndHolds(IsEmpty()));
  }
  // A table whose declaration no longer fits its rows: opens, but is not sound.
  Shell(options.path, SQLITE_OPEN_READWRITE)
      .Query(
          "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, "
          "'committed INTEGER NOT NULL', 'committed TEXT NOT NULL') WHERE name = "
          "'ended_write_ids'");
  SKEP_ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(options));
  EXPECT_THAT(store->CheckFile(SqliteStore::Depth::kQuick), IsOkAndHolds(Not(IsEmpty())));
}

}  // namespace
}  // namespace skep::meta
