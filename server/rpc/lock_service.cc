#include <memory>
#include <utility>

#include "proto/wire/base_wire.h"
#include "proto/wire/lock_wire.h"
#include "proto/wire/page_token.h"
#include "server/rpc/commands/lock_commands.h"
#include "server/rpc/commands/view_commands.h"
#include "server/rpc/services.h"
#include "server/rpc/unary.h"
#include "storage/base/status_macros.h"

#include "proto/skep/v1/lock_service.pb.h"
#include "proto/skep/v1/session_service.pb.h"

namespace skep::rpc {
namespace {

// The answer has to reach the client before the client gives up.
constexpr std::chrono::milliseconds kMargin{250};

// When a call that waits is answered: its deadline less a margin, which is a quarter of a short
// wait.
MonoTime AnswerBy(MonoTime deadline, MonoTime now) {
  const std::chrono::nanoseconds left = deadline - now;
  return deadline - std::min<std::chrono::nanoseconds>(kMargin, left / 4);
}

class AcquireWaiter final : public loop::LockWaiter {
 public:
  explicit AcquireWaiter(loop::Call& call) : call_(call) {}

  void Answer(const absl::StatusOr<state::LockAnswer>& answer) override {
    if (answer.ok()) {
      v1::AcquireLocksResponse response;
      wire::ToProto(*answer, &response);
      call_.Reply(response);
    } else {
      call_.Refuse(answer.status());
    }
    call_.Send();
  }

 private:
  loop::Call& call_;
};

// A session hears of the end of its request by a notice.
void TellEnd(const state::LockAnswer& answer, const loop::SendNotice& send) {
  v1::SessionNotice notice;
  wire::ToProto(answer, notice.mutable_lock());
  send(notice);
}

absl::Status Acquire(const v1::AcquireLocksRequest& request,
                     Context& context,
                     v1::AcquireLocksResponse* response) {
  SKEP_ASSIGN_OR_RETURN(const state::AcquireLocks command, wire::FromProto(request));
  SKEP_ASSIGN_OR_RETURN(const state::LockAnswer answer,
                        context.state.Lock(command, context.now, context.unit));
  loop::Call& call = context.call.call;
  if (command.txn.is_none() && !answer.lock.is_none()) call.Asks(answer.lock);
  if (answer.state != LockState::kWaiting) {
    wire::ToProto(answer, response);
    return absl::OkStatus();
  }
  if (call.WatchLock(answer.lock, TellEnd)) {
    wire::ToProto(answer, response);
    return absl::OkStatus();
  }
  auto waiter = std::make_unique<AcquireWaiter>(call);
  context.call.core.Park(answer.lock, *waiter, AnswerBy(call.deadline(), context.now.mono));
  call.KeepWaiter(std::move(waiter));
  context.release = loop::Release::kParked;
  return absl::OkStatus();
}

absl::Status Check(const v1::CheckLockRequest& request,
                   Context& context,
                   v1::CheckLockResponse* response) {
  SKEP_RETURN_IF_ERROR(wire::CheckId("lock_id", request.lock_id()));
  SKEP_ASSIGN_OR_RETURN(
      const state::LockAnswer answer,
      context.state.CheckLock(LockId(request.lock_id()), context.now, context.unit));
  wire::ToProto(answer, response);
  return absl::OkStatus();
}

absl::Status Release(const v1::ReleaseLockRequest& request,
                     Context& context,
                     v1::ReleaseLockResponse*) {
  SKEP_ASSIGN_OR_RETURN(const state::ReleaseLock command, wire::FromProto(request));
  context.call.call.Ends({}, {command.lock});
  return context.state.Release(command, context.now, context.unit);
}

// Who stands in the way of a waiting request: the lock and its component.
void AddBlocker(const LockRow& row, Context& context, v1::Lock* lock) {
  const auto answer = context.state.ExplainLock(row.lock, context.now);
  if (!answer.ok() || answer->blocked_by.empty()) return;
  const state::Blocker& blocker = answer->blocked_by.front();
  lock->set_blocked_by_lock_id(blocker.lock.value());
  state::ListLocks query;
  query.after = LockId(blocker.lock.value() - 1);
  query.limit = 1;  // requests are not split: all components of the one
  for (const LockRow& held : context.state.Locks(query)) {
    if (held.lock == blocker.lock && held.resource == blocker.resource &&
        held.kind == blocker.kind) {
      lock->set_blocked_by_component(held.component);
      return;
    }
  }
}

void AddHeartbeat(const LockRow& row, Context& context, v1::Lock* lock) {
  if (row.txn.is_none()) return;
  const auto txn = context.state.GetTxn(row.txn, context.now);
  if (txn.ok() && txn->last_heartbeat) {
    wire::ToProto(*txn->last_heartbeat, lock->mutable_last_heartbeat_time());
  }
}

absl::Status LockView(const v1::LockViewRebuildRequest& request,
                      Context& context,
                      v1::LockViewRebuildResponse* response) {
  SKEP_ASSIGN_OR_RETURN(const state::LockViewRebuild command, wire::FromProto(request));
  SKEP_ASSIGN_OR_RETURN(const state::ViewLockAnswer answer,
                        context.state.LockView(command, context.now, context.unit));
  wire::ToProto(answer, response);
  return absl::OkStatus();
}

absl::Status List(const v1::ListLocksRequest& request,
                  Context& context,
                  v1::ListLocksResponse* response) {
  SKEP_ASSIGN_OR_RETURN(const state::ListLocks command, wire::FromProto(request));
  const std::vector<LockRow> rows = context.state.Locks(command);
  for (const LockRow& row : rows) {
    v1::Lock* const lock = response->add_locks();
    wire::ToProto(row, lock);
    AddHeartbeat(row, context, lock);
    if (row.state == LockState::kWaiting) AddBlocker(row, context, lock);
  }
  if (command.after.is_none()) {
    for (const state::ViewLock& view : context.state.ViewLocks(command)) {
      wire::ToProto(view, response->add_view_rebuilds());
    }
  }
  if (std::ssize(rows) >= command.limit) {
    response->set_next_page_token(
        wire::MakePageToken(wire::FilterOf(request), rows.back().lock.ToString()));
  }
  return absl::OkStatus();
}

std::string Path(std::string_view method) { return "/skep.v1.LockService/" + std::string(method); }

}  // namespace

loop::Service MakeLockService() {
  loop::Service service{"skep.v1.LockService", {}};
  auto& methods = service.methods;
  methods.push_back(MakeMethod<v1::AcquireLocksRequest, v1::AcquireLocksResponse>(
      Path("AcquireLocks"), {.registered = kHot, .waits = true, .makes = true}, Acquire));
  methods.push_back(MakeMethod<v1::CheckLockRequest, v1::CheckLockResponse>(
      Path("CheckLock"), {.registered = kHot}, Check));
  methods.push_back(MakeMethod<v1::ReleaseLockRequest, v1::ReleaseLockResponse>(
      Path("ReleaseLock"),
      {.call_class = loop::CallClass::kReserved, .registered = kHot},
      Release));
  methods.push_back(MakeMethod<v1::LockViewRebuildRequest, v1::LockViewRebuildResponse>(
      Path("LockViewRebuild"), {}, LockView));
  methods.push_back(MakeMethod<v1::ListLocksRequest, v1::ListLocksResponse>(
      Path("ListLocks"), {.call_class = loop::CallClass::kOperator}, List));
  return service;
}

}  // namespace skep::rpc
