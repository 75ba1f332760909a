#include "server/rpc/begin_operation.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "proto/wire/base_wire.h"
#include "proto/wire/snapshot_wire.h"
#include "proto/wire/status_wire.h"
#include "server/rpc/commands/lock_commands.h"
#include "server/rpc/commands/txn_commands.h"
#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::rpc {
namespace {

// What is asked, checked; and what is there of it so far. Shared by the steps.
struct Plan {
  state::OpenTxns open;
  std::optional<state::AcquireLocks> locks;
  std::vector<TableName> write_tables;
  state::GetValidWriteIds lists;
  bool with_snapshot = false;

  TxnId txn;
  v1::BeginTransactionResponse response;
  absl::Status failed;  // of the step that was decided last

  bool looks() const { return with_snapshot || !lists.tables.empty() || lists.names_all; }
};
using PlanPtr = std::shared_ptr<Plan>;

absl::Status ReadTables(const google::protobuf::RepeatedPtrField<v1::TableName>& from,
                        const char* field,
                        std::vector<TableName>* to) {
  SKEP_RETURN_IF_ERROR(wire::CheckCount(field, from.size(), 0, wire::kMaxTablesPerCall));
  for (int i = 0; i < from.size(); ++i) {
    SKEP_ASSIGN_OR_RETURN(TableName name, wire::FromProto(from[i], wire::FieldOf(field, i)));
    to->push_back(std::move(name));
  }
  return absl::OkStatus();
}

// The lock request has an identity too, so that a repeat of the whole finds it.
state::RequestKey LockKey(state::RequestKey key) {
  if (key.given()) key.id[0] ^= 0x80;
  return key;
}

absl::StatusOr<PlanPtr> ReadPlan(const v1::BeginTransactionRequest& request) {
  auto plan = std::make_shared<Plan>();
  SKEP_ASSIGN_OR_RETURN(plan->open, wire::FromProto(request.open()));
  if (plan->open.count != 1) return wire::BadField("open.count", "a fused begin opens one");
  if (request.locks_size() > 0) {
    v1::AcquireLocksRequest locks;
    locks.set_txn_id(1);  // replaced by the one that is opened
    *locks.mutable_components() = request.locks();
    locks.set_no_wait(request.no_wait());
    SKEP_ASSIGN_OR_RETURN(plan->locks, wire::FromProto(locks));
    plan->locks->request = LockKey(plan->open.request);
  }
  SKEP_RETURN_IF_ERROR(ReadTables(request.write_tables(), "write_tables", &plan->write_tables));
  SKEP_RETURN_IF_ERROR(ReadTables(request.read_tables(), "read_tables", &plan->lists.tables));
  plan->lists.names_all = request.names_all();
  plan->with_snapshot = request.with_snapshot();
  return plan;
}

absl::Status Allocate(Plan& plan, state::State& state, state::Now now, state::Unit& unit) {
  for (const TableName& table : plan.write_tables) {
    SKEP_ASSIGN_OR_RETURN(const state::AllocatedWriteIds allocated,
                          state.Allocate({table, {plan.txn}}, now, unit));
    wire::ToProto(allocated, plan.response.add_write_ids());
  }
  return absl::OkStatus();
}

// What the snapshot shows can be told once the unit that took it is published.
absl::Status Look(Plan& plan, state::State& state, state::Now now, state::Unit& unit) {
  plan.lists.txn = plan.txn;
  if (!plan.lists.tables.empty() || plan.lists.names_all) {
    SKEP_ASSIGN_OR_RETURN(const state::ValidWriteIds lists,
                          state.ValidWriteIdsOf(plan.lists, now, unit));
    wire::ToProto(lists, plan.response.mutable_valid_write_ids());
  }
  if (!plan.with_snapshot) return absl::OkStatus();
  SKEP_ASSIGN_OR_RETURN(const TxnSnapshot snapshot, state.Snapshot(plan.txn, now, unit));
  wire::ToProto(snapshot, plan.response.mutable_snapshot());
  return absl::OkStatus();
}

void Undo(Plan& plan, state::State& state, state::Now now, state::Unit& unit) {
  state.AbortOne(plan.txn, AbortCause::kUser, now, unit).IgnoreError();
}

// For a step that was not stored: whatever earlier ones left is ended.
void UndoLater(const PlanPtr& plan, loop::BatchCore& core) {
  core.RunOwned(loop::MakeCommand(
      [plan](state::State& state, state::Now now, state::Unit& unit) {
        Undo(*plan, state, now, unit);
      },
      [](const absl::Status&) {}));
}

using Done = std::function<void(const absl::Status&)>;

// Runs `step` in a unit of its own; `done` gets its outcome when that is durable. A failed step
// leaves no transaction.
template <class Step>
void RunStep(const PlanPtr& plan, loop::BatchCore& core, Step step, Done done) {
  core.RunOwned(loop::MakeCommand(
      [plan, step](state::State& state, state::Now now, state::Unit& unit) {
        plan->failed = step(*plan, state, now, unit);
        if (!plan->failed.ok()) Undo(*plan, state, now, unit);
      },
      [plan, &core, done = std::move(done)](const absl::Status& stored) {
        if (!stored.ok()) UndoLater(plan, core);
        done(stored.ok() ? plan->failed : stored);
      }));
}

// After the unit that is open now: the lists, then `done`.
void LookAfterUnit(const PlanPtr& plan, loop::BatchCore& core, Done done) {
  core.RunOwned(
      loop::MakeCommand([](state::State&, state::Now, state::Unit&) {},
                        [plan, &core, done = std::move(done)](const absl::Status& stored) {
                          if (!stored.ok()) return done(stored);
                          RunStep(plan, core, Look, done);
                        }));
}

void TellOutcome(const PlanPtr& plan, const absl::Status& status, const loop::SendNotice& send) {
  v1::SessionNotice notice;
  if (status.ok()) {
    *notice.mutable_begun() = plan->response;
  } else {
    wire::ToProto(status, notice.mutable_failed());
  }
  send(notice);
}

// The locks were granted: snapshot and write ids are those of now.
void GoOnAtGrant(const PlanPtr& plan, loop::BatchCore& core, const loop::SendNotice& send) {
  const auto take = [](Plan& p, state::State& state, state::Now now, state::Unit& unit) {
    SKEP_ASSIGN_OR_RETURN(const CommitSeq seq, state.SnapshotAtGrant(p.txn, now, unit));
    p.response.mutable_transaction()->set_snapshot_seq(seq.value());
    return Allocate(p, state, now, unit);
  };
  RunStep(plan, core, take, [plan, &core, send](const absl::Status& status) {
    if (!status.ok() || !plan->looks()) return TellOutcome(plan, status, send);
    RunStep(plan, core, Look, [plan, send](const absl::Status& looked) {
      TellOutcome(plan, looked, send);
    });
  });
}

loop::WhenLockEnds WhenGranted(const PlanPtr& plan, loop::BatchCore& core) {
  return [plan, &core](const state::LockAnswer& answer, const loop::SendNotice& send) {
    // Who stood in the way of one that was not granted is told with it, else it is over.
    if (answer.state == LockState::kAcquired) plan->response.clear_lock();
    wire::ToProto(answer, plan->response.mutable_lock());
    plan->response.set_state(plan->response.lock().state());
    if (answer.state == LockState::kAcquired) return GoOnAtGrant(plan, core, send);
    UndoLater(plan, core);
    if (answer.state == LockState::kNotAcquired) plan->response.clear_transaction();
    TellOutcome(plan, absl::OkStatus(), send);
  };
}

// Decides what can be decided in the open unit. The state of `plan->response` says how it stands.
absl::Status OpenAndLock(Plan& plan, Context& context) {
  SKEP_ASSIGN_OR_RETURN(const state::OpenedTxns opened,
                        context.state.Open(plan.open, context.now, context.unit));
  plan.txn = opened.first;
  plan.response.set_state(v1::LOCK_STATE_ACQUIRED);
  wire::ToProto(opened, plan.response.mutable_transaction());
  if (plan.locks) {
    plan.locks->txn = plan.txn;
    SKEP_ASSIGN_OR_RETURN(const state::LockAnswer answer,
                          context.state.Lock(*plan.locks, context.now, context.unit));
    wire::ToProto(answer, plan.response.mutable_lock());
    plan.response.set_state(plan.response.lock().state());
    if (answer.state != LockState::kAcquired) return absl::OkStatus();
  }
  return Allocate(plan, context.state, context.now, context.unit);
}

}  // namespace

absl::Status BeginTransaction(const v1::BeginTransactionRequest& request,
                              Context& context,
                              v1::BeginTransactionResponse* response) {
  SKEP_ASSIGN_OR_RETURN(const PlanPtr plan, ReadPlan(request));
  loop::Call& call = context.call.call;
  loop::BatchCore& core = context.call.core;
  const absl::Status begun = OpenAndLock(*plan, context);
  if (!begun.ok()) {
    if (!plan->txn.is_none()) Undo(*plan, context.state, context.now, context.unit);
    return begun;
  }
  if (plan->response.state() == v1::LOCK_STATE_NOT_ACQUIRED) {
    Undo(*plan, context.state, context.now, context.unit);
    plan->response.clear_transaction();
    *response = plan->response;
    return absl::OkStatus();
  }
  call.Opens(plan->txn, 1);
  if (plan->response.state() == v1::LOCK_STATE_WAITING) {
    *response = plan->response;
    response->mutable_transaction()->clear_snapshot_seq();  // it is taken at the grant
    if (call.WatchLock(LockId(plan->response.lock().lock_id()), WhenGranted(plan, core))) {
      return absl::OkStatus();
    }
    Undo(*plan, context.state, context.now, context.unit);
    return MakeError(ErrorReason::kInternal, "a fused begin came by no session");
  }
  if (!plan->looks()) {
    *response = plan->response;
    return absl::OkStatus();
  }
  context.release = loop::Release::kLater;
  LookAfterUnit(plan, core, [plan, &call](const absl::Status& status) {
    if (status.ok()) {
      call.Reply(plan->response);
    } else {
      call.Refuse(status);
    }
    call.Send();
  });
  return absl::OkStatus();
}

}  // namespace skep::rpc
