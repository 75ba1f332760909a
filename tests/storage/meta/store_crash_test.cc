#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "storage/meta/open_store.h"
#include "tests/storage/meta/store_files.h"
#include "tests/testing/random_effects.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::meta {
namespace {

using skep::testing::IsOk;
using skep::testing::RandomEffects;
using skep::testing::TempDir;

constexpr int kUnitSize = 20;

StoredState StateAfter(uint64_t seed, int units) {
  RandomEffects random(seed);
  StoredState state;
  for (int i = 0; i < units; ++i) ApplyEffects(state, random.NextUnit(kUnitSize));
  return state;
}

// Appends the units that come after `done` of the seed's and writes one byte for each that is
// durable.
[[noreturn]] void WriteForEver(
    StoreForm form, const std::string& dir, uint64_t seed, int done, int acks) {
  LogStoreOptions options = LogOptionsFor(dir);
  options.tables.checkpoint_frames = 60;  // so that kills fall into checkpoints too
  options.largest_segment_bytes = 16 << 10;
  options.apply_delay = std::chrono::milliseconds(1);
  const auto store = OpenStore(form, options);
  if (!store.ok()) ::_exit(1);
  RandomEffects random(seed);
  for (int i = 0; i < done; ++i) random.NextUnit(kUnitSize);
  for (;;) {
    if (!(*store)->Append(random.NextUnit(kUnitSize)).ok()) ::_exit(2);
    if (::write(acks, "a", 1) != 1) ::_exit(3);
  }
}

class StoreCrash : public ::testing::TestWithParam<StoreForm> {};

TEST_P(StoreCrash, AKilledWriterLosesNothingItAcknowledged) {
  const uint64_t seed = std::random_device()();
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 moments(seed);
  const TempDir dir = TempDir::InMemory();
  int stored = 0;
  for (int round = 0; round < 12; ++round) {
    int acks[2];
    ASSERT_EQ(::pipe(acks), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(acks[0]);
      WriteForEver(GetParam(), dir.path(), seed, stored, acks[1]);
    }
    ::close(acks[1]);
    char byte = 0;
    int acknowledged = 0;
    const int stop_after = static_cast<int>(1 + moments() % 30);
    while (acknowledged < stop_after && ::read(acks[0], &byte, 1) == 1) ++acknowledged;
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    // What it acknowledged between the last look and its end counts as well.
    while (::read(acks[0], &byte, 1) == 1) ++acknowledged;
    ::close(acks[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself: " << WEXITSTATUS(status);

    const absl::StatusOr<std::unique_ptr<MetaStore>> store =
        OpenStore(GetParam(), LogOptionsFor(dir.path()));
    ASSERT_THAT(store, IsOk());
    const absl::StatusOr<StoredState> loaded = (*store)->Load();
    ASSERT_THAT(loaded, IsOk());
    const int found = static_cast<int>(loaded->counters.seq.value());
    ASSERT_GE(found, stored + acknowledged);
    ASSERT_LE(found, stored + acknowledged + 1) << "more than the unit that was under way";
    ASSERT_EQ(*loaded, StateAfter(seed, found));
    stored = found;
  }
  EXPECT_GT(stored, 12);
}

INSTANTIATE_TEST_SUITE_P(Forms,
                         StoreCrash,
                         ::testing::Values(StoreForm::kTables, StoreForm::kLog),
                         [](const auto& info) {
                           return info.param == StoreForm::kLog ? "Log" : "Tables";
                         });

}  // namespace
}  // namespace skep::meta
