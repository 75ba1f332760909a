// Readers with long snapshots: they read the same tables again and again by lists that they were
// given once, while what they read is compacted, over the daemon's deaths and after its verdict,
// as long as their lease lasts by their own clock.

#include <memory>
#include <vector>

#include <fmt/format.h>

#include "storage/base/text.h"
#include "tests/sim/raw_txn.h"

#include "proto/skep/v1/compaction_service.pb.h"

namespace skep::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Patient {
 public:
  explicit Patient(RawWire& wire) : wire_(wire) {}

  void Run() {
    if (!Open()) return;
    std::vector<const World::TableSpec*> known;
    const MonoTime until = world().scheduler().now() + dice().Delay(seconds(5), seconds(240));
    while (!world().stopping() && world().scheduler().now() < until &&
           txn_->lease()->Check().ok()) {
      // a table named late, after a death of the daemon too, leaves the others pinned.
      if (known.size() < 2 || dice().OneIn(12)) {
        const World::TableSpec& spec = dice().Pick(world().tables());
        if (txn_->Learn(spec, true) != nullptr) known.push_back(&spec);
      }
      if (dice().OneIn(3)) Compact();
      if (!verdict_ && dice().OneIn(20)) Verdict();
      wire_.Think(seconds(8));
      if (dice().OneIn(40)) wire_.actor.StandStill(dice().Delay(seconds(1), seconds(20)));
      if (known.empty()) continue;
      const World::TableSpec& spec = *dice().Pick(known);
      txn_->Read(spec, world().AnyPartition(spec), true);
      world().Count("patient reads");
    }
    txn_->End();
  }

 private:
  World& world() { return wire_.world; }
  Dice& dice() { return wire_.dice(); }

  bool Open() {
    v1::OpenTransactionsRequest open;
    if (dice().OneIn(2)) open.set_type(v1::TRANSACTION_TYPE_READ_ONLY);
    open.set_user(wire_.actor.name());
    open.mutable_txn_timeout()->set_seconds(dice().Between(20, 120));
    const MonoTime sent = world().clock().MonoNow();
    const CommitSeq at_least = world().history().acknowledged();
    const auto opened = wire_.Call(std::move(open));
    if (!opened.ok()) return false;
    const TxnId id(opened->first_txn_id());
    const CommitSeq snapshot(opened->snapshot_seq());
    const auto lease = std::make_shared<client::Lease>(
        id, seconds(opened->txn_timeout().seconds()), sent, world().clock());
    world().history().Opened(
        wire_.actor.name(), id, snapshot, [lease] { return lease->Check().ok(); }, at_least);
    wire_.Say(fmt::format("reads on as {} at {}", id.value(), snapshot.value()));
    if (!dice().OneIn(4)) wire_.beater.Add(lease);
    txn_ = std::make_unique<RawTxn>(wire_, id, lease, snapshot);
    return true;
  }

  // Whatever it may be reading.
  void Compact() {
    const World::TableSpec& spec = dice().Pick(world().tables());
    v1::EnqueueCompactionRequest request;
    SetName(spec.name, request.mutable_table());
    request.set_partition(world().AnyPartition(spec));
    request.set_type(dice().OneIn(2) ? v1::COMPACTION_TYPE_MAJOR : v1::COMPACTION_TYPE_MINOR);
    request.set_initiator("sim");
    wire_.Call(std::move(request)).status().IgnoreError();
  }

  // an operator ends it, and nobody tells it.
  void Verdict() {
    verdict_ = true;
    wire_.beater.Remove(txn_->id());
    v1::AbortTransactionsRequest request;
    request.add_txn_ids(txn_->id().value());
    request.set_by_operator(true);
    wire_.Say(fmt::format("{} is ended by an operator", txn_->id().value()));
    wire_.Call(std::move(request)).status().IgnoreError();
  }

  RawWire& wire_;
  std::unique_ptr<RawTxn> txn_;
  bool verdict_ = false;
};

}  // namespace

void PatientScript(World& world, Actor& actor) {
  RawWire wire(world, actor);
  while (!world.stopping()) {
    wire.Think(seconds(10));
    Patient(wire).Run();
  }
}

}  // namespace skep::sim
