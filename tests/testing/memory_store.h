#pragma once

#include <optional>
#include <utility>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/meta/meta_store.h"

namespace skep::testing {

// A store that keeps its state in memory and can be told to fail. What it holds is what a restarted
// server loads: keep the store, throw the state machine away. Confined to one thread.
class MemoryStore final : public meta::MetaStore {
 public:
  // Whether a unit whose Append failed is there all the same: kOutcomeUnknown leaves that open.
  enum class Kept { kNo, kYes };

  MemoryStore() = default;
  explicit MemoryStore(StoredState state) : state_(std::move(state)) {}

  absl::StatusOr<StoredState> Load() override {
    if (load_failure_) return *std::exchange(load_failure_, std::nullopt);
    return state_;
  }

  absl::Status Append(const Effects& effects) override {
    if (effects.empty()) return absl::OkStatus();
    if (failure_ && --failure_->units == 0) {
      const Failure failure = *std::exchange(failure_, std::nullopt);
      if (failure.kept == Kept::kYes) Apply(effects);
      return failure.error;
    }
    Apply(effects);
    return absl::OkStatus();
  }

  void Idle() override { ++idle_calls_; }
  bool HasRoom() override { return has_room_; }
  void SetRoom(bool has_room) { has_room_ = has_room; }
  Lag TablesLag() const override { return lag_; }

  // The nth Append from now (from 1) that has effects fails with `error`, once.
  void FailAppend(int nth, absl::Status error, Kept kept = Kept::kNo) {
    failure_ = Failure{nth, std::move(error), kept};
  }
  // The next Load fails, once.
  void FailLoad(absl::Status error) { load_failure_ = std::move(error); }

  void SetLag(Lag lag) { lag_ = std::move(lag); }

  const StoredState& state() const { return state_; }
  int units() const { return units_; }  // that are stored
  int idle_calls() const { return idle_calls_; }

 private:
  struct Failure {
    int units;
    absl::Status error;
    Kept kept;
  };

  void Apply(const Effects& effects) {
    ApplyEffects(state_, effects);
    ++units_;
  }

  bool has_room_ = true;
  StoredState state_;
  std::optional<Failure> failure_;
  std::optional<absl::Status> load_failure_;
  Lag lag_;
  int units_ = 0;
  int idle_calls_ = 0;
};

}  // namespace skep::testing
