// The simulation under test: the parts by themselves, each check with a history that must fail it,
// and whole runs with a fault planted.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/fiber.h"
#include "tests/sim/history.h"
#include "tests/sim/sim_disk.h"
#include "tests/sim/truth.h"
#include "tests/sim/world.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::sim {
namespace {

using ::skep::testing::IsOk;
using ::skep::testing::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- parts ----

TEST(Scheduler, RunsEventsInOrderOfTheirTimeAndHoldsThoseOfAPausedProcessBack) {
  SimClock clock;
  Dice dice(1);
  Scheduler scheduler(clock, dice);
  std::vector<int> ran;
  const auto paused = std::make_shared<Process>();
  paused->paused_until = clock.MonoNow() + Nanos(100);
  scheduler.After(Nanos(30), [&] { ran.push_back(3); });
  scheduler.After(Nanos(10), [&] { ran.push_back(1); });
  scheduler.After(
      Nanos(20), [&] { ran.push_back(2); }, paused);
  const auto cancelled = scheduler.After(Nanos(15), [&] { ran.push_back(9); });
  EXPECT_TRUE(scheduler.Cancel(cancelled));
  while (scheduler.RunOne()) {
  }
  EXPECT_THAT(ran, ElementsAre(1, 3, 2));
}

TEST(Fiber, ComesBackWhereItYielded) {
  std::vector<int> ran;
  Fiber fiber([&] {
    ran.push_back(1);
    Fiber::Yield();
    ran.push_back(3);
  });
  fiber.Resume();
  ran.push_back(2);
  fiber.Resume();
  EXPECT_TRUE(fiber.ended());
  EXPECT_THAT(ran, ElementsAre(1, 2, 3));
}

std::string Content(SimDisk& disk, const std::string& path) {
  const auto text = fs::ReadSmallFile(disk, path, 1 << 20);
  return text.ok() ? *text : text.status().ToString();
}

TEST(SimDisk, KeepsWhatWasSyncedAndMayLoseTheRest) {
  bool lost = false, kept = false, torn = false;
  for (uint64_t seed = 1; seed < 60; ++seed) {
    Dice dice(seed);
    SimDisk disk(dice);
    const std::string old(2048, 'a');
    EXPECT_THAT(fs::WriteSmallFile(disk, "/f", old), IsOk());
    const auto file = disk.OpenInPlace("/f");
    ASSERT_THAT(file, IsOk());
    EXPECT_THAT((*file)->WriteAt(0, std::string(512, 'b')), IsOk());
    EXPECT_THAT((*file)->SyncData(), IsOk());
    EXPECT_THAT((*file)->WriteAt(512, std::string(1536, 'c')), IsOk());
    disk.Stop();
    EXPECT_FALSE((*file)->SyncData().ok());
    disk.Start(SimDisk::Loss::kPower);
    const std::string now = Content(disk, "/f");
    EXPECT_EQ(now.substr(0, 512), std::string(512, 'b')) << "a synced sector is gone";
    const std::string rest = now.substr(512);
    lost |= rest == std::string(1536, 'a');
    kept |= rest == std::string(1536, 'c');
    torn |= rest.find('a') != std::string::npos && rest.find('c') != std::string::npos;
  }
  EXPECT_TRUE(lost && kept && torn);
}

TEST(SimDisk, KeepsEverythingWhenOnlyTheProcessDies) {
  Dice dice(1);
  SimDisk disk(dice);
  EXPECT_THAT(fs::WriteSmallFile(disk, "/f", "aaaa"), IsOk());
  const auto file = disk.OpenInPlace("/f");
  EXPECT_THAT((*file)->WriteAt(0, "bb"), IsOk());
  disk.Stop();
  disk.Start(SimDisk::Loss::kProcess);
  EXPECT_EQ(Content(disk, "/f"), "bbaa");
}

TEST(SimDisk, LosesNamesThatNoDirectorySyncMadeDurable) {
  bool there = false, gone = false;
  for (uint64_t seed = 1; seed < 20; ++seed) {
    Dice dice(seed);
    SimDisk disk(dice);
    {
      const auto file = disk.Create("/f");
      ASSERT_THAT((*file)->Append("x"), IsOk());
      ASSERT_THAT((*file)->Close(), IsOk());
    }
    disk.Stop();
    disk.Start(SimDisk::Loss::kPower);
    (disk.Find("/f") != nullptr ? there : gone) = true;
  }
  EXPECT_TRUE(there && gone);
}

// ---- checks, shown what they must find ----

// Collects what a check reports.
struct Findings {
  std::vector<std::string> texts;
  History::Report Take() {
    return [this](const std::string& text) { texts.push_back(text); };
  }
};

Written InsertOf(int64_t table, int64_t write_id, int64_t value) {
  return {{TableId(table), ""}, WriteOp::kInsert, {{WriteId(write_id), 0, value}}, {}};
}
Written UpdateOf(int64_t table, int64_t write_id, Row victim, int64_t value) {
  return {{TableId(table), ""}, WriteOp::kUpdate, {{WriteId(write_id), 0, value}}, {victim}};
}

TEST(History, AcceptsWhatSnapshotIsolationAllows) {
  Findings found;
  History history(found.Take());
  history.Opened("a", TxnId(1), CommitSeq(1));
  history.Wrote(TxnId(1), InsertOf(1, 1, 10));
  history.Ended(TxnId(1), {CommitSeq(2), CommitSeq(1)});
  history.ToldCommitted(TxnId(1), CommitSeq(2));
  history.Opened("b", TxnId(2), CommitSeq(2));
  history.Read(TxnId(2), CommitSeq(2), {TableId(1), ""}, {{WriteId(1), 0, 10}});
  history.Wrote(TxnId(2), UpdateOf(1, 2, {WriteId(1), 0, 10}, 11));
  history.Ended(TxnId(2), {CommitSeq(3), CommitSeq(2)});
  history.Opened("c", TxnId(3), CommitSeq(2));
  history.Read(TxnId(3), CommitSeq(2), {TableId(1), ""}, {{WriteId(1), 0, 10}});
  EXPECT_THAT(found.texts, IsEmpty());
}

TEST(History, FindsEachKindOfBadHistory) {
  const Row first{WriteId(1), 0, 10};
  struct Case {
    std::string name;
    std::function<void(History&)> play;
    std::string finding;
  };
  const auto write =
      [](History& h, int64_t txn, CommitSeq snapshot, Written written, CommitSeq end) {
        h.Opened("c", TxnId(txn), snapshot);
        h.Wrote(TxnId(txn), std::move(written));
        h.Ended(TxnId(txn), {end, snapshot});
      };
  const Place place{TableId(1), ""};
  const auto list = [](int64_t high, CommitSeq seq) {
    WriteIdSnapshot snapshot;
    snapshot.table = {"db", "t"};
    snapshot.table_id = TableId(1);
    snapshot.seq = seq;
    snapshot.ids.high = high;
    return snapshot;
  };
  const auto always = [] { return true; };
  const std::vector<Case> cases = {
      {"lost update",
       [&](History& h) {
         write(h, 1, CommitSeq(1), InsertOf(1, 1, 10), CommitSeq(2));
         write(h, 2, CommitSeq(2), UpdateOf(1, 2, first, 11), CommitSeq(3));
         write(h, 3, CommitSeq(2), UpdateOf(1, 3, first, 12), CommitSeq(4));
       },
       "lost update"},
      {"insert under an overwrite",
       [&](History& h) {
         Written over{place, WriteOp::kOverwrite, {}, {}};
         write(h, 1, CommitSeq(1), over, CommitSeq(2));
         write(h, 2, CommitSeq(1), InsertOf(1, 2, 10), CommitSeq(3));
       },
       "lost update"},
      {"a committed row is missing",
       [&](History& h) {
         write(h, 1, CommitSeq(1), InsertOf(1, 1, 10), CommitSeq(2));
         h.Read(TxnId(2), CommitSeq(2), place, {});
       },
       "reads in table 1 none"},
      {"a later row is seen",
       [&](History& h) {
         write(h, 1, CommitSeq(1), InsertOf(1, 1, 10), CommitSeq(2));
         h.Read(TxnId(2), CommitSeq(1), place, {first});
       },
       "committed by then were none"},
      {"an aborted row is seen",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Wrote(TxnId(1), InsertOf(1, 1, 10));
         h.Ended(TxnId(1), {CommitSeq(2), CommitSeq(1), AbortCause::kUser});
         h.Read(TxnId(2), CommitSeq(3), place, {first});
       },
       "committed by then were none"},
      {"acknowledged and not durable",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.ToldCommitted(TxnId(1), CommitSeq(2));
       },
       "no durable unit"},
      {"acknowledged and aborted",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Ended(TxnId(1), {CommitSeq(2), CommitSeq(1), AbortCause::kUser});
         h.ToldCommitted(TxnId(1), CommitSeq());
       },
       "was acknowledged, and it is aborted"},
      {"told aborted and committed",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Ended(TxnId(1), {CommitSeq(2), CommitSeq(1)});
         h.ToldAborted(TxnId(1));
       },
       "was told that it is aborted"},
      {"another unit than said",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Ended(TxnId(1), {CommitSeq(2), CommitSeq(1)});
         h.ToldCommitted(TxnId(1), CommitSeq(3));
       },
       "was said to be committed by unit 3"},
      {"an id twice",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Opened("d", TxnId(1), CommitSeq(1));
       },
       "was given to c and to d"},
      {"a write id twice",
       [&](History& h) {
         h.Allocated(TxnId(1), TableId(1), WriteId(1));
         h.Allocated(TxnId(2), TableId(1), WriteId(1));
       },
       "was given to transactions 1 and 2"},
      {"two answers to one question",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Listed(TxnId(1), list(3, CommitSeq(1)));
         h.Listed(TxnId(1), list(4, CommitSeq(1)));
       },
       "two lists"},
      {"a list of another sequence",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Listed(TxnId(1), list(3, CommitSeq(2)));
       },
       "was given a list of 2"},
      {"a snapshot that shows an aborted transaction",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1));
         h.Opened("c", TxnId(2), CommitSeq(1));
         h.Ended(TxnId(1), {CommitSeq(2), CommitSeq(1), AbortCause::kUser});
         TxnSnapshot snapshot;
         snapshot.seq = CommitSeq(3);
         snapshot.ids.high = 2;
         snapshot.ids.open = {2};
         h.SawTxns(TxnId(2), snapshot);
       },
       "committed, and it was not"},
      {"a lease that was ended too early",
       [&](History& h) {
         h.Opened("c", TxnId(1), CommitSeq(1), always);
         h.Ended(TxnId(1), {CommitSeq(2), CommitSeq(1), AbortCause::kTimeout});
       },
       "while its owner may rely on it"},
      {"two writers where one may be",
       [&](History& h) {
         h.Granted(LockId(1), TxnId(1), {{{"db", "t", ""}, LockKind::kExclWrite}}, always);
         h.Granted(LockId(2), TxnId(2), {{{"db", "t", "p=1"}, LockKind::kSharedWrite}}, always);
       },
       "was granted while lock 1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Findings found;
    History history(found.Take());
    c.play(history);
    ASSERT_FALSE(found.texts.empty());
    EXPECT_THAT(found.texts.front(), HasSubstr(c.finding));
  }
}

TEST(History, ForgetsLocksThatWereReleasedOrRanOut) {
  Findings found;
  History history(found.Take());
  const std::vector<HeldLock> all = {{{"db", "t", ""}, LockKind::kExclusive}};
  bool lasts = true;
  history.Granted(LockId(1), TxnId(1), all, [&lasts] { return lasts; });
  lasts = false;
  history.Granted(LockId(2), TxnId(2), all, [] { return true; });
  history.Released(LockId(2));
  history.Granted(LockId(3), TxnId(3), all, [] { return true; });
  history.ReleasedAll(TxnId(3));
  history.Granted(LockId(4), TxnId(4), all, [] { return true; });
  EXPECT_THAT(found.texts, IsEmpty());
}

Effects UnitOf(int64_t seq, std::vector<Effect> effects = {}) {
  CounterRow counters;
  counters.seq = CommitSeq(seq);
  counters.next_txn = TxnId(seq);
  effects.push_back(Put<CounterRow>{counters});
  return effects;
}

struct TruthCase {
  std::string name;
  std::function<void(Truth&)> play;
  std::string finding;  // empty: nothing is wrong
};

TEST(Truth, FindsWhatAStoreMayNotDo) {
  const auto state_of = [](std::vector<Effects> units) {
    StoredState state;
    for (const Effects& unit : units) ApplyEffects(state, unit);
    return state;
  };
  LockRow lock;
  lock.resource = {"db", "t", ""};
  lock.kind = LockKind::kExclusive;
  lock.state = LockState::kAcquired;
  lock.component = 1;
  const auto lock_of = [&](int64_t id, int64_t txn) {
    LockRow row = lock;
    row.lock = LockId(id);
    row.txn = TxnId(txn);
    return Put<LockRow>{row};
  };
  const auto write_id = [](int64_t id, int64_t txn) {
    return Put<WriteIdRow>{{TableId(1), WriteId(id), TxnId(txn), CommitSeq(1)}};
  };
  const std::vector<TruthCase> cases = {
      {"all is there",
       [&](Truth& t) {
         t.Stored(UnitOf(1));
         t.Loaded(state_of({UnitOf(1)}));
       },
       ""},
      {"a unit in doubt is there",
       [&](Truth& t) {
         t.Stored(UnitOf(1));
         t.Unknown(UnitOf(2, {lock_of(1, 1)}));
         t.Loaded(state_of({UnitOf(1), UnitOf(2, {lock_of(1, 1)})}));
       },
       ""},
      {"a unit in doubt is not there",
       [&](Truth& t) {
         t.Stored(UnitOf(1));
         t.Unknown(UnitOf(2));
         t.Loaded(state_of({UnitOf(1)}));
       },
       ""},
      {"an acknowledged unit is lost",
       [&](Truth& t) {
         t.Stored(UnitOf(1));
         t.Stored(UnitOf(2));
         t.Loaded(state_of({UnitOf(1)}));
       },
       "another state than it was given"},
      {"half a unit is there",
       [&](Truth& t) {
         t.Stored(UnitOf(1));
         t.Unknown(UnitOf(2, {lock_of(1, 1)}));
         t.Loaded(state_of({UnitOf(1), UnitOf(2)}));
       },
       "half a unit"},
      {"a sequence number is used again",
       [&](Truth& t) {
         t.Stored(UnitOf(2));
         t.Stored(UnitOf(2));
       },
       "unit 2 follows unit 2"},
      {"transaction ids go back",
       [&](Truth& t) {
         Effects unit = UnitOf(2);
         std::get<Put<CounterRow>>(unit.back()).row.next_txn = TxnId(9);
         t.Stored(unit);
         t.Stored(UnitOf(3));
       },
       "the next transaction went back"},
      {"two exclusive locks",
       [&](Truth& t) {
         t.Stored(UnitOf(1, {lock_of(1, 1), lock_of(2, 2)}));
       },
       "locks 1 and 2 are held together"},
      {"two locks of one transaction",
       [&](Truth& t) {
         t.Stored(UnitOf(1, {lock_of(1, 1), lock_of(2, 1)}));
       },
       ""},
      {"a write id changes hands",
       [&](Truth& t) {
         t.Stored(UnitOf(1, {write_id(1, 1)}));
         t.Stored(UnitOf(2, {EraseWriteId{TableId(1), WriteId(1)}}));
         t.Stored(UnitOf(3, {write_id(1, 2)}));
       },
       "write id 1 of table 1 belongs to transaction 1 and to 2"},
  };
  for (const TruthCase& c : cases) {
    SCOPED_TRACE(c.name);
    Findings found;
    Truth truth(found.Take(), [](TxnId, const TxnOutcome&) {});
    c.play(truth);
    if (c.finding.empty()) {
      EXPECT_THAT(found.texts, IsEmpty());
    } else {
      ASSERT_FALSE(found.texts.empty());
      EXPECT_THAT(found.texts.front(), HasSubstr(c.finding));
    }
  }
}

TEST(LockRules, AreTheMatrixWithTheExceptionForDatabases) {
  const LockResource db{"db", "", ""}, t{"db", "t", ""}, p{"db", "t", "p=1"}, q{"db", "t", "p=2"};
  EXPECT_TRUE(MayHoldTogether({p, LockKind::kExclusive}, {q, LockKind::kExclusive}));
  EXPECT_FALSE(MayHoldTogether({p, LockKind::kExclusive}, {t, LockKind::kSharedRead}));
  EXPECT_TRUE(MayHoldTogether({t, LockKind::kExclWrite}, {t, LockKind::kSharedRead}));
  EXPECT_FALSE(MayHoldTogether({t, LockKind::kExclWrite}, {t, LockKind::kSharedWrite}));
  EXPECT_TRUE(MayHoldTogether({db, LockKind::kSharedRead}, {t, LockKind::kExclusive}));
  EXPECT_FALSE(MayHoldTogether({db, LockKind::kSharedRead}, {db, LockKind::kExclusive}));
}

// ---- whole runs ----

struct Outcome {
  std::string failure;
  uint64_t fingerprint = 0;
};

Outcome RunOnce(uint64_t seed,
                std::chrono::minutes length,
                const std::function<void(WorldOptions&)>& change = {}) {
  const TempDir dir = TempDir::InMemory();
  WorldOptions options;
  options.seed = seed;
  options.length = length;
  options.data_dir = dir.path();
  if (change) change(options);
  World world(options);
  world.Run();
  return {world.failure(), world.fingerprint()};
}

TEST(World, RunsTheSameForTheSameSeed) {
  const Outcome first = RunOnce(5, std::chrono::minutes(3));
  const Outcome second = RunOnce(5, std::chrono::minutes(3));
  EXPECT_EQ(first.failure, "");
  EXPECT_EQ(first.fingerprint, second.fingerprint);
  EXPECT_NE(first.fingerprint, RunOnce(6, std::chrono::minutes(3)).fingerprint);
}

// Some seed finds the fault, and says what it is.
void ExpectFound(const std::function<void(WorldOptions&)>& plant, const std::string& finding) {
  std::string failure;
  for (uint64_t seed = 1; seed <= 10 && failure.empty(); ++seed) {
    failure = RunOnce(seed, std::chrono::minutes(10), plant).failure;
  }
  EXPECT_THAT(failure, HasSubstr(finding));
}

TEST(World, FindsADiskThatLiesAboutSyncs) {
  ExpectFound([](WorldOptions& options) { options.disk_lies = true; }, "CORRUPT_STORE");
}

// Every so many units are acknowledged and thrown away.
class ForgetfulStore final : public meta::MetaStore {
 public:
  explicit ForgetfulStore(std::unique_ptr<meta::MetaStore> store) : store_(std::move(store)) {}
  absl::StatusOr<StoredState> Load() override { return store_->Load(); }
  absl::Status Append(const Effects& effects) override {
    return ++units_ % 200 == 0 ? absl::OkStatus() : store_->Append(effects);
  }
  void Idle() override { store_->Idle(); }

 private:
  const std::unique_ptr<meta::MetaStore> store_;
  int64_t units_ = 0;
};

TEST(World, FindsAStoreThatForgetsAnAcknowledgedUnit) {
  ExpectFound(
      [](WorldOptions& options) {
        options.wrap_store = [](std::unique_ptr<meta::MetaStore> store) {
          return std::make_unique<ForgetfulStore>(std::move(store));
        };
      },
      "the store");
}

}  // namespace
}  // namespace skep::sim
