// Whole runs, sound ones and such with a fault planted.

#include "tests/sim/world.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/temp_dir.h"

namespace skep::sim {
namespace {

using ::skep::testing::TempDir;
using ::testing::HasSubstr;

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
  bool HasRoom() override { return store_->HasRoom(); }
  Lag TablesLag() const override { return store_->TablesLag(); }
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
