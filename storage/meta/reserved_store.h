#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "storage/base/clock.h"
#include "storage/meta/meta_store.h"

namespace skep::meta {

// Bytes of a disk that are held for later by a file. Confined to one thread.
class DiskReserve {
 public:
  virtual ~DiskReserve() = default;
  // False: there is no room for it.
  virtual bool Take() = 0;
  virtual void GiveBack() = 0;
};
// A file of `bytes` beside the store that is gone with the process; one that was left is taken
// over.
std::unique_ptr<DiskReserve> FileReserve(const std::string& store_path, int64_t bytes);

// A store that keeps something back for what ends things: a unit that finds the disk full is
// written into the room of the reserve, and from then on HasRoom says no until the reserve can be
// taken again. Confined to one thread, like what it stands before.
class ReservedStore final : public MetaStore {
 public:
  // `clock` must outlive the store.
  ReservedStore(std::unique_ptr<MetaStore> store,
                std::unique_ptr<DiskReserve> reserve,
                Clock& clock);

  absl::StatusOr<StoredState> Load() override { return store_->Load(); }
  absl::Status Append(const Effects& effects) override;
  void Idle() override { store_->Idle(); }
  bool HasRoom() override;
  Lag TablesLag() const override { return store_->TablesLag(); }

 private:
  const std::unique_ptr<MetaStore> store_;
  const std::unique_ptr<DiskReserve> reserve_;
  Clock& clock_;
  bool held_ = false;
  MonoTime tried_;
};

}  // namespace skep::meta
