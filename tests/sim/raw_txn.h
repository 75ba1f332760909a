#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/session/lease.h"
#include "tests/sim/raw_wire.h"

namespace skep::sim {

// One transaction of a client that speaks the wire by itself: it locks nothing that it need not,
// declares what it likes and when it likes, keeps lists for long, and writes after its end.
class RawTxn {
 public:
  RawTxn(RawWire& wire, TxnId id, std::shared_ptr<client::Lease> lease, CommitSeq snapshot)
      : wire_(wire), id_(id), lease_(std::move(lease)), snapshot_(snapshot) {}

  TxnId id() const { return id_; }
  const std::shared_ptr<client::Lease>& lease() const { return lease_; }
  // Something, on any table.
  void Step();
  void End();

  // What it needs to read the table, which it names by this; null where it gets none. Known lists
  // serve on: always where `keeps`.
  struct Known {
    WriteIdSnapshot list;
    TxnSnapshot txns;
    std::string location;
  };
  const Known* Learn(const World::TableSpec& spec, bool keeps = false);
  std::optional<Rows> Read(const World::TableSpec& spec,
                           const std::string& partition,
                           bool keeps = false);

 private:
  World& world() { return wire_.world; }
  History& history() { return wire_.world.history(); }
  Dice& dice() { return wire_.dice(); }
  template <class Request>
  auto Call(Request request, Nanos deadline = std::chrono::seconds(6)) {
    return wire_.Call(std::move(request), deadline);
  }
  void Say(const std::string& what) { wire_.Say(fmt::format("{} {}", id_.value(), what)); }

  void Lock(const World::TableSpec& table);
  void GiveBackLock();
  void Refresh();
  void Allocate(const World::TableSpec& table);
  void Reallocate(const World::TableSpec& table);
  void NameAll();
  void LookAtPartitions(const World::TableSpec& table);
  void Write(const World::TableSpec& spec);
  void WriteFiles(const World::TableSpec& spec, const std::string& location, Written written);
  void Declare(const World::TableSpec& spec, const std::string& partition, WriteOp op);
  void Commit();

  RawWire& wire_;
  const TxnId id_;
  const std::shared_ptr<client::Lease> lease_;
  CommitSeq snapshot_;  // none: not known any more
  std::map<TableName, Known> known_;
  std::map<TableId, WriteId> write_ids_;
  std::set<Place> written_;
  std::map<TableName, std::vector<std::pair<std::string, WriteOp>>> writes_;
  std::vector<LockId> locks_;
  bool broken_ = false;  // what it wrote is not what it believes: it may only abort
};

}  // namespace skep::sim
