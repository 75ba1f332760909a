#include <deque>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "proto/wire/base_wire.h"
#include "proto/wire/compaction_wire.h"
#include "proto/wire/enums_wire.h"
#include "proto/wire/lock_wire.h"
#include "server/rpc/commands/compaction_commands.h"
#include "server/rpc/commands/lock_commands.h"
#include "server/rpc/commands/txn_commands.h"
#include "server/rpc/services.h"
#include "server/rpc/ticket.h"
#include "server/rpc/unary.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"

#include "proto/skep/v1/admin_service.pb.h"

namespace skep::rpc {
namespace {

// How far a chain of waiters is followed.
constexpr int kMaxLevel = 10;
constexpr int kMaxSteps = 200;

absl::Status GetStatus(const ServerFacts& facts,
                       Context& context,
                       v1::GetStatusResponse* response) {
  response->set_version(facts.version);
  wire::ToProto(facts.start_time, response->mutable_start_time());
  wire::ToProto(context.now.wall, response->mutable_now_time());
  response->set_store_path(facts.store_path);
  for (const std::string& root : facts.warehouse_roots) response->add_warehouse_roots(root);
  for (const std::string& endpoint : facts.endpoints) response->add_endpoints(endpoint);
  const state::State::Totals totals = context.state.Summary(context.now);
  response->set_commit_seq(totals.seq.value());
  response->set_open_transaction_count(totals.open_txns);
  response->set_table_count(totals.tables);
  response->set_held_lock_count(totals.locks_held);
  response->set_waiting_lock_count(totals.locks_waiting);
  response->set_initiated_compaction_count(totals.queued);
  response->set_working_compaction_count(totals.working);
  response->set_ready_for_cleaning_count(totals.to_clean);
  if (totals.oldest_open)
    wire::ToProto(*totals.oldest_open, response->mutable_oldest_open_transaction());
  wire::ToProto(facts.txn_timeout, response->mutable_txn_timeout());
  response->set_draining(facts.draining);
  response->mutable_duties()->set_initiator(facts.initiator);
  response->mutable_duties()->set_workers(facts.workers);
  response->mutable_duties()->set_cleaner(facts.cleaner);
  response->set_store_full(!context.call.core.HasRoom());
  const meta::MetaStore::Lag lag = context.call.core.StoreLag();
  response->set_log_backlog_bytes(lag.bytes);
  response->set_log_backlog_limit_bytes(lag.limit);
  if (!lag.cause.ok()) {
    response->set_log_backlog_cause(MessageOf(lag.cause));
    wire::ToProto(lag.since, response->mutable_log_backlog_since_time());
  }
  return absl::OkStatus();
}

void AddStep(int level,
             LockId waiting,
             const state::Blocker& blocker,
             v1::ExplainLockResponse* response) {
  auto* step = response->add_steps();
  step->set_level(level);
  step->set_waiting_lock_id(waiting.value());
  wire::ToProto(blocker, step->mutable_blocker());
  step->set_queue_position(blocker.position);
  if (blocker.last_heartbeat) {
    wire::ToProto(*blocker.last_heartbeat, step->mutable_last_heartbeat_time());
  }
}

// Breadth first from the request: who blocks it, who blocks those, …
absl::Status FollowBlockers(LockId lock, Context& context, v1::ExplainLockResponse* response) {
  std::deque<std::pair<LockId, int>> open{{lock, 1}};
  std::set<LockId> seen{lock};
  while (!open.empty() && response->steps_size() < kMaxSteps) {
    const auto [waiting, level] = open.front();
    open.pop_front();
    const absl::StatusOr<state::LockAnswer> answer =
        context.state.ExplainLock(waiting, context.now);
    if (!answer.ok()) {
      if (waiting == lock) return answer.status();
      continue;
    }
    if (waiting == lock) {
      response->set_queue_position(answer->position);
      response->set_summary(answer->state == LockState::kAcquired
                                ? fmt::format("lock {} is held", lock.value())
                            : answer->blocked_by.empty()
                                ? fmt::format("lock {} waits", lock.value())
                                : fmt::format("lock {} waits: {}", lock.value(), answer->reason));
    }
    for (const state::Blocker& blocker : answer->blocked_by) {
      AddStep(level, waiting, blocker, response);
      const bool waits_too = blocker.state == LockState::kWaiting && level < kMaxLevel;
      if (waits_too && seen.insert(blocker.lock).second) open.emplace_back(blocker.lock, level + 1);
    }
  }
  return absl::OkStatus();
}

// Who would go on if the request were released: those that it blocks directly.
void AddWaiters(const LockRow& held, Context& context, v1::ExplainLockResponse* response) {
  state::ListLocks query;
  query.resource = held.resource;
  query.waiting_only = true;
  query.limit = kMaxSteps;
  std::set<LockId> waiters;
  for (const LockRow& row : context.state.Locks(query)) {
    const absl::StatusOr<state::LockAnswer> answer =
        context.state.ExplainLock(row.lock, context.now);
    if (!answer.ok()) continue;
    for (const state::Blocker& blocker : answer->blocked_by) {
      if (blocker.lock == held.lock) waiters.insert(row.lock);
    }
  }
  for (const int64_t known : response->waiting_lock_ids()) waiters.erase(LockId(known));
  for (const LockId waiter : waiters) response->add_waiting_lock_ids(waiter.value());
}

absl::Status ExplainLock(const v1::ExplainLockRequest& request,
                         Context& context,
                         v1::ExplainLockResponse* response) {
  SKEP_RETURN_IF_ERROR(wire::CheckId("lock_id", request.lock_id()));
  const LockId lock(request.lock_id());
  SKEP_RETURN_IF_ERROR(FollowBlockers(lock, context, response));
  state::ListLocks query;
  query.after = LockId(lock.value() - 1);
  query.limit = 1;  // requests are not split: all components of the one
  for (const LockRow& row : context.state.Locks(query)) {
    if (row.lock != lock) continue;
    wire::ToProto(row, response->add_locks());
    if (row.state == LockState::kAcquired) AddWaiters(row, context, response);
  }
  return absl::OkStatus();
}

absl::Status SeedTransactionIds(const v1::SeedTransactionIdsRequest& request,
                                Context& context,
                                v1::SeedTransactionIdsResponse*) {
  SKEP_RETURN_IF_ERROR(wire::CheckId("first_txn_id", request.first_txn_id()));
  return context.state.SeedTxnIds(TxnId(request.first_txn_id()), context.now, context.unit);
}

v1::ExplainCleanerResponse ToProto(const std::vector<CleanerEntry>& entries) {
  v1::ExplainCleanerResponse response;
  for (const CleanerEntry& entry : entries) {
    auto* out = response.add_entries();
    wire::ToProto(entry.compaction, out->mutable_compaction());
    for (const std::string& directory : entry.directories)
      out->add_directories(wire::WireText(directory));
    for (const state::Pin& pin : entry.pins) wire::ToProto(pin, out->add_pins());
    out->set_summary(wire::WireText(entry.summary));
  }
  return response;
}

absl::Status ExplainCleaner(const Dependencies& d,
                            const v1::ExplainCleanerRequest& request,
                            Context& context) {
  std::optional<TableName> table;
  if (request.has_table()) {
    SKEP_ASSIGN_OR_RETURN(table, wire::FromProto(request.table(), "table"));
  }
  context.release = loop::Release::kLater;
  d.directories.ExplainCleaner(std::move(table),
                               [ticket = Ticket(context.call.call, d.port)](
                                   absl::StatusOr<std::vector<CleanerEntry>> entries) mutable {
                                 if (!entries.ok()) return ticket.Refuse(entries.status());
                                 ticket.Reply(ToProto(*entries));
                               });
  return absl::OkStatus();
}

v1::ExplainCompactionResponse ToProto(const std::vector<CompactionDecision>& decisions) {
  v1::ExplainCompactionResponse response;
  for (const CompactionDecision& decision : decisions) {
    auto* out = response.add_entries();
    out->set_partition(decision.partition);
    if (decision.decision) out->set_decision(wire::ToProto(*decision.decision));
    out->set_reason(wire::WireText(decision.reason));
    out->set_base_bytes(decision.base_bytes);
    out->set_delta_bytes(decision.delta_bytes);
    out->set_delta_count(decision.delta_count);
    out->set_delta_count_threshold(decision.delta_count_threshold);
    out->set_delta_size_threshold(decision.delta_size_threshold);
    out->set_blocked_by(decision.blocked_by);
    if (decision.latest) wire::ToProto(*decision.latest, out->mutable_latest());
  }
  return response;
}

absl::Status ExplainCompaction(const Dependencies& d,
                               const v1::ExplainCompactionRequest& request,
                               Context& context) {
  SKEP_ASSIGN_OR_RETURN(TableName table, wire::FromProto(request.table(), "table"));
  SKEP_ASSIGN_OR_RETURN(std::string partition,
                        wire::PartitionFromProto(request.partition(), "partition"));
  context.release = loop::Release::kLater;
  d.directories.ExplainCompaction(
      std::move(table),
      std::move(partition),
      [ticket = Ticket(context.call.call, d.port)](
          absl::StatusOr<std::vector<CompactionDecision>> decisions) mutable {
        if (!decisions.ok()) return ticket.Refuse(decisions.status());
        ticket.Reply(ToProto(*decisions));
      });
  return absl::OkStatus();
}

std::string Path(std::string_view method) { return "/skep.v1.AdminService/" + std::string(method); }

}  // namespace

loop::Service MakeAdminService(const Dependencies& d) {
  loop::Service service{"skep.v1.AdminService", {}};
  auto& methods = service.methods;
  methods.push_back(MakeMethod<v1::GetStatusRequest, v1::GetStatusResponse>(
      Path("GetStatus"),
      {.call_class = loop::CallClass::kOperator},
      [&d](const auto&, Context& context, auto* response) {
        return GetStatus(d.facts, context, response);
      }));
  methods.push_back(MakeMethod<v1::SeedTransactionIdsRequest, v1::SeedTransactionIdsResponse>(
      Path("SeedTransactionIds"), {}, SeedTransactionIds));
  methods.push_back(MakeMethod<v1::ExplainLockRequest, v1::ExplainLockResponse>(
      Path("ExplainLock"), {.call_class = loop::CallClass::kOperator}, ExplainLock));
  methods.push_back(MakeMethod<v1::ExplainCleanerRequest, v1::ExplainCleanerResponse>(
      Path("ExplainCleaner"), {}, [&d](const auto& request, Context& context, auto*) {
        return ExplainCleaner(d, request, context);
      }));
  methods.push_back(MakeMethod<v1::ExplainCompactionRequest, v1::ExplainCompactionResponse>(
      Path("ExplainCompaction"), {}, [&d](const auto& request, Context& context, auto*) {
        return ExplainCompaction(d, request, context);
      }));
  return service;
}

}  // namespace skep::rpc
