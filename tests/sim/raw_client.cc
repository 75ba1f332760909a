// Clients that speak the wire by themselves: batches, locks outside transactions, undeclared
// writes, late writers, repeats; and one that sends nonsense.

#include <algorithm>

#include <fmt/format.h>

#include "client/session/lease.h"
#include "proto/wire/snapshot_wire.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "tests/sim/client_life.h"

namespace skep::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

v1::WriteOperation WireOp(WriteOp op) {
  return static_cast<v1::WriteOperation>(static_cast<int>(op) + 1);
}

void SetName(const TableName& name, v1::TableName* to) {
  to->set_database(name.database);
  to->set_table(name.table);
}

class RawClient {
 public:
  RawClient(World& world, Actor& actor)
      : world_(world),
        actor_(actor),
        life_(world, actor),
        caller_({*life_.calls, life_.executor, world.clock(), world.dice(), life_.blocker},
                ShortRetries()),
        beater_(*life_.beats, life_.beat_executor, world.clock(), world.dice()) {}
  ~RawClient() { beater_.Stop(); }

  void Run() {
    while (!world_.stopping()) {
      Think(seconds(2));
      if (dice().OneIn(5)) {
        LockOutside();
      } else {
        Batch();
      }
    }
  }

 private:
  struct Txn {
    TxnId id;
    std::shared_ptr<client::Lease> lease;
    std::set<Place> written;
    std::map<TableName, std::vector<std::pair<std::string, WriteOp>>> writes;
  };

  Dice& dice() { return world_.dice(); }
  void Say(const std::string& what) { world_.Trace(actor_.name() + ": " + what); }
  void Think(Nanos high) { actor_.Sleep(dice().Delay(milliseconds(1), high)); }
  template <class Request>
  auto Call(Request request, Nanos deadline = seconds(6)) {
    auto answer = caller_.Call(std::move(request), world_.clock().MonoNow() + deadline);
    CheckRefusal(world_, actor_.name(), answer.status());
    return answer;
  }

  // Several transactions opened at once, each used a little, in turns.
  void Batch() {
    v1::OpenTransactionsRequest open;
    open.set_count(static_cast<int32_t>(dice().Between(1, 4)));
    open.set_user(actor_.name());
    open.set_host("sim");
    open.mutable_txn_timeout()->set_seconds(dice().Between(5, 60));
    open.set_keep_all_pinned(dice().OneIn(4));
    const MonoTime sent = world_.clock().MonoNow();
    const auto opened = Call(std::move(open));
    if (!opened.ok()) return Say("cannot open: " + MessageOf(opened.status()));
    const TxnId first(opened->first_txn_id());
    Say(fmt::format(
        "opens {} from {} at {}", opened->count(), first.value(), opened->snapshot_seq()));
    std::vector<Txn> txns;
    for (int i = 0; i < opened->count(); ++i) {
      Txn txn;
      txn.id = TxnId(first.value() + i);
      txn.lease = std::make_shared<client::Lease>(
          txn.id, seconds(opened->txn_timeout().seconds()), sent, world_.clock());
      world_.history().Opened(
          actor_.name(), txn.id, CommitSeq(opened->snapshot_seq()), [lease = txn.lease] {
            return lease->Check().ok();
          });
      // Some are never kept alive.
      if (!dice().OneIn(6)) beater_.Add(txn.lease);
      txns.push_back(std::move(txn));
    }
    for (int64_t left = dice().Between(1, 8); left > 0 && !world_.stopping(); --left) {
      Step(txns[static_cast<size_t>(dice().Below(static_cast<int64_t>(txns.size())))]);
      Think(milliseconds(1500));
      if (dice().OneIn(25)) actor_.StandStill(dice().Delay(seconds(1), seconds(150)));
    }
    for (Txn& txn : txns) End(txn);
  }

  void Step(Txn& txn) {
    const World::TableSpec& table = dice().Pick(world_.tables());
    switch (dice().Below(8)) {
      case 0:
        return Lock(txn, table);
      case 1:
        return AllocateFor(txn, table);
      case 2:
      case 3:
        Read(txn, table, world_.AnyPartition(table));
        return;
      default:
        return Write(txn, table);
    }
  }

  void AllocateFor(Txn& txn, const World::TableSpec& table) {
    v1::AllocateWriteIdsRequest request;
    SetName(table.name, request.mutable_table());
    request.add_txn_ids(txn.id.value());
    const auto answer = Call(std::move(request));
    if (!answer.ok())
      return Say(
          fmt::format("{} gets no write id: {}", txn.id.value(), MessageOf(answer.status())));
    world_.history().Allocated(
        txn.id, TableId(answer->table_id()), WriteId(answer->allocations(0).write_id()));
  }

  void Lock(Txn& txn, const World::TableSpec& table) {
    v1::AcquireLocksRequest request;
    request.set_txn_id(txn.id.value());
    const std::vector<HeldLock> held = {AddComponent(table, request)};
    request.set_no_wait(dice().OneIn(2));
    const auto answer = Call(std::move(request), milliseconds(dice().Between(300, 20'000)));
    if (!answer.ok())
      return Say(fmt::format("{} gets no lock: {}", txn.id.value(), MessageOf(answer.status())));
    if (answer->state() != v1::LOCK_STATE_ACQUIRED) return;
    world_.history().Granted(LockId(answer->lock_id()), txn.id, held, [lease = txn.lease] {
      return lease->Check().ok();
    });
  }

  HeldLock AddComponent(const World::TableSpec& table, v1::AcquireLocksRequest& request) {
    HeldLock held;
    held.resource.database = "db";
    if (!dice().OneIn(8)) held.resource.table = table.name.table;
    if (!held.resource.table.empty() && dice().OneIn(2)) {
      held.resource.partition = world_.AnyPartition(table);
    }
    held.kind = static_cast<LockKind>(dice().Below(4));
    v1::LockComponent* const component = request.add_components();
    component->mutable_resource()->set_database(held.resource.database);
    component->mutable_resource()->set_table(held.resource.table);
    component->mutable_resource()->set_partition(held.resource.partition);
    component->set_kind(static_cast<v1::LockKind>(static_cast<int>(held.kind) + 1));
    return held;
  }

  std::optional<Rows> Read(Txn& txn, const World::TableSpec& spec, const std::string& partition) {
    v1::GetTableRequest get;
    SetName(spec.name, get.mutable_name());
    get.set_txn_id(txn.id.value());
    const auto table = Call(std::move(get));
    if (!table.ok()) return std::nullopt;
    v1::GetValidWriteIdsRequest ask;
    ask.set_txn_id(txn.id.value());
    SetName(spec.name, ask.add_tables());
    const auto lists = Call(std::move(ask));
    if (!lists.ok()) {
      Say(fmt::format("{} gets no list: {}", txn.id.value(), MessageOf(lists.status())));
      return std::nullopt;
    }
    const auto list = wire::FromProto(lists->lists(0));
    v1::GetSnapshotRequest snapshot;
    snapshot.set_txn_id(txn.id.value());
    const auto shown = Call(std::move(snapshot));
    if (!list.ok() || !shown.ok()) return std::nullopt;
    const auto txns = wire::FromProto(*shown, txn.id);
    world_.history().Listed(txn.id, *list);
    world_.history().SawTxns(txn.id, *txns);
    const Place place{list->table_id, partition};
    if (txn.written.contains(place)) return std::nullopt;
    if (table->table().table_id() != list->table_id.value()) {
      world_.Fail(
          fmt::format("transaction {} means two tables by {}", txn.id.value(), spec.name.table));
    }
    const std::string dir = Warehouse::DirectoryOf(table->table().location(), partition);
    const auto rows =
        world_.warehouse().Read(dir, *list, *txns, [this] { Think(milliseconds(400)); });
    if (!txn.lease->Check().ok()) return std::nullopt;
    if (!rows.ok()) {
      world_.Fail(fmt::format("transaction {} with snapshot {} cannot read {}: {}",
                              txn.id.value(),
                              list->seq.value(),
                              dir,
                              rows.status().ToString()));
      return std::nullopt;
    }
    world_.history().Read(txn.id, list->seq, place, *rows);
    return *rows;
  }

  // Without a lock: the commit's check is what protects the rows.
  void Write(Txn& txn, const World::TableSpec& spec) {
    const std::string partition = world_.AnyPartition(spec);
    Written written;
    static constexpr WriteOp kOps[] = {WriteOp::kInsert,
                                       WriteOp::kInsert,
                                       WriteOp::kUpdate,
                                       WriteOp::kDelete,
                                       WriteOp::kOverwrite};
    written.op = kOps[dice().Below(5)];
    if (written.op == WriteOp::kUpdate || written.op == WriteOp::kDelete) {
      const auto rows = Read(txn, spec, partition);
      if (!rows || rows->empty()) return;
      written.removed.push_back(*rows->rbegin());
    }
    v1::GetTableRequest get;
    SetName(spec.name, get.mutable_name());
    get.set_txn_id(txn.id.value());
    const auto table = Call(std::move(get));
    if (!table.ok()) return;
    v1::AllocateWriteIdsRequest allocate;
    SetName(spec.name, allocate.mutable_table());
    allocate.add_txn_ids(txn.id.value());
    const auto allocated = Call(std::move(allocate));
    if (!allocated.ok())
      return Say(
          fmt::format("{} gets no write id: {}", txn.id.value(), MessageOf(allocated.status())));
    const WriteId write_id(allocated->allocations(0).write_id());
    written.place = {TableId(allocated->table_id()), partition};
    world_.history().Allocated(txn.id, written.place.table, write_id);
    if (table->table().table_id() != allocated->table_id()) {
      return Say(fmt::format("{} sees the table change", txn.id.value()));
    }
    if (!txn.written.insert(written.place).second) return;
    if (written.op != WriteOp::kDelete) written.added = {{write_id, 0, world_.NextValue()}};
    txn.writes[spec.name].emplace_back(partition, written.op);
    // A late writer does not look at its lease: what it leaves must never be seen.
    world_.history().Wrote(txn.id, written);
    if (dice().OneIn(20)) actor_.StandStill(dice().Delay(seconds(1), seconds(100)));
    const std::string dir = Warehouse::DirectoryOf(table->table().location(), partition);
    Say(fmt::format("{} writes {} to {} as {}",
                    txn.id.value(),
                    WriteOpName(written.op),
                    dir,
                    write_id.value()));
    const absl::Status status =
        world_.warehouse().Write(dir, write_id, written, [this] { Think(milliseconds(100)); });
    if (!status.ok()) return Say("cannot write: " + MessageOf(status));
    if (dice().OneIn(2)) Declare(txn, spec, partition, written.op);
  }

  void Declare(const Txn& txn,
               const World::TableSpec& spec,
               const std::string& partition,
               WriteOp op) {
    if (partition.empty()) return;
    v1::AddPartitionsRequest request;
    request.set_txn_id(txn.id.value());
    SetName(spec.name, request.mutable_table());
    request.add_partitions(partition);
    request.set_operation(WireOp(op));
    Call(std::move(request)).status().IgnoreError();
  }

  void End(Txn& txn) {
    world_.history().ReleasedAll(txn.id);
    const int64_t how = dice().Below(12);
    if (how == 0) {  // forgotten: its lease ends it
      beater_.Remove(txn.id);
      return;
    }
    if (how <= 2) {
      v1::AbortTransactionsRequest request;
      request.add_txn_ids(txn.id.value());
      const auto answer = Call(std::move(request));
      if (answer.ok() && answer->aborted_size() > 0) world_.history().ToldAborted(txn.id);
      if (answer.ok() && answer->not_found_size() > 0) {
        world_.Fail(fmt::format("transaction {} is not known any more", txn.id.value()));
      }
    } else {
      Commit(txn);
      if (dice().OneIn(5)) Commit(txn);  // again
    }
    beater_.Remove(txn.id);
  }

  void Commit(const Txn& txn) {
    v1::CommitTransactionRequest request;
    request.set_txn_id(txn.id.value());
    for (const auto& [name, writes] : txn.writes) {
      // Undeclared it counts as an update of the whole table: enough for all but overwrites.
      const bool overwrites = std::ranges::any_of(
          writes, [](const auto& write) { return write.second == WriteOp::kOverwrite; });
      if (!overwrites && dice().OneIn(4)) continue;
      v1::TableWrites* const table = request.add_write_set();
      SetName(name, table->mutable_table());
      for (const auto& [partition, op] : writes) {
        v1::PartitionWrite* const write = table->add_writes();
        write->set_partition(partition);
        write->set_operation(WireOp(op));
      }
    }
    const auto answer = Call(std::move(request));
    Say(fmt::format(
        "commits {}: {}", txn.id.value(), answer.ok() ? "OK" : MessageOf(answer.status())));
    if (answer.ok()) {
      return world_.history().ToldCommitted(txn.id, CommitSeq(answer->commit_seq()));
    }
    const ErrorReason reason = ReasonOf(answer.status());
    if (reason == ErrorReason::kTxnAborted || reason == ErrorReason::kWriteConflict) {
      world_.history().ToldAborted(txn.id);
    }
  }

  // A lock without a transaction: kept by beats of its own, as long as its owner likes.
  void LockOutside() {
    const World::TableSpec& table = dice().Pick(world_.tables());
    v1::AcquireLocksRequest request;
    const std::vector<HeldLock> held = {AddComponent(table, request)};
    request.set_user(actor_.name());
    request.set_host("sim");
    request.set_no_wait(dice().OneIn(2));
    const MonoTime sent = world_.clock().MonoNow();
    const auto answer = Call(std::move(request), milliseconds(dice().Between(300, 10'000)));
    if (!answer.ok() || answer->state() == v1::LOCK_STATE_NOT_ACQUIRED) return;
    const LockId lock(answer->lock_id());
    if (answer->state() == v1::LOCK_STATE_ACQUIRED) {
      // Its lease is the server's own: never shorter than the shortest that a run chooses.
      world_.history().Granted(
          lock, TxnId(), held, [until = sent + seconds(10), &clock = world_.clock()] {
            return clock.MonoNow() < until;
          });
    }
    for (int64_t left = dice().Below(4); left > 0 && !world_.stopping(); --left) {
      Think(seconds(6));
      v1::HeartbeatTransactionsRequest beat;
      beat.add_lock_ids(lock.value());
      Call(std::move(beat)).status().IgnoreError();
    }
    world_.history().Released(lock);
    if (dice().OneIn(5)) return;
    v1::ReleaseLockRequest release;
    release.set_lock_id(lock.value());
    Call(std::move(release)).status().IgnoreError();
  }

  World& world_;
  Actor& actor_;
  ClientLife life_;
  client::Caller caller_;
  client::Heartbeater beater_;
};

// Ids that do not exist, the same request id for different things, calls nobody waits for.
class Hostile {
 public:
  Hostile(World& world, Actor& actor)
      : world_(world),
        actor_(actor),
        life_(world, actor),
        caller_({*life_.calls, life_.executor, world.clock(), world.dice(), life_.blocker},
                ShortRetries()) {}

  void Run() {
    while (!world_.stopping()) {
      actor_.Sleep(dice().Delay(milliseconds(10), seconds(3)));
      One();
    }
  }

 private:
  Dice& dice() { return world_.dice(); }
  int64_t AnyId() {
    static constexpr int64_t kIds[] = {0, -1, INT64_MAX, INT64_MIN};
    const int64_t which = dice().Below(8);
    return which < 4 ? kIds[which] : dice().Below(1'000'000) + 100'000'000;
  }
  std::string RequestId() { return std::string(16, static_cast<char>('a' + dice().Below(3))); }
  template <class Request>
  auto Send(Request request) {
    return caller_.Call(std::move(request),
                        world_.clock().MonoNow() + milliseconds(dice().Between(1, 3'000)));
  }

  void One() {
    switch (dice().Below(7)) {
      case 0: {
        v1::CommitTransactionRequest request;
        request.set_txn_id(AnyId());
        return MustFail(Send(std::move(request)).status(), "a commit of nothing");
      }
      case 1: {
        v1::AbortTransactionsRequest request;
        for (int i = 0; i < 5; ++i) request.add_txn_ids(dice().Below(1'000'000) + 100'000'000);
        return Send(std::move(request)).status().IgnoreError();
      }
      case 2: {
        v1::HeartbeatTransactionsRequest request;
        for (int i = 0; i < 5; ++i) request.add_txn_ids(AnyId());
        request.add_lock_ids(AnyId());
        return Send(std::move(request)).status().IgnoreError();
      }
      case 3: {
        v1::AllocateWriteIdsRequest request;
        SetName({"db", "u0"}, request.mutable_table());
        request.add_txn_ids(AnyId());
        return MustFail(Send(std::move(request)).status(), "a write id for nobody");
      }
      case 4: {
        v1::ReleaseLockRequest request;
        request.set_lock_id(dice().Below(1'000'000) + 100'000'000);
        return Send(std::move(request)).status().IgnoreError();
      }
      case 5:
        return Repeat();
      default: {
        v1::AcquireLocksRequest request;
        request.set_txn_id(AnyId());
        return MustFail(Send(std::move(request)).status(), "a lock on nothing");
      }
    }
  }

  void MustFail(const absl::Status& status, const std::string& what) {
    if (status.ok()) world_.Fail(what + " succeeded");
  }

  // The same request id again and again, sometimes with other contents: the ids that come back for
  // equal contents are the same as long as one of them lives.
  void Repeat() {
    v1::OpenTransactionsRequest request;
    request.set_count(static_cast<int32_t>(dice().Between(1, 2)));
    request.set_user("hostile");
    request.set_host("sim");
    request.mutable_txn_timeout()->set_seconds(5);
    request.set_request_id(RequestId());
    request.set_repeat(dice().OneIn(2));
    Send(std::move(request)).status().IgnoreError();
  }

  World& world_;
  Actor& actor_;
  ClientLife life_;
  client::Caller caller_;
};

}  // namespace

void RawScript(World& world, Actor& actor) { RawClient(world, actor).Run(); }
void HostileScript(World& world, Actor& actor) { Hostile(world, actor).Run(); }

}  // namespace skep::sim
