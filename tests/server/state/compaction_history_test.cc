// What becomes of compactions that ended: attempts of the cleaner, records of what was not
// initiated, and how long each of them stays.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/state/compaction_rules.h"
#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

using S = CompactionState;
constexpr CompactionType kMajor = CompactionType::kMajor, kMinor = CompactionType::kMinor;
constexpr hours kWeek(24 * 7);

absl::Status FailToClean(Server& server, CompactionId id, Timestamp retry_at = {}) {
  return server.Do([&](State& s, Now now, Unit& u) {
    return s.FinishCleaning({id, false, "permission denied", retry_at}, now, u);
  });
}

std::vector<std::pair<int64_t, S>> Rows(const Server& server) {
  std::vector<std::pair<int64_t, S>> rows;
  for (const auto& [id, row] : server.stored().compactions)
    rows.emplace_back(id.value(), row.state);
  return rows;
}

TEST(FinishCleaning, GivesUpAfterTheLastAttempt) {  // RB-1
  for (const int64_t retries : {0, 1, 5}) {
    SCOPED_TRACE(retries);
    Options options;
    options.clean_retries = retries;
    Server server(options);
    server.MakeTable("a");
    server.Write("a", WriteOp::kInsert);
    const CompactionRow row = server.Compact("a");
    for (int64_t i = 0; i < retries; ++i) {
      ASSERT_THAT(FailToClean(server, row.id), IsOk());
      ASSERT_EQ(server.stored().compactions.at(row.id).state, S::kReadyForCleaning);
      if (i % 2 == 0) server.Restart();
    }
    ASSERT_THAT(FailToClean(server, row.id), IsOk());
    const CompactionRow& given_up = server.stored().compactions.at(row.id);
    EXPECT_EQ(given_up.state, S::kFailed);
    EXPECT_EQ(given_up.clean_attempts, retries + 1);
    EXPECT_EQ(given_up.end_time, server.now().wall);
    EXPECT_THAT(given_up.error, HasSubstr("permission denied"));
    EXPECT_THAT(given_up.error, HasSubstr("compact")) << "the way out";
    EXPECT_THAT(server.state().ReadyToClean(server.now()), IsEmpty());
    EXPECT_TRUE(server.Enqueue("a")->accepted) << "another compaction cleans it all";
  }
}

TEST(FinishCleaning, OfTheFirstEntryThatGaveUpLetsTheNextOneIn) {  // CL-2, RB-1
  Options options;
  options.clean_retries = 0;
  Server server(options);
  server.MakeTable("a");
  server.Write("a", WriteOp::kInsert);
  const CompactionRow first = server.Compact("a");
  server.Write("a", WriteOp::kInsert);
  const CompactionRow second = server.Compact("a");
  EXPECT_THAT(server.state().ReadyToClean(server.now()), ElementsAre(first.id));
  ASSERT_THAT(FailToClean(server, first.id), IsOk());
  EXPECT_THAT(server.state().ReadyToClean(server.now()), ElementsAre(second.id));
}

// The output is visible, whatever became of the cleaning: a repeat must not tell the worker to
// throw it away.
TEST(Publish, IsRepeatedWithItsAnswerWhateverTheEntryBecame) {
  struct Case {
    const char* name;
    std::function<absl::Status(Server&, CompactionId)> end;
    S state;
  };
  const std::vector<Case> cases = {
      {"cleaned", [](Server& s, CompactionId id) { return s.EndClean(id); }, S::kSucceeded},
      {"cleaning given up",
       [](Server& s, CompactionId id) { return FailToClean(s, id); },
       S::kFailed},
      {"not to be cleaned",
       [](Server& s, CompactionId id) {
         const absl::Status set = s.Do([&](State& state, Now now, Unit& u) {
           return state.SetProperties(T("a"), {{"NO_CLEANUP", "true"}}, {}, now, u);
         });
         if (!set.ok()) return set;
         s.BeginClean(id).status().IgnoreError();
         return absl::OkStatus();
       },
       S::kRefused},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Options options;
    options.clean_retries = 0;
    Server server(options);
    server.MakeTable("a");
    server.Write("a", WriteOp::kInsert);
    const CompactionRow row = server.Compact("a");
    ASSERT_THAT(c.end(server, row.id), IsOk());
    ASSERT_EQ(server.stored().compactions.at(row.id).state, c.state);
    EXPECT_THAT(server.Do([&](State& s, Now now, Unit& u) {
      return s.Publish({row.id, row.claim, row.highest_write_id}, now, u);
    }),
                IsOk());
  }
}

TEST(ReadyToClean, DoesNotWaitForAWallClockThatWasSetBack) {
  Server server;
  server.MakeTable("a");
  server.Write("a", WriteOp::kInsert);
  const CompactionRow row = server.Compact("a");
  Now earlier = server.now();
  earlier.wall -= hours(5);
  EXPECT_THAT(server.state().ReadyToClean(earlier), ElementsAre(row.id));
}

// ---- NOT_INITIATED ----

CompactionId NotInitiated(Server& server, const std::string& table, const std::string& why) {
  EnqueueCompaction command;
  command.table = T(table);
  command.initiator = "host-initiator";
  command.reason = why;
  auto id =
      server.Do([&](State& s, Now now, Unit& u) { return s.NoteNotInitiated(command, now, u); });
  EXPECT_THAT(id, IsOk());
  return id.ok() ? *id : CompactionId();
}

TEST(NotInitiated, IsARecordOfItsOwnWithTheReason) {  // IN-6, IN-17
  Server server;
  server.MakeTable("a");
  const CompactionId id = NotInitiated(server, "a", "the last 2 compactions failed");
  const CompactionRow row = server.stored().compactions.at(id);
  EXPECT_EQ(row.state, S::kNotInitiated);
  EXPECT_EQ(row.error, "the last 2 compactions failed");
  EXPECT_EQ(row.initiator, "host-initiator");
  EXPECT_EQ(row.enqueue_time, server.now().wall);
  EXPECT_EQ(row.end_time, server.now().wall);
  EXPECT_FALSE(server.Claim()) << "nobody works on it";
  EXPECT_TRUE(server.Enqueue("a")->accepted) << "it stands in nobody's way";
}

TEST(NotInitiated, OfTheSameReasonIsTheSameRecord) {
  Server server;
  server.MakeTable("a");
  const CompactionId first = NotInitiated(server, "a", "cannot read /w/a");
  server.Pass(hours(1));
  server.Restart();
  EXPECT_EQ(NotInitiated(server, "a", "cannot read /w/a"), first);
  EXPECT_EQ(server.stored().compactions.at(first).end_time, server.now().wall) << "last seen";
  EXPECT_EQ(server.stored().compactions.size(), 1u);
  EXPECT_NE(NotInitiated(server, "a", "another reason"), first);
  EXPECT_EQ(server.stored().compactions.size(), 2u);
}

TEST(NotInitiated, OfATableThatIsGoneIsNoRecord) {
  Server server;
  EnqueueCompaction command;
  command.table = T("a");
  EXPECT_THAT(
      server.Do([&](State& s, Now now, Unit& u) { return s.NoteNotInitiated(command, now, u); }),
      HasReason(ErrorReason::kNoSuchTable));
}

TEST(NotInitiated, StayInSmallNumbers) {  // HR-1
  Server server;
  server.MakeTable("a");
  for (int i = 0; i < 5; ++i) NotInitiated(server, "a", "reason " + std::to_string(i));
  EXPECT_THAT(Rows(server),
              ElementsAre(std::pair(4, S::kNotInitiated), std::pair(5, S::kNotInitiated)));
}

// ---- seven days ----

// A compaction that ends as told, a day of its own.
void EndOne(Server& server, S state, CompactionType type = kMajor) {
  server.Write("a", WriteOp::kInsert);
  ASSERT_THAT(server.Enqueue("a", type), IsOk());
  if (state == S::kCancelled) {
    ASSERT_THAT(server.Do([&](State& s, Now now, Unit& u) {
      return s.Cancel(server.stored().compactions.rbegin()->first, now, u);
    }),
                IsOk());
    return;
  }
  const auto claim = *server.Claim();
  if (state == S::kSucceeded) {
    ASSERT_THAT(server.PublishClaim(claim), IsOk());
    ASSERT_THAT(server.EndClean(claim.row.id), IsOk());
  } else {
    ASSERT_THAT(server.FinishClaim(claim, state), IsOk());
  }
}

TEST(OldFailures, GoWhenANewerSuccessOutdatesThem) {  // HR-2
  struct Case {
    const char* name;
    CompactionType failed, succeeded;
    bool goes;
  };
  for (const Case& c : {Case{"a major outdates a major", kMajor, kMajor, true},
                        Case{"a major outdates a minor", kMinor, kMajor, true},
                        Case{"a minor outdates a minor", kMinor, kMinor, true},
                        Case{"a minor does not outdate a major", kMajor, kMinor, false}}) {
    for (const bool restart : {false, true}) {
      SCOPED_TRACE(std::string(c.name) + (restart ? ", over a restart" : ""));
      Server server;
      server.MakeTable("a");
      EndOne(server, S::kFailed, c.failed);
      EndOne(server, S::kRefused, c.failed);
      EndOne(server, S::kCancelled, c.failed);
      EndOne(server, S::kSucceeded, c.succeeded);
      if (restart) server.Restart();
      server.Pass(kWeek);
      server.Reap();
      EXPECT_EQ(server.stored().compactions.size(), 4u) << "seven days are not over";
      server.Pass(seconds(1));
      server.Reap();
      EXPECT_EQ(server.stored().compactions.size(), c.goes ? 1u : 4u);
    }
  }
}

TEST(OldFailures, StayWhereNothingSucceededSince) {  // HR-2
  Server server;
  server.MakeTable("a");
  EndOne(server, S::kSucceeded);
  EndOne(server, S::kFailed);
  server.Pass(2 * kWeek);
  server.Reap();
  EXPECT_THAT(Rows(server), ElementsAre(std::pair(1, S::kSucceeded), std::pair(2, S::kFailed)));
  EndOne(server, S::kSucceeded);
  server.Reap();
  EXPECT_THAT(Rows(server), ElementsAre(std::pair(1, S::kSucceeded), std::pair(3, S::kSucceeded)));
}

TEST(OldFailures, OfAnotherObjectStay) {
  Server server;
  server.MakeTable("a");
  server.MakeTable("b");
  EndOne(server, S::kFailed);
  server.Write("b", WriteOp::kInsert);
  ASSERT_THAT(server.EndClean(server.Compact("b").id), IsOk());
  server.Pass(2 * kWeek);
  server.Reap();
  EXPECT_EQ(server.stored().compactions.size(), 2u);
}

TEST(OldFailures, OfADroppedTableAreGoneAlready) {
  Server server;
  server.MakeTable("a");
  EndOne(server, S::kFailed);
  EndOne(server, S::kSucceeded);
  ASSERT_THAT(server.DropTable("a"), IsOk());
  server.Pass(2 * kWeek);
  server.Reap();
  EXPECT_THAT(server.stored().compactions, IsEmpty());
}

// The initiator must see as many failures as make it stop (IN-6).
TEST(HistoryToDrop, KeepsAtLeastAsManyFailuresAsCount) {  // HR-1
  Options options;
  options.history_failed = 1;
  options.failed_threshold = 3;
  std::vector<CompactionRow> rows;
  for (int64_t id = 1; id <= 5; ++id) {
    CompactionRow& row = rows.emplace_back();
    row.id = CompactionId(id);
    row.state = S::kFailed;
  }
  EXPECT_THAT(HistoryToDrop(rows, options), UnorderedElementsAre(CompactionId(1), CompactionId(2)));
}

TEST(ListCompactions, ReadsNoMoreThanItIsAskedFor) {
  Server server;
  server.MakeTable("a");
  server.MakeTable("b");
  for (int i = 0; i < 3; ++i) EndOne(server, S::kSucceeded);
  ASSERT_THAT(server.Enqueue("b"), IsOk());
  const auto read = [&](ListCompactions command) {
    const int64_t before = server.state().compactions_read();
    server.state().Compactions(command);
    return server.state().compactions_read() - before;
  };
  EXPECT_EQ(read({.states = {S::kInitiated}}), 1);
  EXPECT_EQ(read({.states = {S::kWorking}}), 0);
  EXPECT_EQ(read({.table = T("b")}), 1);
  EXPECT_EQ(read({.limit = 2}), 2);
  EXPECT_EQ(read({.states = {S::kSucceeded}, .limit = 2}), 2);
}

}  // namespace
}  // namespace skep::state
