#pragma once

#include <memory>
#include <utility>

#include "storage/meta/meta_store.h"
#include "tests/sim/truth.h"

namespace skep::sim {

// The port to the store as the loop sees it: the real store, with Truth looking on.
class WatchedStore final : public meta::MetaStore {
 public:
  WatchedStore(std::unique_ptr<meta::MetaStore> store, Truth& truth)
      : store_(std::move(store)), truth_(truth) {}

  absl::StatusOr<StoredState> Load() override;
  absl::Status Append(const Effects& effects) override;
  bool HasRoom() override { return store_->HasRoom(); }
  Lag TablesLag() const override { return store_->TablesLag(); }
  void Idle() override { store_->Idle(); }
  // What it would load, without telling anybody.
  absl::StatusOr<StoredState> Peek() { return store_->Load(); }

 private:
  const std::unique_ptr<meta::MetaStore> store_;
  Truth& truth_;
};

}  // namespace skep::sim
