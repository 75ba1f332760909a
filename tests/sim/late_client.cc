// A client that comes when its lease is over by the server's clock, and before anybody has noticed:
// the loop is busy with a sync at that moment. Whatever it asks, it is told that it came too late
//

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "tests/sim/raw_wire.h"

namespace skep::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

class Late {
 public:
  // `others`: another client's way to the daemon.
  Late(RawWire& wire, client::Transport& others) : wire_(wire), others_(others) {}

  void Run() {
    v1::OpenTransactionsRequest open = OpenRequest();
    const seconds lease(open.txn_timeout().seconds());
    const CommitSeq at_least = world().history().acknowledged();
    const auto opened = wire_.Call(std::move(open));
    if (!opened.ok()) return;
    const TxnId id(opened->first_txn_id());
    world().history().Opened(
        wire_.actor.name(), id, CommitSeq(opened->snapshot_seq()), nullptr, at_least);
    const MonoTime begun = decided();
    const MonoTime end = begun + lease;
    KeepBusy(end - dice().Delay(microseconds(100), milliseconds(12)));
    SleepUntil(end - milliseconds(5) + dice().Delay(Nanos(0), milliseconds(30)));
    // A call that was sent once more may have come in time the first time.
    MonoTime& first = wire_.life.link->first_decided;
    first = MonoTime();
    const bool done = Ask(id);
    const bool late = first > end && world().daemon().CalmSince(begun);
    if (late) world().Count("calls behind the lease");
    if (done && late) {
      world().Fail(fmt::format("transaction {} went on {} us after the end of its lease",
                               id.value(),
                               (first - end).count() / 1000));
    }
  }

 private:
  World& world() { return wire_.world; }
  Dice& dice() { return wire_.dice(); }
  MonoTime decided() const { return wire_.life.link->decided; }
  void SleepUntil(MonoTime when) {
    if (when > world().scheduler().now()) wire_.actor.Sleep(when - world().scheduler().now());
  }

  v1::OpenTransactionsRequest OpenRequest() {
    v1::OpenTransactionsRequest open;
    open.set_user(wire_.actor.name());
    open.mutable_txn_timeout()->set_seconds(dice().Between(1, 4));
    return open;
  }

  // Something that the loop must sync arrives about then.
  void KeepBusy(MonoTime when) {
    SleepUntil(when - milliseconds(5));
    others_.Call("/skep.v1.TransactionService/OpenTransactions",
                 std::make_shared<v1::OpenTransactionsRequest>(OpenRequest()),
                 std::make_shared<v1::OpenTransactionsResponse>(),
                 world().clock().MonoNow() + seconds(1),
                 [](client::TransportReply) {});
  }

  bool Ask(TxnId id) {
    switch (dice().Below(3)) {
      case 0: {
        v1::CommitTransactionRequest commit;
        commit.set_txn_id(id.value());
        const auto answer = wire_.Call(std::move(commit), seconds(2));
        if (answer.ok()) world().history().ToldCommitted(id, CommitSeq(answer->commit_seq()));
        return answer.ok();
      }
      case 1: {
        v1::GetSnapshotRequest snapshot;
        snapshot.set_txn_id(id.value());
        return wire_.Call(std::move(snapshot), seconds(2)).ok();
      }
      default: {
        v1::HeartbeatTransactionsRequest beat;
        beat.add_txn_ids(id.value());
        const auto answer = wire_.Call(std::move(beat), seconds(2));
        return answer.ok() && answer->aborted_size() == 0 && answer->committed_size() == 0 &&
               answer->not_found_size() == 0;
      }
    }
  }

  RawWire& wire_;
  client::Transport& others_;
};

}  // namespace

void LateScript(World& world, Actor& actor) {
  RawWire wire(world, actor);
  SimTransport others(world.network(),
                      std::make_shared<Link>(Link{actor.process(), {}, false, {}, {}}));
  while (!world.stopping()) {
    wire.Think(seconds(20));
    Late(wire, others).Run();
  }
}

}  // namespace skep::sim
