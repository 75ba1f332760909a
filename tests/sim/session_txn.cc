// One transaction of the production client library, as a program would use it.

#include "tests/sim/session_txn.h"

#include <fmt/format.h>

#include "client/session/transaction_core.h"
#include "skep/transaction.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "tests/sim/client_life.h"

namespace skep::sim {
namespace {

using client::LockMode;
using client::LockTarget;
using client::Transaction;
using client::TransactionState;
using std::chrono::milliseconds;
using std::chrono::seconds;

LockKind KindOf(LockMode mode) { return static_cast<LockKind>(mode); }

class SessionTxn {
 public:
  SessionTxn(World& world, Actor& actor, Link& link) : world_(world), actor_(actor), link_(link) {}

  bool Run(client::Session& session) {
    client::BeginOptions begin;
    read_only_ = dice().OneIn(3);
    if (read_only_) begin.mode = client::TransactionMode::kReadOnly;
    if (dice().OneIn(2)) begin.lease = seconds(dice().Between(4, 40));
    const CommitSeq at_least = world_.history().acknowledged();
    auto begun = session.Begin(begin);
    if (!begun.ok()) {
      CheckRefusal(world_, actor_.name(), begun.status());
      Say("cannot begin: " + MessageOf(begun.status()));
      return true;
    }
    txn_ = begun->get();
    world_.history().Opened(
        actor_.name(),
        txn_->id(),
        txn_->snapshot(),
        [core = txn_->core()] { return core->CheckLease().ok(); },
        at_least);
    Say(fmt::format("opens {} at {}", txn_->id().value(), txn_->snapshot().value()));
    if (!read_only_ && dice().OneIn(3)) Lock();
    for (int64_t left = dice().Between(1, 4); left > 0; --left) {
      if (world_.stopping()) break;
      // Once more, of whatever it holds already: stronger, wider or below.
      if (!read_only_ && dice().OneIn(8)) Lock();
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

 private:
  Dice& dice() { return world_.dice(); }
  void Say(const std::string& what) { world_.Trace(actor_.name() + ": " + what); }
  void Think(Nanos high) { actor_.Sleep(dice().Delay(milliseconds(1), high)); }

  bool End(std::unique_ptr<Transaction> txn) {
    const TxnId id = txn->id();
    world_.history().ReleasedAll(id);
    const int64_t how = dice().Below(20);
    if (how == 0) {
      Say(fmt::format("dies with {}", id.value()));
      link_.dead = true;
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
    NoteRefusedCommit(world_, txn.id(), status);
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
    const CommitSeq before = txn_->snapshot();
    const CommitSeq at_least = world_.history().acknowledged();
    const auto grant = txn_->Lock(targets, options);
    FollowSnapshot(before, at_least, grant.status());
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

  // The library takes a fresh snapshot with a lock by itself where the old one is stale and unused.
  void FollowSnapshot(CommitSeq before, CommitSeq at_least, const absl::Status& status) {
    if (txn_->snapshot() != before) {
      Say(fmt::format("{} is at {} now", txn_->id().value(), txn_->snapshot().value()));
      world_.history().Refreshed(txn_->id(), txn_->snapshot(), at_least);
    } else if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) {
      world_.history().Refreshed(txn_->id(), CommitSeq());  // it may have, and not be told
    }
  }

  void Refresh() {
    const CommitSeq at_least = world_.history().acknowledged();
    const absl::Status status = txn_->RefreshSnapshot();
    if (status.ok()) {
      world_.history().Refreshed(txn_->id(), txn_->snapshot(), at_least);
    } else if (ReasonOf(status) != ErrorReason::kOperationNotAllowed) {
      world_.history().Refreshed(txn_->id(), CommitSeq());
    }
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
    if (broken_) return std::nullopt;  // half of its own rows would be among them
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
    // Ended by others, its own files may go at any time.
    if (written_.contains(place) && !world_.history().model().IsOpen(txn_->id())) {
      return std::nullopt;
    }
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
    const CommitSeq before = txn_->snapshot();
    const CommitSeq at_least = world_.history().acknowledged();
    const auto statement = core->BeginWrite(spec.name, written.op);
    FollowSnapshot(before, at_least, statement.status());
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
    if (status.ok()) return;
    broken_ = true;
    core->FailWrite(*statement, status);
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
  Link& link_;
  Transaction* txn_ = nullptr;
  bool read_only_ = false;
  bool broken_ = false;  // a write of it failed in the middle
  std::set<Place> written_;
};

}  // namespace

bool RunSessionTxn(World& world, Actor& actor, client::Session& session, Link& link) {
  return SessionTxn(world, actor, link).Run(session);
}

}  // namespace skep::sim
