// Clients that keep materialised views: under the view's lock they ask what became of the sources
// since it was built, and do no more than the answer says is needed. What they then hold must be
// what the sources hold as of the rebuild's snapshot.

#include "tests/sim/view_client.h"

#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "client/session/lease.h"
#include "proto/wire/snapshot_wire.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "tests/sim/raw_wire.h"

namespace skep::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Source {
  const World::TableSpec* spec = nullptr;
  WriteIdSnapshot list;
  v1::WriteIdList wire_list;
  std::string location;
};

class Rebuild {
 public:
  Rebuild(RawWire& wire, std::string view)
      : wire_(wire), name_(std::move(view)), built_(wire.world.views()[name_]) {}

  void Run() {
    if (!Open()) return;
    if (Lock() && ReadSources()) {
      if (Follow()) Commit();
    }
    if (!ended_) Abort();
    wire_.beater.Remove(id_);
  }

 private:
  World& world() { return wire_.world; }
  History& history() { return wire_.world.history(); }
  Dice& dice() { return wire_.dice(); }
  void Say(const std::string& what) { wire_.Say(fmt::format("{} {}", id_.value(), what)); }

  bool Open() {
    v1::OpenTransactionsRequest open;
    open.set_type(v1::TRANSACTION_TYPE_MATERIALIZED_VIEW_REBUILD);
    open.set_user(wire_.actor.name());
    open.mutable_txn_timeout()->set_seconds(dice().Between(10, 40));
    const MonoTime sent = world().clock().MonoNow();
    const CommitSeq at_least = history().acknowledged();
    const auto opened = wire_.Call(std::move(open));
    if (!opened.ok()) return false;
    id_ = TxnId(opened->first_txn_id());
    snapshot_ = CommitSeq(opened->snapshot_seq());
    lease_ = std::make_shared<client::Lease>(
        id_, seconds(opened->txn_timeout().seconds()), sent, world().clock());
    history().Opened(wire_.actor.name(), id_, snapshot_, InForce(), at_least);
    wire_.beater.Add(lease_);
    Say(fmt::format("rebuilds {} at {}", name_, snapshot_.value()));
    return true;
  }

  std::function<bool()> InForce() {
    return [lease = lease_] { return lease->Check().ok(); };
  }

  bool Lock() {
    v1::LockViewRebuildRequest request;
    request.set_txn_id(id_.value());
    SetName({"db", name_}, request.mutable_view());
    const auto answer =
        wire_.Ask<v1::LockViewRebuildResponse>("LockService/LockViewRebuild", std::move(request));
    if (answer == nullptr) return false;
    const bool own = answer->holder().txn_id() == id_.value();
    if (own != (answer->state() == v1::LOCK_STATE_ACQUIRED)) {
      world().Fail(fmt::format("transaction {} asks for view {} and is told that {} has it",
                               id_.value(),
                               name_,
                               answer->holder().txn_id()));
    }
    if (!own) return false;
    history().Rebuilds(name_, id_, InForce());
    built_ = world().views()[name_];
    return true;
  }

  // The sources' lists of the snapshot, and where they lie.
  bool ReadSources() {
    v1::GetValidWriteIdsRequest ask;
    ask.set_txn_id(id_.value());
    // A table with partitions and one without.
    const size_t first = name_ == "v0" ? 0 : 1;
    for (const size_t which : {first, first + 2}) {
      const World::TableSpec& spec = world().tables()[which];
      v1::GetTableRequest get;
      SetName(spec.name, get.mutable_name());
      get.set_txn_id(id_.value());
      const auto table = wire_.Call(std::move(get));
      if (!table.ok()) return false;
      SetName(spec.name, ask.add_tables());
      sources_.push_back({&spec, {}, {}, table->table().location()});
    }
    const auto lists = wire_.Call(std::move(ask));
    if (!lists.ok()) return false;
    for (int i = 0; i < lists->lists_size(); ++i) {
      Source& source = sources_[static_cast<size_t>(i)];
      source.wire_list = lists->lists(i);
      const auto list = wire::FromProto(lists->lists(i));
      if (!list.ok()) return false;
      source.list = *list;
      history().Listed(id_, *list);
    }
    v1::GetSnapshotRequest snapshot;
    snapshot.set_txn_id(id_.value());
    const auto shown = wire_.Call(std::move(snapshot));
    if (!shown.ok()) return false;
    const auto txns = wire::FromProto(*shown, id_);
    if (!txns.ok()) return false;
    txns_ = *txns;
    history().SawTxns(id_, txns_);
    return true;
  }

  // Brings the view's rows on to the snapshot. False: it cannot.
  bool Follow() {
    std::map<TableId, v1::TableChange> changes;
    if (!built_.built_from.empty()) {
      v1::GetTableChangesRequest request;
      request.set_txn_id(id_.value());
      for (const v1::WriteIdList& list : built_.built_from) *request.add_built_from() = list;
      const auto answer =
          wire_.Ask<v1::GetTableChangesResponse>("TableService/GetTableChanges", request);
      if (answer == nullptr) return false;
      for (int i = 0; i < answer->changes_size(); ++i) {
        Check(built_.built_from[static_cast<size_t>(i)], answer->changes(i));
        changes[TableId(answer->changes(i).table_id())] = answer->changes(i);
      }
    }
    View view;
    for (const Source& source : sources_) {
      const auto change = changes.find(source.list.table_id);
      const bool known = change != changes.end();
      const v1::TableChange none;
      if (!FollowSource(source, known ? change->second : none, view)) return false;
      view.built_from.push_back(source.wire_list);
    }
    built_ = std::move(view);
    return true;
  }

  void Check(const v1::WriteIdList& built_from, const v1::TableChange& change) {
    world().Count("changes of sources");
    const auto list = wire::FromProto(built_from);
    if (!list.ok()) return;
    History::Change told;
    told.unknown = change.kind() == v1::TableChange::KIND_UNKNOWN;
    told.rows_changed = change.kind() == v1::TableChange::KIND_ROWS_CHANGED;
    told.unchanged = change.kind() == v1::TableChange::KIND_UNCHANGED;
    told.compacted = change.compacted();
    for (const auto& range : change.now_visible()) {
      for (int64_t id = range.first(); id <= range.last(); ++id) told.now_visible.insert(id);
    }
    history().Changed(id_, snapshot_, *list, told);
  }

  bool FollowSource(const Source& source, const v1::TableChange& change, View& view) {
    std::set<int64_t> came;
    for (const auto& range : change.now_visible()) {
      for (int64_t id = range.first(); id <= range.last(); ++id) came.insert(id);
    }
    const bool inserts = change.kind() == v1::TableChange::KIND_INSERTS_ONLY;
    const bool unchanged = change.kind() == v1::TableChange::KIND_UNCHANGED;
    std::vector<std::string> partitions = {""};
    if (source.spec->partitioned) {
      partitions.clear();
      for (int p = 0; p < World::kPartitions; ++p) partitions.push_back(fmt::format("p={}", p));
    }
    for (const std::string& partition : partitions) {
      const Place place{source.list.table_id, partition};
      Rows rows;
      if (inserts || unchanged) rows = built_.rows[place];
      if (!unchanged) {
        const std::string dir = Warehouse::DirectoryOf(source.location, partition);
        const auto found = world().warehouse().Read(
            dir, source.list, txns_, [this] { wire_.Think(milliseconds(100)); });
        if (!lease_->Check().ok()) return false;
        if (!found.ok()) {
          world().Fail(fmt::format(
              "rebuild {} cannot read {}: {}", id_.value(), dir, found.status().ToString()));
          return false;
        }
        for (const Row& row : *found) {
          if (!inserts || came.contains(row.write_id.value())) rows.insert(row);
        }
      }
      world().Count("places of views");
      history().Read(id_, source.list.seq, place, rows);
      view.rows[place] = std::move(rows);
    }
    return true;
  }

  void Commit() {
    v1::CommitTransactionRequest request;
    request.set_txn_id(id_.value());
    history().ReleasedAll(id_);
    const auto answer = wire_.Call(std::move(request));
    ended_ = true;
    if (!answer.ok()) return NoteRefusedCommit(world(), id_, answer.status());
    history().ToldCommitted(id_, CommitSeq(answer->commit_seq()));
    world().views()[name_] = std::move(built_);
    world().Count("views rebuilt");
  }

  void Abort() {
    v1::AbortTransactionsRequest request;
    request.add_txn_ids(id_.value());
    history().ReleasedAll(id_);
    const auto answer = wire_.Call(std::move(request));
    if (answer.ok() && answer->aborted_size() > 0) history().ToldAborted(id_);
  }

  RawWire& wire_;
  const std::string name_;
  View built_;
  TxnId id_;
  CommitSeq snapshot_;
  std::shared_ptr<client::Lease> lease_;
  std::vector<Source> sources_;
  TxnSnapshot txns_;
  bool ended_ = false;
};

}  // namespace

void ViewScript(World& world, Actor& actor) {
  RawWire wire(world, actor);
  while (!world.stopping()) {
    wire.Think(seconds(80));
    Rebuild(wire, wire.dice().OneIn(2) ? "v0" : "v1").Run();
    if (wire.dice().OneIn(12)) wire.actor.StandStill(wire.dice().Delay(seconds(1), seconds(60)));
  }
}

}  // namespace skep::sim
