#include "server/rpc/commands/lock_commands.h"

#include "proto/wire/base_wire.h"
#include "server/rpc/commands/txn_commands.h"
#include "proto/wire/enums_wire.h"
#include "proto/wire/lock_wire.h"
#include "proto/wire/page_token.h"
#include "storage/base/status_macros.h"

namespace skep::wire {
namespace {

// The server's own limit (lock.max_components) may be lower; this one keeps the message in bounds.
constexpr int64_t kMaxComponents = 10'000;

absl::StatusOr<state::LockComponent> ReadComponent(const v1::LockComponent& from, int64_t index) {
  state::LockComponent component;
  SKEP_ASSIGN_OR_RETURN(component.resource,
                        FromProto(from.resource(), FieldOf("components", index, "resource")));
  SKEP_ASSIGN_OR_RETURN(component.kind,
                        FromProto(from.kind(), FieldOf("components", index, "kind")));
  if (from.operation() != v1::WRITE_OPERATION_UNSPECIFIED) {
    SKEP_ASSIGN_OR_RETURN(component.op,
                          FromProto(from.operation(), FieldOf("components", index, "operation")));
  }
  component.dynamic = from.dynamic_partitions();
  if (component.dynamic && !component.op) {
    return BadField(FieldOf("components", index, "dynamic_partitions"),
                    "without a write operation");
  }
  return component;
}

template <class Response>
void WriteAnswer(const state::LockAnswer& from, Response* to) {
  to->set_state(ToProto(from.state));
  to->set_snapshot_stale(from.snapshot_stale);
  for (const state::Blocker& blocker : from.blocked_by) ToProto(blocker, to->add_blocked_by());
  to->set_queue_position(from.position);
  to->set_reason(from.reason);
}

}  // namespace

absl::StatusOr<state::AcquireLocks> FromProto(const v1::AcquireLocksRequest& from) {
  SKEP_RETURN_IF_ERROR(CheckOptionalId("txn_id", from.txn_id()));
  SKEP_RETURN_IF_ERROR(CheckCount("components", from.components_size(), 1, kMaxComponents));
  state::AcquireLocks command;
  command.txn = TxnId(from.txn_id());
  command.components.reserve(from.components_size());
  for (int i = 0; i < from.components_size(); ++i) {
    SKEP_ASSIGN_OR_RETURN(state::LockComponent component, ReadComponent(from.components(i), i));
    command.components.push_back(std::move(component));
  }
  command.wait = !from.no_wait();
  if (command.txn.is_none() && from.user().empty()) {
    return BadField("user", "missing: a lock outside transactions says whose it is");
  }
  SKEP_RETURN_IF_ERROR(CheckText("user", from.user(), kMaxUserBytes));
  SKEP_RETURN_IF_ERROR(CheckText("host", from.host(), kMaxHostBytes));
  SKEP_RETURN_IF_ERROR(CheckText("agent", from.agent(), kMaxAgentBytes));
  command.user = from.user();
  command.host = from.host();
  command.agent = from.agent();
  SKEP_ASSIGN_OR_RETURN(command.request, RequestKeyFromProto(from.request_id(), from.repeat()));
  return command;
}

void ToProto(const state::LockAnswer& from, v1::AcquireLocksResponse* to) {
  to->set_lock_id(from.lock.value());
  WriteAnswer(from, to);
}

void ToProto(const state::LockAnswer& from, v1::CheckLockResponse* to) { WriteAnswer(from, to); }

void ToProto(const state::Blocker& from, v1::LockBlocker* to) {
  to->set_lock_id(from.lock.value());
  to->set_txn_id(from.txn.value());
  ToProto(from.resource, to->mutable_resource());
  to->set_kind(ToProto(from.kind));
  to->set_state(ToProto(from.state));
  to->set_user(from.user);
  to->set_host(from.host);
  to->set_agent(from.agent);
  ToProto(from.since, to->mutable_since_time());
}

absl::StatusOr<state::ReleaseLock> FromProto(const v1::ReleaseLockRequest& from) {
  SKEP_RETURN_IF_ERROR(CheckId("lock_id", from.lock_id()));
  return state::ReleaseLock{LockId(from.lock_id()), from.force()};
}

absl::StatusOr<state::ListLocks> FromProto(const v1::ListLocksRequest& from) {
  state::ListLocks command;
  if (from.has_resource()) {
    SKEP_ASSIGN_OR_RETURN(command.resource, FromProto(from.resource(), "resource"));
  }
  SKEP_RETURN_IF_ERROR(CheckOptionalId("txn_id", from.txn_id()));
  command.txn = TxnId(from.txn_id());
  command.waiting_only = from.waiting_only();
  SKEP_ASSIGN_OR_RETURN(const int64_t after, ReadIdPageToken(FilterOf(from), from.page_token()));
  command.after = LockId(after);
  SKEP_ASSIGN_OR_RETURN(command.limit, PageSizeFromProto(from.page_size()));
  return command;
}

}  // namespace skep::wire
