// The checks of events, views and compactions, and the search for less of a run that fails.

#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/event_model.h"
#include "tests/sim/history.h"
#include "tests/sim/shrink.h"

namespace skep::sim {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Put<TxnRow> OpenedRow(int64_t id, TxnType type = TxnType::kDefault) {
  TxnRow row;
  row.id = TxnId(id);
  row.type = type;
  return {row};
}

// Units 1 to 3: a transaction is opened, nobody is told of a reader, the transaction commits.
EventModel ModelOfThreeUnits() {
  EventModel model;
  model.Stored(CommitSeq(1), {OpenedRow(1)}, {});
  model.Stored(CommitSeq(2), {OpenedRow(2, TxnType::kReadOnly)}, {});
  model.Stored(CommitSeq(3), {EraseTxn{TxnId(1)}}, {{TxnId(1), AbortCause::kNone}});
  return model;
}

TEST(EventReader, FindsWhatIsLeftOutToldTwiceOrInventedAndNothingElse) {
  const EventModel model = ModelOfThreeUnits();
  struct Case {
    std::string name;
    std::function<void(EventReader&)> play;
    std::string finding;  // empty: nothing is wrong
  };
  const std::vector<Case> cases = {
      {"all in order",
       [](EventReader& r) {
         r.Told(CommitSeq(1), 1, {{"opened", "1"}});
         r.UpTo(CommitSeq(1), 0);
         r.Told(CommitSeq(3), 1, {{"committed", "1"}});
         r.UpTo(CommitSeq(3), 0);
       },
       ""},
      {"a unit is left out",
       [](EventReader& r) {
         r.Told(CommitSeq(3), 1, {{"committed", "1"}});
         r.UpTo(CommitSeq(3), 0);
       },
       "the events of unit 1 are"},
      {"told twice",
       [](EventReader& r) {
         r.Told(CommitSeq(1), 1, {{"opened", "1"}});
         r.UpTo(CommitSeq(1), 0);
         r.Told(CommitSeq(1), 1, {{"opened", "1"}});
       },
       "was told after"},
      {"another fact",
       [](EventReader& r) {
         r.Told(CommitSeq(1), 1, {{"opened", "7"}});
         r.UpTo(CommitSeq(1), 0);
       },
       "told were [opened 7]"},
      {"a reader is told of",
       [](EventReader& r) {
         r.Told(CommitSeq(1), 1, {{"opened", "1"}});
         r.Told(CommitSeq(2), 1, {{"opened", "2"}});
         r.UpTo(CommitSeq(2), 0);
       },
       "the events of unit 2 are nothing"},
      {"back behind what was seen",
       [](EventReader& r) {
         r.Told(CommitSeq(1), 1, {{"opened", "1"}});
         r.UpTo(CommitSeq(2), 0);
         r.UpTo(CommitSeq(1), 0);
       },
       "is said to be at 1"},
      {"of the future", [](EventReader& r) { r.UpTo(CommitSeq(4), 0); }, "there is none"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<std::string> found;
    EventReader reader(model, {}, [&](const std::string& text) { found.push_back(text); });
    reader.Begin(CommitSeq(0));
    c.play(reader);
    if (c.finding.empty()) {
      EXPECT_THAT(found, IsEmpty());
    } else {
      ASSERT_FALSE(found.empty());
      EXPECT_THAT(found.front(), HasSubstr(c.finding));
    }
  }
}

TEST(EventReader, ExpectsOnlyTheKindsThatWereAskedFor) {
  const EventModel model = ModelOfThreeUnits();
  std::vector<std::string> found;
  EventReader reader(model, {"committed"}, [&](const std::string& text) { found.push_back(text); });
  reader.Begin(CommitSeq(0));
  reader.Told(CommitSeq(3), 1, {{"committed", "1"}});
  reader.UpTo(CommitSeq(3), 0);
  EXPECT_THAT(found, IsEmpty());
}

TEST(History, FindsWhatIsWrongAboutViewsAndCompactions) {
  struct Case {
    std::string name;
    std::function<void(History&)> play;
    std::string finding;
  };
  const auto yes = [] { return true; };
  // Transaction 1 updated table 1 by write id 1 in unit 2.
  const auto update = [](History& h) {
    h.model().Allocated(TableId(1), WriteId(1), TxnId(1), CommitSeq(1));
    h.Opened("a", TxnId(1), CommitSeq(1));
    h.Wrote(TxnId(1), {{TableId(1), ""}, WriteOp::kUpdate, {{WriteId(1), 0, 1}}, {}});
    h.model().Ended(TxnId(1), CommitSeq(2), true);
    h.Ended(TxnId(1), {CommitSeq(2), CommitSeq(1)});
  };
  WriteIdSnapshot before;
  before.table_id = TableId(1);
  before.seq = CommitSeq(1);
  const auto told = [before](History& h, const History::Change& change) {
    h.Changed(TxnId(9), CommitSeq(3), before, change);
  };
  const std::vector<Case> cases = {
      {"two rebuild one view",
       [&](History& h) {
         h.Opened("a", TxnId(1), CommitSeq(1));
         h.Opened("b", TxnId(2), CommitSeq(1));
         h.Rebuilds("v", TxnId(1), yes);
         h.Rebuilds("v", TxnId(2), yes);
       },
       "may rebuild view v while transaction 1 does"},
      {"an update is called an insert",
       [&](History& h) {
         update(h);
         told(h, {false, false, false, false, {1}});
       },
       "no row was changed, but transaction 1 did"},
      {"a write id is not named",
       [&](History& h) {
         update(h);
         told(h, {false, false, true, false, {}});
       },
       "1 write ids came, and 0 are named"},
      {"nothing is known of a table that is there",
       [&](History& h) {
         told(h, {true, false, false, false, {}});
       },
       "there is much to tell"},
      {"a compaction is hushed up",
       [&](History& h) {
         h.Merged(TxnId(5));
         h.Published(TableId(1), TxnId(5), CommitSeq(2));
         told(h, {false, true, false, false, {}});
       },
       "unit 2 published one"},
      {"what is published was not merged",
       [&](History& h) { h.Published(TableId(1), TxnId(5), CommitSeq(2)); },
       "has not merged all of it"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<std::string> found;
    History history([&](const std::string& text) { found.push_back(text); });
    c.play(history);
    ASSERT_FALSE(found.empty());
    EXPECT_THAT(found.front(), HasSubstr(c.finding));
  }
}

TEST(History, IsWrittenAsJsonLines) {
  std::ostringstream out;
  History history([](const std::string&) {});
  history.log().WriteTo(&out, [] { return 7; });
  history.Opened("a \"b\"", TxnId(1), CommitSeq(2));
  EXPECT_EQ(out.str(),
            "{\"t\":7,\"op\":\"opened\",\"client\":\"a \\\"b\\\"\",\"txn\":1,\"snapshot\":2}\n");
}

TEST(Shrink, LeavesOutWhatIsNotNeededAndFindsTheShortestTime) {
  const auto again = [](seconds length, const std::set<std::string>& without) -> RunOutcome {
    const bool fails =
        length >= seconds(37) && !without.contains("raw") && !without.contains("view");
    return {fails ? "broken" : "", fails ? seconds(90) : seconds(0)};
  };
  const Shrunk shrunk = Shrink(seconds(1200), {"broken", seconds(90)}, again, [] { return true; });
  EXPECT_EQ(shrunk.length, seconds(37));
  EXPECT_EQ(shrunk.failure, "broken");
  std::set<std::string> needed = KindsOfActors();
  for (const std::string& kind : shrunk.without) needed.erase(kind);
  EXPECT_THAT(needed, ElementsAre("raw", "view"));
}

}  // namespace
}  // namespace skep::sim
