// A client that speaks the session protocol by hand: bundles of operations that belong together,
// and begins that wait for their locks.

#include <memory>
#include <optional>
#include <utility>

#include "client/session/lease.h"
#include "proto/wire/snapshot_wire.h"
#include "storage/model/errors.h"
#include "tests/sim/raw_session.h"

namespace skep::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kLease{30};

class StreamClient {
 public:
  StreamClient(World& world, Actor& actor) : wire_(world, actor) {}

  void Run() {
    while (!world().stopping()) {
      wire_.Think(seconds(5));
      RawSession session(wire_);
      session_ = &session;
      for (int64_t left = dice().Between(3, 30); left > 0; --left) {
        if (session.lost() || world().stopping()) break;
        Round();
        if (dice().OneIn(6)) session.BreakOff();
        if (dice().OneIn(20)) wire_.actor.StandStill(dice().Delay(seconds(1), seconds(60)));
        wire_.Think(milliseconds(700));
      }
      if (!session.lost()) {
        dice().OneIn(3) ? session.End() : FenceOff();
      }
      Forsake();
    }
  }

 private:
  World& world() { return wire_.world; }
  History& history() { return wire_.world.history(); }
  Dice& dice() { return wire_.dice(); }

  void Round() {
    if (!txn_) return dice().OneIn(2) ? Open() : Begin();
    switch (dice().Below(5)) {
      case 0:
        return Open();
      case 1:
        return FailThenCommit();
      case 2:
        return Beat();
      default:
        return Write();
    }
  }

  // ---- transactions ----

  v1::OpenTransactionsRequest OpenRequest() {
    v1::OpenTransactionsRequest request;
    request.set_user(wire_.actor.name());
    request.set_host("sim");
    request.mutable_txn_timeout()->set_seconds(kLease.count());
    return request;
  }

  void Began(const v1::OpenTransactionsResponse& opened, MonoTime sent, CommitSeq at_least) {
    txn_ = TxnId(opened.first_txn_id());
    lease_ = std::make_shared<client::Lease>(*txn_, kLease, sent, world().clock());
    table_.reset();
    history().Opened(
        wire_.actor.name(),
        *txn_,
        CommitSeq(opened.snapshot_seq()),
        [lease = lease_] { return lease->Check().ok(); },
        at_least);
    wire_.Say(fmt::format("opens {} at {}", txn_->value(), opened.snapshot_seq()));
  }

  // where one message commits and opens, what is opened sees what was committed.
  void Open() {
    RawSession::Operations operations;
    const std::optional<TxnId> old = txn_;
    if (old) {
      v1::SessionOperation commit;
      commit.mutable_commit_transaction()->set_txn_id(old->value());
      operations.push_back(std::move(commit));
    }
    v1::SessionOperation open;
    *open.mutable_open_transactions() = OpenRequest();
    operations.push_back(std::move(open));
    const MonoTime sent = world().clock().MonoNow();
    CommitSeq at_least = history().acknowledged();
    if (old) history().ReleasedAll(*old);
    const RawSession::Answers answers = session_->Ask(std::move(operations));
    if (answers.empty()) return;
    txn_.reset();
    if (old) {
      const v1::SessionAnswer& answer = answers.front();
      NoteCommit(*old, answer);
      // Where another one committed it before, its unit may be any.
      if (answer.has_commit_transaction()) {
        at_least = std::max(at_least, CommitSeq(answer.commit_transaction().commit_seq()));
      }
    }
    if (answers.back().has_open_transactions()) {
      Began(answers.back().open_transactions(), sent, at_least);
    }
  }

  // snapshot and write ids are those of the grant.
  void Begin() {
    const World::TableSpec& table = dice().Pick(world().tables());
    v1::SessionOperation operation;
    v1::BeginTransactionRequest* const begin = operation.mutable_begin_transaction();
    *begin->mutable_open() = OpenRequest();
    const HeldLock held{{"db", table.name.table, ""},
                        dice().OneIn(2) ? LockKind::kExclWrite : LockKind::kSharedWrite};
    v1::LockComponent* const component = begin->add_locks();
    component->mutable_resource()->set_database("db");
    component->mutable_resource()->set_table(held.resource.table);
    component->set_kind(static_cast<v1::LockKind>(static_cast<int>(held.kind) + 1));
    begin->set_no_wait(dice().OneIn(3));
    SetName(table.name, begin->add_write_tables());
    SetName(table.name, begin->add_read_tables());
    begin->set_with_snapshot(true);
    const MonoTime sent = world().clock().MonoNow();
    const CommitSeq at_least = history().acknowledged();
    const RawSession::Answers answers = session_->Ask({std::move(operation)});
    if (answers.empty() || !answers[0].has_begin_transaction()) return;
    v1::BeginTransactionResponse begun = answers[0].begin_transaction();
    if (begun.state() == v1::LOCK_STATE_WAITING) {
      const TxnId waiting(begun.transaction().first_txn_id());
      v1::SessionNotice notice;
      if (!session_->WaitForNotice(session_->last_number(), seconds(20), notice) ||
          !notice.has_begun()) {
        wire_.Say(fmt::format("gives up {}, which waits", waiting.value()));
        txn_ = waiting;
        return Abort();
      }
      begun = notice.begun();
      world().Count("begins that waited");
    }
    if (begun.state() != v1::LOCK_STATE_ACQUIRED) return;
    Began(begun.transaction(), sent, at_least);
    if (lease_->Check().ok()) {
      history().Granted(LockId(begun.lock().lock_id()), *txn_, {held}, [lease = lease_] {
        return lease->Check().ok();
      });
    }
    for (const v1::AllocateWriteIdsResponse& ids : begun.write_ids()) {
      table_ = TableId(ids.table_id());
      write_id_ = WriteId(ids.allocations(0).write_id());
      spec_ = &table;
      history().Allocated(*txn_, *table_, write_id_);
    }
    for (const v1::WriteIdList& list : begun.valid_write_ids().lists()) {
      if (const auto parsed = wire::FromProto(list); parsed.ok()) history().Listed(*txn_, *parsed);
    }
    const auto txns = wire::FromProto(begun.snapshot(), *txn_);
    if (txns.ok()) history().SawTxns(*txn_, *txns);
  }

  // an operation of it failed, and its owner cannot know yet.
  void FailThenCommit() {
    v1::SessionOperation declare;
    declare.mutable_add_partitions()->set_txn_id(txn_->value());
    declare.mutable_add_partitions()->mutable_table()->set_database("db");
    declare.mutable_add_partitions()->mutable_table()->set_table("p0");
    declare.mutable_add_partitions()->add_partitions("nonsense=1");
    v1::SessionOperation commit;
    commit.mutable_commit_transaction()->set_txn_id(txn_->value());
    const int64_t epoch = session_->epoch();
    const RawSession::Answers answers = session_->Ask({std::move(declare), std::move(commit)});
    if (answers.empty()) return;
    // A stream that begins in between says that the failure was seen; then the commit counts.
    if (session_->epoch() != epoch) return Abort();
    if (answers[0].has_error() && answers[1].has_commit_transaction()) {
      world().Fail(
          fmt::format("transaction {} was committed in the message in which a write of it "
                      "failed",
                      txn_->value()));
    }
    Abort();
  }

  // what the fence did not find taken is never executed by the stream that it came too late
  // for; sent again under its number it is done once, and so is what was taken.
  void FenceOff() {
    const bool commits = txn_ && !table_;
    const std::string mark = fmt::format("{}-{}", wire_.actor.name(), ++marks_);
    RawSession::Operations operations;
    v1::SessionOperation open;
    *open.mutable_open_transactions() = OpenRequest();
    open.mutable_open_transactions()->set_user(mark);
    operations.push_back(std::move(open));
    if (commits) {
      v1::SessionOperation commit;
      commit.mutable_commit_transaction()->set_txn_id(txn_->value());
      history().ReleasedAll(*txn_);
      operations.push_back(std::move(commit));
    }
    const int64_t first = session_->Post(std::move(operations));
    if (session_->lost()) return;
    const std::optional<int64_t> taken = session_->Fence();
    if (!taken) return;
    world().Count("fences");
    v1::OpenTransactionsRequest again = OpenRequest();
    again.set_user(mark);
    again.set_request_id(session_->RequestIdOf(first));
    again.set_repeat(first < *taken);
    if (dice().OneIn(2)) wire_.Call(std::move(again)).status().IgnoreError();
    wire_.Think(seconds(3));
    int64_t there = 0;
    for (const auto& [id, row] : world().truth().state().txns) there += row.user == mark;
    if (there > 1) {
      world().Fail(fmt::format("operation {} was executed {} times over a fence", first, there));
    }
    if (!commits || first + 1 < *taken) return;
    v1::GetTransactionRequest get;
    get.set_txn_id(txn_->value());
    const auto found = wire_.Call(std::move(get));
    if (found.ok() && found->transaction().state() == v1::TRANSACTION_STATE_COMMITTED) {
      world().Fail(
          fmt::format("transaction {} was committed by operation {} behind a fence that "
                      "had found {} taken",
                      txn_->value(),
                      first + 1,
                      *taken - 1));
    }
  }

  void Write() {
    if (!table_) {
      spec_ = &dice().Pick(world().tables());
      v1::SessionOperation allocate;
      SetName(spec_->name, allocate.mutable_allocate_write_ids()->mutable_table());
      allocate.mutable_allocate_write_ids()->add_txn_ids(txn_->value());
      const RawSession::Answers answers = session_->Ask({std::move(allocate)});
      if (answers.empty() || !answers[0].has_allocate_write_ids()) return;
      table_ = TableId(answers[0].allocate_write_ids().table_id());
      write_id_ = WriteId(answers[0].allocate_write_ids().allocations(0).write_id());
      history().Allocated(*txn_, *table_, write_id_);
    }
    const auto& tables = world().truth().state().tables;
    const auto row = tables.find(*table_);
    if (row == tables.end()) return Abort();
    Written written;
    written.place = {*table_, world().AnyPartition(*spec_)};
    written.added = {{write_id_, 0, world().NextValue()}};
    history().Wrote(*txn_, written);
    const std::string dir = Warehouse::DirectoryOf(row->second.location, written.place.partition);
    const absl::Status status = world().warehouse().Write(
        dir, write_id_, written, [this] { wire_.Think(milliseconds(50)); });
    if (!status.ok()) return Abort();
    v1::SessionOperation commit;
    v1::CommitTransactionRequest* const request = commit.mutable_commit_transaction();
    request->set_txn_id(txn_->value());
    v1::TableWrites* const writes = request->add_write_set();
    SetName(spec_->name, writes->mutable_table());
    writes->add_writes()->set_partition(written.place.partition);
    writes->mutable_writes(0)->set_operation(v1::WRITE_OPERATION_INSERT);
    history().ReleasedAll(*txn_);
    const RawSession::Answers answers = session_->Ask({std::move(commit)});
    if (answers.empty()) return;
    NoteCommit(*txn_, answers[0]);
    txn_.reset();
  }

  void NoteCommit(TxnId txn, const v1::SessionAnswer& answer) {
    if (answer.has_commit_transaction()) {
      return history().ToldCommitted(txn, CommitSeq(answer.commit_transaction().commit_seq()));
    }
    // Refused for another reason it is open still, and its lease ends it.
  }

  void Beat() {
    v1::SessionOperation beat;
    beat.mutable_heartbeat_transactions()->add_txn_ids(txn_->value());
    const MonoTime sent = world().clock().MonoNow();
    const RawSession::Answers answers = session_->Ask({std::move(beat)});
    if (answers.empty() || !answers[0].has_heartbeat_transactions()) return;
    const v1::HeartbeatTransactionsResponse& said = answers[0].heartbeat_transactions();
    if (said.aborted_size() > 0) {
      history().ToldAborted(*txn_);
      txn_.reset();
    } else if (said.committed_size() == 0) {
      lease_->Renew(sent);
    }
  }

  void Abort() {
    v1::SessionOperation abort;
    abort.mutable_abort_transactions()->add_txn_ids(txn_->value());
    history().ReleasedAll(*txn_);
    const RawSession::Answers answers = session_->Ask({std::move(abort)});
    if (answers.empty()) return;
    if (answers[0].abort_transactions().aborted_size() > 0) history().ToldAborted(*txn_);
    txn_.reset();
  }

  // Without a session: what became of its transaction is asked for, then it is given up.
  void Forsake() {
    if (!txn_) return;
    history().ReleasedAll(*txn_);
    v1::GetTransactionRequest get;
    get.set_txn_id(txn_->value());
    const auto found = wire_.Call(std::move(get));
    if (found.ok() && found->transaction().state() == v1::TRANSACTION_STATE_COMMITTED) {
      history().ToldCommitted(*txn_, CommitSeq());
    } else if (found.ok() && found->transaction().state() == v1::TRANSACTION_STATE_ABORTED) {
      history().ToldAborted(*txn_);
    } else {
      v1::AbortTransactionsRequest abort;
      abort.add_txn_ids(txn_->value());
      wire_.Call(std::move(abort)).status().IgnoreError();
    }
    txn_.reset();
  }

  RawWire wire_;
  RawSession* session_ = nullptr;
  std::optional<TxnId> txn_;
  std::shared_ptr<client::Lease> lease_;
  const World::TableSpec* spec_ = nullptr;
  std::optional<TableId> table_;  // that it has a write id of
  WriteId write_id_;
  int64_t marks_ = 0;
};

}  // namespace

void StreamScript(World& world, Actor& actor) { StreamClient(world, actor).Run(); }

}  // namespace skep::sim
