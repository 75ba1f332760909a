#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "storage/meta/meta_store.h"

namespace skep::e2e {

// For tests of what survives: the process (skepd_crash) kills itself (SIGKILL) at a chosen point.
//
//   before-unit:N   before the N-th unit since the start is written (from 1)
//   after-unit:N    after it is durable, before anybody is answered
//   step:NAME[:N]   when a compaction reaches the step NAME for the N-th time (compact::kStep…,
//   "published") removal:N       before the cleaner's N-th removal
//
// Thread-safe.
class CrashPoints {
 public:
  // nullptr where `text` names no point.
  static std::unique_ptr<CrashPoints> Parse(std::string_view text);

  void BeforeUnit() { Pass(Kind::kBeforeUnit, ""); }
  void AfterUnit() { Pass(Kind::kAfterUnit, ""); }
  void Step(std::string_view name) { Pass(Kind::kStep, name); }
  void Removal() { Pass(Kind::kRemoval, ""); }

 private:
  enum class Kind { kBeforeUnit, kAfterUnit, kStep, kRemoval };
  CrashPoints(Kind kind, std::string step, int64_t count)
      : kind_(kind), step_(std::move(step)), left_(count) {}

  void Pass(Kind kind, std::string_view step);

  const Kind kind_;
  const std::string step_;
  std::atomic<int64_t> left_;
};

// A store that passes the points of `points` on its way. Both must outlive it.
class CrashingStore final : public meta::MetaStore {
 public:
  CrashingStore(meta::MetaStore& store, CrashPoints& points) : store_(store), points_(points) {}

  absl::StatusOr<StoredState> Load() override { return store_.Load(); }
  absl::Status Append(const Effects& effects) override;
  bool HasRoom() override { return store_.HasRoom(); }
  Lag TablesLag() const override { return store_.TablesLag(); }
  void Idle() override { store_.Idle(); }

 private:
  meta::MetaStore& store_;
  CrashPoints& points_;
};

}  // namespace skep::e2e
