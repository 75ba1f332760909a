// Clients that speak the wire by themselves: batches of transactions, locks outside transactions.

#include <fmt/format.h>

#include "storage/base/text.h"
#include "tests/sim/raw_txn.h"
#include "tests/sim/raw_wire.h"

namespace skep::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

void SetName(const TableName& name, v1::TableName* to) {
  to->set_database(name.database);
  to->set_table(name.table);
}

HeldLock AddComponent(RawWire& wire,
                      const World::TableSpec& table,
                      v1::AcquireLocksRequest& request) {
  Dice& dice = wire.dice();
  HeldLock held;
  held.resource.database = "db";
  if (!dice.OneIn(8)) held.resource.table = table.name.table;
  if (!held.resource.table.empty() && dice.OneIn(2)) {
    held.resource.partition = wire.world.AnyPartition(table);
  }
  held.kind = static_cast<LockKind>(dice.Below(4));
  v1::LockComponent* const component = request.add_components();
  component->mutable_resource()->set_database(held.resource.database);
  component->mutable_resource()->set_table(held.resource.table);
  component->mutable_resource()->set_partition(held.resource.partition);
  component->set_kind(static_cast<v1::LockKind>(static_cast<int>(held.kind) + 1));
  return held;
}

namespace {

// Several transactions opened at once, each used a little, in turns.
void RunBatch(RawWire& wire) {
  Dice& dice = wire.dice();
  v1::OpenTransactionsRequest open;
  open.set_count(static_cast<int32_t>(dice.Between(1, 4)));
  open.set_user(wire.actor.name());
  open.set_host("sim");
  open.mutable_txn_timeout()->set_seconds(dice.Between(5, 60));
  open.set_keep_all_pinned(dice.OneIn(4));
  const MonoTime sent = wire.world.clock().MonoNow();
  const CommitSeq at_least = wire.world.history().acknowledged();
  const auto opened = wire.Call(std::move(open));
  if (!opened.ok()) return wire.Say("cannot open: " + MessageOf(opened.status()));
  const TxnId first(opened->first_txn_id());
  const CommitSeq snapshot(opened->snapshot_seq());
  wire.Say(fmt::format("opens {} from {} at {}", opened->count(), first.value(), snapshot.value()));
  std::vector<RawTxn> txns;
  for (int i = 0; i < opened->count(); ++i) {
    const TxnId id(first.value() + i);
    const auto lease = std::make_shared<client::Lease>(
        id, seconds(opened->txn_timeout().seconds()), sent, wire.world.clock());
    wire.world.history().Opened(
        wire.actor.name(), id, snapshot, [lease] { return lease->Check().ok(); }, at_least);
    // Some are never kept alive.
    if (!dice.OneIn(6)) wire.beater.Add(lease);
    txns.emplace_back(wire, id, lease, snapshot);
  }
  for (int64_t left = dice.Between(1, 8); left > 0 && !wire.world.stopping(); --left) {
    txns[static_cast<size_t>(dice.Below(static_cast<int64_t>(txns.size())))].Step();
    wire.Think(milliseconds(1500));
    if (dice.OneIn(25)) wire.actor.StandStill(dice.Delay(seconds(1), seconds(150)));
  }
  for (RawTxn& txn : txns) txn.End();
}

// A lock without a transaction: kept by beats of its own, as long as its owner likes.
void LockOutside(RawWire& wire) {
  Dice& dice = wire.dice();
  History& history = wire.world.history();
  v1::AcquireLocksRequest request;
  const std::vector<HeldLock> held = {AddComponent(wire, dice.Pick(wire.world.tables()), request)};
  request.set_user(wire.actor.name());
  request.set_host("sim");
  request.set_no_wait(dice.OneIn(2));
  const MonoTime sent = wire.world.clock().MonoNow();
  const auto answer = wire.Call(std::move(request), milliseconds(dice.Between(300, 10'000)));
  if (!answer.ok() || answer->state() == v1::LOCK_STATE_NOT_ACQUIRED) return;
  const LockId lock(answer->lock_id());
  v1::LockState state = answer->state();
  if (state == v1::LOCK_STATE_WAITING && dice.OneIn(2)) {
    const auto decided = WatchLock(wire, lock, seconds(8));
    if (decided && decided->state() == v1::LOCK_STATE_ACQUIRED) state = decided->state();
  }
  // By the watch it is granted long after it was sent; then how long it lasts is not known.
  if (state == v1::LOCK_STATE_ACQUIRED && answer->state() == state) {
    // Its lease is the server's own: never shorter than the shortest that a run chooses.
    history.Granted(lock, TxnId(), held, [until = sent + seconds(10), &clock = wire.world.clock()] {
      return clock.MonoNow() < until;
    });
  }
  for (int64_t left = dice.Below(4); left > 0 && !wire.world.stopping(); --left) {
    wire.Think(seconds(6));
    v1::HeartbeatTransactionsRequest beat;
    beat.add_lock_ids(lock.value());
    wire.Call(std::move(beat)).status().IgnoreError();
    v1::CheckLockRequest check;
    check.set_lock_id(lock.value());
    if (dice.OneIn(2)) wire.Call(std::move(check)).status().IgnoreError();
  }
  history.Released(lock);
  if (dice.OneIn(5)) return;
  v1::ReleaseLockRequest release;
  release.set_lock_id(lock.value());
  wire.Call(std::move(release)).status().IgnoreError();
}

}  // namespace

void RawScript(World& world, Actor& actor) {
  RawWire wire(world, actor);
  while (!world.stopping()) {
    wire.Think(seconds(2));
    if (wire.dice().OneIn(5)) {
      LockOutside(wire);
    } else {
      RunBatch(wire);
    }
  }
}

}  // namespace skep::sim
