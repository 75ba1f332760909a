#include "storage/meta/meta_store.h"

#include <functional>
#include <memory>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "storage/meta/log/log_store.h"
#include "storage/meta/sqlite/sqlite_store.h"
#include "tests/storage/meta/store_files.h"
#include "tests/testing/manual_executor.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/random_effects.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::meta {
namespace {

using skep::testing::HasReason;
using skep::testing::IsOk;
using skep::testing::IsOkAndHolds;
using skep::testing::MemoryStore;
using skep::testing::RandomEffects;
using skep::testing::TempDir;

// A store that can be closed and opened again.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual MetaStore& store() = 0;
  virtual void Reopen() = 0;
};

class MemoryBackend final : public Backend {
 public:
  MetaStore& store() override { return *store_; }
  void Reopen() override { store_ = std::make_unique<MemoryStore>(store_->state()); }

 private:
  std::unique_ptr<MemoryStore> store_ = std::make_unique<MemoryStore>();
};

class SqliteBackend final : public Backend {
 public:
  explicit SqliteBackend(SqliteOptions::Synchronous synchronous) : synchronous_(synchronous) {
    Reopen();
  }
  MetaStore& store() override { return *store_; }
  void Reopen() override {
    store_.reset();
    SqliteOptions options = OptionsFor(dir_.path());
    options.synchronous = synchronous_;
    options.checkpoint_frames = 50;
    SKEP_ASSERT_OK_AND_ASSIGN(store_, SqliteStore::Open(options));
  }

 private:
  const SqliteOptions::Synchronous synchronous_;
  const TempDir dir_ = TempDir::InMemory();
  std::unique_ptr<SqliteStore> store_;
};

// The log's segments are small; the tables follow by a thread, or not before the end.
class LogBackend final : public Backend {
 public:
  enum class Tables { kFollow, kStay };
  explicit LogBackend(Tables tables) : tables_(tables) { Reopen(); }
  MetaStore& store() override { return *store_; }
  void Reopen() override {
    store_.reset();
    LogStoreOptions options = LogOptionsFor(dir_.path());
    options.apply_delay = std::chrono::milliseconds(0);
    options.apply_soon_bytes = 1;
    if (tables_ == Tables::kStay) {
      options.executor = &never_;
      options.clock = &clock_;
    }
    SKEP_ASSERT_OK_AND_ASSIGN(store_, LogStore::Open(options));
  }

 private:
  const Tables tables_;
  const TempDir dir_ = TempDir::InMemory();
  skep::testing::ManualClock clock_;
  skep::testing::ManualExecutor never_{clock_};
  std::unique_ptr<LogStore> store_;
};

struct BackendKind {
  std::string name;
  std::function<std::unique_ptr<Backend>()> make;
};

class MetaStoreSuite : public ::testing::TestWithParam<BackendKind> {
 protected:
  MetaStore& store() { return backend_->store(); }

  std::unique_ptr<Backend> backend_ = GetParam().make();
};

TEST_P(MetaStoreSuite, ANewStoreHoldsTheFirstState) {
  EXPECT_THAT(store().Load(), IsOkAndHolds(StoredState()));
  backend_->Reopen();
  EXPECT_THAT(store().Load(), IsOkAndHolds(StoredState()));
}

TEST_P(MetaStoreSuite, AnEmptyUnitIsNothing) {
  EXPECT_THAT(store().Append({}), IsOk());
  EXPECT_THAT(store().Load(), IsOkAndHolds(StoredState()));
}

TEST_P(MetaStoreSuite, HoldsWhatTheEffectsMean) {
  const uint64_t seed = std::random_device()();
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomEffects random(seed);
  StoredState expected;
  for (int i = 0; i < 300; ++i) {
    const Effects unit = random.NextUnit(1 + i % 30);
    ApplyEffects(expected, unit);
    ASSERT_THAT(store().Append(unit), IsOk()) << "unit " << i;
    if (i % 7 == 0) store().Idle();
    if (i % 50 == 49) backend_->Reopen();
    if (i % 5 == 0) {
      const absl::StatusOr<StoredState> loaded = store().Load();
      ASSERT_THAT(loaded, IsOk());
      ASSERT_EQ(*loaded, expected) << "after unit " << i;
    }
  }
  backend_->Reopen();
  EXPECT_THAT(store().Load(), IsOkAndHolds(expected));
}

TEST_P(MetaStoreSuite, KeepsEveryFieldOfEveryRow) {
  // One row of each type a time, so that a field kept in another's column cannot hide behind a
  // default.
  RandomEffects random(17);
  StoredState expected;
  for (int i = 0; i < 200; ++i) {
    const Effects unit = random.NextUnit(1);
    ApplyEffects(expected, unit);
    ASSERT_THAT(store().Append(unit), IsOk());
    const absl::StatusOr<StoredState> loaded = store().Load();
    ASSERT_THAT(loaded, IsOk());
    ASSERT_EQ(*loaded, expected) << "after unit " << i;
  }
}

TEST_P(MetaStoreSuite, KeepsTheWidestNumbers) {
  StoredState expected;
  RequestRow request;
  request.slot = INT64_MAX;
  request.fingerprint = INT64_MIN;
  request.kind = INT32_MIN;
  request.request_id.fill(0xff);
  const Effects unit = {Put<RequestRow>{request},
                        Put<CounterRow>{{CommitSeq(INT64_MAX),
                                         TxnId(INT64_MAX),
                                         LockId(INT64_MAX),
                                         CompactionId(INT64_MAX),
                                         TableId(INT64_MAX),
                                         INT64_MAX}}};
  ApplyEffects(expected, unit);
  ASSERT_THAT(store().Append(unit), IsOk());
  backend_->Reopen();
  EXPECT_THAT(store().Load(), IsOkAndHolds(expected));
}

INSTANTIATE_TEST_SUITE_P(
    Stores,
    MetaStoreSuite,
    ::testing::Values(
        BackendKind{"Memory", [] { return std::make_unique<MemoryBackend>(); }},
        BackendKind{
            "SqliteFull",
            [] { return std::make_unique<SqliteBackend>(SqliteOptions::Synchronous::kFull); }},
        BackendKind{
            "SqliteExtra",
            [] { return std::make_unique<SqliteBackend>(SqliteOptions::Synchronous::kExtra); }},
        BackendKind{"LogAndTables",
                    [] { return std::make_unique<LogBackend>(LogBackend::Tables::kFollow); }},
        BackendKind{"LogAlone",
                    [] { return std::make_unique<LogBackend>(LogBackend::Tables::kStay); }}),
    [](const auto& info) { return info.param.name; });

// -- what tests of the rooms above rely on

TEST(MemoryStore, FailsTheChosenUnitAndHoldsNothingOfIt) {
  RandomEffects random(1);
  MemoryStore store;
  store.FailAppend(2, MakeError(ErrorReason::kStoreFull, "disk full"));
  const Effects first = random.NextUnit(3);
  const Effects second = random.NextUnit(3);
  EXPECT_THAT(store.Append(first), IsOk());
  EXPECT_THAT(store.Append({}), IsOk());
  EXPECT_THAT(store.Append(second), HasReason(ErrorReason::kStoreFull));
  StoredState expected;
  ApplyEffects(expected, first);
  EXPECT_THAT(store.Load(), IsOkAndHolds(expected));
  EXPECT_THAT(store.Append(second), IsOk());
  EXPECT_EQ(store.units(), 2);
}

TEST(MemoryStore, MayHoldAUnitOfUnknownOutcome) {
  RandomEffects random(1);
  MemoryStore store;
  store.FailAppend(
      1, MakeError(ErrorReason::kOutcomeUnknown, "sync failed"), MemoryStore::Kept::kYes);
  const Effects unit = random.NextUnit(3);
  EXPECT_THAT(store.Append(unit), HasReason(ErrorReason::kOutcomeUnknown));
  StoredState expected;
  ApplyEffects(expected, unit);
  EXPECT_THAT(store.Load(), IsOkAndHolds(expected));
}

TEST(MemoryStore, FailsALoadOnce) {
  MemoryStore store;
  store.FailLoad(MakeError(ErrorReason::kCorruptStore, "damaged"));
  EXPECT_THAT(store.Load(), HasReason(ErrorReason::kCorruptStore));
  EXPECT_THAT(store.Load(), IsOkAndHolds(StoredState()));
}

}  // namespace
}  // namespace skep::meta
