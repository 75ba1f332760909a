// Clients of the production library: Session and Transaction as a program uses them.

#include <fmt/format.h>

#include "client/session/transaction_core.h"
#include "skep/transaction.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "tests/sim/client_life.h"

namespace skep::sim {

void CheckRefusal(World& world, const std::string& who, const absl::Status& status) {
  if (!status.ok()) {
    const ErrorReason reason = ReasonOf(status);
    world.Count("refused " + (reason == ErrorReason::kUnspecified
                                  ? absl::StatusCodeToString(status.code())
                                  : std::string(ReasonName(reason))));
  }
  switch (ReasonOf(status)) {
    case ErrorReason::kInternal:
    case ErrorReason::kCorruptStore:
    case ErrorReason::kNoSuchTxn:
    case ErrorReason::kNotEnoughHistory:
      world.Fail(who + " is answered " + status.ToString());
      break;
    default:
      break;
  }
}

namespace {

using client::LockMode;
using client::LockTarget;
using client::Transaction;
using client::TransactionState;
using std::chrono::milliseconds;
using std::chrono::seconds;

LockKind KindOf(LockMode mode) { return static_cast<LockKind>(mode); }

class SessionClient {
 public:
  SessionClient(World& world, Actor& actor) : world_(world), actor_(actor) {}

  void Run() {
    while (!world_.stopping()) {
      Live();
      actor_.Sleep(dice().Delay(milliseconds(100), seconds(20)));
    }
  }

 private:
  Dice& dice() { return world_.dice(); }
  void Say(const std::string& what) { world_.Trace(actor_.name() + ": " + what); }
  void Think(Nanos high) { actor_.Sleep(dice().Delay(milliseconds(1), high)); }

  // One process: from its connection to its end.
  void Live() {
    auto life = std::make_shared<ClientLife>(world_, actor_);
    client::SessionOptions options;
    options.user = actor_.name();
    options.host = "sim";
    options.call_deadline = milliseconds(dice().Between(1'000, 10'000));
    options.lock_deadline = milliseconds(dice().Between(500, 40'000));
    options.retry = ShortRetries();
    client::SessionPorts ports{*life->calls,
                               *life->beats,
                               life->executor,
                               life->beat_executor,
                               world_.clock(),
                               world_.dice(),
                               life->blocker,
                               life};
    client::Session session(std::make_shared<client::SessionImpl>(options, std::move(ports)));
    link_ = life->link;
    life.reset();
    for (int64_t left = dice().Between(3, 60); left > 0 && !world_.stopping(); --left) {
      Think(seconds(2));
      if (!OneTransaction(session)) return;
      if (dice().OneIn(30))
        link_->cut_until = world_.scheduler().now() + dice().Delay(seconds(1), seconds(60));
    }
  }

  // False: the process died.
  bool OneTransaction(client::Session& session) {
    client::BeginOptions begin;
    read_only_ = dice().OneIn(3);
    if (read_only_) begin.mode = client::TransactionMode::kReadOnly;
    if (dice().OneIn(2)) begin.lease = seconds(dice().Between(4, 40));
    auto begun = session.Begin(begin);
    if (!begun.ok()) {
      CheckRefusal(world_, actor_.name(), begun.status());
      Say("cannot begin: " + MessageOf(begun.status()));
      return true;
    }
    txn_ = begun->get();
    written_.clear();
    world_.history().Opened(actor_.name(), txn_->id(), txn_->snapshot(), [core = txn_->core()] {
      return core->CheckLease().ok();
    });
    Say(fmt::format("opens {} at {}", txn_->id().value(), txn_->snapshot().value()));
    if (!read_only_ && dice().OneIn(3)) Lock();
    for (int64_t left = dice().Between(1, 4); left > 0; --left) {
      if (world_.stopping()) break;
      const World::TableSpec& table = dice().Pick(world_.tables());
      const std::string partition = world_.AnyPartition(table);
      if (read_only_ || dice().OneIn(2)) {
        Read(table, partition);
      } else {
        Write(table, partition);
      }
      Think(seconds(1));
      if (dice().OneIn(25)) {
        const Nanos pause = dice().Delay(seconds(1), seconds(150));
        Say(fmt::format("stands still for {} s", pause.count() / 1'000'000'000));
        actor_.StandStill(pause);
      }
    }
    return End(*std::move(begun));
  }

  bool End(std::unique_ptr<Transaction> txn) {
    const TxnId id = txn->id();
    world_.history().ReleasedAll(id);
    const int64_t how = dice().Below(20);
    if (how == 0) {
      Say(fmt::format("dies with {}", id.value()));
      link_->dead = true;
      return false;
    }
    if (how == 1) {
      Say(fmt::format("leaves {}", id.value()));
      return true;
    }
    if (how <= 3) {
      const absl::Status status = txn->Abort();
      Say(fmt::format("aborts {}: {}", id.value(), status.ok() ? "OK" : MessageOf(status)));
      if (status.ok()) world_.history().ToldAborted(id);
      CheckRefusal(world_, actor_.name(), status);
      return true;
    }
    Commit(*txn);
    return true;
  }

  void Commit(Transaction& txn) {
    absl::Status status = txn.Commit();
    Say(fmt::format("commits {}: {}", txn.id().value(), status.ok() ? "OK" : MessageOf(status)));
    while (ReasonOf(status) == ErrorReason::kOutcomeUnknown && !world_.stopping()) {
      Think(seconds(5));
      const absl::StatusOr<TransactionState> outcome = txn.QueryOutcome();
      if (!outcome.ok()) {
        if (ReasonOf(outcome.status()) == ErrorReason::kTxnAborted) status = outcome.status();
        CheckRefusal(world_, actor_.name(), outcome.status());
        continue;
      }
      Say(fmt::format("learns that {} is {}", txn.id().value(), static_cast<int>(*outcome)));
      if (*outcome == TransactionState::kAborted) return world_.history().ToldAborted(txn.id());
      if (*outcome == TransactionState::kCommitted) status = absl::OkStatus();
      if (*outcome == TransactionState::kOpen) status = txn.Commit();
    }
    if (status.ok()) return world_.history().ToldCommitted(txn.id(), CommitSeq());
    const ErrorReason reason = ReasonOf(status);
    if (reason == ErrorReason::kTxnAborted || reason == ErrorReason::kWriteConflict) {
      world_.history().ToldAborted(txn.id());
    }
    CheckRefusal(world_, actor_.name(), status);
  }

  void Lock() {
    std::vector<LockTarget> targets;
    std::vector<HeldLock> held;
    for (int64_t left = dice().Between(1, 2); left > 0; --left) {
      const World::TableSpec& table = dice().Pick(world_.tables());
      LockTarget target{"db", "", "", static_cast<LockMode>(dice().Below(4))};
      if (!dice().OneIn(10)) target.table = table.name.table;
      if (!target.table.empty() && dice().OneIn(2)) target.partition = world_.AnyPartition(table);
      held.push_back({{target.database, target.table, target.partition}, KindOf(target.mode)});
      targets.push_back(std::move(target));
    }
    client::LockOptions options;
    options.wait = milliseconds(dice().OneIn(3) ? 0 : dice().Between(100, 30'000));
    const auto grant = txn_->Lock(targets, options);
    if (!grant.ok()) {
      Say(fmt::format("{} gets no lock: {}", txn_->id().value(), MessageOf(grant.status())));
      CheckRefusal(world_, actor_.name(), grant.status());
      return;
    }
    Say(fmt::format("{} holds lock {}{}",
                    txn_->id().value(),
                    grant->id.value(),
                    grant->snapshot_stale ? ", stale" : ""));
    world_.history().Granted(
        grant->id, txn_->id(), held, [core = txn_->core()] { return core->CheckLease().ok(); });
    if (grant->snapshot_stale || dice().OneIn(4)) Refresh();
  }

  void Refresh() {
    const absl::Status status = txn_->RefreshSnapshot();
    world_.history().Refreshed(txn_->id(), status.ok() ? txn_->snapshot() : CommitSeq());
    Say(fmt::format("{} refreshes: {}",
                    txn_->id().value(),
                    status.ok() ? txn_->snapshot().ToString() : MessageOf(status)));
    CheckRefusal(world_, actor_.name(), status);
  }

  // What it needs of the table; nullopt where it cannot go on.
  std::optional<WriteIdSnapshot> ListOf(const TableName& name) {
    const auto list = txn_->core()->GetValidWriteIds(name);
    if (!list.ok()) {
      Say(fmt::format(
          "{} gets no list of {}: {}", txn_->id().value(), name.table, MessageOf(list.status())));
      CheckRefusal(world_, actor_.name(), list.status());
      return std::nullopt;
    }
    world_.history().Listed(txn_->id(), *list);
    return *list;
  }

  std::optional<Rows> Read(const World::TableSpec& spec, const std::string& partition) {
    const auto core = txn_->core();
    const auto table = core->GetTable(spec.name);
    if (!table.ok()) return std::nullopt;
    const auto list = ListOf(spec.name);
    if (!list) return std::nullopt;
    const Place place{list->table_id, partition};
    if (written_.contains(place)) return std::nullopt;  // its own rows would be among them
    const auto txns = core->GetTxnSnapshot();
    if (!txns.ok()) return std::nullopt;
    world_.history().SawTxns(txn_->id(), *txns);
    if (list->table_id != table->id) {
      world_.Fail(fmt::format("transaction {} reads table {} by the list of table {}",
                              txn_->id().value(),
                              table->id.value(),
                              list->table_id.value()));
    }
    const std::string dir = Warehouse::DirectoryOf(table->location, partition);
    const Nanos pace = dice().OneIn(6) ? Nanos(seconds(15)) : Nanos(milliseconds(50));
    const auto rows = world_.warehouse().Read(dir, *list, *txns, [&] { Think(pace); });
    // what was read counts only if the lease lasts by the reader's own clock.
    if (!core->CheckLease().ok()) return std::nullopt;
    if (!rows.ok()) {
      world_.Fail(fmt::format("transaction {} with snapshot {} cannot read {}: {}",
                              txn_->id().value(),
                              list->seq.value(),
                              dir,
                              rows.status().ToString()));
      return std::nullopt;
    }
    Say(fmt::format("{} reads {} rows of {}", txn_->id().value(), rows->size(), dir));
    world_.history().Read(txn_->id(), list->seq, place, *rows);
    return *rows;
  }

  void Write(const World::TableSpec& spec, const std::string& partition) {
    static constexpr WriteOp kOps[] = {WriteOp::kInsert,
                                       WriteOp::kInsert,
                                       WriteOp::kInsert,
                                       WriteOp::kUpdate,
                                       WriteOp::kUpdate,
                                       WriteOp::kDelete,
                                       WriteOp::kOverwrite};
    Written written;
    written.op = kOps[dice().Below(7)];
    if (written.op != WriteOp::kInsert) {
      const auto rows = Read(spec, partition);
      if (!rows) return;
      if (written.op != WriteOp::kOverwrite) {
        if (rows->empty()) return;
        auto victim = rows->begin();
        std::advance(victim, dice().Below(static_cast<int64_t>(rows->size())));
        written.removed.push_back(*victim);
      }
    }
    const auto core = txn_->core();
    const auto statement = core->BeginWrite(spec.name, written.op);
    if (!statement.ok()) {
      Say(fmt::format("{} cannot write to {}: {}",
                      txn_->id().value(),
                      spec.name.table,
                      MessageOf(statement.status())));
      CheckRefusal(world_, actor_.name(), statement.status());
      return;
    }
    written.place = {statement->table.id, partition};
    world_.history().Allocated(txn_->id(), statement->table.id, statement->write_id);
    if (written_.contains(written.place)) {
      core->EndWrite(*statement, client::TransactionCore::Wrote::kNothing).IgnoreError();
      return;
    }
    absl::Status status;
    if (spec.partitioned) status = core->DeclarePartitions(*statement, {partition});
    if (status.ok()) status = WriteFiles(*statement, partition, std::move(written));
    if (!status.ok()) core->FailWrite(*statement, status);
  }

  absl::Status WriteFiles(const client::WriteStatement& statement,
                          const std::string& partition,
                          Written written) {
    if (written.op != WriteOp::kDelete) {
      for (int64_t n = 0; n < dice().Between(1, 2); ++n) {
        written.added.push_back({statement.write_id, n, world_.NextValue()});
      }
    }
    written_.insert(written.place);
    world_.history().Wrote(txn_->id(), written);
    const std::string dir = Warehouse::DirectoryOf(statement.table.location, partition);
    Say(fmt::format("{} writes {} to {} as {}",
                    txn_->id().value(),
                    WriteOpName(written.op),
                    dir,
                    statement.write_id.value()));
    const absl::Status status = world_.warehouse().Write(
        dir, statement.write_id, written, [&] { Think(milliseconds(50)); });
    if (!status.ok()) return status;
    return txn_->core()->EndWrite(statement, client::TransactionCore::Wrote::kRows);
  }

  World& world_;
  Actor& actor_;
  std::shared_ptr<Link> link_;
  Transaction* txn_ = nullptr;
  bool read_only_ = false;
  std::set<Place> written_;
};

}  // namespace

void SessionScript(World& world, Actor& actor) { SessionClient(world, actor).Run(); }

}  // namespace skep::sim
