#include "tests/sim/raw_txn.h"

#include <algorithm>

#include "proto/wire/snapshot_wire.h"
#include "storage/model/errors.h"

namespace skep::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

v1::WriteOperation WireOp(WriteOp op) {
  return static_cast<v1::WriteOperation>(static_cast<int>(op) + 1);
}

}  // namespace

void RawTxn::Step() {
  const World::TableSpec& table = dice().Pick(world().tables());
  switch (dice().Below(18)) {
    case 0:
    case 1:
      return Lock(table);
    case 2:
      return GiveBackLock();
    case 3:
      return Refresh();
    case 4:
      return Allocate(table);
    case 5:
      return Reallocate(table);
    case 6:
      return NameAll();
    case 7:
      return LookAtPartitions(table);
    case 8:
    case 9:
    case 10:
    case 11:
      Read(table, world().AnyPartition(table));
      return;
    default:
      return Write(table);
  }
}

// ---- locks and the snapshot ----

void RawTxn::Lock(const World::TableSpec& table) {
  v1::AcquireLocksRequest request;
  request.set_txn_id(id_.value());
  const std::vector<HeldLock> held = {AddComponent(wire_, table, request)};
  request.set_no_wait(dice().OneIn(2));
  const auto answer = Call(std::move(request), milliseconds(dice().Between(300, 20'000)));
  if (!answer.ok()) return Say("gets no lock: " + MessageOf(answer.status()));
  const LockId lock(answer->lock_id());
  bool stale = answer->snapshot_stale();
  v1::LockState state = answer->state();
  if (state == v1::LOCK_STATE_WAITING && dice().OneIn(2)) {
    const auto decided = WatchLock(wire_, lock, seconds(20));
    if (decided) state = decided->state();
    if (decided) stale = decided->snapshot_stale();
    // ABORTED: by a verdict or the deadlock that it was the victim of; nobody commits it any more.
    if (state == v1::LOCK_STATE_ABORTED) history().ToldAborted(id_);
  }
  if (state != v1::LOCK_STATE_ACQUIRED) return;
  locks_.push_back(lock);
  history().Granted(lock, id_, held, [lease = lease_] { return lease->Check().ok(); });
  if (stale) Refresh();
}

// refused while the transaction is open.
void RawTxn::GiveBackLock() {
  if (locks_.empty()) return;
  v1::ReleaseLockRequest request;
  request.set_lock_id(locks_.back().value());
  if (!Call(std::move(request)).ok()) return;
  if (history().model().IsOpen(id_) && !history().WasTakenAway(locks_.back())) {
    world().Fail(fmt::format(
        "transaction {} gave lock {} back and goes on", id_.value(), locks_.back().value()));
  }
}

// Also when it must not.
void RawTxn::Refresh() {
  if (snapshot_.is_none()) return;
  v1::GetSnapshotRequest request;
  request.set_txn_id(id_.value());
  request.set_refresh(true);
  request.set_snapshot_seq(snapshot_.value());
  const CommitSeq at_least = history().acknowledged();
  const auto answer = Call(std::move(request));
  if (answer.ok()) {
    snapshot_ = CommitSeq(answer->snapshot_seq());
    history().Refreshed(id_, snapshot_, at_least);
    Say(fmt::format("refreshes to {}", snapshot_.value()));
  } else if (ReasonOf(answer.status()) != ErrorReason::kOperationNotAllowed) {
    snapshot_ = CommitSeq();
    history().Refreshed(id_, snapshot_);
  }
}

// ---- write ids and lists ----

void RawTxn::Allocate(const World::TableSpec& table) {
  v1::AllocateWriteIdsRequest request;
  SetName(table.name, request.mutable_table());
  request.add_txn_ids(id_.value());
  const auto answer = Call(std::move(request));
  if (!answer.ok()) return Say("gets no write id: " + MessageOf(answer.status()));
  const TableId id(answer->table_id());
  write_ids_[id] = WriteId(answer->allocations(0).write_id());
  history().Allocated(id_, id, write_ids_[id]);
}

// Another one in its place: what was written under the old one is never seen.
void RawTxn::Reallocate(const World::TableSpec& table) {
  v1::AllocateWriteIdsRequest request;
  SetName(table.name, request.mutable_table());
  request.add_txn_ids(id_.value());
  request.set_reallocate(true);
  // A repeat that arrives late takes the new one away, too: nothing it writes from here on counts.
  broken_ = true;
  const auto answer = Call(std::move(request));
  if (!answer.ok()) return;
  const TableId id(answer->table_id());
  write_ids_[id] = WriteId(answer->allocations(0).write_id());
  history().Allocated(id_, id, write_ids_[id]);
  history().Discarded(id_, id);
  std::erase_if(written_, [id](const Place& place) { return place.table == id; });
  known_.erase(table.name);
  Say(fmt::format("begins anew in {} as {}", table.name.table, write_ids_[id].value()));
}

// from here on it pins these and no others.
void RawTxn::NameAll() {
  v1::GetValidWriteIdsRequest request;
  request.set_txn_id(id_.value());
  request.set_names_all(true);
  for (const auto& [name, known] : known_) SetName(name, request.add_tables());
  const auto answer = Call(std::move(request));
  if (!answer.ok()) return;
  for (const v1::WriteIdList& list : answer->lists()) {
    if (const auto parsed = wire::FromProto(list); parsed.ok()) history().Listed(id_, *parsed);
  }
}

void RawTxn::LookAtPartitions(const World::TableSpec& table) {
  if (!table.partitioned) return;
  v1::GetTableRequest get;
  SetName(table.name, get.mutable_name());
  get.set_txn_id(id_.value());
  const auto shown = Call(std::move(get));
  v1::ListPartitionsRequest request;
  SetName(table.name, request.mutable_table());
  request.set_txn_id(id_.value());
  const auto answer = Call(std::move(request));
  if (!shown.ok() || !answer.ok() || snapshot_.is_none()) return;
  history().SawPartitions(id_,
                          TableId(shown->table().table_id()),
                          {answer->partitions().begin(), answer->partitions().end()});
}

const RawTxn::Known* RawTxn::Learn(const World::TableSpec& spec, bool keeps) {
  const auto cached = known_.find(spec.name);
  if (cached != known_.end() && (keeps || dice().OneIn(2))) return &cached->second;
  v1::GetTableRequest get;
  SetName(spec.name, get.mutable_name());
  get.set_txn_id(id_.value());
  const auto table = Call(std::move(get));
  if (!table.ok()) return nullptr;
  v1::GetValidWriteIdsRequest ask;
  ask.set_txn_id(id_.value());
  SetName(spec.name, ask.add_tables());
  const auto lists = Call(std::move(ask));
  if (!lists.ok()) {
    Say("gets no list: " + MessageOf(lists.status()));
    return nullptr;
  }
  v1::GetSnapshotRequest snapshot;
  snapshot.set_txn_id(id_.value());
  const auto shown = Call(std::move(snapshot));
  const auto list = wire::FromProto(lists->lists(0));
  if (!list.ok() || !shown.ok()) return nullptr;
  const auto txns = wire::FromProto(*shown, id_);
  history().Listed(id_, *list);
  history().SawTxns(id_, *txns);
  if (table->table().table_id() != list->table_id.value()) {
    world().Fail(
        fmt::format("transaction {} means two tables by {}", id_.value(), spec.name.table));
  }
  return &known_.insert_or_assign(spec.name, Known{*list, *txns, table->table().location()})
              .first->second;
}

// ---- rows ----

std::optional<Rows> RawTxn::Read(const World::TableSpec& spec,
                                 const std::string& partition,
                                 bool keeps) {
  const Known* const known = Learn(spec, keeps);
  if (known == nullptr) return std::nullopt;
  const WriteIdSnapshot list = known->list;
  const Place place{list.table_id, partition};
  if (broken_) return std::nullopt;
  // A list from before its own write does not show it.
  if (written_.contains(place) && list.own.empty()) return std::nullopt;
  const std::string dir = Warehouse::DirectoryOf(known->location, partition);
  const auto rows =
      world().warehouse().Read(dir, list, known->txns, [this] { wire_.Think(milliseconds(400)); });
  if (!lease_->Check().ok()) return std::nullopt;
  if (written_.contains(place) && !history().model().IsOpen(id_)) return std::nullopt;
  if (!rows.ok()) {
    world().Fail(fmt::format("transaction {} with snapshot {} cannot read {}: {}",
                             id_.value(),
                             list.seq.value(),
                             dir,
                             rows.status().ToString()));
    return std::nullopt;
  }
  history().Read(id_, list.seq, place, *rows);
  return *rows;
}

// Without a lock: the commit's check is what protects the rows.
void RawTxn::Write(const World::TableSpec& spec) {
  const std::string partition = world().AnyPartition(spec);
  Written written;
  static constexpr WriteOp kOps[] = {
      WriteOp::kInsert, WriteOp::kInsert, WriteOp::kUpdate, WriteOp::kDelete, WriteOp::kOverwrite};
  written.op = kOps[dice().Below(5)];
  if (written.op == WriteOp::kUpdate || written.op == WriteOp::kDelete) {
    const auto rows = Read(spec, partition);
    if (!rows || rows->empty()) return;
    written.removed.push_back(*rows->rbegin());
  }
  v1::GetTableRequest get;
  SetName(spec.name, get.mutable_name());
  get.set_txn_id(id_.value());
  const auto table = Call(std::move(get));
  if (!table.ok()) return;
  written.place = {TableId(table->table().table_id()), partition};
  if (written_.contains(written.place)) return;
  if (!write_ids_.contains(written.place.table)) Allocate(spec);
  // Without one, or where the name means another table by now.
  if (!write_ids_.contains(written.place.table)) return;
  // Sometimes the partition is declared first, sometimes twice, as another operation.
  if (dice().OneIn(4)) Declare(spec, partition, written.op);
  if (dice().OneIn(12)) Declare(spec, partition, WriteOp::kInsert);
  WriteFiles(spec, table->table().location(), std::move(written));
}

void RawTxn::WriteFiles(const World::TableSpec& spec,
                        const std::string& location,
                        Written written) {
  const WriteId write_id = write_ids_.at(written.place.table);
  const std::string partition = written.place.partition;
  written_.insert(written.place);
  if (written.op != WriteOp::kDelete) written.added = {{write_id, 0, world().NextValue()}};
  writes_[spec.name].emplace_back(partition, written.op);
  // A late writer does not look at its lease: what it leaves must never be seen.
  history().Wrote(id_, written);
  if (dice().OneIn(20)) wire_.actor.StandStill(dice().Delay(seconds(1), seconds(100)));
  const std::string dir = Warehouse::DirectoryOf(location, partition);
  Say(fmt::format("writes {} to {} as {}", WriteOpName(written.op), dir, write_id.value()));
  const absl::Status status =
      world().warehouse().Write(dir, write_id, written, [this] { wire_.Think(milliseconds(100)); });
  if (!status.ok()) {
    broken_ = true;
    return Say("cannot write: " + MessageOf(status));
  }
  if (dice().OneIn(2)) Declare(spec, partition, written.op);
}

void RawTxn::Declare(const World::TableSpec& spec, const std::string& partition, WriteOp op) {
  if (partition.empty()) return;
  v1::AddPartitionsRequest request;
  request.set_txn_id(id_.value());
  SetName(spec.name, request.mutable_table());
  request.add_partitions(partition);
  request.set_operation(WireOp(op));
  Call(std::move(request)).status().IgnoreError();
}

// ---- its end ----

void RawTxn::End() {
  history().ReleasedAll(id_);
  const int64_t how = dice().Below(12);
  if (how == 0) return wire_.beater.Remove(id_);  // forgotten: its lease ends it
  if (how <= 2 || broken_) {
    v1::AbortTransactionsRequest request;
    request.add_txn_ids(id_.value());
    const auto answer = Call(std::move(request));
    if (answer.ok() && answer->aborted_size() > 0) history().ToldAborted(id_);
    if (answer.ok() && answer->not_found_size() > 0) {
      world().Fail(fmt::format("transaction {} is not known any more", id_.value()));
    }
  } else {
    Commit();
    if (dice().OneIn(5)) Commit();  // again
  }
  wire_.beater.Remove(id_);
}

void RawTxn::Commit() {
  v1::CommitTransactionRequest request;
  request.set_txn_id(id_.value());
  for (const auto& [name, writes] : writes_) {
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
  Say(answer.ok() ? "is committed" : "is not committed: " + MessageOf(answer.status()));
  if (answer.ok()) return history().ToldCommitted(id_, CommitSeq(answer->commit_seq()));
  NoteRefusedCommit(world(), id_, answer.status());
}

}  // namespace skep::sim
