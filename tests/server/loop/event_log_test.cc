#include "server/loop/event_log.h"

#include <gmock/gmock.h>

#include "storage/model/errors.h"
#include "tests/server/loop/core_fixture.h"

namespace skep::loop {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::skep::testing::IsOkAndHolds;
using ::testing::ElementsAre;

// A log to which units of so many events are appended.
class EventLogTest : public ::testing::Test {
 protected:
  void Append(EventLog& log, int64_t seq, int64_t count) {
    std::vector<state::Event> events;
    for (int64_t i = 0; i < count; ++i) {
      events.emplace_back(state::OpenedEvent{TxnId(++txn_), TxnId(txn_), TxnType::kDefault});
    }
    log.Append(CommitSeq(seq), Timestamp(), events);
    EXPECT_TRUE(events.empty());
  }
  static std::vector<int64_t> Seqs(const EventLog& log) {
    std::vector<int64_t> seqs;
    for (int64_t i = log.begin(); i < log.end(); ++i) seqs.push_back(log.At(i).seq.value());
    return seqs;
  }

  int64_t txn_ = 0;
};

TEST_F(EventLogTest, FindsThePlaceOfEveryRevision) {
  EventLog log({}, CommitSeq(10));
  Append(log, 11, 2);
  Append(log, 12, 0);  // a unit that nobody is told of
  Append(log, 13, 3);
  struct Case {
    Revision after;
    int64_t number;
  };
  const std::vector<Case> cases = {
      {{CommitSeq(10), 0}, 0},
      {{CommitSeq(11), 1}, 1},
      {{CommitSeq(11), 2}, 2},
      {{CommitSeq(11), 0}, 2},
      {{CommitSeq(12), 0}, 2},
      {{CommitSeq(13), 1}, 3},
      {{CommitSeq(13), 3}, 5},
      {{CommitSeq(13), 0}, 5},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::to_string(c.after.seq.value()) + "." + std::to_string(c.after.index));
    EXPECT_THAT(log.After(c.after), IsOkAndHolds(c.number));
  }
  EXPECT_EQ(log.At(0).revision(), (Revision{CommitSeq(11), 1}));
  EXPECT_EQ(log.At(1).revision(), (Revision{CommitSeq(11), 0})) << "the last: all of the unit";
  EXPECT_EQ(log.newest(), CommitSeq(13));
}

TEST_F(EventLogTest, RefusesWhatItDoesNotHave) {
  EventLog log({}, CommitSeq(10));
  Append(log, 11, 2);
  const auto old = log.After({CommitSeq(9), 0});
  EXPECT_THAT(old, HasReason(ErrorReason::kWatchTooOld));
  EXPECT_EQ(MetadataOf(old.status())["oldestRevision"], "10");
  EXPECT_THAT(log.After({CommitSeq(10), 1}), HasReason(ErrorReason::kWatchTooOld))
      << "the rest of unit 10 went with the process";
  EXPECT_THAT(log.After({CommitSeq(12), 0}), HasReason(ErrorReason::kInvalidRequest));
}

TEST_F(EventLogTest, DropsTheOldestUnitsThatAreTooMany) {
  EventLog log({.max_events = 4, .max_bytes = 1 << 20}, CommitSeq(0));
  Append(log, 1, 2);
  Append(log, 2, 1);
  Append(log, 3, 1);
  EXPECT_THAT(Seqs(log), ElementsAre(1, 1, 2, 3));
  Append(log, 4, 1);
  EXPECT_THAT(Seqs(log), ElementsAre(2, 3, 4)) << "a unit goes as a whole";
  EXPECT_EQ(log.oldest(), CommitSeq(1));
  EXPECT_EQ(log.begin(), 2) << "numbers go on";
  EXPECT_THAT(log.After({CommitSeq(1), 0}), IsOkAndHolds(2));
  EXPECT_THAT(log.After({CommitSeq(1), 1}), HasReason(ErrorReason::kWatchTooOld));
  Append(log, 5, 9);
  EXPECT_THAT(Seqs(log), ElementsAre(5, 5, 5, 5, 5, 5, 5, 5, 5)) << "the newest unit stays";
}

TEST_F(EventLogTest, CountsTheMemoryOfItsEvents) {
  EventLog log({.max_events = 1000, .max_bytes = 100'000}, CommitSeq(0));
  const auto table = std::make_shared<const TableName>(TableName{"db", "t"});
  for (int64_t seq = 1; seq <= 10; ++seq) {
    std::vector<state::Event> events;
    events.emplace_back(state::PartitionsEvent{
        {TableId(1), table}, std::vector<std::string>(10, std::string(4000, 'p'))});
    log.Append(CommitSeq(seq), Timestamp(), events);
    EXPECT_LE(log.bytes(), 100'000);
  }
  EXPECT_THAT(Seqs(log), ElementsAre(9, 10));
}

// What the core hands on.
class Told final : public EventSink {
 public:
  void UnitPublished(CommitSeq seq, Timestamp, std::vector<state::Event>& events) override {
    units.emplace_back(seq.value(), std::ssize(events));
  }
  std::vector<std::pair<int64_t, int64_t>> units;  // number, events
};

class EventSinkTest : public CoreFixture {};

// NTF-1
TEST_F(EventSinkTest, HearsOfDurableUnitsOnlyAndAfterTheirAnswers) {
  Told told;
  core_->SendEvents(&told);
  TxnId txn;
  const auto open = StartOpen(&txn);
  EXPECT_TRUE(told.units.empty()) << "not durable yet";
  core_->Flush();
  EXPECT_EQ(told.units.size(), 1u);
  store_.FailAppend(1, MakeError(ErrorReason::kStoreFull, "full"));
  StartCommit(txn);
  core_->Flush();
  EXPECT_EQ(told.units.size(), 1u) << "a unit that was not stored never was";
  StartCommit(txn);
  core_->Flush();
  EXPECT_THAT(told.units, ElementsAre(std::pair(1, 1), std::pair(2, 1)));
}

TEST_F(EventSinkTest, KeepsUnitsApartWhereAnAnswerBeginsTheNext) {
  Told told;
  core_->SendEvents(&told);
  TxnId first;
  core_->RunOwned(MakeCommand(
      [&](state::State& state, state::Now now, state::Unit& unit) {
        state::OpenTxns command;
        command.user = "ada";
        command.count = 3;
        first = state.Open(command, now, unit)->first;
      },
      [&](const absl::Status&) { StartCommit(first); }));
  core_->Flush();
  EXPECT_THAT(told.units, ElementsAre(std::pair(1, 1)));
  EXPECT_TRUE(core_->HasUnit());
  core_->Flush();
  EXPECT_THAT(told.units, ElementsAre(std::pair(1, 1), std::pair(2, 1)));
}

}  // namespace
}  // namespace skep::loop
