#include "server/duties/directory_desk.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/duties/duty_world.h"
#include "tests/testing/status_matchers.h"

namespace skep::duties {
namespace {

using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::skep::testing::IsOkAndHolds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class DirectoryDeskTest : public ::testing::Test {
 protected:
  // Calls a method of the desk and lets it run to its answer.
  template <class T, class Call>
  absl::StatusOr<T> Answer(Call call) {
    std::optional<absl::StatusOr<T>> answer;
    call([&answer](absl::StatusOr<T> result) { answer = std::move(result); });
    EXPECT_FALSE(answer.has_value()) << "not on the caller's stack";
    world_.executor.RunReady();
    EXPECT_TRUE(answer.has_value());
    return answer ? *std::move(answer) : absl::StatusOr<T>(absl::UnknownError("no answer"));
  }
  absl::StatusOr<std::vector<DirectoryInfo>> List(const std::string& table,
                                                  const std::string& partition = "") {
    return Answer<std::vector<DirectoryInfo>>(
        [&](auto done) { desk_.ListDirectories(NameOf(table), partition, std::move(done)); });
  }
  absl::StatusOr<std::vector<CleanerEntry>> WhyNotCleaned(std::optional<TableName> table) {
    return Answer<std::vector<CleanerEntry>>(
        [&](auto done) { desk_.ExplainCleaner(table, std::move(done)); });
  }
  absl::StatusOr<std::vector<CompactionEntry>> WhyNotCompacted(const std::string& table,
                                                               const std::string& partition = "") {
    return Answer<std::vector<CompactionEntry>>(
        [&](auto done) { desk_.ExplainCompactions(NameOf(table), partition, std::move(done)); });
  }

  DutyWorld world_;
  DirectoryDesk desk_{InitiatorRules(), {}, world_.port, world_.executor, world_.clock, world_.fs};
};

std::vector<std::string> Shown(const std::vector<DirectoryInfo>& directories) {
  std::vector<std::string> lines;
  for (const DirectoryInfo& info : directories) {
    constexpr const char* kRoles[] = {"live", "obsolete", "aborted", "open", "foreign"};
    lines.push_back(std::string(kRoles[static_cast<int>(info.role)]) + " " +
                    (info.partition.empty() ? "" : info.partition + "/") + info.name);
    EXPECT_FALSE(info.reason.empty()) << lines.back();
  }
  return lines;
}

// ---- directories ----

TEST_F(DirectoryDeskTest, ListsWhatEachDirectoryIsFor) {
  world_.CreateTable("t");
  for (int i = 0; i < 2; ++i) world_.InsertOne("t");
  world_.Enqueue("t", "", CompactionType::kMajor);
  world_.WorkOnce();
  world_.InsertOne("t");
  const TxnId aborted = world_.Open();
  const TxnId open = world_.Open();
  ASSERT_EQ(world_.Allocate(aborted, "t"), WriteId(4));
  ASSERT_EQ(world_.Allocate(open, "t"), WriteId(5));
  for (const char* name : {"delta_0000004_0000004_0000", "delta_0000005_0000005_0000"}) {
    std::filesystem::create_directory(world_.Dir("t") + "/" + name);
  }
  world_.Abort(aborted);
  std::filesystem::create_directory(world_.Dir("t") + "/_tmp.x");
  std::ofstream(world_.Dir("t") + "/_tmp.x/file") << "12345";

  SKEP_ASSERT_OK_AND_ASSIGN(const std::vector<DirectoryInfo> found, List("t"));
  EXPECT_THAT(Shown(found),
              ElementsAre("foreign _tmp.x",
                          StartsWith("live base_0000002_v"),
                          "obsolete delta_0000001_0000001_0000",
                          "obsolete delta_0000002_0000002_0000",
                          "live delta_0000003_0000003_0000",
                          "aborted delta_0000004_0000004_0000",
                          "open delta_0000005_0000005_0000"));
  EXPECT_EQ(found[0].bytes, 5);
  EXPECT_EQ(found[0].files, 1);
  EXPECT_EQ(found[2].files, 2) << "the data file and _orc_acid_version";
  EXPECT_GT(found[2].bytes, 100);
}

// The cleaner never removes them, so they are nothing that waits for it.
TEST_F(DirectoryDeskTest, CallsForeignWhatLiesBesideABaseAndIsNotOfTheLayout) {
  world_.CreateTable("t");
  for (int i = 0; i < 2; ++i) world_.InsertOne("t");
  world_.Enqueue("t", "", CompactionType::kMajor);
  world_.WorkOnce();
  world_.CleanOnce();
  std::filesystem::create_directories(world_.Dir("t") + "/empty");
  std::filesystem::create_directories(world_.Dir("t") + "/sub");
  for (const char* name : {"README.txt", "sub/notes"}) {
    std::ofstream(world_.Dir("t") + "/" + name) << "x";
  }
  SKEP_ASSERT_OK_AND_ASSIGN(const std::vector<DirectoryInfo> found, List("t"));
  EXPECT_THAT(Shown(found),
              ElementsAre("foreign README.txt",
                          StartsWith("live base_0000002_v"),
                          "foreign empty",
                          "foreign sub/notes"));
}

TEST_F(DirectoryDeskTest, ListsPartitionsAndWhatLiesBesideThem) {
  world_.CreateTable("t", "p string");
  world_.InsertOne("t", "p=a");
  world_.InsertOne("t", "p=b");
  std::filesystem::create_directory(world_.Dir("t") + "/p=unknown");
  SKEP_ASSERT_OK_AND_ASSIGN(std::vector<DirectoryInfo> found, List("t"));
  EXPECT_THAT(Shown(found),
              ElementsAre("foreign p=unknown",
                          "live p=a/delta_0000001_0000001_0000",
                          "live p=b/delta_0000002_0000002_0000"));
  SKEP_ASSERT_OK_AND_ASSIGN(found, List("t", "p=b"));
  EXPECT_THAT(Shown(found), ElementsAre("live p=b/delta_0000002_0000002_0000"));
  EXPECT_THAT(List("t", "p=c"), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(List("nothing"), HasReason(ErrorReason::kNoSuchTable));
}

// A table's or a declared partition's directory that is not there: list, compaction and its
// explanation say the same.
TEST_F(DirectoryDeskTest, SaysThatADirectoryIsMissing) {
  struct Case {
    std::string name;
    std::string partition_columns;
    std::string partition;
  };
  const std::vector<Case> cases = {{"whole", "", ""}, {"parts", "p string", "p=b"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    world_.CreateTable(c.name, c.partition_columns);
    for (int i = 0; i < 2; ++i) world_.InsertOne(c.name, c.partition);
    const std::string dir = world_.Dir(c.name, c.partition);
    std::filesystem::remove_all(dir);
    const auto words = AllOf(HasSubstr(dir + " is missing: the directory was removed outside Skep"),
                             HasSubstr("put it back, or make it an empty directory"));

    const auto listed = List(c.name);
    EXPECT_THAT(listed, HasReason(ErrorReason::kMalformedDirectory));
    EXPECT_THAT(listed, HasMessage(words));

    SKEP_ASSERT_OK_AND_ASSIGN(const std::vector<CompactionEntry> entries, WhyNotCompacted(c.name));
    ASSERT_THAT(entries, SizeIs(1));
    EXPECT_EQ(entries[0].outlook.decision.type, std::nullopt);
    EXPECT_THAT(entries[0].outlook.decision.reason, words);

    const CompactionId id = world_.Enqueue(c.name, c.partition, CompactionType::kMajor);
    world_.WorkOnce();
    EXPECT_EQ(world_.Compaction(id).state, CompactionState::kFailed);
    EXPECT_THAT(world_.Compaction(id).error, words);

    std::filesystem::create_directory(dir);
    EXPECT_THAT(List(c.name), IsOkAndHolds(IsEmpty()));
  }
}

// ---- cleaner ----

TEST_F(DirectoryDeskTest, ExplainsWhatTheCleanerGaveUp) {  // RB-1
  world_.CreateTable("t");
  for (int i = 0; i < 2; ++i) world_.InsertOne("t");
  const CompactionId id = world_.Enqueue("t", "", CompactionType::kMajor);
  world_.WorkOnce();
  for (int i = 0; i < 6; ++i) {
    ASSERT_THAT(world_.port.Do([&](state::State& s, state::Now now, state::Unit& unit) {
      return s.FinishCleaning({id, false, "permission denied", {}}, now, unit);
    }),
                IsOk());
  }
  SKEP_ASSERT_OK_AND_ASSIGN(std::vector<CleanerEntry> entries, WhyNotCleaned(NameOf("t")));
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_THAT(entries[0].directories,
              ElementsAre("delta_0000001_0000001_0000", "delta_0000002_0000002_0000"));
  EXPECT_THAT(entries[0].summary, HasSubstr("2 directories"));
  EXPECT_THAT(entries[0].summary, HasSubstr("given up after 6 attempts"));
  EXPECT_THAT(entries[0].summary, HasSubstr("permission denied"));
  // The next compaction takes it over.
  world_.InsertOne("t");
  world_.Enqueue("t", "", CompactionType::kMajor);
  world_.WorkOnce();
  SKEP_ASSERT_OK_AND_ASSIGN(entries, WhyNotCleaned(NameOf("t")));
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_NE(entries[0].task.row.id, id);
}

TEST_F(DirectoryDeskTest, SaysWhichDutiesAreOff) {
  world_.CreateTable("t");
  world_.CreateTable("u");
  for (int i = 0; i < 2; ++i) world_.InsertOne("t");
  world_.Enqueue("t", "", CompactionType::kMajor);
  world_.WorkOnce();
  world_.Enqueue("u", "", CompactionType::kMajor);
  DirectoryDesk idle(InitiatorRules(),
                     {.cleaner = false, .workers = false},
                     world_.port,
                     world_.executor,
                     world_.clock,
                     world_.fs);
  const auto cleaner = Answer<std::vector<CleanerEntry>>(
      [&](auto done) { idle.ExplainCleaner(NameOf("t"), std::move(done)); });
  ASSERT_THAT(cleaner, IsOk());
  ASSERT_THAT(*cleaner, SizeIs(1));
  EXPECT_THAT(cleaner->front().summary, HasSubstr("cleaner is off (cleaner.enabled = false)"));
  const auto compaction = Answer<std::vector<CompactionEntry>>(
      [&](auto done) { idle.ExplainCompactions(NameOf("u"), "", std::move(done)); });
  ASSERT_THAT(compaction, IsOk());
  ASSERT_THAT(*compaction, SizeIs(1));
  EXPECT_THAT(compaction->front().blocked_by, HasSubstr("no workers (compactor.workers = 0)"));
}

// CL-14: said before the cleaner has tried, after it has, and gone once it was moved out.
TEST_F(DirectoryDeskTest, ExplainsWhatTheCleanerLeavesForAStranger) {
  world_.CreateTable("t");
  for (int i = 0; i < 2; ++i) world_.InsertOne("t");
  const CompactionId id = world_.Enqueue("t", "", CompactionType::kMajor);
  world_.WorkOnce();
  const std::string path = world_.Dir("t") + "/delta_0000002_0000002_0000/notes.txt";
  std::ofstream(path) << "mine";
  for (const bool tried : {false, true}) {
    SCOPED_TRACE(tried);
    if (tried) world_.CleanOnce();
    SKEP_ASSERT_OK_AND_ASSIGN(const auto entries, WhyNotCleaned(NameOf("t")));
    ASSERT_THAT(entries, SizeIs(1));
    EXPECT_THAT(entries[0].summary, HasSubstr("stay"));
    EXPECT_THAT(entries[0].summary, HasSubstr(path + " is not named like a data file"));
    EXPECT_THAT(entries[0].summary, HasSubstr("move it out of the table"));
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_THAT(world_.Compaction(id).error, HasSubstr(path));
  std::filesystem::remove(path);
  SKEP_ASSERT_OK_AND_ASSIGN(const auto entries, WhyNotCleaned(NameOf("t")));
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_THAT(entries[0].summary, HasSubstr("waits for the next attempt"));
}

TEST_F(DirectoryDeskTest, ExplainsWhomTheCleanerWaitsFor) {
  world_.CreateTable("t", "p string");
  world_.CreateTable("u");
  world_.InsertOne("t", "p=a");
  world_.InsertOne("t", "p=a");
  const TxnId reader = world_.Open(TxnType::kReadOnly);
  EXPECT_THAT(world_.Rows(reader, "t", "p=a"), SizeIs(2));
  const CompactionId id = world_.Enqueue("t", "p=a", CompactionType::kMajor);
  world_.WorkOnce();

  SKEP_ASSERT_OK_AND_ASSIGN(std::vector<CleanerEntry> entries, WhyNotCleaned(std::nullopt));
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0].task.row.id, id);
  EXPECT_THAT(entries[0].directories,
              ElementsAre("p=a/delta_0000001_0000001_0000", "p=a/delta_0000002_0000002_0000"));
  ASSERT_THAT(entries[0].task.pinned_by, SizeIs(1));
  EXPECT_EQ(entries[0].task.pinned_by[0].txn, reader);
  EXPECT_THAT(entries[0].summary,
              HasSubstr("2 directories replaced by compaction 1 wait for transaction " +
                        reader.ToString() + " of ann@desk"));
  SKEP_ASSERT_OK_AND_ASSIGN(entries, WhyNotCleaned(NameOf("u")));
  EXPECT_THAT(entries, IsEmpty());
  EXPECT_THAT(WhyNotCleaned(NameOf("nothing")), HasReason(ErrorReason::kNoSuchTable));

  EXPECT_THAT(world_.Commit(reader), IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(entries, WhyNotCleaned(NameOf("t")));
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_THAT(entries[0].summary, HasSubstr("next pass"));
  world_.CleanOnce();
  SKEP_ASSERT_OK_AND_ASSIGN(entries, WhyNotCleaned(NameOf("t")));
  EXPECT_THAT(entries, IsEmpty());
}

TEST_F(DirectoryDeskTest, ExplainsAFailedRemoval) {
  world_.CreateTable("t");
  world_.InsertOne("t");
  world_.InsertOne("t");
  world_.Enqueue("t", "", CompactionType::kMajor);
  world_.WorkOnce();
  std::filesystem::create_directory(world_.Dir("t") + "/delta_nonsense");
  world_.CleanOnce();
  SKEP_ASSERT_OK_AND_ASSIGN(std::vector<CleanerEntry> entries, WhyNotCleaned(std::nullopt));
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_THAT(entries[0].summary, HasSubstr("delta_nonsense"));
  std::filesystem::remove(world_.Dir("t") + "/delta_nonsense");
  SKEP_ASSERT_OK_AND_ASSIGN(entries, WhyNotCleaned(std::nullopt));
  EXPECT_THAT(entries[0].summary, HasSubstr("next attempt at 2026-10-01T00:05:00"));
}

// ---- compaction ----

TEST_F(DirectoryDeskTest, ExplainsWhatTheInitiatorWouldDo) {
  world_.CreateTable(
      "t", "p string", {{"compactorthreshold.hive.compactor.delta.num.threshold", "2"}});
  for (int i = 0; i < 3; ++i) world_.InsertOne("t", "p=a");
  world_.InsertOne("t", "p=b");
  SKEP_ASSERT_OK_AND_ASSIGN(std::vector<CompactionEntry> entries, WhyNotCompacted("t"));
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[0].partition, "p=a");
  EXPECT_EQ(entries[0].outlook.decision.type, CompactionType::kMajor);
  EXPECT_EQ(entries[0].outlook.facts.delta_count, 3);
  EXPECT_GT(entries[0].outlook.facts.delta_bytes, 0);
  EXPECT_EQ(entries[0].outlook.thresholds.delta_num, 2);
  EXPECT_THAT(entries[0].blocked_by, IsEmpty());
  EXPECT_EQ(entries[1].outlook.decision.type, std::nullopt);
  EXPECT_FALSE(entries[1].outlook.decision.reason.empty());

  world_.Enqueue("t", "p=a", CompactionType::kMajor);
  SKEP_ASSERT_OK_AND_ASSIGN(entries, WhyNotCompacted("t", "p=a"));
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_THAT(entries[0].blocked_by, HasSubstr("compaction 1 is queued since"));
  EXPECT_THAT(entries[0].blocked_by, HasSubstr("waits for a worker"));
  EXPECT_EQ(entries[0].latest, std::nullopt);

  const TxnId locker = world_.Open();
  const auto locked = world_.port.Do([&](state::State& s, state::Now now, state::Unit& unit) {
    state::AcquireLocks locks;
    locks.txn = locker;
    locks.components.push_back({{"sales", "t", ""}, LockKind::kExclusive, std::nullopt, false});
    return s.Lock(locks, now, unit);
  });
  ASSERT_THAT(locked, IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(entries, WhyNotCompacted("t", "p=a"));
  EXPECT_THAT(entries[0].blocked_by,
              HasSubstr("waits with its turn: transaction " + locker.ToString() +
                        " of ann@desk holds EXCLUSIVE on sales.t"));
  world_.Abort(locker);
  world_.WorkOnce();
  SKEP_ASSERT_OK_AND_ASSIGN(entries, WhyNotCompacted("t", "p=a"));
  EXPECT_THAT(entries[0].blocked_by, IsEmpty());
  ASSERT_TRUE(entries[0].latest.has_value());
  EXPECT_EQ(entries[0].latest->state, CompactionState::kReadyForCleaning);
  EXPECT_THAT(WhyNotCompacted("nothing"), HasReason(ErrorReason::kNoSuchTable));
}

// ---- register ----

TEST_F(DirectoryDeskTest, ScansForRegister) {
  compact::WriteWorkedExample(world_.fs, world_.root / "old");
  RegisterScanRequest request;
  request.name = NameOf("old");
  request.location = world_.root / "old";
  const auto found = Answer<RegisterScanResult>(
      [&](auto done) { desk_.ScanForRegister(request, std::move(done)); });
  ASSERT_THAT(found, IsOk());
  auto info = world_.port.Do([&](state::State& s, state::Now now, state::Unit& unit) {
    return s.Register(found->command, now, unit);
  });
  ASSERT_THAT(info, IsOk());
  EXPECT_THAT(world_.Rows(world_.Open(), "old"), SizeIs(1));
  const TxnId txn = world_.Open();
  EXPECT_EQ(world_.Allocate(txn, "old"), WriteId(4));
}

}  // namespace
}  // namespace skep::duties
